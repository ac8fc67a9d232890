#pragma once
// One family of kernels that attention_backward may run, as data: what it computes, and the function that
// launches it. It writes dq, dk and dv, those that are wanted; the numbers of each query are there when it runs.
// dsinks, and a dbias that it does not write itself, come from kernels that all variants share.

#include <kaio/ops/attention/backward/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct attention_backward_variant {
  // For dk and dv, for dq; then others that `run` launches. The rest are null.
  std::array<const ptx::kernel_image*, 4> images{};
  void (*run)(const stream&, const attention_backward_call&) = nullptr;
  std::string_view own_name = {};  // of a row that shares its kernels with others
  bool any_type = false;           // of f32, f16 and bf16
  attention_type type = attention_type::f32;
  std::uint32_t depth_qk = 0, depth_v = 0;  // the most elements of a row of Q and K, of V and O
  bool plain = false;                       // its score is plain_score
  bool is_biased = false;                   // its score is biased_score, which reads `bias` and `keep`
  // Writes dbias next to dq, where call.gradients.dbias.direct says so.
  bool writes_dbias = false;
  // Reads or writes by tensor copies: rows begin at multiples of 16 bytes and are as long.
  bool copies_tensors = false;
  // Bytes of the workspace next to the numbers of each query; nullptr: none.
  std::uint64_t (*workspace_bytes)(const attention_backward_call&) = nullptr;
  // Writes into call.gradients what of it the preparation is to set up; nullptr: nothing.
  void (*place_workspace)(attention_backward_call&) = nullptr;

  std::string_view name() const { return own_name.empty() ? images[0]->name : own_name; }
};

// The images of all kernels that attention_backward may launch.
std::vector<const ptx::kernel_image*> attention_backward_kernels();

namespace detail {
// The place of the variant that a call takes: the first one that can run it. Throws unsupported_device where
// none can.
std::size_t choose_attention_backward(std::string_view operation, const attention_backward_call& call,
                                      std::span<const attention_backward_variant> variants,
                                      const device_properties& device);
// Loads what a call launches with the one that it takes among some.
void warm_up_attention_backward(const runtime::device& gpu, const attention_backward_arguments& arguments,
                                std::span<const attention_backward_variant> variants);
}  // namespace detail

}  // namespace kaio::ops

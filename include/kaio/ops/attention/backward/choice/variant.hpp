#pragma once
// One family of kernels that attention_backward may run, as data: what it computes, and the function that
// launches it. It writes those of dq, dk and dv that are wanted. The numbers of each query are in the
// workspace when it runs. dsinks, and a dbias that the variant does not write, come from kernels that all
// variants share.

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
  // The kernels for dk and dv, and for dq; then others that `run` launches. The rest are null.
  std::array<const ptx::kernel_image*, 4> images{};
  void (*run)(const stream&, const attention_backward_call&) = nullptr;
  std::string_view own_name = {};  // the name of a row that shares its kernels with others
  bool any_type = false;           // f32, f16 and bf16
  element_kind type = element_kind::f32;
  std::uint32_t depth_qk = 0, depth_v = 0;  // longest row of Q and K, of V and O
  bool plain = false;                       // its score is plain_score
  bool is_biased = false;                   // its score is biased_score, which reads `bias` and `keep`
  // Writes dbias together with dq if call.gradients.dbias.direct is 1.
  bool writes_dbias = false;
  // Uses tensor copies: rows have to begin at multiples of 16 bytes, and have such lengths.
  bool copies_tensors = false;
  // Bytes of the workspace in addition to the numbers of each query; nullptr: none.
  std::uint64_t (*workspace_bytes)(const attention_backward_call&) = nullptr;
  // Writes to call.gradients the addresses that the preparation needs; nullptr: none.
  void (*place_workspace)(attention_backward_call&) = nullptr;

  std::string_view name() const { return own_name.empty() ? images[0]->name : own_name; }
};

// The images of all kernels that attention_backward may launch.
std::vector<const ptx::kernel_image*> attention_backward_kernels();

namespace detail {
// Returns the index of the variant that a call takes: the first one that can run it. Throws
// unsupported_device if none can.
std::size_t choose_attention_backward(std::string_view operation, const attention_backward_call& call,
                                      std::span<const attention_backward_variant> variants,
                                      const device_properties& device);
// Loads the kernels that a call launches, with the variant that it takes among `variants`.
void warm_up_attention_backward(const runtime::device& gpu, const attention_backward_arguments& arguments,
                                std::span<const attention_backward_variant> variants);
}  // namespace detail

}  // namespace kaio::ops

#pragma once
// One kernel that attention may run, as data: its computation, its tile shape, and the function that launches
// it. The data alone decide which kernels can run a call, and how long they take.

#include <kaio/ops/attention/forward/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

enum class attention_family : std::uint8_t {
  sm90,      // persistent; tensor copies and wgmma
  mma_sync,  // mma.sync, from sm_75 on
  simt,      // multiply-adds
};

struct attention_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const attention_call&) = nullptr;
  std::string_view own_name = {};  // for a row that shares its kernel with others
  attention_family family = attention_family::simt;
  element_kind type = element_kind::f32;
  attention_precision precision = attention_precision::ieee;
  std::uint32_t depth_qk = 0, depth_v = 0;  // the most elements of a row of Q and K, of V and O
  std::uint32_t queries = 0, keys = 0;      // tile shape
  std::uint32_t division = 1;               // the most parts into which a launch divides the keys of a tile
  std::uint32_t qk_step = 0, v_step = 0;    // head sizes are padded to multiples of these
  std::uint32_t resident = 1;               // blocks per multiprocessor at once, at most
  bool plain = false;                       // its score is plain_score
  // Reads Q, K and V by tensor copies. Rows must begin at multiples of 16 bytes and be multiples of 16 bytes
  // long; there must be keys.
  bool copies_tensors = false;
  bool in_blocks = false;    // walks over the lists of a block mask
  bool writes_f32 = false;   // also writes an f32 output, for any operands
  bool is_biased = false;    // its score is biased_score, which reads `bias` and `keep`
  bool has_lists = false;    // its kernel takes lists of blocks; they may be empty if in_blocks is false
  bool reads_pairs = false;  // its score is pair_biased_score, which has no soft cap and no ALiBi

  std::string_view name() const { return own_name.empty() ? image->name : own_name; }
  bool has_terms() const { return !plain && !reads_pairs; }
  bool reads_tensors() const { return is_biased || reads_pairs; }
};

// Images of all kernels that the library's attention may launch: to list them, or to load them ahead with
// device::warmup.
std::vector<const ptx::kernel_image*> attention_kernels();

namespace detail {
// Index of the variant that a call takes: the cheapest of those that can run it. Throws unsupported_device if
// none can.
std::size_t choose_attention(std::string_view operation, const attention_call& call,
                             std::span<const attention_variant> variants, const device_properties& device);
// Loads the variant that a call takes.
void warm_up_attention(const runtime::device& gpu, const attention_arguments& arguments,
                       std::span<const attention_variant> variants);
}  // namespace detail

}  // namespace kaio::ops

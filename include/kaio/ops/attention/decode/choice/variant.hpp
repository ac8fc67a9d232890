#pragma once
// One kernel that attention_decode may run, as data. The data alone decide which kernels can run a call, and
// how its work is divided.

#include <kaio/ops/attention/decode/call/call.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

struct attention_decode_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const attention_decode_call&, std::uint64_t blocks) = nullptr;
  std::string_view own_name = {};  // the name of a row that shares its kernel with others
  element_kind type = element_kind::f32;
  bool any_type = false;         // whatever `type` is
  bool takes_codes = false;      // f16 and bf16 with a cache of 8 bits; `type` is unused
  bool copies_rows = false;      // rows of keys have to begin at multiples of 16 bytes, and have such lengths
  bool is_narrow = false;        // so do rows of queries; strides of pages and rows are below 2^32 elements
  bool values_in_keys = false;   // V is the first elements of the rows of K
  std::uint32_t depth = 0;       // longest row, in elements
  std::uint32_t depth_v = 0;     // longest row of V and O; 0: depth
  std::uint32_t rows = 0;        // per tile
  std::uint32_t most_rows = 0;   // for calls with at most this many rows; 0: any number
  std::uint32_t least_rows = 0;  // for calls with at least this many rows
  std::uint32_t keys = 0;        // per tile
  bool has_clusters = false;     // sm_90: launched programmatically, and its splits may be a cluster
  std::uint32_t resident = 1;    // blocks on a multiprocessor at once, at most
  bool plain = false;            // its score is plain_score

  std::string_view name() const { return own_name.empty() ? image->name : own_name; }
};

namespace detail {

// A call with its kernel, and how it is divided.
struct planned_attention_decode {
  attention_decode_call call;
  std::size_t chosen = 0;     // index among the variants
  std::uint64_t blocks = 0;   // 0: the call does nothing
  std::uint64_t sums = 0;     // bytes of the workspace: sums of splits,
  std::uint64_t totals = 0;   // their totals,
  std::uint64_t queries = 0;  // and rotated queries
  std::uint64_t workspace_bytes() const { return sums + totals + queries; }
};

// Plans a call with one of `variants`. It takes the first of these that exists:
//
//   the variant that the options name
//   what tuning found, unless the given workspace is too small for it
//   the first variant that can run the call
//
// `device`: its identity. Throws invalid_argument, or unsupported_device if no variant can run it.
planned_attention_decode plan_attention_decode(const void* device, const device_properties& properties,
                                               const attention_decode_arguments& arguments,
                                               std::span<const attention_decode_variant> variants);
// Plans a call and prepares its launch: checks and takes the workspace, and appends new keys and values.
planned_attention_decode prepare_attention_decode(const stream& s,
                                                  const attention_decode_arguments& arguments,
                                                  std::span<const attention_decode_variant> variants);
// Loads what such a call launches, ahead of its first use.
void warm_up_attention_decode(const runtime::device& gpu, const attention_decode_arguments& arguments,
                              std::span<const attention_decode_variant> variants);
// Runs after the kernel of a call: adds up the splits if there is more than one.
void combine_attention_decode(const stream& s, const attention_decode_call& call);

}  // namespace detail

}  // namespace kaio::ops

#pragma once
// What an attention_decode may run: kernels of the library, and divisions of the keys.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/runtime/properties.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/attention/decode/choice/division.hpp"

namespace kaio::ops {

struct decode_choice {
  const attention_decode_variant* variant = nullptr;
  attention_decode_division division{};
  // "kernel:4" with four parts that a second kernel adds up; "kernel:4:cluster" where they are a cluster.
  std::string name() const;
};

// Whether options leave the parts open. Those of batch_invariant calls follow from the sequence alone.
bool is_open(const attention_decode_options& options);
// Whether the queries that kernels read are those that a call leaves in its workspace.
bool has_own_queries(const attention_decode_options& options);
// What can run such a call, by kernels of the library: each with numbers of parts until the device is full, or with
// `asked` parts, where that is not 0.
std::vector<decode_choice> decode_choices(const attention_decode_call& call, const device_properties& device,
                                          std::uint32_t asked = 0);
// What tuning knows the call by.
std::string tuning_key(const attention_decode_call& call);
// A call as it was planned.
decode_choice choice_of(const detail::planned_attention_decode& planned);

namespace detail {

// The call on a kernel of these, divided like this, with room for rotated queries or without. Throws invalid_argument
// where there are too many blocks.
planned_attention_decode divide_attention_decode(std::string_view operation,
                                                 const attention_decode_call& call,
                                                 std::span<const attention_decode_variant> variants,
                                                 const decode_choice& choice, bool rotates);
// As plan_attention_decode, whatever tuning found.
planned_attention_decode plan_without_tuning(const void* device, const device_properties& properties,
                                             const attention_decode_arguments& arguments,
                                             std::span<const attention_decode_variant> variants);

}  // namespace detail

}  // namespace kaio::ops

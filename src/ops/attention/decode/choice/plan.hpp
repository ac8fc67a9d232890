#pragma once
// The choices for an attention_decode: kernels of the library, and divisions of the keys.

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
  // "kernel:4": a second kernel adds up four splits. "kernel:4:cluster": the splits are a cluster.
  std::string name() const;
};

// Whether options leave the splits open. Parts of batch_invariant calls follow from the sequence alone.
bool is_open(const attention_decode_options& options);
// Whether kernels read queries that the call leaves in its workspace.
bool has_own_queries(const attention_decode_options& options);
// The kernels of the library that can run a call. Each has numbers of splits up to four waves of blocks, or
// `asked` splits if that is not 0.
std::vector<decode_choice> decode_choices(const attention_decode_call& call, const device_properties& device,
                                          std::uint32_t asked = 0);
// The key of a call in the results of tuning.
std::string tuning_key(const attention_decode_call& call);
// The choice of a planned call.
decode_choice choice_of(const detail::planned_attention_decode& planned);

namespace detail {

// Plans a call with this choice among `variants`. `rotates`: with room for rotated queries. Throws
// invalid_argument if there are too many blocks.
planned_attention_decode divide_attention_decode(std::string_view operation,
                                                 const attention_decode_call& call,
                                                 std::span<const attention_decode_variant> variants,
                                                 const decode_choice& choice, bool rotates);
// Like plan_attention_decode, but ignores what tuning found.
planned_attention_decode plan_without_tuning(const void* device, const device_properties& properties,
                                             const attention_decode_arguments& arguments,
                                             std::span<const attention_decode_variant> variants);

}  // namespace detail

}  // namespace kaio::ops

#pragma once
// The table of attention's kernels by families, and the decisions made with it.

#include <kaio/ops/attention/forward/choice/variant.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

// Why this variant cannot run this call on this device; nullptr if it can.
std::string_view refusal(const attention_variant& v, const attention_call& call,
                         const device_properties& device);
inline bool accepts(const attention_variant& v, const attention_call& call, const device_properties& device) {
  return refusal(v, call, device).empty();
}
// The time in seconds by the cost model (cost.hpp).
double cost(const attention_variant& v, const attention_call& call, const device_properties& device);

// The variant for a call that is not empty: the one that is named, that `tune` has found, or the best one by
// the model. Throws unsupported_device or invalid_argument if there is none.
const attention_variant& choose(std::string_view operation, const attention_call& call,
                                const device_properties& device, std::string_view forced);

// All variants; the order decides between equal costs.
std::span<const attention_variant> all_attention_variants();

}  // namespace kaio::ops

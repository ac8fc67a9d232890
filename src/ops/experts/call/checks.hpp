#pragma once
// What the calls of mixtures of experts check of each tensor.

#include <kaio/ops/experts/common/problem.hpp>

#include <string>
#include <string_view>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

inline constexpr std::int64_t most_choices = 0x7fffffff;

inline void check_type(std::string_view operation, std::string_view name, const any_view& v,
                       element_kind type, std::string_view type_text) {
  if (v.type != type)
    refuse(operation,
           "argument " + std::string(name) + " has another element type than " + std::string(type_text));
}
inline void check_rank(std::string_view operation, std::string_view name, const any_view& v,
                       std::uint32_t rank) {
  if (v.rank != rank)
    refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                          " dimensions, not " + std::to_string(rank));
}
inline expert_rows rows_of_experts(const any_view& v) { return {v.address, v.strides[0]}; }

}  // namespace kaio::ops::detail

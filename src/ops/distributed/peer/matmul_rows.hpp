#pragma once
// Some rows of the operands of a product.

#include <kaio/ops/matmul/call/arguments.hpp>
#include <kaio/ops/shared/any_view.hpp>

#include <cstdint>
#include <string_view>

namespace kaio::ops::detail {

matmul_view as_matrix(const any_view& v);
// Lines `first` to before `first + count` of the first dimension.
matmul_view lines_of(const matmul_view& v, std::int64_t first, std::int64_t count);
// Refuses another number of lines.
void require_lines(std::string_view operation, std::string_view name, const any_view& v, std::int64_t count);

}  // namespace kaio::ops::detail

#pragma once
// Checks that the operations on file formats share.

#include <kaio/ops/shared/any_view.hpp>

#include <string>
#include <string_view>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

[[noreturn]] void refuse_format(std::string_view operation, const std::string& what);

// Requires a matrix with stride 1 along rows, fewer than 2^31 rows and columns, and fewer than 2^34 elements.
void check_matrix(std::string_view operation, std::string_view name, const any_view& v);
// Requires a vector of stride 1.
void check_line(std::string_view operation, std::string_view name, const any_view& v);
// Whether each row begins at a multiple of `bytes`.
bool rows_begin_at(const any_view& v, std::uint64_t bytes);

}  // namespace kaio::ops::detail

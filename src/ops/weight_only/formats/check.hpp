#pragma once
// Checks that the operations on formats of files share.

#include <kaio/ops/shared/any_view.hpp>

#include <string>
#include <string_view>

#include "ops/cache/common/check.hpp"

namespace kaio::ops::detail {

[[noreturn]] void refuse_format(std::string_view operation, const std::string& what);

// A matrix whose neighbours are adjacent, of fewer than 2^31 rows and columns and 2^34 elements.
void check_matrix(std::string_view operation, std::string_view name, const any_view& v);
// A vector whose neighbours are adjacent.
void check_line(std::string_view operation, std::string_view name, const any_view& v);
// Rows begin at multiples of so many bytes.
bool rows_begin_at(const any_view& v, std::uint64_t bytes);

}  // namespace kaio::ops::detail

#pragma once
// Codes and scales of files, checked, as the kernel takes them.

#include <kaio/ops/weight_only/formats/arguments.hpp>
#include <kaio/ops/weight_only/formats/code_problem.hpp>

namespace kaio::ops::detail {

// `eights` is 0 where there is nothing to do.
code_problem resolve_codes(const void* device, const code_source& source, const any_view& out);

}  // namespace kaio::ops::detail

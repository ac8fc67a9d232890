#pragma once
// Checks the codes and scales of a file and turns them into the kernel's parameters.

#include <kaio/ops/weight_only/formats/arguments.hpp>
#include <kaio/ops/weight_only/formats/code_problem.hpp>

namespace kaio::ops::detail {

// If there is nothing to do, `eights` is 0.
code_problem resolve_codes(const void* device, const code_source& source, const any_view& out);

}  // namespace kaio::ops::detail

#pragma once
// Kernels of attention_backward that also exist for sm_90: there they are launched before the previous kernel
// has ended (programmatic dependent launch), and wait for it.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Sm>
constexpr auto sm90_suffix() {
  if constexpr (Sm >= 90)
    return fixed_string("_sm90");
  else
    return fixed_string("");
}

// The first statement of such a kernel. `Early`: the next kernel begins at once, otherwise when the results of
// all kernels before this one can be read.
template <std::uint32_t Sm, bool Early = true>
constexpr void await_previous_kernel(thread t) {
  if constexpr (Sm >= 90) {
    if (Early) launch_dependents(t);
    grid_dependency_wait(t);
    if (!Early) launch_dependents(t);
  }
}

}  // namespace kaio::ops

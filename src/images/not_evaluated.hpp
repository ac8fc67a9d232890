#pragma once
// Replaces the trace that the compiler evaluates, if a program traces the kernels or the linker finds them.
// kernel_object asks it for a fault before it takes the image, and finds none.

#include <kaio/dsl/kernel/options.hpp>
#include <kaio/dsl/number/diagnostic.hpp>
#include <kaio/dsl/number/fixed_string.hpp>

namespace kaio::dsl {

template <fixed_string, block_size, kernel_options, class, class...>
struct tracing {
  struct no_trace {
    kernel_fault fault;
  };
  static constexpr no_trace trace{};
  static constexpr kernel_fault fault{};
};

}  // namespace kaio::dsl

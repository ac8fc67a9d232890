#pragma once
// Replaces kaio/dsl/kernel/compilation.hpp where headers of kernels are compiled alone: its folder comes first in the
// include path. A kernel whose image is instantiated is an error, which names the kernel and the line that asks for it;
// nothing of it is evaluated.

#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/dsl/kernel/options.hpp>

namespace kaio::dsl {

template <fixed_string Name, block_size, kernel_options, class Body, class...>
struct tracing {
  static_assert(never<Body>, "kaio: a header instantiates a kernel by being included");
  struct no_trace {
    kernel_fault fault;
  };
  static constexpr no_trace trace{};
  static constexpr kernel_fault fault{};
};

template <fixed_string, block_size, kernel_options, class, class...>
struct compilation {
  static constexpr ptx::kernel_image image{};
};

}  // namespace kaio::dsl

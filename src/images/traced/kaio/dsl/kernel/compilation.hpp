#pragma once
// Replaces kaio/dsl/kernel/compilation.hpp in a program that traces kernels while it runs: the program of each family of
// the operations, and tests. Tracing takes a small part of the compiler's time for the constant. The folder of this header
// comes first in the include path; all sources compile as they are.

#include <kaio/dsl/kernel/launch.hpp>

#include <string_view>

#include "images/native_kernel.hpp"
#include "images/not_evaluated.hpp"

namespace kaio::dsl {

template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
class compilation {
  // Braces evaluate from the left, as the constant expression does; g++ evaluates arguments of a call from the
  // right.
  struct body_call {
    body_call(tracer& t, const P&... parameter) { Body{}(thread(t, Block.dimensions()), parameter...); }
  };

  template <std::uint32_t... I>
  static void run(tracer& t, index_list<I...>) {
    constexpr entry_parameters<sizeof...(P)> entry = entry_parameters_of<P...>();
    const body_call made{t, parameter_of<P>::make(t, entry.number[I])...};
  }

  static const ptx::kernel_image& make() {
    constexpr entry_parameters<sizeof...(P)> entry = entry_parameters_of<P...>();
    static const images::native_kernel made =
        images::trace_entry(Name.view(), Block, Options, {entry.data, entry.data + entry.count},
                            [](tracer& t) { run(t, indices<sizeof...(P)>{}); });
    return made.image();
  }

  struct native_image {
    operator const ptx::kernel_image&() const { return make(); }
  };

 public:
  static constexpr native_image image{};
};

}  // namespace kaio::dsl

#pragma once
// Stands in for kaio/dsl/kernel/compilation.hpp where all kernels of the repository are traced natively: its
// folder comes first in the include path. Every source compiles as it is, but a kernel's image is made by the
// processor, when it is first asked for. The constant evaluation is never instantiated, which takes nine
// tenths off the time to compile.

#define compilation constant_compilation
#define tracing constant_tracing
#include "include/kaio/dsl/kernel/compilation.hpp"
#undef compilation
#undef tracing

#include <functional>
#include <vector>

namespace kaio::dsl {

// tests/native/texts.cpp
const ptx::kernel_image& keep_native_image(std::string_view name, block_size block,
                                           const kernel_options& options,
                                           std::vector<ptx::parameter> parameters,
                                           const std::function<void(tracer&)>& body);

// What kernel_object asks before the image.
template <fixed_string, block_size, kernel_options, class, class...>
struct tracing {
  struct no_trace {
    kernel_fault fault;
  };
  static constexpr no_trace trace{};
  static constexpr kernel_fault fault{};
};

template <fixed_string Name, block_size Block, kernel_options Options, class Body, class... P>
class compilation {
  // The braces of its construction make the parameters in their order, which the arguments of a call have
  // not.
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
    return keep_native_image(Name.view(), Block, Options, {entry.data, entry.data + entry.count},
                             [](tracer& t) { run(t, indices<sizeof...(P)>{}); });
  }

  struct native_image {
    operator const ptx::kernel_image&() const {
      static const ptx::kernel_image& made = make();
      return made;
    }
  };

 public:
  static constexpr native_image image{};
};

}  // namespace kaio::dsl

// Assertions on a kernel's text need the constant, and are checked where that is made.
#define static_assert(...) static_assert(true)

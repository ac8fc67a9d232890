#pragma once
// Properties of a kernel for sm_90a that its launch may choose. ByLaunch: the launch chooses; else they are
// fixed and free.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

using dsl::major;

// A flag of the launch.
template <bool ByLaunch, bool Fixed, class Number>
constexpr val<bool> flag_of(thread t, const Number& is) {
  if constexpr (ByLaunch)
    return t.let(is != 0u);
  else
    return val<bool>(Fixed);
}

// One number for lines along K, another for lines across it.
template <bool ByLaunch, major Fixed>
constexpr val<u32> number_for(thread t, const val<bool>& is_across, const val<u32>& if_along,
                              const val<u32>& if_across) {
  if constexpr (ByLaunch)
    return t.let(select(is_across, if_across, if_along));
  else
    return Fixed == major::k ? if_along : if_across;
}

// Calls f with the direction of lines as a constant.
template <bool ByLaunch, major Fixed, class F>
constexpr void for_direction(thread t, const val<bool>& is_across, const F& f) {
  if constexpr (ByLaunch) {
    if (auto along_k = t.when(!is_across)) f.template operator()<major::k>();
    if (auto across_k = t.otherwise()) f.template operator()<major::mn>();
  } else {
    f.template operator()<Fixed>();
  }
}

}  // namespace kaio::ops

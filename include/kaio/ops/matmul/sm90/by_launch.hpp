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

// Calls f with the width of a product as a constant: the narrowest of configuration C that has `columns`.
template <auto C, std::uint32_t I = 0, class F>
constexpr void for_width(thread t, const val<u32>& columns, const F& f) {
  if constexpr (I + 1 == C.widths) {
    f.template operator()<C.width(I)>();
  } else {
    if (auto wide = t.when(columns > C.width(I + 1))) f.template operator()<C.width(I)>();
    if (auto narrow = t.otherwise()) for_width<C, I + 1>(t, columns, f);
  }
}

// The columns of the tile at `n`: `width`, or all that the kernel has if B is across K and its last panel is moved
// to `last`. A moved panel ends with the tile's own columns.
template <auto C, u32 Panel>
constexpr val<u32> columns_of_tile(thread t, const val<bool>& b_is_across, const val<u32>& width,
                                   const val<u32>& n, const val<u32>& last) {
  if constexpr (C.widths == 1) {
    return width;
  } else {
    static_assert((C.b == major::k && !C.b_by_launch) || C.width(C.widths - 1) > C.n - Panel);
    return t.let(select(all_of(b_is_across, n + (C.n - Panel) > last), C.n, width));
  }
}

}  // namespace kaio::ops

#pragma once
// Stores four neighbours of a row, of any element type.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::ops {

using dsl::scalar;

// The access of with_any_element, for a kernel made for one element type.
template <scalar T>
struct stored_as {
  using stored = T;
  static constexpr val<T> write(thread t, const val<f32>& x) { return t.let(cast<T>(x)); }
};

// Stores x[0] ... x[3] from element `at` of `address` on. Elements from `left` on do not exist. whole: all
// four exist, and their address is a multiple of four elements.
template <class Access, class Four>
constexpr void store_four(thread t, const val<u64>& address, const val<i64>& at, const val<u32>& left,
                          const val<bool>& whole, const Four& x) {
  const auto to = pointer_at<out<typename Access::stored>>(t, address).from(at);
  const auto y = array_of<4>([&](u32 e) { return Access::write(t, t.let(x[e])); });
  if (auto at_once = t.when(whole)) store_vec(to[0], make_vec(y[0], y[1], y[2], y[3]));
  if (auto single = t.otherwise())
    for (u32 e = 0; e < 4; ++e)
      if (auto has = t.when(e < left)) to[e] = y[e];
}

}  // namespace kaio::ops

#pragma once
// The functions of copy: the element itself, as bits or rounded.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

struct copied_bits {
  static constexpr bool copies = true;
  template <class V>
  static constexpr auto apply(thread t, const V& x) {
    return t.let(x);
  }
};
struct converted {
  template <class V>
  static constexpr auto apply(thread t, const V& x) {
    return t.let(x);
  }
};

}  // namespace kaio::ops

#pragma once
// An element as append_kv keeps it.
#include "tests/ops/support.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace kaio::tests {

template <class C, class T>
C kept_on_host(T x, float scale) {
  if constexpr (std::is_same_v<C, T>) {
    return x;
  } else {
    const float y = static_cast<float>(to_double(x)) / scale;
    if constexpr (std::is_same_v<C, i8>) {
      if (std::isnan(y)) return 0;
      return static_cast<i8>(std::clamp(std::nearbyint(y), -127.0f, 127.0f));
    } else {
      return C(y);
    }
  }
}

}  // namespace kaio::tests

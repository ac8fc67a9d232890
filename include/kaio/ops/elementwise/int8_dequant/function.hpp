#pragma once
// The function of int8_dequant with one scale.

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

struct scaled_code {
  static constexpr auto apply(thread t, const val<i8>& code, const val<f32>& scale) {
    return t.let(cast<f32>(code) * scale);
  }
};

}  // namespace kaio::ops

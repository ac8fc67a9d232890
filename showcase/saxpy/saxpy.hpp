#pragma once
// y = a x + y, the usual first kernel.

#include <kaio/dsl/dsl.hpp>

namespace kaio::showcase {

inline constexpr auto saxpy =
    kernel<"saxpy", 256>([](thread t, in<f32> x, inout<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] += a * x[i];
    });

static_assert(saxpy.ptx().contains("fma.rn.f32"));

}  // namespace kaio::showcase

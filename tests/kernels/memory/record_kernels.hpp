#pragma once
// The kernels that test structs as values and variables.

#include "tests/kernels/memory/memory_kernels.hpp"

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

struct complex {
  f32 re, im;
};

constexpr val<complex> product(const val<complex>& a, const val<complex>& b) {
  return make_struct<complex>(a[&complex::re] * b[&complex::re] - a[&complex::im] * b[&complex::im],
                              a[&complex::re] * b[&complex::im] + a[&complex::im] * b[&complex::re]);
}

// Powers of a complex number until it is large, in a variable that a loop changes; and a product over the warp.
inline constexpr auto complex_powers =
    kernel<"complex_powers", 32>([](thread t, in<complex> x, inout<complex> y, out<complex> z, out<u32> steps,
                                    val<complex> factor, val<u32> n) {
      val i = t.global_id();
      val<complex> a = x[i];
      var<complex> power(t, complex{1, 0});
      var count(t, 0u);
      for (auto l : t.loop()) {
        val size = power[&complex::re] * power[&complex::re] + power[&complex::im] * power[&complex::im];
        l.break_if(any_of(size > 1000.0f, count == 20));
        power = product(power, a);
        count += 1;
      }
      if (auto g = t.when(count == 20)) power = complex{-1, -2};
      if (auto g = t.otherwise()) {
        power[&complex::re] += 1.0f;
        power[&complex::im] = cast<f32>(count);
      }
      y[i + n] = y[i];
      val before = y[i];
      y[i] = power;
      y[i + 2 * n] = before;
      var copy = power;
      copy = product(copy, factor);
      power = copy;
      steps[i] = count;
      z[i] = power;
      shared<complex, 32> own(t);
      own[t.thread_rank()] = x[i];
      t.barrier();
      z[i + n] = own[31 - t.thread_rank()];
      z[i + 2 * n] = shfl_xor(a, 1);
      z[i + 3 * n] = warp_reduce(t, a, [](const val<complex>& l, const val<complex>& r) {
        return make_struct<complex>(max(l[&complex::re], r[&complex::re]),
                                    min(l[&complex::im], r[&complex::im]));
      });
      z[i + 4 * n] = complex{1.5f, -2.5f};
      const val zero(t, complex{});
      z[i + 5 * n] = t.let(zero);
    });
inline constexpr u32 complex_rows = 6;

// A struct with members of every kind, through registers.
inline constexpr auto whole_structs = kernel<"whole_structs", 32>(
    [](thread t, in<body> x, inout<body> y, out<body> z, val<body> p, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        z[i] = x[i];
        val<body> other = y[i];
        var b(t, other);
        b[&body::mass] *= other[&body::mass];
        b[&body::alive] &= x[i][&body::alive];
        b[&body::charge] = x[i][&body::charge];
        b[&body::friction] *= 2.0f;
        b[&body::position] =
            map([](auto a, auto c) { return a + c; }, other[&body::position], p[&body::position]);
        b[&body::position][2] += 1.0f;
        b[&body::stock][1] = x[i][&body::stock][0];
        b[&body::stock][0][&quantity::amount] = p[&body::stock][1][&quantity::amount];
        for (u32 k = 0; k < 3; ++k) b[&body::tags][k] ^= p[&body::tags][2 - k];
        if (auto odd = t.when(i % 2 == 1)) b[&body::id] += 5;
        y[i] = b;
        b = p;
        z[i + n] = b;
      }
    });

}  // namespace kaio::tests

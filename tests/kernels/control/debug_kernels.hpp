#pragma once
// Kernels that print and assert.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Every conversion; the thread that prints is chosen, so that there is one text.
inline constexpr auto prints_everything =
    kernel<"prints_everything", 32>([](thread t, in<f32> x, in<f16> h, val<i32> i, val<u32> u, val<i64> l,
                                       val<u64> m, val<f64> d, val<u32> who) {
      if (auto one = t.when(t.global_id() == who)) {
        device_print(t, "plain text, 100%%\n");
        device_print(t, "%d %i|%5d|%-5d|%05d|%+d\n", i, i, i, i, i, i);
        device_print(t, "%u %x %X %o %#x\n", u, u, u, u, u);
        device_print(t, "%ld %lld %lu %llu %llx %p\n", l, l, m, m, m, m);
        device_print(t, "%f %.3f %10.2f %e %g %a\n", x[0], x[1], x[0], d, d, d);
        device_print(t, "%f %f\n", h[0], cast<bf16>(x[0]));
        device_print(t, "%d %d %u %u %c%c\n", cast<i8>(i), cast<i16>(i), cast<u8>(u), cast<u16>(u),
                     cast<u8>(val(107u)), 'o');
        var total(t, 0.0f);
        for (auto k : t.range(0u, 3)) {
          total += x[k];
          device_print(t, "%u: %lld of %g\n", k, l + cast<i64>(k), total);
        }
        device_print(t, "%d %f %lld\n", -3, 0.5, i64{1} << 40);
      }
    });

// All lanes print, each its own line.
inline constexpr auto prints_by_lane = kernel<"prints_by_lane", 64>([](thread t, val<u32> n) {
  val i = t.global_id();
  if (auto few = t.when(i < n)) device_print(t, "thread %u\n", i);
});

inline constexpr auto asserts = kernel<"asserts", 64>([](thread t, in<u32> x, out<u32> y, val<u32> limit) {
  val i = t.global_id();
  val v = x[i];
  if (auto odd = t.when(v % 2 == 1)) device_assert(t, v < limit, "an odd value is below the limit");
  device_assert(t, v != 1000, "no value is 1000");
  y[i] = v + 1;
});

inline constexpr auto asserts_nothing =
    kernel<"asserts_nothing", 64, kernel_options{.assertions = false}>([](thread t, in<u32> x, out<u32> y) {
      val i = t.global_id();
      device_assert(t, x[i] > 1000, "not compiled in");
      y[i] = x[i];
    });

}  // namespace kaio::tests

#pragma once
// Kernels for known silent errors of GPU languages: each would compile, run, and give another number.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// Integer literals next to floats are those numbers, not their bits.
inline constexpr auto literal_operands = kernel<"literal_operands", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  val v = x[i];
  y[i] = v * 2;
  y[i + 32] = v + 1;
  y[i + 64] = 1 / v;
  y[i + 96] = max(v, 1);
  y[i + 128] = select(v < 1, v, 0);
  var w(t, 0.0f);
  w = 1;
  w += 2;
  y[i + 160] = w;
});

// Declarations of a body end with it, and a name may be used again after it.
inline constexpr auto inner_names = kernel<"inner_names", 32>([](thread t, in<i32> x, out<i32> y) {
  val i = t.thread_rank();
  val v = x[i];
  if (auto positive = t.when(v > 0)) {
    var w = v * 10 + 1;
    w += 1;
    y[i + 32] = w;
  }
  var w = v;
  y[i] = v + w;
});

// Conversions in both directions between all widths, and to the same type.
inline constexpr auto widths = kernel<"widths", 32>([](thread t, in<f32> x, out<f64> y, out<f32> z) {
  val i = t.thread_rank();
  val wide = cast<f64>(x[i]);
  y[i] = wide * wide;
  z[i] = cast<f32>(cast<f32>(cast<f64>(cast<f16>(x[i]))));
});

// A negative i32 index is before the pointer; a u32 is never negative.
inline constexpr auto signed_indices =
    kernel<"signed_indices", 32>([](thread t, in<f32> x, out<f32> y, val<u32> large) {
      val i = cast<i32>(t.thread_rank());
      const in<f32> middle = x.from(32);
      y[i] = middle[i - 32];
      y[i + 32] = middle[-1 - i];
      y[i + 64] = cast<f32>(large > 0) + cast<f32>(0 < large) + cast<f32>(large / 2);
    });

// Saturated functions stay finite and right beyond the range of their parts.
inline constexpr auto tails = kernel<"tails", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  val v = x[i];
  y[i] = tanh(v);
  y[i + 32] = gelu(v);
  y[i + 64] = gelu_tanh(v);
  y[i + 96] = sigmoid(v);
});

// Two reductions in a row, for a block whose last warp is partial: neither overwrites memory that the other
// still reads.
inline constexpr auto reductions_in_a_row =
    kernel<"reductions_in_a_row", 48>([](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
      val i = t.thread_rank();
      var v = x[i];
      for (auto k : t.range(0u, rounds)) {
        val largest = block_reduce(t, v + cast<f32>(k), maximum{});
        val sum = block_reduce(t, exp(v - largest), plus{});
        v = exp(v - largest) / sum;
      }
      y[i] = v;
    });

// The bound of a loop is taken once, before it begins.
inline constexpr auto moving_bound = kernel<"moving_bound", 32>([](thread t, out<u32> y, val<u32> n) {
  var last(t, n);
  var rounds(t, 0u);
  for (auto k : t.range(0u, last)) {
    last += k + 1;
    rounds += 1;
  }
  y[t.thread_rank()] = rounds;
});

// bool travels through parameters, memory and registers as a value.
inline constexpr auto flags = kernel<"flags", 32>([](thread t, in<bool> x, out<bool> y, val<bool> invert) {
  val i = t.thread_rank();
  y[i] = x[i] != invert;
});

}  // namespace kaio::tests

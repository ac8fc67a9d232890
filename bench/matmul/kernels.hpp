#pragma once
// The kernels around a measurement: random inputs, outputs that nothing has written, a cold cache, and the
// check of a product.

#include <kaio/kaio.hpp>

namespace kaio::bench {

// A mixing of 32 bits in which every output bit depends on every input bit. Source: Wang and others' search
// for short integer hashes, "Hash Function Prospector", constants of lowbias32.
template <class X>
constexpr auto mixed(const X& x) {
  val a = (x ^ (x >> 16)) * 0x7feb352du;
  val b = (a ^ (a >> 15)) * 0x846ca68bu;
  return val<u32>(b ^ (b >> 16));
}

// N(0, 1), the same numbers for the same seed. Source: Box and Muller, "A Note on the Generation of Random
// Normal Deviates".
template <class T>
inline constexpr auto fill_normal =
    kernel<"fill_normal_" + type_name<T>, 256>([](thread t, out<T> y, val<u32> seed, val<u64> n) {
      for (auto i : t.grid_stride(n)) {
        val first = mixed(cast<u32>(i) ^ seed);
        val second = mixed(first + cast<u32>(i >> 32u) + 0x9e3779b9u);
        val radius = sqrt(-2.0f * log((cast<f32>(first >> 8) + 1.0f) * 0x1p-24f));
        y[i] = cast<T>(radius * cospi(2.0f * (cast<f32>(second >> 8) * 0x1p-24f)));
      }
    });

// Every element times a power of 2.
template <class T>
inline constexpr auto scale_elements =
    kernel<"scale_elements_" + type_name<T>, 256>([](thread t, inout<T> y, val<f32> factor, val<u64> n) {
      for (auto i : t.grid_stride(n)) y[i] = cast<T>(cast<f32>(y[i]) * factor);
    });

// Every element NaN: an output that is not written shows.
template <class T>
inline constexpr auto poison = kernel<"poison_" + type_name<T>, 256>([](thread t, out<T> y, val<u64> n) {
  for (auto i : t.grid_stride(n)) y[i] = T(__builtin_nanf(""));
});

// Reads all of `x`, so that the L2 cache holds nothing else, and nothing that would have to be written back.
inline constexpr auto displace_cache =
    kernel<"displace_cache", 256>([](thread t, in<f32x4> x, out<f32> y, val<u64> n) {
      var sum(t, 0.0f);
      for (auto i : t.grid_stride(n)) {
        val v = x[i];
        sum += v[0] + v[1] + v[2] + v[3];
      }
      if (auto never = t.when(sum == 12345.678f)) y[0] = sum;
    });

// sums[0] += |a - b|^2, sums[1] += |b|^2 over all elements; a NaN on either side makes the first NaN.
template <class T>
inline constexpr auto squared_distance = kernel<"squared_distance_" + type_name<T>, 256>(
    [](thread t, in<T> a, in<T> b, inout<f64> sums, val<u64> n) {
      var difference(t, 0.0);
      var size(t, 0.0);
      for (auto i : t.grid_stride(n)) {
        val x = cast<f64>(a[i]);
        val y = cast<f64>(b[i]);
        difference += (x - y) * (x - y);
        size += y * y;
      }
      val whole = warp_reduce(t, difference, [](auto x, auto y) { return x + y; });
      val reference = warp_reduce(t, size, [](auto x, auto y) { return x + y; });
      if (auto first = t.when(lane_id() == 0)) {
        atomic_add(sums[0], whole);
        atomic_add(sums[1], reference);
      }
    });

struct sampled_product {
  u64 m, n, k, batch;
  u64 a_row, a_column, b_row, b_column;  // strides, in elements
};

// One warp for each of `samples` elements of C: the exact sum in f64, and the element of C.
template <class T, class Out>
inline constexpr auto sample_product = kernel<"sample_product_" + type_name<T> + "_" + type_name<Out>, 32>(
    [](thread t, in<T> a, in<T> b, in<Out> c, out<f64> want, out<f64> got, val<sampled_product> p) {
      val sample = t.let(block_idx_x());
      val batch = cast<u64>(mixed(sample * 3u)) % p[&sampled_product::batch];
      val row = cast<u64>(mixed(sample * 3u + 1u)) % p[&sampled_product::m];
      val column = cast<u64>(mixed(sample * 3u + 2u)) % p[&sampled_product::n];
      val m = p[&sampled_product::m];
      val n = p[&sampled_product::n];
      val k = p[&sampled_product::k];
      val from_a = batch * m * k + row * p[&sampled_product::a_row];
      val from_b = batch * k * n + column * p[&sampled_product::b_column];
      var sum(t, 0.0);
      for (auto i : t.range(cast<u64>(t.thread_rank()), k, 32))
        sum += cast<f64>(a[from_a + i * p[&sampled_product::a_column]]) *
               cast<f64>(b[from_b + i * p[&sampled_product::b_row]]);
      val whole = warp_reduce(t, sum, [](auto x, auto y) { return x + y; });
      if (auto first = t.when(t.thread_rank() == 0)) {
        want[sample] = whole;
        got[sample] = cast<f64>(c[(batch * m + row) * n + column]);
      }
    });

// Adds to each of the sums of sample_product the element of `x` for its place in C: of a bias or residual.
// Strides in elements; 0 repeats.
struct sampled_term {
  u64 batch, row, column;
};
template <class T>
inline constexpr auto sample_term =
    kernel<"sample_term_" + type_name<T>, 32>([](thread t, in<T> x, inout<f64> want, val<sampled_product> p,
                                                 val<sampled_term> strides, val<u64> samples) {
      for (auto i : t.grid_stride(samples)) {
        val sample = cast<u32>(i);
        val batch = cast<u64>(mixed(sample * 3u)) % p[&sampled_product::batch];
        val row = cast<u64>(mixed(sample * 3u + 1u)) % p[&sampled_product::m];
        val column = cast<u64>(mixed(sample * 3u + 2u)) % p[&sampled_product::n];
        val at = batch * strides[&sampled_term::batch] + row * strides[&sampled_term::row] +
                 column * strides[&sampled_term::column];
        want[i] = want[i] + cast<f64>(x[at]);
      }
    });

}  // namespace kaio::bench

// The kernels of tests/c/kernels.c and tests/python/test_kernels.py, as a library that both load.
#include <kaio/dsl/dsl.hpp>
#include <kaio/tool/kernel_library.hpp>

using namespace kaio;

namespace tests {

inline constexpr auto saxpy =
    kernel<"saxpy", 256>([](thread t, in<f32> x, inout<f32> y, val<f32> a, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] += a * x[i];
    });

// Each parameter, as f64.
inline constexpr auto numbers =
    kernel<"numbers", 1>([](thread, out<f64> y, val<f32> a, val<f16> b, val<bf16> c, val<f64> d, val<i8> e,
                            val<u16> f, val<i64> g, val<u64> h, val<bool> i, val<e4m3> j) {
      y[0] = cast<f64>(a);
      y[1] = cast<f64>(b);
      y[2] = cast<f64>(c);
      y[3] = d;
      y[4] = cast<f64>(e);
      y[5] = cast<f64>(f);
      y[6] = cast<f64>(g);
      y[7] = cast<f64>(h);
      y[8] = select(i, 1.0, 0.0);
      y[9] = cast<f64>(cast<f32>(j));
    });

struct affine {
  f32 scale, offset;
  u32 n;
};
inline constexpr auto apply = kernel<"apply", 64>([](thread t, inout<f32> x, val<affine> a) {
  val i = t.global_id();
  if (auto in_range = t.when(i < a[&affine::n])) x[i] = x[i] * a[&affine::scale] + a[&affine::offset];
});

// Four numbers for each thread.
inline constexpr auto negate4 = kernel<"negate4", 32>([](thread t, inout<f32x4> x, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) x[i] = map([](auto a) { return -a; }, x[i]);
});

// Column by row, with the strides of both.
inline constexpr auto transpose =
    kernel<"transpose", block_size{8, 8}>([](thread t, in<f32> x, val<u64> x_stride, out<f32> y,
                                             val<u64> y_stride, val<u32> rows, val<u32> columns) {
      val column = t.global_id_x(), row = t.global_id_y();
      if (auto in_range = t.when(all_of(row < rows, column < columns)))
        y[cast<u64>(column) * y_stride + cast<u64>(row)] = x[cast<u64>(row) * x_stride + cast<u64>(column)];
    });

template <class T>
inline constexpr auto twice = kernel<"twice", 64>([](thread t, inout<T> x, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) x[i] += x[i];
});

inline constexpr auto nothing = kernel<"nothing", 32>([](thread, val<u32>) {});

// Reads an element past the end.
inline constexpr auto beyond = kernel<"beyond", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = x[i + 1u];
});

// Reads its neighbour's element without a barrier.
inline constexpr auto rotate = kernel<"rotate", 64>([](thread t, inout<f32> x) {
  shared<f32, 64> kept(t);
  val i = t.thread_rank();
  kept[i] = x[i];
  x[i] = kept[(i + 1u) % 64u];
});

}  // namespace tests

KAIO_KERNEL_LIBRARY(tests::saxpy, tests::numbers, tests::apply, tests::negate4, tests::transpose,
                    tests::twice<f32>, tests::twice<i32>, tests::nothing, tests::beyond, tests::rotate);

#pragma once
// Twelve kernels that every user writes, in the language; kernels.cu has the same ones in CUDA C++.
// compare.py compares what ptxas makes of both.

#include <kaio/dsl/dsl.hpp>

#include <boost/hana/tuple.hpp>

#include <limits>

namespace kaio::bench {

inline constexpr auto saxpy =
    kernel<"bench_saxpy", 256>([](thread t, val<f32> a, in<f32> x, inout<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = a * x[i] + y[i];
    });

inline constexpr auto silu =
    kernel<"bench_silu", 256>([](thread t, in<f32> x, in<f32> gate, out<f32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = x[i] / (1.0f + exp(-x[i])) * gate[i];
    });

inline constexpr auto gelu = kernel<"bench_gelu", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] = 0.5f * x[i] * (1.0f + erf(x[i] * 0.707106781f));
});

inline constexpr auto softmax_row =
    kernel<"bench_softmax_row", 256>([](thread t, in<f32> x, out<f32> y, val<u32> columns) {
      val first = cast<u64>(block_idx_x()) * cast<u64>(columns);
      val rank = t.thread_rank();
      var largest(t, -std::numeric_limits<f32>::infinity());
      for (auto k : t.range(rank, columns, 256).no_unroll()) largest = max(largest, x[first + cast<u64>(k)]);
      val top = block_reduce(t, largest, maximum{});
      var sum(t, 0.0f);
      for (auto k : t.range(rank, columns, 256).no_unroll()) sum += exp(x[first + cast<u64>(k)] - top);
      val scale = 1.0f / block_reduce(t, sum, plus{});
      for (auto k : t.range(rank, columns, 256).no_unroll())
        y[first + cast<u64>(k)] = exp(x[first + cast<u64>(k)] - top) * scale;
    });

inline constexpr auto rms_norm_row = kernel<"bench_rms_norm_row", 256>(
    [](thread t, in<f32> x, in<f32> weight, out<f32> y, val<u32> columns, val<f32> epsilon) {
      val first = cast<u64>(block_idx_x()) * cast<u64>(columns);
      val rank = t.thread_rank();
      var squares(t, 0.0f);
      for (auto k : t.range(rank, columns, 256).no_unroll()) {
        val xk = x[first + cast<u64>(k)];
        squares += xk * xk;
      }
      val sum = block_reduce(t, squares, plus{});
      val scale = rsqrt(sum / cast<f32>(columns) + epsilon);
      for (auto k : t.range(rank, columns, 256).no_unroll())
        y[first + cast<u64>(k)] = x[first + cast<u64>(k)] * scale * weight[k];
    });

inline constexpr auto transpose = kernel<"bench_transpose", block_size{32, 8}>(
    [](thread t, in<f32> x, out<f32> y, val<u32> rows, val<u32> columns) {
      shared<f32, 32, 33> tile(t);
      val tx = t.let(thread_idx_x());
      val ty = t.let(thread_idx_y());
      val column = block_idx_x() * 32 + tx;
      val row = block_idx_y() * 32 + ty;
      for (u32 k = 0; k < 32; k += 8)
        if (auto inside = t.when((row + k < rows) & (column < columns)))
          tile[ty + k][tx] = x[cast<u64>(row + k) * cast<u64>(columns) + cast<u64>(column)];
      t.barrier();
      val to_column = block_idx_y() * 32 + tx;
      val to_row = block_idx_x() * 32 + ty;
      for (u32 k = 0; k < 32; k += 8)
        if (auto inside = t.when((to_row + k < columns) & (to_column < rows)))
          y[cast<u64>(to_row + k) * cast<u64>(rows) + cast<u64>(to_column)] = tile[tx][ty + k];
    });

inline constexpr auto histogram =
    kernel<"bench_histogram", 256>([](thread t, in<u8> x, inout<u32> counts, val<u32> n) {
      shared<u32, 256> local(t);
      val rank = t.thread_rank();
      local[rank] = 0;
      t.barrier();
      for (auto i : t.range(t.global_id(), n, grid_dim_x() * 256).no_unroll()) atomic_add(local[x[i]], 1u);
      t.barrier();
      atomic_add(counts[rank], local[rank]);
    });

inline constexpr auto scan = kernel<"bench_scan", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  var mine(t, 0.0f);
  if (auto in_range = t.when(i < n)) mine = x[i];
  val sum = block_inclusive_scan(t, mine, plus{});
  if (auto in_range = t.when(i < n)) y[i] = sum;
});

inline constexpr auto stencil = kernel<"bench_stencil", block_size{32, 8}>(
    [](thread t, in<f32> x, out<f32> y, val<i32> width, val<i32> height, val<i32> depth, val<f32> center,
       val<f32> side) {
      val i = t.let(cast<i32>(block_idx_x() * 32 + thread_idx_x()));
      val j = t.let(cast<i32>(block_idx_y() * 8 + thread_idx_y()));
      val k = t.let(cast<i32>(block_idx_z()));
      val inner = all_of(i > 0, i<width - 1, j> 0, j<height - 1, k> 0, k < depth - 1);
      if (auto inside = t.when(inner)) {
        val plane = width * height;
        val at = k * plane + j * width + i;
        y[at] = center * x[at] + side * (x[at - 1] + x[at + 1] + x[at - width] + x[at + width] +
                                         x[at - plane] + x[at + plane]);
      }
    });

inline constexpr auto tiled_matmul = kernel<"bench_tiled_matmul", block_size{16, 16}>(
    [](thread t, in<f32> a, in<f32> b, out<f32> c, val<u32> n) {
      shared<f32, 16, 16> left(t);
      shared<f32, 16, 16> right(t);
      val tx = t.let(thread_idx_x());
      val ty = t.let(thread_idx_y());
      val row = block_idx_y() * 16 + ty;
      val column = block_idx_x() * 16 + tx;
      var sum(t, 0.0f);
      for (auto k : t.range(0u, n, 16).no_unroll()) {
        left[ty][tx] = a[row * n + k + tx];
        right[ty][tx] = b[(k + ty) * n + column];
        t.barrier();
        for (u32 j = 0; j < 16; ++j) sum += left[ty][j] * right[j][tx];
        t.barrier();
      }
      c[row * n + column] = sum;
    });

struct moments {
  val<f32> count, mean, m2;
};
struct combine {
  constexpr moments operator()(const moments& a, const moments& b) const {
    val count = a.count + b.count;
    val delta = b.mean - a.mean;
    val share = select(count > 0.0f, b.count / count, 0.0f);
    return {count, a.mean + delta * share, a.m2 + b.m2 + delta * delta * a.count * share};
  }
};

inline constexpr auto welford =
    kernel<"bench_welford", 256>([](thread t, in<f32> x, out<f32> mean, out<f32> variance, val<u32> columns) {
      val first = cast<u64>(block_idx_x()) * cast<u64>(columns);
      val rank = t.thread_rank();
      var count(t, 0.0f);
      var average(t, 0.0f);
      var m2(t, 0.0f);
      for (auto k : t.range(rank, columns, 256).no_unroll()) {
        val xk = x[first + cast<u64>(k)];
        count += 1.0f;
        val delta = xk - average;
        average += delta / count;
        m2 += delta * (xk - average);
      }
      const moments all = block_reduce(t, moments{count, average, m2}, combine{});
      if (auto one = t.when(rank == 0)) {
        mean[block_idx_x()] = all.mean;
        variance[block_idx_x()] = all.m2 / all.count;
      }
    });

inline constexpr auto rope = kernel<"bench_rope", 128>(
    [](thread t, in<f32> x, in<f32> frequency, out<f32> y, val<u32> heads, val<u32> pairs) {
      val position = t.let(block_idx_x());
      val pair = t.thread_rank();
      if (auto in_range = t.when(pair < pairs)) {
        val angle = cast<f32>(position) * frequency[pair];
        const auto [sine, cosine] = sincos(angle);
        val at = (cast<u64>(position) * cast<u64>(heads) + cast<u64>(block_idx_y())) * cast<u64>(2 * pairs) +
                 cast<u64>(pair);
        val a = x[at];
        val b = x[at + cast<u64>(pairs)];
        y[at] = a * cosine - b * sine;
        y[at + cast<u64>(pairs)] = a * sine + b * cosine;
      }
    });

inline constexpr auto instruction_kernels =
    boost::hana::make_tuple(saxpy, silu, gelu, softmax_row, rms_norm_row, transpose, histogram, scan, stencil,
                            tiled_matmul, welford, rope);

}  // namespace kaio::bench

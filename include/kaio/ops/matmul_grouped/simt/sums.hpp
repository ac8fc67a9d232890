#pragma once
// C[g] = A[g]^T * B[g] on any device, of operands with any strides: a block has 64 x 64 of C of a group, in steps of 16
// rows, and a thread 4 x 4, sixteen rows and columns apart.

#include <kaio/ops/matmul_grouped/common/sums.hpp>
#include <kaio/ops/matmul_grouped/simt/kernel.hpp>

namespace kaio::ops {

struct grouped_sums_simt_problem {
  grouped_sum_tiles tiles;
  u64 a, b, c;
  i64 a_row, a_m, b_row, b_n, c_group, c_m, c_n;  // strides in elements
  u32 m, n;
  u32 type, out_type;  // an element_type
  u32 accumulate;
  u32 unused = 0;
};

template <class = void>
inline constexpr auto grouped_sums_simt =
    kaio::kernel<"matmul_grouped_sums_any", 256, kernel_options{.target = {70}}>(
        [](thread t, val<grouped_sums_simt_problem> problem) {
          using p = grouped_sums_simt_problem;
          using body = grouped_simt_body<false>;
          constexpr u32 side = 64, depth = 16;
          shared<f32, depth, 65> a(t), b(t);  // [row][m], [row][n]
          const grouped_sum_tile tile = sum_tile_at(t, problem[&p::tiles], t.let(block_idx_x() + 0u));
          const val rank = t.let(t.thread_rank());
          const val x = t.let(rank % 16u), y = t.let(rank / 16u);
          const val first_m = t.let(tile.m * side), first_n = t.let(tile.n * side);
          const val size_m = t.let(problem[&p::m]), size_n = t.let(problem[&p::n]);
          const val type = t.let(problem[&p::type]);
          auto sums = array_of<16>([&](u32) { return var(t, 0.0f); });
          for (auto step : t.range(0u, tile.rows, depth).no_unroll()) {
            const val from = t.let(step);
            const auto bring = [&](auto& to, const val<u64>& base, const val<i64>& row_stride,
                                   const val<i64>& stride, const val<u32>& first, const val<u32>& size) {
              for (u32 i = 0; i < side * depth / 256; ++i) {
                const val place = t.let(rank + 256u * i);
                const val row = t.let(place / side), column = t.let(place % side);
                var value(t, 0.0f);
                if (auto inside = t.when(all_of(from + row < tile.rows, first + column < size)))
                  value = body::element(t, base,
                                        t.let(cast<i64>(tile.first + from + row) * row_stride +
                                              cast<i64>(first + column) * stride),
                                        type);
                to[row][column] = value;
              }
            };
            const val a_m = t.let(problem[&p::a_m]), a_row = t.let(problem[&p::a_row]);
            const val a_first = t.let(problem[&p::a]);
            bring(a, a_first, a_row, a_m, first_m, size_m);
            const val b_n = t.let(problem[&p::b_n]), b_row = t.let(problem[&p::b_row]);
            const val b_first = t.let(problem[&p::b]);
            bring(b, b_first, b_row, b_n, first_n, size_n);
            t.barrier();
            for (auto j : t.range(0u, depth).template unroll<4>()) {
              const auto of_a = array_of<4>([&](u32 i) { return t.let(a[j][y + 16u * i]); });
              const auto of_b = array_of<4>([&](u32 i) { return t.let(b[j][x + 16u * i]); });
              for (u32 i = 0; i < 16; ++i) sums[i] = fma(of_a[i / 4], of_b[i % 4], sums[i]);
            }
            t.barrier();
          }
          const val out_type = t.let(problem[&p::out_type]);
          const val accumulate = t.let(problem[&p::accumulate] != 0u);
          const val address = t.let(problem[&p::c]);
          for (u32 i = 0; i < 16; ++i) {
            const val row = t.let(first_m + y + 16u * (i / 4)), column = t.let(first_n + x + 16u * (i % 4));
            if (auto inside = t.when(all_of(row < size_m, column < size_n))) {
              const val at = t.let(cast<i64>(tile.group) * problem[&p::c_group] +
                                   cast<i64>(row) * problem[&p::c_m] + cast<i64>(column) * problem[&p::c_n]);
              var sum(t, sums[i]);
              if (auto adds = t.when(accumulate)) {
                if (auto single = t.when(out_type == static_cast<u32>(element_type::f32)))
                  sum += pointer_at<inout<f32>>(t, address)[at];
                if (auto half = t.when(out_type == static_cast<u32>(element_type::f16)))
                  sum += cast<f32>(pointer_at<inout<f16>>(t, address)[at]);
                if (auto brain = t.when(out_type == static_cast<u32>(element_type::bf16)))
                  sum += cast<f32>(pointer_at<inout<bf16>>(t, address)[at]);
              }
              body::store(t, address, at, out_type, t.let(sum));
            }
          }
        });

}  // namespace kaio::ops

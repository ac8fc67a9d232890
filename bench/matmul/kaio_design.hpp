#pragma once
// KAIO's design: the tensor-core matmul of the Rust project KAIO (kaio-ops, matmul_tc), its geometry
// rewritten in this language, as a yardstick. A block of 4 warps computes 64 x 64 of C in steps of 16 along
// k; each warp 32 x 32 of it with 2 x 4 mma.sync.m16n8k16 a step. A goes through shared memory row by row, B
// turned there element by element; no ldmatrix, no swizzle, one stage. k is a multiple of 16, m and n are
// any.
//
//            64 columns                 A: 64 x 16 of T, B^T: 64 x 16 (+ 2 against bank conflicts)
//         +-------+-------+
//      64 | warp0 | warp1 |             each warp: 2 rows of 16, 4 columns of 8
//    rows +-------+-------+
//         | warp2 | warp3 |
//         +-------+-------+

#include <kaio/kaio.hpp>

namespace kaio::bench {

template <class T>
inline constexpr auto kaio_design =
    kernel<"kaio_design_" + type_name<T>, 128, kernel_options{.target = {80}}>(
        [](thread t, in<T> a, in<T> b, out<f32> c, val<u32> m, val<u32> n, val<u32> k) {
          using mma = mma_m16n8k16<f32, T>;
          constexpr u32 tile = 64, step = 16, padded = step + 2;
          shared_tile<T, tile, step> a_tile(t);    // rows of A
          shared_tile<T, tile, padded> b_tile(t);  // columns of B
          val row0 = block_idx_y() * tile;
          val column0 = block_idx_x() * tile;
          val rank = t.thread_rank();
          val warp = rank / 32;
          val warp_row = warp / 2 * 32;
          val warp_column = warp % 2 * 32;

          auto sums = array_of<8>([&](u32) { return typename mma::accumulator(t, 0.0f); });
          auto a_parts = array_of<2>([&](u32) { return typename mma::a_fragment(t); });
          auto b_parts = array_of<4>([&](u32) { return typename mma::b_fragment(t); });

          for (auto k0 : t.range(0u, k, step)) {
            // A: 8 elements a thread, pair by pair; B: 8 elements a thread, one by one, rows of 64 across the
            // threads.
            for (u32 i = 0; i < 4; ++i) {
              val at = rank + 128 * i;
              val r = at / 8;
              val s = at % 8 * 2;
              var low(t, T(0.0f));
              var high(t, T(0.0f));
              if (auto inside = t.when(row0 + r < m)) {
                val both = load_vec<2>(a[cast<u64>(row0 + r) * cast<u64>(k) + cast<u64>(k0 + s)]);
                low = both[0];
                high = both[1];
              }
              store_vec(a_tile[r][s], make_vec(low, high));
            }
            for (u32 i = 0; i < 8; ++i) {
              val at = rank + 128 * i;
              val r = at / 64;
              val s = at % 64;
              var one(t, T(0.0f));
              if (auto inside = t.when(column0 + s < n))
                one = b[cast<u64>(k0 + r) * cast<u64>(n) + cast<u64>(column0 + s)];
              b_tile[s][r] = one;
            }
            t.barrier();
            for (u32 i = 0; i < 2; ++i)
              for (u32 r = 0; r < mma::a_fragment::register_count; ++r) {
                const auto row = warp_row + 16 * i + mma::a_fragment::row(2 * r);
                val pair = load_vec<2>(a_tile[row][mma::a_fragment::column(2 * r)]);
                a_parts[i].registers[r] = pack(pair[0], pair[1]);
              }
            for (u32 j = 0; j < 4; ++j)
              for (u32 r = 0; r < mma::b_fragment::register_count; ++r) {
                const auto column = warp_column + 8 * j + mma::b_fragment::column(2 * r);
                val pair = load_vec<2>(b_tile[column][mma::b_fragment::row(2 * r)]);
                b_parts[j].registers[r] = pack(pair[0], pair[1]);
              }
            for (u32 i = 0; i < 2; ++i)
              for (u32 j = 0; j < 4; ++j)
                mma::multiply_add(sums[4 * i + j], a_parts[i], b_parts[j]);  // 16 x 8 x 16
            t.barrier();
          }

          for (u32 i = 0; i < 2; ++i)
            for (u32 j = 0; j < 4; ++j)
              sums[4 * i + j].for_each([&](auto x, auto r, auto s) {
                val row = row0 + warp_row + 16 * i + r;
                val column = column0 + warp_column + 8 * j + s;
                if (auto inside = t.when((row < m) & (column < n)))
                  c[cast<u64>(row) * cast<u64>(n) + cast<u64>(column)] = x;
              });
        });

}  // namespace kaio::bench

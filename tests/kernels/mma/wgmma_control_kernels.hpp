#pragma once
// The kernels that test how products of wgmma follow each other: groups in flight around a loop, parts of
// tiles, operands in registers, accumulators that become operands.

#include "tests/kernels/mma/wgmma_kernels.hpp"

namespace kaio::tests {

// C = A * B, M = 128 in two warpgroups, K in tiles of 64 columns that two buffers hold in turn: the products
// of one tile are in flight while the next is filled.
inline constexpr auto wgmma_pipeline =
    kernel<"wgmma_pipeline", 256, for_wgmma>([](thread t, in<f16> a, in<f16> b, out<f32> c, val<u32> tiles) {
      constexpr u32 n = 32;
      const shared_tiles<f16, 128, 64, swizzled<128>, 2> a_ring(t);
      const shared_tiles<f16, 64, n, swizzled<64>, 2> b_ring(t);
      wgmma_accumulator<f32, n> acc(t);
      val warpgroup = t.thread_rank() / 128;
      for (auto k : t.range(0u, tiles)) {
        val stage = k % 2;
        const auto a_tile = a_ring[stage];
        const auto b_tile = b_ring[stage];
        for (auto i : t.block_stride(128u * 64u))
          a_tile[i / 64][i % 64] = a[i / 64 * (tiles * 64) + k * 64 + i % 64];
        for (auto i : t.block_stride(64u * n)) b_tile[i / n][i % n] = b[k * 64 * n + i];
        fence_proxy_async(t);
        t.barrier();
        const auto rows = wgmma_operand<major::k>(a_tile).rows(warpgroup * 64);
        const auto columns = wgmma_operand<major::mn>(b_tile);
        {
          wgmma_batch mma(t);
          mma.multiply_add(acc, rows, columns, k != 0);
        }
        wgmma_wait<1>(t);
        t.barrier();  // the other buffer is free
      }
      wgmma_wait<0>(t);
      const auto own = c.from((warpgroup * 64 + acc.first_row(t)) * n + acc.first_column(t));
      for (u32 i = 0; i < acc.size(); ++i) own[acc.row(i) * n + acc.column(i)] = acc[i];
    });

// Two accumulators in one batch, from parts of tiles: C = [A_low * B_left, A_high * B_right] of a 128 x 128
// (K) A in two panels and a 32 (N) x 128 (K) B, K in single slices, the first without a value to add to.
inline constexpr auto wgmma_parts =
    kernel<"wgmma_parts", 128, for_wgmma>([](thread t, in<bf16> a, in<bf16> b, out<f32> c) {
      const shared_tile<bf16, 128, 128, swizzled<128>> a_tile(t);
      const shared_tile<bf16, 32, 128, swizzled<128>> b_tile(t);
      fill_tile(t, a_tile, a);
      fill_tile(t, b_tile, b);
      fence_proxy_async(t);
      t.barrier();
      wgmma_accumulator<f32, 16> low(t);
      wgmma_accumulator<f32, 16> high(t);
      high.clear();
      const auto rows = wgmma_operand<major::k>(a_tile);
      const auto columns = wgmma_operand<major::k>(b_tile);
      {
        wgmma_batch mma(t);
        for (u32 k = 0; k < rows.slices(); ++k) {
          mma.multiply_add(low, rows.slice(k), columns.slice(k), k != 0);
          mma.multiply_add(high, rows.rows(64).slice(k), columns.rows(16).slice(k));
        }
      }
      wgmma_wait<0>(t);
      store_accumulator(t, low, c);
      store_accumulator(t, high, c.from(64 * 16));
    });

// A in registers, one slice of K: row and column of the fragment as PTX has them.
template <class A, class B, class D, u32 N, major MajorB = major::k>
inline constexpr auto wgmma_from_registers =
    kernel<"wgmma_from_registers_" + matrix_type_name<D> + "_" + matrix_type_name<A> + "_" +
               (MajorB == major::k ? "k" : "m"),
           128, for_wgmma>([](thread t, in<u32> a, in<stored_type<B>> b, out<D> c) {
      constexpr u32 depth = 32 / sizeof(stored_type<B>);
      using b_tile_type =
          std::conditional_t<MajorB == major::k, shared_tile<stored_type<B>, N, depth, swizzled<32>>,
                             shared_tile<stored_type<B>, depth, N, swizzled<32>>>;
      const b_tile_type b_tile(t);
      fill_tile(t, b_tile, b);
      fence_proxy_async(t);
      t.barrier();
      val rank = t.thread_rank();
      // A row has 8 words; a word of it is 4 bytes along K.
      val word = (rank / 32 * 16 + rank % 32 / 4) * 8 + rank % 4;
      wgmma_accumulator<D, N> acc(t);
      const wgmma_register_operand<A> rows(a[word], a[word + 8 * 8], a[word + 4], a[word + 8 * 8 + 4]);
      {
        wgmma_batch mma(t);
        mma.multiply_add(acc, rows, wgmma_operand<MajorB, B>(b_tile), false);
      }
      wgmma_wait<0>(t);
      store_accumulator(t, acc, c);
    });

// D = f16(A * B) * V: the first product's accumulator, rounded, is the second one's A. K, N and the columns
// of V: 64, 32, 8.
inline constexpr auto wgmma_chain =
    kernel<"wgmma_chain", 128, for_wgmma>([](thread t, in<f16> a, in<f16> b, in<f16> v, out<f32> d) {
      const shared_tile<f16, 64, 64, swizzled<128>> a_tile(t);
      const shared_tile<f16, 32, 64, swizzled<128>> b_tile(t);
      const shared_tile<f16, 8, 32, swizzled<64>> v_tile(t);
      fill_tile(t, a_tile, a);
      fill_tile(t, b_tile, b);
      fill_tile(t, v_tile, v);
      fence_proxy_async(t);
      t.barrier();
      wgmma_accumulator<f32, 32> s(t);
      {
        wgmma_batch mma(t);
        mma.multiply_add(s, wgmma_operand<major::k>(a_tile), wgmma_operand<major::k>(b_tile), false);
      }
      wgmma_wait<0>(t);
      wgmma_accumulator<f32, 8> out(t);
      const auto columns = wgmma_operand<major::k>(v_tile);
      const auto rows = array_of<2>([&](u32 k) {
        return wgmma_register_operand<f16>(s.pair<f16x2>(4 * k), s.pair<f16x2>(4 * k + 1),
                                           s.pair<f16x2>(4 * k + 2), s.pair<f16x2>(4 * k + 3));
      });
      {
        wgmma_batch mma(t);
        for (u32 k = 0; k < 2; ++k) mma.multiply_add(out, rows[k], columns.slice(k), k != 0);
      }
      wgmma_wait<0>(t);
      store_accumulator(t, out, d);
    });

// C = A * B, rounded, by way of a tile that stmatrix fills: 64 x 64, K = 64.
inline constexpr auto wgmma_stored =
    kernel<"wgmma_stored", 128, for_wgmma>([](thread t, in<bf16> a, in<bf16> b, out<bf16> c) {
      const shared_tile<bf16, 64, 64, swizzled<128>> a_tile(t);
      const shared_tile<bf16, 64, 64, swizzled<128>> b_tile(t);
      const shared_tile<bf16, 64, 64, swizzled<128>> c_tile(t);
      fill_tile(t, a_tile, a);
      fill_tile(t, b_tile, b);
      fence_proxy_async(t);
      t.barrier();
      wgmma_accumulator<f32, 64> acc(t);
      {
        wgmma_batch mma(t);
        mma.multiply_add(acc, wgmma_operand<major::k>(a_tile), wgmma_operand<major::mn>(b_tile), false);
      }
      wgmma_wait<0>(t);
      val lane = t.lane_rank();
      const auto place = c_tile.lane(t.warp_rank() * 16 + lane % 16, lane / 16 * 8, 16);
      for (u32 q = 0; q < acc.pairs() / 4; ++q)
        stmatrix_x4(c_tile.at(place, 0, 16 * q), acc.pair<bf16x2>(4 * q), acc.pair<bf16x2>(4 * q + 1),
                    acc.pair<bf16x2>(4 * q + 2), acc.pair<bf16x2>(4 * q + 3));
      t.barrier();
      for (auto i : t.block_stride(64u * 64u)) c[i] = c_tile[i / 64][i % 64];
    });

// Operands without a swizzle, by descriptors: pieces of 8 rows by 16 bytes, the pieces of one k next to each other.
inline constexpr auto wgmma_by_descriptor =
    kernel<"wgmma_by_descriptor", 128, for_wgmma>([](thread t, in<f16> a, in<f16> b, out<f32> c) {
      const shared_tile<f16, 64, 16, row_major> a_memory(t);
      const shared_tile<f16, 16, 16, row_major> b_memory(t);
      const auto place = [](const auto& i) {
        return i / 16 / 8 * 128 + i % 16 / 8 * 64 + i / 16 % 8 * 8 + i % 8;
      };
      for (auto i : t.block_stride(64u * 16u)) a_memory[place(i) / 16][place(i) % 16] = a[i];
      for (auto i : t.block_stride(16u * 16u)) b_memory[place(i) / 16][place(i) % 16] = b[i];
      fence_proxy_async(t);
      t.barrier();
      constexpr matrix_descriptor pieces{.swizzle = 0, .leading = 128, .stride = 256};
      wgmma_accumulator<f32, 16> acc(t);
      {
        wgmma_batch mma(t);
        mma.multiply_add(acc, wgmma_operand<major::k, f16>(a_memory.address(), pieces),
                         wgmma_operand<major::k, f16>(b_memory.address(), pieces), false);
      }
      wgmma_wait<0>(t);
      store_accumulator(t, acc, c);
    });

}  // namespace kaio::tests

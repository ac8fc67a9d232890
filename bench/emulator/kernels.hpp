#pragma once
// The kernels with which the emulator is measured: one kind of instruction each.

#include <kaio/dsl/dsl.hpp>

namespace kaio::bench::emulated {

// Arithmetic alone: registers, a loop, no memory but one store.
inline constexpr auto arithmetic =
    kernel<"emulator_arithmetic", 256>([](thread t, out<f32> y, val<u32> rounds) {
      val i = t.global_id();
      var x(t, cast<f32>(i));
      var state(t, i);
      for (auto k : t.range(0u, rounds).no_unroll()) {
        x = fma(x, 0.999f, 1.0f);
        state = (state ^ (state << 13u)) + k;
        x += cast<f32>(state & 7u);
      }
      y[i] = x;
    });

// Every lane of a warp goes its own way through a loop.
inline constexpr auto divergence =
    kernel<"emulator_divergence", 256>([](thread t, out<u32> y, val<u32> rounds) {
      val i = t.global_id();
      var state(t, i + 1);
      for (auto k : t.range(0u, rounds).no_unroll()) {
        if (auto odd = t.when((state & 1u) == 1u)) state = state * 3u + k;
        if (auto even = t.when((state & 1u) == 0u)) state = state >> 1u;
      }
      y[i] = state;
    });

// Blocks that have nothing to do, as at the ragged end of a grid: what a block costs by itself.
inline constexpr auto idle_blocks = kernel<"emulator_idle_blocks", 128>([](thread t, out<u32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) y[i] = i;
});

// Copies: vectors of four numbers, single numbers, and every fourth number. Each thread has places of its own.
inline constexpr auto copy_vectors =
    kernel<"emulator_copy_vectors", 256>([](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
      val i = t.global_id();
      for (auto k : t.range(0u, rounds).no_unroll()) {
        val at = ((k & 3u) * (64u * 256u) + i) * 4;
        store_vec(y[at], load_vec<4>(x[at]));
      }
    });
inline constexpr auto copy_numbers =
    kernel<"emulator_copy_numbers", 256>([](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
      val i = t.global_id();
      for (auto k : t.range(0u, rounds).no_unroll()) {
        val at = (k & 3u) * (64u * 256u) + i;
        y[at] = x[at];
      }
    });
inline constexpr auto copy_apart =
    kernel<"emulator_copy_apart", 256>([](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
      val i = t.global_id();
      for (auto k : t.range(0u, rounds).no_unroll()) {
        val at = i * 4 + (k & 3u);
        y[at] = x[at];
      }
    });

// Tensor cores. Products of a warp, in registers.
inline constexpr auto products_of_warp = kernel<"emulator_mma", 128, kernel_options{.target = {80}}>(
    [](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
      using mma = mma_m16n8k16<f32, f16>;
      mma::a_fragment a(t);
      mma::b_fragment b(t);
      mma::accumulator c(t, 0.0f);
      val i = t.global_id();
      a.load_each([&](const auto& row, const auto& k) { return cast<f16>(x[i + row * 16 + k]); });
      b.load_each([&](const auto& k, const auto& column) { return cast<f16>(x[i + k * 8 + column]); });
      for (auto k : t.range(0u, rounds).no_unroll()) {
        static_cast<void>(k);
        mma::multiply_add(c, a, b);
      }
      y[i] = c.element(0);
    });

// Products of a warpgroup: 64 x 128 x 64 a round, from shared memory.
inline constexpr auto products_of_warpgroup =
    kernel<"emulator_wgmma", 128, kernel_options{.target = {90, true}}>(
        [](thread t, in<f32> x, out<f32> y, val<u32> rounds) {
          const shared_tile<f16, 64, 64, swizzled<128>> a_tile(t);
          const shared_tile<f16, 128, 64, swizzled<128>> b_tile(t);
          wgmma_accumulator<f32, 128> sums(t);
          sums.clear();
          for (auto i : t.block_stride(64u * 64u)) a_tile[i / 64][i % 64] = cast<f16>(x[i]);
          for (auto i : t.block_stride(128u * 64u)) b_tile[i / 64][i % 64] = cast<f16>(x[i + 7]);
          fence_proxy_async(t);
          t.barrier();
          for (auto k : t.range(0u, rounds).no_unroll()) {
            static_cast<void>(k);
            {
              wgmma_batch mma(t);
              mma.multiply_add(sums, wgmma_operand<major::k>(a_tile), wgmma_operand<major::k>(b_tile));
            }
            wgmma_wait<0>(t);
          }
          y[t.global_id()] = sums[0];
        });

}  // namespace kaio::bench::emulated

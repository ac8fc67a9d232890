// C = A * B for sm_80: A and B row-major, M a multiple of 128, N of 64, K = 64 * ROUNDS. A block computes
// 128 x 64 of C; each of its 2 x 2 warps 64 x 32, as 4 x 4 fragments of 16 x 8.
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto measured = kernel<"mma", 128, kernel_options{.target = {80}}>(
    [](thread t, in<f16> a, in<f16> b, out<f32> c, val<u32> n) {
      using mma = mma_m16n8k16<f32, f16>;
      const u32 depth = 64 * ROUNDS;
      const shared_tile<f16, 128, 64, swizzled<128>> a_tile(t);  // rows of A, along K
      const shared_tile<f16, 64, 64, swizzled<128>> b_tile(t);   // rows of B, along N
      val row = t.let(block_idx_y() * 128u);
      val column = t.let(block_idx_x() * 64u);
      val line = t.let(t.thread_rank() / 8u);
      val piece = t.let(t.thread_rank() % 8u * 8u);  // eight pieces of 16 bytes a line
      val warp_row = t.let(t.warp_rank() / 2u * 64u);
      val warp_column = t.let(t.warp_rank() % 2u * 32u);

      auto of_a = array_of<4>([&](u32) { return mma::a_fragment(t); });
      auto of_b = array_of<4>([&](u32) { return mma::b_fragment(t); });
      auto sums = array_of<16>([&](u32) { return mma::accumulator(t, 0.0f); });
      for (u32 k = 0; k < depth; k += 64) {
        for (u32 i = 0; i < 128; i += 16)
          cp_async<16>(a_tile[line + i][piece], a[(row + line + i) * depth + k + piece]);
        for (u32 i = 0; i < 64; i += 16)
          cp_async<16>(b_tile[line + i][piece], b[(line + (k + i)) * n + column + piece]);
        cp_async_commit_group(t);
        cp_async_wait_group<0>(t);
        t.barrier();
        for (u32 s = 0; s < 64; s += 16) {
          for (u32 i = 0; i < 4; ++i) ldmatrix(of_a[i], a_tile, warp_row + 16 * i, s);
          for (u32 j = 0; j < 4; j += 2) ldmatrix_trans(of_b[j], of_b[j + 1], b_tile, s, warp_column + 8 * j);
          for (u32 i = 0; i < 16; ++i) mma::multiply_add(sums[i], of_a[i / 4], of_b[i % 4]);
        }
        t.barrier();
      }
      for (u32 i = 0; i < 16; ++i)
        sums[i].for_each([&](const auto& x, const auto& r, const auto& q) {
          c[(row + warp_row + 16 * (i / 4) + r) * n + column + warp_column + 8 * (i % 4) + q] = x;
        });
    });

#include "stage.hpp"

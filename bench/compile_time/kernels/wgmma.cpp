// C = max(A * B, 0) for Hopper: A of M x K, row-major; B of K x N, column-major; M and K multiples of 64 and
// N = 128 * ROUNDS. A block computes 64 rows of C, 128 columns a round.
#include <kaio/kaio.hpp>
using namespace kaio;

inline constexpr auto measured = kernel<"wgmma", 128, kernel_options{.target = {90, true}}>(
    [](thread t, in<f16> a, in<f16> b, out<f16> c, val<u32> depth) {
      const u32 columns = 128 * ROUNDS;
      const shared_tile<f16, 64, 64, swizzled<128>> a_tile(t);
      const shared_tile<f16, 128, 64, swizzled<128>> b_tile(t);  // row j: column j of B, along K
      wgmma_accumulator<f32, 128> acc(t);                        // 64 x 128, 64 registers of each thread
      val row = t.let(block_idx_x() * 64u);
      val line = t.let(t.thread_rank() / 8u);
      val piece = t.let(t.thread_rank() % 8u * 8u);  // eight pieces of 16 bytes a line

      for (u32 first = 0; first < columns; first += 128) {
        for (auto k : t.range(0u, depth, 64)) {
          for (u32 i = 0; i < 64; i += 16)
            cp_async<16>(a_tile[line + i][piece], a[(row + line + i) * depth + k + piece]);
          for (u32 i = 0; i < 128; i += 16)
            cp_async<16>(b_tile[line + i][piece], b[(line + (first + i)) * depth + k + piece]);
          cp_async_commit_group(t);
          cp_async_wait_group<0>(t);
          fence_proxy_async(t);
          t.barrier();
          {
            wgmma_batch mma(t);
            mma.multiply_add(acc, wgmma_operand<major::k>(a_tile), wgmma_operand<major::k>(b_tile), k != 0);
          }
          wgmma_wait<0>(t);
          t.barrier();
        }
        const auto own = c.from((row + acc.first_row(t)) * columns + first + acc.first_column(t));
        for (u32 i = 0; i < acc.size(); ++i)
          own[acc.row(i) * columns + acc.column(i)] = cast<f16>(max(acc[i], 0.0f));
      }
    });

#include "stage.hpp"

// Flash attention of a Hopper GPU, in more than 1,590 instructions, compiles with the default limits of every
// compiler: clang bounds the steps of a constant expression.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

namespace {

constexpr u32 head = 128;  // the elements of a row of Q, K, V and O
constexpr u32 step = 128;  // the rows of K and V in a round

// O = softmax(Q K^T / sqrt(128)) V, 64 rows of Q a warpgroup, by an online softmax: m and l are the maximum and
// the sum of each row up to here.
inline constexpr auto attention =
    kernel<"attention", 128, kernel_options{.target = {90, true}, .large_shared = true}>(
        [](thread t, in<f16> q, in<f16> k, in<f16> v, out<f32> o, val<u32> rows) {
          const shared_tile<f16, 64, head, swizzled<128>> q_tile(t);    // 64 x 128
          const shared_tile<f16, step, head, swizzled<128>> k_tile(t);  // 128 x 128
          const shared_tile<f16, step, head, swizzled<128>> v_tile(t);  // 128 x 128
          val first = t.let(block_idx_x() * 64u);
          for (auto i : t.block_stride(64u * head)) q_tile[i / head][i % head] = q[first * head + i];
          wgmma_accumulator<f32, step> s(t);    // 64 x 128
          wgmma_accumulator<f32, head> sum(t);  // 64 x 128
          sum.clear();
          auto m = array_of<2>([&](u32) { return var(t, -1e30f); });  // rows r and r + 8
          auto l = array_of<2>([&](u32) { return var(t, 0.0f); });
          const f32 scale = 0.1275174f;  // log2(e) / sqrt(128)
          for (auto tile : t.range(0u, rows, step).unroll<2>()) {
            for (auto i : t.block_stride(step * head)) {
              k_tile[i / head][i % head] = k[tile * head + i];
              v_tile[i / head][i % head] = v[tile * head + i];
            }
            fence_proxy_async(t);
            t.barrier();
            {
              wgmma_batch mma(t);
              mma.multiply_add(s, wgmma_operand<major::k>(q_tile), wgmma_operand<major::k>(k_tile), false);
            }
            wgmma_wait<0>(t);
            auto factor = array_of<2>([&](u32) { return var(t, 1.0f); });
            for (u32 half = 0; half < 2; ++half) {
              var largest = s[2 * half];
              for (u32 i = 0; i < s.size(); ++i)
                if (s.row(i) == 8 * half) largest = max(largest, s[i]);
              largest = max(largest, shfl_xor(largest, 1));
              largest = max(largest, shfl_xor(largest, 2));
              val next = max(m[half], largest * scale);
              factor[half] = exp2(m[half] - next);
              m[half] = next;
              var total = l[half] * factor[half];
              for (u32 i = 0; i < s.size(); ++i)
                if (s.row(i) == 8 * half) {
                  s[i] = exp2(s[i] * scale - next);
                  total += s[i];
                }
              l[half] = total;
            }
            for (u32 i = 0; i < sum.size(); ++i) sum[i] *= factor[sum.row(i) / 8];
            for (u32 c = 0; c < step / 16; ++c) {
              const wgmma_register_operand<f16> p(s.pair<f16x2>(4 * c), s.pair<f16x2>(4 * c + 1),
                                                  s.pair<f16x2>(4 * c + 2), s.pair<f16x2>(4 * c + 3));
              {
                wgmma_batch mma(t);
                mma.multiply_add(sum, p, wgmma_operand<major::mn>(v_tile).slice(c));
              }
              wgmma_wait<0>(t);
            }
            t.barrier();
          }
          const auto own = o.from((first + sum.first_row(t)) * head + sum.first_column(t));
          for (u32 i = 0; i < sum.size(); ++i)
            own[sum.row(i) * head + sum.column(i)] = sum[i] / l[sum.row(i) / 8];
        });
static_assert(attention.needs().instructions > 1590);
static_assert(attention.ptx().contains("wgmma.mma_async"));

}  // namespace

// ops::matmul with everything drawn at random: shape, layouts, pitches, batch and epilogue.
#include <random>

#include "tests/ops/matmul/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T, class Out>
void random_calls(std::uint64_t first, std::uint64_t count) {
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    std::mt19937_64 engine(seed);
    const auto below = [&](u32 n) { return static_cast<u32>(engine() % n); };
    const auto chance = [&](u32 of) { return below(of) == 0; };
    // Extents around the edges of tiles, and any.
    const auto extent = [&](u32 most) { return chance(2) ? 1 + below(most) : 8 * (1 + below(most / 8)); };
    const shape s{chance(3) ? 2 + below(2) : 1, extent(160), extent(160), chance(16) ? 0 : extent(200)};
    layout l{chance(2), chance(2), chance(3), below(4), below(4), below(4)};
    if (!chance(3)) {  // lines that begin at multiples of 16 bytes
      l.a_pad = pad_to_16<T>(l.a_by_columns ? s.m : s.k);
      l.b_pad = pad_to_16<T>(l.b_by_columns ? s.k : s.n);
      l.c_pad = pad_to_16<Out>(l.c_by_columns ? s.m : s.n);
    }
    host_epilogue e;
    bool with_residual = false;
    if (!chance(3)) {
      e.alpha = chance(2) ? 1 : 0.375;
      e.beta = chance(2) ? 0 : -0.5;
      e.activation = static_cast<matmul_activation>(below(5));
      e.bias_of_rows = chance(2);
      if (chance(2))
        for (u32 i = 0; i < (e.bias_of_rows ? s.m : s.n); ++i)
          e.bias.push_back(static_cast<float>(below(16)) / 8 - 1);
      with_residual = chance(2);
    }
    CAPTURE(seed, e.alpha, e.beta, static_cast<int>(e.activation), e.bias.size(), e.bias_of_rows,
            with_residual);
    check_matmul<T, Out>(s, l, content::random, e, with_residual, {}, seed);
  }
}

constexpr std::uint64_t calls = 24;

}  // namespace

TEST_CASE("matmul: random calls, f32", "[ops][matmul]") { random_calls<f32, f32>(1000, calls); }
TEST_CASE("matmul: random calls, f16", "[ops][matmul]") {
  random_calls<f16, f16>(2000, calls);
  random_calls<f16, f32>(3000, calls);
}
TEST_CASE("matmul: random calls, bf16", "[ops][matmul]") {
  random_calls<bf16, bf16>(4000, calls);
  random_calls<bf16, f32>(5000, calls);
}
TEST_CASE("matmul: random calls, e4m3", "[ops][matmul]") { random_calls<e4m3, f16>(6000, calls); }

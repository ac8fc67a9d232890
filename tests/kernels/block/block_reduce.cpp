// Reductions, scans and votes of blocks of any size and shape, in straight code and in loops; the barrier of
// the grid.
#include "tests/kernels/block/block_kernels.hpp"
#include "tests/kernels/warp/warp_fold.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <u32 X, u32 Y = 1, u32 Z = 1>
void check_block_folds() {
  constexpr u32 threads = X * Y * Z;
  const std::vector<u32> a = random_words(threads, 3), b = random_words(threads, 4);
  const std::vector<f32> x = uneven_floats(threads);
  std::vector<host_affine> values(threads);
  std::vector<u32> odd(threads);
  for (u32 i = 0; i < threads; ++i) {
    odd[i] = a[i] | 1;
    values[i] = {odd[i], b[i]};
  }
  auto of_a = under_test().upload(odd);
  auto of_b = under_test().upload(b);
  auto of_x = under_test().upload(x);
  auto y = poisoned<u32>(threads * 8);
  auto z = poisoned<f32>(threads * 4);
  block_folds<X, Y, Z>.launch(under_test().stream(), grid(1), of_a, of_b, of_x, y, z);
  const auto words = y.download();
  const auto floats = z.download();
  const auto got = [&](u32 row, u32 i) {
    return host_affine{words[i + 2 * row * threads], words[i + (2 * row + 1) * threads]};
  };
  const host_affine all = tree_of(values, compose_on_host);
  const f32 sum = block_tree_of(x, [](f32 p, f32 q) { return p + q; });
  host_affine before{3, 5}, up_to{1, 0};
  f32 least = 1e30f;
  CAPTURE(X, Y, Z);
  REQUIRE(got(1, 0) == all);
  for (u32 i = 0; i < threads; ++i) {
    CAPTURE(i);
    REQUIRE(got(0, i) == all);
    up_to = compose_on_host(up_to, values[i]);
    REQUIRE(got(2, i) == up_to);
    REQUIRE(got(3, i) == before);
    before = compose_on_host(before, values[i]);
    REQUIRE(bits(floats[i]) == bits(sum));
    REQUIRE(bits(floats[i + threads]) == bits(sum));
    REQUIRE(floats[i + threads * 2] == *std::max_element(x.begin(), x.end()));
    REQUIRE(floats[i + threads * 3] == least);
    least = std::min(least, x[i]);
  }
}

}  // namespace

TEST_CASE("blocks of one warp reduce and scan", "[block]") {
  check_block_folds<1>();
  check_block_folds<2>();
  check_block_folds<31>();
  check_block_folds<32>();
  check_block_folds<2, 3, 4>();
}

TEST_CASE("blocks of full warps reduce and scan", "[block]") {
  check_block_folds<64>();
  check_block_folds<96>();
  check_block_folds<256>();
  check_block_folds<16, 10>();
  check_block_folds<992>();
  check_block_folds<1024>();
}

TEST_CASE("blocks whose last warp is partial reduce and scan", "[block]") {
  check_block_folds<33>();  // its one lane cannot read two partial results
  check_block_folds<48>();
  check_block_folds<65>();
  check_block_folds<66>();
  check_block_folds<101>();
  check_block_folds<5, 7, 3>();
  check_block_folds<769>();
  check_block_folds<1000>();
  check_block_folds<1023>();
}

TEST_CASE("exchanges of a block follow each other in every order without a race", "[block]") {
  constexpr u32 threads = 160;
  const std::vector<u32> x = random_words(threads, 9);
  auto in = under_test().upload(x);
  for (const u32 rounds : {0u, 1u, 7u}) {
    auto y = poisoned<u64>(threads);
    exchanges_in_turn.launch(under_test().stream(), grid(1), in, y, rounds);
    const auto got = y.download();
    std::vector<u64> sum(threads);
    const auto reduce = [&](const auto& of, const auto& op) {
      u64 result = of(0);
      for (u32 i = 1; i < threads; ++i) result = op(result, of(i));
      return result;
    };
    const auto add = [](u64 p, u64 q) { return p + q; };
    const auto larger = [](u64 p, u64 q) { return std::max(p, q); };
    const auto take = [&](const auto& value) {
      const std::vector<u64> old = sum;
      for (u32 i = 0; i < threads; ++i) sum[i] = old[i] * 31 + value(i, old);
    };
    const u32 total = static_cast<u32>(reduce([&](u32 i) { return u64{x[i]}; }, add));
    for (u64& s : sum) s = total;
    u32 so_far = 0;
    take([&](u32 i, const auto&) { return u64{so_far += x[i]}; });
    const auto total_of_sums = [&](u64 more) {
      const u64 result = reduce([&](u32 i) { return sum[i] + more; }, add);
      take([&](u32, const auto&) { return result; });
    };
    for (u32 k = 0; k < rounds; ++k) {
      total_of_sums(k);
      if (k % 2 == 0) {
        u32 most = 0;
        take([&](u32 i, const auto&) {
          const u32 before = most;
          most = std::max(most, x[i] ^ k);
          return u64{before};
        });
        const u64 largest = reduce([&](u32 i) { return sum[i]; }, larger);
        take([&](u32, const auto&) { return largest; });
        u64 running = 0;
        take([&](u32 i, const auto& old) { return running += old[i]; });
      }
      u32 least = x[0] + k;
      for (const u32 v : x) least = std::min(least, v + k);
      sum[0] += least;
    }
    if (rounds > 3) {
      total_of_sums(0);
      const u64 parity = reduce([&](u32 i) { return sum[i]; }, [](u64 p, u64 q) { return p ^ q; });
      take([&](u32, const auto&) { return parity; });
      total_of_sums(0);
    }
    total_of_sums(0);
    CAPTURE(rounds);
    REQUIRE(got == sum);
  }
}

TEST_CASE("a block votes", "[block]") {
  for (const u32 variant : {0u, 1u, 2u}) {
    std::vector<u32> x(100);
    for (u32 i = 0; i < 100; ++i) x[i] = variant == 0 ? i : variant == 1 ? i + 8 : i * 100;
    auto in = under_test().upload(x);
    auto y = poisoned<u32>(200);
    block_votes.launch(under_test().stream(), grid(1), in, y);
    const auto got = y.download();
    u32 count = 0;
    bool small = true, seven = false, large = false;
    for (const u32 v : x) {
      if (v % 3 == 0) ++count;
      small = small && v < 1000;
      seven = seven || v == 7;
      large = large || v > 5000;
    }
    for (u32 i = 0; i < 100; ++i) {
      CAPTURE(variant, i);
      REQUIRE(got[i] == count);
      REQUIRE(got[i + 100] == (small ? 1u : 0) + (seven ? 2u : 0) + (seven ? 0u : 4u) + (large ? 8u : 0));
    }
  }
}

TEST_CASE("the grid's barrier holds in loops, and its word serves the next launch", "[block]") {
  for (const u32 blocks : {1u, 2u, 7u}) {
    const u32 n = blocks * 64;
    std::vector<u32> x = random_words(n, 21);
    auto y = under_test().upload(x);
    auto state = under_test().upload(std::vector<u32>(1));
    for (const u32 rounds : {3u, 2u, 0u, 4u}) {
      ring.launch(under_test().stream(), grid(blocks), y, state, rounds);
      for (u32 k = 0; k < rounds; ++k) {
        const std::vector<u32> old = x;
        for (u32 i = 0; i < n; ++i) x[i] = old[(i + 64) % n] + 1;
      }
    }
    CAPTURE(blocks);
    REQUIRE(y.download() == x);
    REQUIRE((state.download()[0] & 0x7fffffffu) == 0);
  }
}

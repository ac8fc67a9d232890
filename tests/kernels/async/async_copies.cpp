// mbarriers round by round, cp.async with and without valid bytes, bulk copies and reductions in one
// dimension, named barriers and warp roles.
#include "tests/kernels/async/async_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> random_numbers(std::size_t count, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<T> x(count);
  for (T& v : x) v = static_cast<T>(engine());
  return x;
}

bool runs_on(u32 sm) { return under_test().properties().target.sm >= sm; }

template <std::uint16_t Sm>
void check_rounds(u32 rounds) {
  const auto x = random_numbers<u32>(96, 5);
  auto y = poisoned<u32>(96);
  auto tests = poisoned<u32>(192);
  mbarrier_rounds<Sm>.launch(under_test().stream(), grid(1), under_test().upload(x), y, tests, rounds);
  std::vector<u32> want = x;
  for (u32 r = 0; r < rounds; ++r) {
    const std::vector<u32> before = want;
    for (u32 i = 0; i < 96; ++i) want[i] = before[i] * 3 + before[(i + 1) % 96];
  }
  CAPTURE(Sm, rounds);
  CHECK(y.download() == want);
  const auto answers = tests.download();
  for (u32 i = 0; i < 96; ++i) {
    REQUIRE(answers[2 * i] == 1);
    REQUIRE(answers[2 * i + 1] == 0);
  }
}

template <u32 Bytes>
void check_pieces(u32 n) {
  const auto x = random_numbers<u8>(64 * Bytes, Bytes);
  auto y = poisoned<u8>(128 * Bytes);
  cp_async_pieces<Bytes>.launch(under_test().stream(), grid(1), under_test().upload(x), y, n);
  const auto got = y.download();
  CAPTURE(Bytes, n);
  for (u32 i = 0; i < 64; ++i)
    for (u32 b = 0; b < Bytes; ++b) {
      REQUIRE(got[i * Bytes + b] == (i < n ? x[i * Bytes + b] : 0));
      REQUIRE(got[(64 + i) * Bytes + b] == (b < i % (Bytes + 1) ? x[i * Bytes + b] : 0));
    }
}

template <u32 Stages>
void check_ring(u32 steps) {
  const auto x = random_numbers<u32>(64 * steps + 1, 9);
  auto y = poisoned<u32>(64);
  cp_async_sums<Stages>.launch(under_test().stream(), grid(1), under_test().upload(x), y, steps);
  std::vector<u32> want(64);
  for (u32 k = 0; k < steps; ++k)
    for (u32 i = 0; i < 64; ++i) want[i] += x[64 * k + (i + k) % 64];
  CAPTURE(Stages, steps);
  CHECK(y.download() == want);
}

}  // namespace

TEST_CASE("an mbarrier completes phase after phase", "[async]") {
  if (!runs_on(80)) return;
  for (const u32 rounds : {0u, 1u, 2u, 7u}) {
    check_rounds<80>(rounds);
    if (runs_on(90)) check_rounds<90>(rounds);
  }
}

TEST_CASE("cp.async copies pieces, and zeros for what is not valid", "[async]") {
  if (!runs_on(80)) return;
  for (const u32 n : {0u, 1u, 33u, 64u}) {
    check_pieces<4>(n);
    check_pieces<8>(n);
    check_pieces<16>(n);
  }
}

TEST_CASE("cp.async takes a cache hint", "[async]") {
  if (!runs_on(80)) return;
  std::vector<u32> x(64);
  for (u32 i = 0; i < 64; ++i) x[i] = i + 100;
  const auto device_x = under_test().upload(x);
  auto y = poisoned<u32>(64);
  cp_async_hinted.launch(under_test().stream(), grid(1), device_x, y, 33u);
  const auto got = y.download();
  for (u32 i = 0; i < 64; ++i) CHECK(got[i] == (i < 33 ? x[i] : 0));
}

TEST_CASE("a ring of cp.async stages is filled ahead", "[async]") {
  if (!runs_on(80)) return;
  for (const u32 steps : {0u, 1u, 2u, 3u, 4u, 11u}) {
    check_ring<2>(steps);
    check_ring<3>(steps);
    check_ring<5>(steps);
  }
}

TEST_CASE("bulk copies move, reduce and take ragged ends", "[async]") {
  if (!runs_on(90)) return;
  for (const u32 tail : {4u, 36u, 508u, 512u}) {
    const u32 blocks = 3, count = 512 * (blocks - 1) + tail;
    const auto x = random_numbers<i32>(count, tail);
    const auto z = random_numbers<i32>(512 * blocks, tail + 1),
               least = random_numbers<i32>(512 * blocks, tail + 2);
    auto y = poisoned<i32>(512 * blocks);
    const std::vector<i32> poison = y.download();
    auto sums = under_test().upload(z), smallest = under_test().upload(least);
    bulk_blocks.launch(under_test().stream(), grid(blocks), under_test().upload(x), y, sums, smallest,
                       tail * 4);
    const auto got = y.download(), got_sums = sums.download(), got_least = smallest.download();
    CAPTURE(tail);
    for (u32 i = 0; i < 512 * blocks; ++i) {
      const bool inside = i < count;
      const auto plus = [](i32 a, i32 b) {
        return static_cast<i32>(static_cast<u32>(a) + static_cast<u32>(b));
      };
      REQUIRE(got[i] == (inside ? static_cast<i32>(0u - static_cast<u32>(x[i])) : poison[i]));
      REQUIRE(got_sums[i] == (inside ? plus(z[i], x[i]) : z[i]));
      REQUIRE(got_least[i] == (inside ? std::min(least[i], x[i]) : least[i]));
    }
  }
}

TEST_CASE("named barriers hand over between warpgroups with roles", "[async]") {
  if (under_test().properties().target != ptx::target{90, true}) return;
  for (const u32 rounds : {0u, 1u, 6u}) {
    const auto x = random_numbers<u32>(128 * rounds + 1, rounds);
    auto y = poisoned<u32>(256);
    handed_over.launch(under_test().stream(), grid(1), under_test().upload(x), y, rounds);
    const auto got = y.download();
    for (u32 i = 0; i < 128; ++i) {
      u32 sum = 0;
      for (u32 r = 0; r < rounds; ++r) sum = sum * 5 + x[128 * r + 127 - i];
      CAPTURE(i, rounds);
      REQUIRE(got[i] == sum);
      REQUIRE(got[128 + i] == (4 + i / 32) * 1000 + 1);
    }
  }
}

TEST_CASE("one lane of a warp is elected", "[async]") {
  if (!runs_on(90)) return;
  auto y = under_test().upload(std::vector<u32>(4));
  elected_lanes.launch(under_test().stream(), grid(3), y);
  CHECK(y.download() == std::vector<u32>(4, 3));
}

// Counted loops against the loops of the host: every type, steps of both signs, bounds at the ends of the
// type, ragged numbers of rounds, each layout.
#include "tests/kernels/control/control_loops.hpp"

#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

__extension__ using huge = __int128;

u32 word(huge x) { return static_cast<u32>(static_cast<std::uint64_t>(x)); }

u32 host_hash(huge first, huge last, huge step) {
  u32 hash = 7;
  for (huge k = first; step > 0 ? k < last : k > last; k += step) hash = hash * 31 + word(k) + 1;
  return hash;
}

u32 host_hash_with_exits(huge first, huge last, huge step, u32 a) {
  u32 hash = 7;
  for (huge k = first; step > 0 ? k < last : k > last; k += step) {
    const u32 low = word(k) & 15;
    if (low % 3 == 0) continue;
    hash = hash * 31 + a * (a + 1) + low;
    if (low == 11) break;
    hash += 1;
  }
  return hash;
}

template <class T>
struct range_cases {
  std::vector<T> first, last, step;

  // Ranges of 0 to 17 rounds of a step from many places, the ends of the type among them; a last round that
  // is cut off, and bounds in the wrong order.
  // Where the sum of the last counter and the step must fit the type, other ranges are left out.
  void add(huge by, bool sum_must_fit = false) {
    using limits = std::numeric_limits<T>;
    const huge low = limits::min(), high = limits::max();
    const huge size = by > 0 ? by : -by;
    for (huge rounds = 0; rounds <= 17; ++rounds)
      for (const huge cut : {huge{0}, size / 2, size - 1})
        for (const huge place : {low, huge{0}, huge{3}, low + 9, high - 9, high - rounds * size, high}) {
          const huge from = by > 0 ? place : low + (high - place);
          huge to = from + (by > 0 ? rounds * size - cut : cut - rounds * size);
          to = to < low ? low : to > high ? high : to;
          if (from < low || from > high) continue;
          huge after = from;
          while (by > 0 ? after < to : after > to) after += by;
          if (sum_must_fit && (after < low || after > high)) continue;
          first.push_back(static_cast<T>(from));
          last.push_back(static_cast<T>(to));
          step.push_back(static_cast<T>(by));
        }
  }

  void check(const std::vector<u32>& got) const {
    const std::size_t n = first.size();
    for (std::size_t i = 0; i < n; ++i) {
      const huge a = first[i], b = last[i], by = step[i];
      CAPTURE(i, +first[i], +last[i], +step[i]);
      for (u32 row = 0; row < range_layouts; ++row) {
        CAPTURE(row);
        const bool exits = row + 2 >= range_layouts;
        const u32 want = exits ? host_hash_with_exits(a, b, by, static_cast<u32>(i)) : host_hash(a, b, by);
        REQUIRE(got[i + n * row] == want);
      }
    }
  }
};

template <class T, int Step>
void check_constant_step() {
  range_cases<T> cases;
  cases.add(Step, sizeof(T) >= 4);
  const auto n = static_cast<u32>(cases.first.size());
  auto first = under_test().upload(cases.first), last = under_test().upload(cases.last);
  auto y = poisoned<u32>(n * range_layouts);
  constant_steps<T, Step>.launch(under_test().stream(), over(n), first, last, y, n);
  cases.check(y.download());
}

}  // namespace

TEMPLATE_TEST_CASE("ranges with a constant step, in every layout", "[control]", i8, u8, i16, u16, i32, u32,
                   i64, u64) {
  check_constant_step<TestType, 1>();
  check_constant_step<TestType, 3>();
  check_constant_step<TestType, 100>();
  if constexpr (std::is_signed_v<TestType>) {
    check_constant_step<TestType, -1>();
    check_constant_step<TestType, -7>();
    check_constant_step<TestType, -128>();
  }
}

TEMPLATE_TEST_CASE("ranges whose step the device computes, in every layout", "[control]", i8, u8, i16, u16,
                   i32, u32, i64, u64) {
  using T = TestType;
  range_cases<T> cases;
  std::vector<huge> steps = {
      1, 2, 5, 64, std::numeric_limits<T>::max() / 2 + 1, std::numeric_limits<T>::max()};
  if (std::is_signed_v<T>) steps.insert(steps.end(), {-1, -3, -50, std::numeric_limits<T>::min()});
  for (const huge by : steps) cases.add(by);
  const auto n = static_cast<u32>(cases.first.size());
  auto first = under_test().upload(cases.first), last = under_test().upload(cases.last),
       step = under_test().upload(cases.step);
  auto y = poisoned<u32>(n * range_layouts);
  run_time_steps<T>.launch(under_test().stream(), over(n), first, last, step, y, n);
  cases.check(y.download());
}

TEMPLATE_TEST_CASE("a known number of rounds, unrolled by four and wholly", "[control]", i8, u16, i32, u32,
                   i64) {
  const u32 n = 32;
  auto y = poisoned<u32>(n * 36);
  known_rounds<TestType>.launch(under_test().stream(), grid(1), y, n);
  const std::vector<u32> got = y.download();
  for (u32 i = 0; i < n; ++i)
    for (u32 rounds = 0; rounds <= 17; ++rounds) {
      CAPTURE(i, rounds);
      const u32 want = host_hash_with_exits(5, 5 + rounds * 3, 3, i);
      REQUIRE(got[i + n * (2 * rounds)] == want);
      REQUIRE(got[i + n * (2 * rounds + 1)] == want);
    }
}

TEST_CASE("unrolled loops nest, and variables live from copy to copy", "[control]") {
  const u32 n = 61;
  auto y = poisoned<u32>(n), z = poisoned<u32>(n);
  nested_copies.launch(under_test().stream(), over(n), y, z, n);
  const std::vector<u32> hashes = y.download(), previous_of = z.download();
  for (u32 i = 0; i < n; ++i) {
    u32 hash = 1, previous = 0;
    for (u32 j = 0; j < i; ++j) {
      const u32 before = previous;
      for (u32 k = j; k < i; k += 2) {
        if (k % 2 == 1)
          hash = hash * 31 + k + before + 1;
        else
          hash += j;
        if (hash % 64 == 0) break;
      }
      previous = j * 2;
      hash += before;
    }
    CAPTURE(i);
    REQUIRE(hashes[i] == hash);
    REQUIRE(previous_of[i] == previous);
  }
}

TEMPLATE_TEST_CASE("the threads of a grid and of a block share a range", "[control]", i32, u32, i64, u64) {
  for (const u32 n : {0u, 1u, 95u, 96u, 97u, 1000u})
    for (const u32 blocks : {1u, 3u, 12u}) {
      const std::vector<u32> zero(1001);
      auto in_grid = under_test().upload(zero), in_block = under_test().upload(zero),
           unrolled = under_test().upload(zero);
      shared_rounds<TestType>.launch(under_test().stream(), grid(blocks), in_grid, in_block, unrolled,
                                     static_cast<TestType>(n));
      const std::vector<u32> a = in_grid.download(), b = in_block.download(), c = unrolled.download();
      for (u32 k = 0; k <= 1000; ++k) {
        CAPTURE(n, blocks, k);
        REQUIRE(a[k] == (k < n ? k + 1 : 0));
        REQUIRE(b[k] == (k < n ? k + 1 : 0));
        REQUIRE(c[k] == (k < n && k % 5 != 0 ? k + 1 : 0));
      }
    }
}

TEMPLATE_TEST_CASE("a loop that some threads skip leaves nothing for the next one", "[control]", u32, i32, u8,
                   i16, u64) {
  std::vector<u32> x(256);
  for (u32 k = 0; k < x.size(); ++k) x[k] = k * 2654435761u;
  auto device_x = under_test().upload(x);
  for (const u32 n : {0u, 1u, 5u, 40u, 64u, 70u, 100u})
    for (const u32 step : {1u, 16u, 27u}) {
      auto y = poisoned<u32>(64 * 3);
      loops_in_a_row<TestType>.launch(under_test().stream(), grid(1), device_x, y, static_cast<TestType>(n),
                                      static_cast<TestType>(step));
      const auto got = y.download();
      const auto hash = [&](u32 sum, u32 first) {
        for (u32 k = first; k < n; k += step) sum = sum * 31 + x[k];
        return sum;
      };
      for (u32 i = 0; i < 64; ++i) {
        CAPTURE(n, step, i);
        REQUIRE(got[i * 3] == hash(7, i));
        REQUIRE(got[i * 3 + 1] == hash(hash(7, 0), 1));
        REQUIRE(got[i * 3 + 2] == hash(7, i % 8));
      }
    }
}

TEST_CASE("a thread knows its place in three dimensions, and the time", "[control]") {
  const u32 gx = 3, gy = 2, gz = 2, bx = 4, by = 3, bz = 5;
  const u32 count = gx * gy * gz * bx * by * bz;
  auto y = poisoned<u32>(count * place_columns);
  auto ticks = poisoned<u64>(count * 4);
  places.launch(under_test().stream(), grid(gx, gy, gz), y, ticks);
  const std::vector<u32> got = y.download();
  const std::vector<u64> time = ticks.download();
  for (u32 rank = 0; rank < count; ++rank) {
    const u32 block = rank / (bx * by * bz), in_block = rank % (bx * by * bz);
    const u32 want[] = {block % gx * bx + in_block % bx,
                        block / gx % gy * by + in_block / bx % by,
                        block / (gx * gy) * bz + in_block / (bx * by),
                        block,
                        in_block,
                        rank,
                        0};
    for (u32 column = 0; column < place_columns; ++column) {
      CAPTURE(rank, column);
      REQUIRE(got[rank * place_columns + column] == want[column]);
    }
    REQUIRE(time[rank * 4] < u64{1} << 40);
    REQUIRE(time[rank * 4 + 1] < u64{1} << 40);
    REQUIRE(time[rank * 4 + 2] < u64{1} << 31);
    REQUIRE(time[rank * 4 + 3] < 1024);
  }
}

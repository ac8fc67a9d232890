// The f32 matmul kernel in every layout, with copies of 16 and of 4 bytes, at ragged and empty shapes.
#include <kaio/ops/matmul/simt/kernel.hpp>

#include "tests/ops/matmul/simt_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr simt_config small(major a, major b, u32 vector) {
  return {.m = 64,
          .n = 64,
          .k = 8,
          .thread_m = 8,
          .thread_n = 4,
          .stages = 3,
          .a = a,
          .b = b,
          .vector_a = vector,
          .vector_b = vector};
}

struct shape {
  u32 batches, m, n, k;
};

// 0 along K, 1, a tile and its neighbours, several tiles, primes; `multiple`: of M and N.
std::vector<shape> shapes(u32 multiple) {
  if (multiple == 4)
    return {{1, 4, 4, 1},   {1, 64, 64, 8},  {1, 60, 68, 7},    {2, 68, 60, 9},
            {1, 64, 64, 0}, {3, 4, 132, 31}, {1, 128, 192, 40}, {1, 196, 4, 64}};
  return {{1, 1, 1, 1},   {1, 64, 64, 8},  {1, 63, 65, 7},    {2, 65, 63, 9},
          {1, 64, 64, 0}, {3, 1, 131, 31}, {1, 127, 193, 40}, {1, 199, 1, 61}};
}

template <simt_config C>
void run_all(bool a_needs, bool b_needs, u32 splits = 1) {
  u64 seed = 1;
  for (const u32 multiple : {1u, 4u}) {
    for (const shape& s : shapes(multiple)) {
      if ((a_needs && s.m % 4 != 0) || (b_needs && s.n % 4 != 0)) continue;
      for (const content what : {content::random, content::integers}) {
        CAPTURE(s.batches, s.m, s.n, s.k, splits);
        // Copies of 16 bytes need lines that begin at multiples of 4 numbers.
        const u32 vector = C.vector_a;
        const auto pad = [&](u32 width, u32 extra) {
          return vector == 1 ? extra : (4 - width % 4) % 4 + 4 * extra;
        };
        const bool a_by_columns = C.a == major::mn, b_by_columns = C.b == major::k;
        matrices<f32> a(s.batches, s.m, s.k, a_by_columns, pad(a_by_columns ? s.m : s.k, 1), 4);
        matrices<f32> b(s.batches, s.k, s.n, b_by_columns, pad(b_by_columns ? s.k : s.n, 2), 8);
        seed += 2;
        check_simt<C>(a.fill(what, seed), b.fill(what, seed + 1), what, 1, splits);
      }
    }
  }
}

}  // namespace

TEST_CASE("f32 matmul NN: A by rows, B by rows", "[ops][matmul]") {
  run_all<small(major::k, major::mn, 4)>(false, true);
  run_all<small(major::k, major::mn, 1)>(false, false);
}

TEST_CASE("f32 matmul NT: A by rows, B by columns", "[ops][matmul]") {
  run_all<small(major::k, major::k, 4)>(false, false);
  run_all<small(major::k, major::k, 1)>(false, false);
}

TEST_CASE("f32 matmul TN: A by columns, B by rows", "[ops][matmul]") {
  run_all<small(major::mn, major::mn, 4)>(true, true);
  run_all<small(major::mn, major::mn, 1)>(false, false);
}

TEST_CASE("f32 matmul TT: A by columns, B by columns", "[ops][matmul]") {
  run_all<small(major::mn, major::k, 4)>(true, false);
  run_all<small(major::mn, major::k, 1)>(false, false);
}

// K of 7 or 9 leaves blocks without a step; of two groups of warps each has half of every step.
TEST_CASE("f32 matmul, K divided among the blocks of a cluster", "[ops][matmul]") {
  if (!under_test().is_emulator() && under_test().properties().target.sm < 90) return;
  constexpr auto divided = [](simt_config cut, u32 groups) {
    cut.clusters = true;
    cut.groups = groups;
    return cut;
  };
  constexpr simt_config by_fours = divided(small(major::k, major::mn, 4), 1);
  constexpr simt_config by_ones = divided(small(major::mn, major::k, 1), 2);
  run_all<by_fours>(false, true, 1);
  run_all<by_fours>(false, true, 4);
  run_all<by_ones>(false, false, 1);
  run_all<by_ones>(false, false, 2);
  run_all<by_ones>(false, false, 8);
}

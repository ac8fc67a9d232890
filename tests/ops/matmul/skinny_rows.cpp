// The f32 matmul kernels for few rows, in both layouts of B, exchanged for few columns, split-K.
#include <kaio/ops/matmul/common/split_reduce.hpp>
#include <kaio/ops/matmul/simt/skinny.hpp>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::tests;
using ops::major;
using ops::skinny_config;

namespace {

template <skinny_config C>
ops::skinny_problem problem_of(const matrices<f32>& a, const matrices<f32>& b) {
  ops::skinny_problem p{};
  p.a_row = a.by_columns ? 1 : static_cast<i64>(a.leading);
  p.a_k = a.by_columns ? static_cast<i64>(a.leading) : 1;
  p.b_line = static_cast<i64>(b.leading);
  p.batch_a = static_cast<i64>(a.stride);
  p.batch_b = static_cast<i64>(b.stride);
  p.m = a.rows;
  p.n = b.columns;
  p.k = a.columns;
  p.column_blocks = ops::skinny_column_blocks<C>(b.columns);
  p.splits = 1;
  p.k_of_split = (a.columns + 7) / 8 * 8;
  return p;
}

// C, or the partial sums of split-K and then C, by rows; `exchanged`: C's memory is the transpose of the
// result.
template <skinny_config C>
void check(const matrices<f32>& a, const matrices<f32>& b, content what, u32 splits, bool exchanged) {
  CAPTURE(a.batches, a.rows, b.columns, a.columns, splits, exchanged);
  matrices<f32> c(a.batches, a.rows, b.columns, exchanged, 3, 5);
  const matrices<f32> before = c;
  auto on_device = under_test().upload(c.host);
  const auto of_a = upload(a.host), of_b = upload(b.host);
  ops::skinny_problem p = problem_of<C>(a, b);
  p.exchanged = exchanged;
  p.c_row = exchanged ? 1 : static_cast<i64>(c.leading);
  p.c_column = exchanged ? static_cast<i64>(c.leading) : 1;
  p.batch_c = static_cast<i64>(c.stride);
  const u64 blocks = u64{p.column_blocks} * splits * a.batches;
  if (splits == 1) {
    ops::skinny_matmul<C, f32, ops::scaled>.launch(under_test().stream(), grid(blocks), of_a, of_b, on_device,
                                                   p, 0.5f);
  } else {
    auto parts =
        under_test().allocate<f32>(std::size_t{a.batches} * splits * a.rows * b.columns, uninitialised);
    ops::split_problem of_reduce{p.c_row, p.c_column, p.batch_c, p.m, p.n, splits, p.exchanged};
    p.splits = splits;
    p.k_of_split = ((p.k + splits - 1) / splits + 7) / 8 * 8;
    p.c_row = p.n;
    p.c_column = 1;
    p.batch_c = i64{p.m} * p.n;
    ops::skinny_matmul<C, f32, ops::identity>.launch(under_test().stream(), grid(blocks), of_a, of_b, parts,
                                                     p);
    ops::split_reduce<f32, ops::scaled>.launch(under_test().stream(),
                                               grid(ops::split_reduce_blocks(p.m, p.n, a.batches)), parts,
                                               on_device, of_reduce, 0.5f);
  }
  c.host = on_device.download();
  check_product(c, before, product<f32>(a, b, [](auto x, u32, u32, u32) { return x / 2; }), what);
}

template <skinny_config C>
void run_all(bool a_by_columns) {
  struct shape {
    u32 batches, m, n, k;
  };
  u64 seed = 1;
  for (const shape& s :
       {shape{1, 1, 1, 1}, shape{1, C.rows, 33, 128}, shape{2, 1, 32, 515}, shape{1, C.rows, 65, 0},
        shape{3, (C.rows + 1) / 2, 31, 127}, shape{1, C.rows, 2, 1100}})
    for (const u32 splits : {1u, 3u})
      for (const bool exchanged : {false, true}) {
        const content what = exchanged ? content::integers : content::random;
        const auto pad = [&](u32 width) { return (4 - width % 4) % 4 + 4; };
        matrices<f32> a(s.batches, s.m, s.k, a_by_columns, pad(s.k), 4);
        matrices<f32> b(s.batches, s.k, s.n, C.b == major::k, pad(s.k), 8);
        seed += 2;
        check<C>(a.fill(what, seed), b.fill(what, seed + 1), what, splits, exchanged);
      }
}

}  // namespace

TEST_CASE("few rows times a matrix by columns", "[ops][matmul]") {
  run_all<skinny_config{.rows = 1, .columns = 4, .warps = 8, .b = major::k, .vector = 4}>(false);
  run_all<skinny_config{.rows = 8, .columns = 4, .warps = 4, .b = major::k, .vector = 4}>(false);
  run_all<skinny_config{.rows = 3, .columns = 2, .warps = 8, .b = major::k, .vector = 1}>(true);
}

TEST_CASE("few rows times a matrix by rows", "[ops][matmul]") {
  run_all<skinny_config{.rows = 1, .columns = 2, .warps = 8, .b = major::mn, .vector = 4}>(false);
  run_all<skinny_config{.rows = 8, .columns = 1, .warps = 16, .b = major::mn, .vector = 4}>(false);
  run_all<skinny_config{.rows = 3, .columns = 2, .warps = 8, .b = major::mn, .vector = 1}>(true);
}

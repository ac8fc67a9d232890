// matmul_with: an epilogue of the user's own, with memory and numbers of its own, in every layout.
#include <kaio/ops/matmul_with.hpp>

#include "tests/ops/matmul/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// x * the number of the row + the value at the place.
struct by_row {
  static constexpr fixed_string name = "by_row";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::place at, in<f32> factors, in<f32> more,
                                val<u32> columns) const {
    val index = t.let(at.row * columns + at.column);
    return t.let(x * factors[at.row] + more[index] + cast<f32>(at.batch));
  }
};

template <matmul_layouts Layouts, class T, class Out>
void check_with(const shape& s, bool a_by_columns, bool b_by_columns) {
  CAPTURE(name_of(s), a_by_columns, b_by_columns);
  matrices<T> a(s.batches, s.m, s.k, a_by_columns, 1), b(s.batches, s.k, s.n, b_by_columns, 3);
  matrices<Out> c(s.batches, s.m, s.n, false, 2);
  const matrices<Out> before = c;
  a.fill(content::integers, 1);
  b.fill(content::integers, 2);
  std::vector<f32> factors(s.m), more(std::size_t{s.m} * s.n);
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = static_cast<float>(i % 3);
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = static_cast<float>(i % 11);
  auto da = upload(a.host), db = upload(b.host), dc = upload(c.host);
  auto df = upload(factors), dm = upload(more);
  matmul_with<Layouts>(under_test().stream(), batch_of<const T>(da, a), batch_of<const T>(db, b),
                       batch_of<Out>(dc, c), by_row{}, df, dm, u32{s.n});
  c.host = dc.download();
  const auto f = [&](auto x, u32 q, u32 i, u32 j) {
    using X = decltype(x);
    return x * X(factors[i]) + X(more[std::size_t{i} * s.n + j]) + X(q);
  };
  check_product(c, before, product<Out>(a, b, f), content::integers);
}

}  // namespace

TEST_CASE("matmul_with: f16 in two layouts", "[ops][matmul]") {
  constexpr matmul_layouts both = matmul_layouts::nn | matmul_layouts::nt;
  for (const shape& s : {shape{1, 40, 72, 64}, shape{2, 7, 33, 29}, shape{1, 9, 10, 0}}) {
    check_with<both, f16, f16>(s, false, false);
    check_with<both, f16, f16>(s, false, true);
  }
}

TEST_CASE("matmul_with: f32", "[ops][matmul]") {
  check_with<matmul_layouts::tn, f32, f32>({2, 33, 21, 17}, true, false);
}

TEST_CASE("matmul_with: refuses a layout that was not compiled, and an output by columns", "[ops][matmul]") {
  auto x = under_test().allocate<f32>(64 * 64), y = under_test().allocate<f32>(64 * 64),
       z = under_test().allocate<f32>(64);
  const tensor_view<const f32, 2> a(x, 8, 8);
  const tensor_view<f32, 2> c(y, 8, 8);
  const auto run = [&](const auto& first, const auto& to) {
    matmul_with<matmul_layouts::tn>(under_test().stream(), first, a, to, by_row{}, z, x, u32{8});
  };
  REQUIRE_THROWS_AS(run(a, c), unsupported_device);
  REQUIRE_THROWS_AS(run(a.transposed(), c.transposed()), invalid_argument);
  run(a.transposed(), c);
}

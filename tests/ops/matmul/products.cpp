// ops::matmul as a caller sees it: layouts of A, B and C, ragged and empty extents, unaligned lines, batches,
// alpha and beta, epilogues, types, and the same bits in every run.
#include "tests/ops/matmul/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

const std::vector<shape>& ragged_shapes() {
  static const std::vector<shape> all{{1, 1, 1, 1},      {1, 1, 64, 64},  {1, 64, 1, 33},  {1, 63, 65, 64},
                                      {1, 65, 63, 65},   {1, 17, 19, 23}, {2, 31, 33, 16}, {3, 5, 72, 40},
                                      {1, 127, 129, 31}, {1, 8, 8, 127},  {1, 3, 200, 56}, {1, 64, 64, 0}};
  return all;
}

template <class T, class Out>
void run_layouts(content what, bool aligned) {
  std::uint64_t seed = 1;
  for (const shape& s : ragged_shapes())
    for (u32 bits = 0; bits < 8; ++bits) {
      layout l{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0};
      if (aligned) {
        l.a_pad = pad_to_16<T>(l.a_by_columns ? s.m : s.k);
        l.b_pad = pad_to_16<T>(l.b_by_columns ? s.k : s.n);
        l.c_pad = pad_to_16<Out>(l.c_by_columns ? s.m : s.n);
      } else {
        l.a_pad = 1;
        l.b_pad = 3;
        l.c_pad = 5;
      }
      check_matmul<T, Out>(s, l, what, {}, false, {}, ++seed);
    }
}

}  // namespace

TEST_CASE("matmul: layouts and ragged shapes, f32", "[ops][matmul]") {
  run_layouts<f32, f32>(content::random, true);
  run_layouts<f32, f32>(content::integers, false);
}
TEST_CASE("matmul: layouts and ragged shapes, f16", "[ops][matmul]") {
  run_layouts<f16, f16>(content::random, true);
  run_layouts<f16, f32>(content::integers, false);
}

TEST_CASE("matmul: alpha, beta, bias, activation and residual", "[ops][matmul]") {
  const shape s{2, 37, 45, 40};
  for (const matmul_activation activation :
       {matmul_activation::none, matmul_activation::relu, matmul_activation::gelu,
        matmul_activation::gelu_tanh, matmul_activation::silu})
    for (u32 bits = 0; bits < 8; ++bits) {
      host_epilogue e;
      e.alpha = 0.25;
      e.beta = (bits & 1) != 0 ? 1.5 : 0;
      e.activation = activation;
      e.bias_of_rows = (bits & 4) != 0;
      for (u32 i = 0; (bits & 2) != 0 && i < (e.bias_of_rows ? s.m : s.n); ++i)
        e.bias.push_back(static_cast<float>(i % 7) / 8 - 0.4f);
      layout l;
      l.c_by_columns = bits == 3;
      check_matmul<f16, f32>(s, l, content::random, e, bits == 5 || bits == 6);
    }
}

TEST_CASE("matmul: a product of nothing is its epilogue", "[ops][matmul]") {
  host_epilogue e;
  e.beta = 2;
  e.activation = matmul_activation::silu;
  for (u32 i = 0; i < 45; ++i) e.bias.push_back(static_cast<float>(i));
  check_matmul<f16, f32>({2, 37, 45, 0}, {}, content::random, e, true);
  check_matmul<f32, f32>({1, 37, 45, 0}, {}, content::random, e, false);
  // alpha = 0 reads neither A nor B, which hold NaN.
  matrices<f32> a(1, 9, 8, false), b(1, 8, 7, false), c(1, 9, 7, false);
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  matmul(under_test().stream(), view_of<const f32>(da, a), view_of<const f32>(db, b), view_of<f32>(dc, c),
         {.alpha = 0});
  for (const f32 x : dc.download()) REQUIRE(x == 0.0f);
}

TEST_CASE("matmul: beta = 0 does not read C, and NaN passes where it must", "[ops][matmul]") {
  // check_matmul poisons C with NaN where beta is 0.
  check_matmul<f16, f16>({1, 20, 24, 32}, {}, content::random);
  matrices<f16> a(1, 20, 32, false), b(1, 32, 24, false);
  a.fill(content::random, 1).at(0, 3, 5) = f16(std::numeric_limits<float>::quiet_NaN());
  b.fill(content::random, 2).at(0, 7, 9) = f16(std::numeric_limits<float>::infinity());
  matrices<f16> c(1, 20, 24, false);
  auto da = upload(a.host), db = upload(b.host);
  auto dc = upload(c.host);
  matmul(under_test().stream(), view_of<const f16>(da, a), view_of<const f16>(db, b), view_of<f16>(dc, c));
  c.host = dc.download();
  for (u32 i = 0; i < 20; ++i)
    for (u32 j = 0; j < 24; ++j) {
      CAPTURE(i, j);
      REQUIRE(std::isfinite(to_double(c.at(0, i, j))) == (i != 3 && j != 9));
    }
}

TEST_CASE("matmul: operands that a batch shares", "[ops][matmul]") {
  const u32 m = GENERATE(10u, 1u), n = 24, k = 32, batches = 3;
  matrices<f16> a(batches, m, k, false), shared_a(1, m, k, false), b(1, k, n, false),
      all_b(batches, k, n, false);
  a.fill(content::integers, 1);
  b.fill(content::integers, 2);
  shared_a.fill(content::integers, 3);
  all_b.fill(content::integers, 4);
  const auto run = [&](matrices<f16>& x, matrices<f16>& y) {
    matrices<f32> c(batches, m, n, false, 1, 2);
    const matrices<f32> before = c;
    auto dx = upload(x.host), dy = upload(y.host);
    auto dc = upload(c.host);
    const stream& s = under_test().stream();
    if (x.batches == 1)
      matmul(s, view_of<const f16>(dx, x), batch_of<const f16>(dy, y), batch_of<f32>(dc, c));
    else
      matmul(s, batch_of<const f16>(dx, x), view_of<const f16>(dy, y), batch_of<f32>(dc, c));
    c.host = dc.download();
    matrices<f16> all_x(batches, m, k, false), all_y(batches, k, n, false);
    for (u32 q = 0; q < batches; ++q) {
      for (u32 i = 0; i < m; ++i)
        for (u32 l = 0; l < k; ++l) all_x.at(q, i, l) = x.at(x.batches == 1 ? 0 : q, i, l);
      for (u32 l = 0; l < k; ++l)
        for (u32 j = 0; j < n; ++j) all_y.at(q, l, j) = y.at(y.batches == 1 ? 0 : q, l, j);
    }
    check_product(c, before, product<f32>(all_x, all_y, [](auto z, u32, u32, u32) { return z; }),
                  content::integers);
  };
  run(a, b);  // batches become rows
  run(shared_a, all_b);
}

TEST_CASE("matmul: slices of larger matrices", "[ops][matmul]") {
  const u32 m = 40, n = 48, k = 64;
  matrices<f16> a(1, 2 * m, 2 * k, false), b(1, 2 * k, 2 * n, false);
  matrices<f16> c(1, 2 * m, 2 * n, false);
  a.fill(content::integers, 1);
  b.fill(content::integers, 2);
  for (const u32 offset : {0u, 1u, 2u, 8u}) {
    auto da = upload(a.host), db = upload(b.host);
    auto dc = upload(c.host);
    const auto part = [&](auto view, u32 rows, u32 columns) {
      return view.slice(0, offset, rows).slice(1, offset, columns);
    };
    matmul(under_test().stream(), part(view_of<const f16>(da, a), m, k),
           part(view_of<const f16>(db, b), k, n), part(view_of<f16>(dc, c), m, n));
    matrices<f16> got = c;
    got.host = dc.download();
    for (u32 i = 0; i < 2 * m; ++i)
      for (u32 j = 0; j < 2 * n; ++j) {
        const bool inside = i >= offset && i < offset + m && j >= offset && j < offset + n;
        CAPTURE(offset, i, j);
        if (!inside) {
          REQUIRE(std::memcmp(&got.at(0, i, j), &c.at(0, i, j), sizeof(f16)) == 0);
          continue;
        }
        double sum = 0;
        for (u32 l = 0; l < k; ++l)
          sum += to_double(a.at(0, i, offset + l)) * to_double(b.at(0, offset + l, j));
        REQUIRE(to_double(got.at(0, i, j)) == to_double(f16(static_cast<float>(sum))));
      }
  }
}

TEST_CASE("matmul: the same bits in every run", "[ops][matmul]") {
  const int runs = under_test().is_emulator() ? 3 : 250;
  for (const shape& s : {shape{1, 100, 72, 200}, shape{1, 5, 136, 512}}) {
    const auto first = check_matmul<f16, f16>(s, {}, content::random);
    for (int i = 1; i < runs; ++i) REQUIRE(same_bits(first, check_matmul<f16, f16>(s, {}, content::random)));
  }
}

TEST_CASE("matmul: real sizes", "[ops][matmul]") {
  if (under_test().is_emulator()) return;  // the host's reference alone takes seconds
  for (const shape& s : {shape{1, 512, 512, 512}, shape{1, 1024, 768, 640}, shape{1, 16, 4096, 1024},
                         shape{16, 128, 128, 128}, shape{1, 1000, 1000, 1000}}) {
    check_matmul<f16, f16>(s, {}, content::random);
    check_matmul<bf16, f32>(s, {false, true}, content::integers);
    check_matmul<f32, f32>(s, {}, content::random);
  }
}

TEST_CASE("matmul: more batches than a grid's third extent", "[ops][matmul]") {
  const u32 batches = 65537;
  matrices<f16> a(1, 8, 8, false), b(1, 8, 8, false);
  a.fill(content::integers, 1);
  b.fill(content::integers, 2);
  auto da = upload(a.host), db = upload(b.host);
  if (under_test().is_emulator()) return;
  auto dc = under_test().allocate<f16>(std::size_t{batches} * 64);
  tensor_view<f16, 3> c(dc, extents(batches, 8, 8));
  matmul(under_test().stream(), view_of<const f16>(da, a), view_of<const f16>(db, b), c);
  const auto got = dc.download();
  const reference want = product<f16>(a, b, [](auto x, u32, u32, u32) { return x; });
  for (const u32 q : {0u, 65534u, 65535u, 65536u})
    for (u32 i = 0; i < 64; ++i) REQUIRE(to_double(got[std::size_t{q} * 64 + i]) == want.plain[i]);
}

// Each kernel begins while the one before it ends, which may still write this one's inputs and read the memory of
// its outputs.
TEST_CASE("matmul: f32 products that follow each other in a stream", "[ops][matmul]") {
  const stream& s = under_test().stream();
  constexpr u32 n = 72;
  const matrices<f32> a = matrices<f32>(1, n, n, false).fill(content::integers, 1);
  const matrices<f32> b = matrices<f32>(1, n, n, false).fill(content::integers, 2);
  const auto times = [](const std::vector<f32>& x, const std::vector<f32>& y) {
    std::vector<f32> result(n * n);
    for (u32 r = 0; r < n; ++r)
      for (u32 k = 0; k < n; ++k)
        for (u32 c = 0; c < n; ++c) result[r * n + c] += x[r * n + k] * y[k * n + c];
    return result;
  };
  const std::vector<f32> ab = times(a.host, b.host), aba = times(ab, a.host), bb = times(b.host, b.host);
  const buffer<f32> on_a = upload(a.host), on_b = upload(b.host);
  buffer<f32> on_y = upload(std::vector<f32>(n * n)), on_z = upload(std::vector<f32>(n * n));
  const auto view = [](const auto& x) { return tensor_view<const f32, 2>(x, n, n); };
  const tensor_view<f32, 2> y(on_y, n, n), z(on_z, n, n);
  for (const auto& v : matmul_variants(s, view(on_a), view(on_b), y)) {
    if (!v.refusal.empty()) continue;
    CAPTURE(v.name);
    const matmul_options by{.variant = v.name};
    matmul(s, view(on_a), view(on_b), y, by);
    matmul(s, view(on_y), view(on_a), z, by);
    matmul(s, view(on_b), view(on_b), y, by);
    REQUIRE(on_z.download() == aba);
    REQUIRE(on_y.download() == bb);
  }
}

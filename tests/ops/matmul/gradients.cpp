// matmul_backward against the host, batches of views, split-K in a workspace, and the entry points with
// KAIO's names.
#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/parity/matmul.hpp>

#include "tests/ops/matmul/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
matrices<T> turned(const matrices<T>& x) {
  matrices<T> result(x.batches, x.columns, x.rows, false);
  for (u32 q = 0; q < x.batches; ++q)
    for (u32 i = 0; i < x.rows; ++i)
      for (u32 j = 0; j < x.columns; ++j) result.at(q, j, i) = x.at(q, i, j);
  return result;
}

// Gradients of C = A * B with dC in D and gradients in G.
template <class T, class D, class G>
void check_backward(const shape& s, bool accumulate, content what) {
  CAPTURE(name_of(s), accumulate);
  matrices<T> a(s.batches, s.m, s.k, false, 1), b(s.batches, s.k, s.n, true, 2);
  matrices<D> dc(s.batches, s.m, s.n, false, 3);
  matrices<G> da(s.batches, s.m, s.k, false), db(s.batches, s.k, s.n, false, 1);
  a.fill(what, 1);
  b.fill(what, 2);
  dc.fill(what, 3);
  if (accumulate) {
    da.fill(what, 4);
    db.fill(what, 5);
  }
  const matrices<G> da_before = da, db_before = db;
  auto ma = upload(a.host), mb = upload(b.host);
  auto mc = upload(dc.host);
  auto mda = upload(da.host), mdb = upload(db.host);
  const auto bytes =
      ops::matmul_backward_workspace_bytes(batch_of<const D>(mc, dc), batch_of<const T>(ma, a));
  auto workspace = under_test().allocate<u8>(static_cast<std::size_t>(bytes) + 1);
  matmul_backward(under_test().stream(), batch_of<const D>(mc, dc), batch_of<const T>(ma, a),
                  batch_of<const T>(mb, b), batch_of<G>(mda, da), batch_of<G>(mdb, db),
                  {.alpha = 2, .accumulate = accumulate, .workspace = workspace});
  da.host = mda.download();
  db.host = mdb.download();
  // The gradient is rounded to the type of the operands.
  matrices<T> rounded(s.batches, s.m, s.n, false);
  for (u32 q = 0; q < s.batches; ++q)
    for (u32 i = 0; i < s.m; ++i)
      for (u32 j = 0; j < s.n; ++j)
        rounded.at(q, i, j) = from_float<T>(static_cast<float>(to_double(dc.at(q, i, j))));
  const auto with = [&](const matrices<G>& before) {
    return [&, accumulate](auto x, u32 q, u32 i, u32 j) {
      using X = decltype(x);
      return X(2) * x + (accumulate ? X(to_double(before.at(q, i, j))) : X(0));
    };
  };
  check_product(da, da_before, product<G>(rounded, turned(b), with(da_before)), what);
  check_product(db, db_before, product<G>(turned(a), rounded, with(db_before)), what);
}

}  // namespace

TEST_CASE("matmul_backward", "[ops][matmul]") {
  for (const shape& s : {shape{1, 40, 24, 56}, shape{2, 17, 33, 9}, shape{1, 1, 64, 65}})
    for (const bool accumulate : {false, true}) {
      check_backward<f16, f16, f16>(s, accumulate, content::random);
      check_backward<f16, f32, f32>(s, accumulate, content::random);  // an f32 gradient from above
      check_backward<f32, f32, f32>(s, accumulate, content::random);
      check_backward<f16, f32, f16>(s, accumulate, content::integers);
    }
}

TEST_CASE("matmul_backward: one gradient alone, and empty ones", "[ops][matmul]") {
  auto zeros = under_test().allocate<f16>(4096);
  auto da_memory = under_test().upload(std::vector<f16>(64, f16(3.0f)));
  tensor_view<const f16, 2> dc(zeros, 8, 0), a(zeros, 8, 8), b(zeros, 8, 0);
  tensor_view<f16, 2> da(da_memory, 8, 8);
  matmul_backward(under_test().stream(), dc, a, b, da, {});
  for (const f16 x : da_memory.download()) REQUIRE(float(x) == 0.0f);  // a sum over no columns
}

TEST_CASE("matmul_batch: matrices that begin anywhere", "[ops][matmul]") {
  device& gpu = under_test();
  auto memory = gpu.allocate<f16>(64 * 1024);
  auto c_memory = gpu.allocate<f32>(64 * 1024);
  std::mt19937 engine(5);
  std::vector<f16> host(64 * 1024);
  for (f16& x : host) x = f16(static_cast<float>(engine() % 9) - 4);
  memory.copy_from(host.data(), host.size(), gpu.stream());
  struct one {
    std::size_t a, b, c;
    u32 m, n, k;
  };
  // Four that are equally far apart, two that are not, and one of another shape; then one that is empty.
  std::vector<one> products;
  for (std::size_t i = 0; i < 4; ++i) products.push_back({i * 1024, 8192 + i * 512, i * 400, 16, 20, 24});
  products.push_back({5000, 30000, 9000, 16, 20, 24});
  products.push_back({100, 20003, 20000, 16, 20, 24});
  products.push_back({7, 9, 30000, 33, 5, 40});
  products.push_back({7, 9, 40000, 0, 5, 40});
  std::vector<tensor_view<const f16, 2>> a, b;
  std::vector<tensor_view<f32, 2>> c;
  for (const one& p : products) {
    const auto pa = memory.slice(p.a, std::size_t{p.m} * p.k), pb = memory.slice(p.b, std::size_t{p.k} * p.n);
    const auto pc = c_memory.slice(p.c, std::size_t{p.m} * p.n);
    a.emplace_back(pa, extents(p.m, p.k));
    b.emplace_back(pb, extents(p.k, p.n));
    c.emplace_back(pc, extents(p.m, p.n));
  }
  matmul_batch(gpu.stream(), std::span<const tensor_view<const f16, 2>>(a),
               std::span<const tensor_view<const f16, 2>>(b), std::span<const tensor_view<f32, 2>>(c));
  const auto got = c_memory.download();
  for (const one& p : products)
    for (u32 i = 0; i < p.m; ++i)
      for (u32 j = 0; j < p.n; ++j) {
        float sum = 0;
        for (u32 l = 0; l < p.k; ++l)
          sum += float(host[p.a + std::size_t{i} * p.k + l]) * float(host[p.b + std::size_t{l} * p.n + j]);
        CAPTURE(p.c, i, j);
        REQUIRE(got[p.c + std::size_t{i} * p.n + j] == sum);
      }
}

TEST_CASE("matmul: parts of K in a workspace", "[ops][matmul]") {
  const shape s{1, 64, 64, 2048};
  matrices<f16> a(1, s.m, s.k, false), b(1, s.k, s.n, false), c(1, s.m, s.n, false);
  auto da = upload(a.host), db = upload(b.host), dc = upload(c.host);
  auto workspace = under_test().allocate<f32>(16 * 64 * 64);
  matmul_options options;
  options.workspace = workspace;
  std::size_t ran = 0;
  for (const auto& v : ops::matmul_variants(under_test().stream(), view_of<const f16>(da, a),
                                            view_of<const f16>(db, b), view_of<f16>(dc, c), options)) {
    if (!v.refusal.empty() || v.workspace_bytes == 0) continue;
    CAPTURE(v.name);
    REQUIRE(v.workspace_bytes <= workspace.bytes());
    options.variant = v.name;
    host_epilogue e;
    e.alpha = 0.125;
    e.activation = matmul_activation::relu;
    e.bias.assign(s.n, 1.0f);
    check_matmul<f16, f16>(s, {}, content::integers, e, true, options);
    ++ran;
  }
  REQUIRE(ran > 0);
}

TEST_CASE("matmul: the names of KAIO", "[ops][matmul]") {
  const device& gpu = under_test();
  const u32 m = 17, n = 9, k = 23;  // KAIO wanted K in steps of 16
  matrices<f16> a(1, m, k, false), b(1, k, n, false);
  a.fill(content::integers, 1);
  b.fill(content::integers, 2);
  const reference want = product<f32>(a, b, [](auto x, u32, u32, u32) { return x; });
  std::vector<f32> fa, fb;
  std::vector<bf16> ba, bb;
  for (const f16 x : a.host) fa.push_back(float(x)), ba.push_back(bf16(float(x)));
  for (const f16 x : b.host) fb.push_back(float(x)), bb.push_back(bf16(float(x)));
  const auto a16 = gpu.upload(a.host), b16 = gpu.upload(b.host);
  const auto a32 = gpu.upload(fa), b32 = gpu.upload(fb);
  const auto ab16 = gpu.upload(ba), bb16 = gpu.upload(bb);
  const auto check = [&](const auto& f) {
    auto c = gpu.allocate<f32>(std::size_t{m} * n + 5);  // larger than needed
    f(c);
    const auto got = c.download();
    for (std::size_t i = 0; i < want.plain.size(); ++i) REQUIRE(double(got[i]) == want.plain[i]);
  };
  check([&](auto& c) { ops::matmul(gpu, a32, b32, c, m, n, k); });
  check([&](auto& c) { ops::matmul_auto(gpu, a32, b32, c, m, n, k); });
  check([&](auto& c) { ops::matmul_tc(gpu, a16, b16, c, m, n, k); });
  check([&](auto& c) { ops::matmul_tc_async(gpu, a16, b16, c, m, n, k); });
  check([&](auto& c) { ops::matmul_auto_tc(gpu, a16, b16, c, m, n, k); });
  check([&](auto& c) { ops::matmul_tc_bf16(gpu, ab16, bb16, c, m, n, k); });
  check([&](auto& c) { ops::matmul_tc_bf16_async(gpu, ab16, bb16, c, m, n, k); });
  check([&](auto& c) { ops::matmul_auto_tc_bf16(gpu, ab16, bb16, c, m, n, k); });
  auto small = gpu.allocate<f32>(std::size_t{m} * n - 1);
  REQUIRE_THROWS_AS(ops::matmul_tc(gpu, a16, b16, small, m, n, k), invalid_argument);
}

// The f32 matmul kernel with large tiles: epilogues of the library and of a user, results of 16 bits, C named
// the other way round, batches by address, split-K, and the same bits in every run.
#include "tests/ops/matmul/simt_support.hpp"

using namespace kaio;
using namespace kaio::tests;
using ops::place;

namespace {

// The tile shape of a thread is that of the large tiles; the steps are short, so that any compiler traces
// them.
constexpr simt_config large(major a, major b) {
  return {
      .m = 128, .n = 64, .k = 4, .thread_m = 16, .thread_n = 8, .stages = 3, .min_blocks = 2, .a = a, .b = b};
}
constexpr simt_config small{.m = 64, .n = 64, .k = 8, .thread_m = 8, .thread_n = 4, .stages = 4};
constexpr simt_config tiny{.m = 32, .n = 32, .k = 8, .thread_m = 4, .thread_n = 4, .stages = 3};
constexpr simt_config by_address{.m = 64,
                                 .n = 64,
                                 .k = 8,
                                 .thread_m = 8,
                                 .thread_n = 4,
                                 .stages = 4,
                                 .a = major::mn,
                                 .b = major::k,
                                 .vector_a = 1,
                                 .vector_b = 1,
                                 .pointers = true};

struct operands {
  matrices<f32> a, b;
  operands(u32 batches, u32 m, u32 n, u32 k, content what, bool a_by_columns = false,
           bool b_by_columns = false)
      : a(batches, m, k, a_by_columns, (4 - k % 4) % 4),
        b(batches, k, n, b_by_columns, (4 - (b_by_columns ? k : n) % 4) % 4) {
    a.fill(what, 3 + m);
    b.fill(what, 5 + n);
  }
};

float relu(float x) { return x < 0 ? 0 : x; }
double relu(double x) { return x < 0 ? 0 : x; }

// A user's epilogue: the sum, the number of its row and batch, and a number for each column.
struct numbered {
  constexpr val<f32> operator()(thread t, val<f32> x, place at, in<f32> of_column, val<f32> factor) const {
    return t.let(x + of_column[at.column] * factor + cast<f32>(at.row * 100u + at.batch));
  }
};

}  // namespace

TEST_CASE("large tiles multiply as small ones do", "[ops][matmul]") {
  for (const content what : {content::random, content::integers}) {
    const operands nn(1, 129, 132, 35, what), nt(2, 65, 127, 50, what, false, true);
    check_simt<large(major::k, major::mn)>(nn.a, nn.b, what, 0.5f);
    check_simt<large(major::k, major::k)>(nt.a, nt.b, what, -2.0f);
  }
}

TEST_CASE("a linear layer: C, bias, activation and residual, each of its own type", "[ops][matmul]") {
  const operands x(2, 66, 72, 40, content::random);
  matrices<f16> c(2, 66, 72, false, 4, 8);
  c.fill(content::random, 77);
  const matrices<f16> before = c;
  matrices<f16> residual(2, 66, 72, true, 1, 2);
  residual.fill(content::random, 78);
  std::vector<bf16> bias(72);
  for (u32 i = 0; i < 72; ++i) bias[i] = bf16(static_cast<float>(i) / 64 - 0.5f);
  auto of_c = under_test().upload(c.host);
  const auto of_a = upload(x.a.host), of_b = upload(x.b.host);
  const auto of_residual = upload(residual.host);
  const auto of_bias = upload(bias);
  using layer = ops::linear<ops::activation::relu, f16, bf16, f16>;
  for (const u32 terms : {7u, 0u, 1u, 2u, 4u}) {
    CAPTURE(terms);
    const float alpha = 0.5f, beta = -1.5f;
    ops::linear_terms numbers{.alpha = alpha,
                              .beta = beta,
                              .uses_c = terms & 1,
                              .uses_bias = terms >> 1 & 1,
                              .uses_residual = terms >> 2 & 1};
    numbers.c = {static_cast<i64>(c.stride), static_cast<i64>(c.leading), 1};
    numbers.bias = {0, 0, 1};
    numbers.residual = {static_cast<i64>(residual.stride), 1, static_cast<i64>(residual.leading)};
    of_c = under_test().upload(before.host);
    const simt_problem p = problem_of<small>(x.a, x.b, c.leading, c.stride);
    ops::simt_matmul<small, f16, layer>.launch(under_test().stream(), grid(u64{p.scheduler.tiles} * 2), of_a,
                                               of_b, of_c, p, of_c, of_bias, of_residual, numbers);
    c.host = of_c.download();
    const auto f = [&](auto sum, u32 batch, u32 row, u32 column) {
      using F = decltype(sum);
      F y = sum * static_cast<F>(alpha);
      if (numbers.uses_c)
        y += static_cast<F>(beta) * static_cast<F>(to_double(before.at(batch, row, column)));
      if (numbers.uses_bias) y += static_cast<F>(to_double(bias[column]));
      y = relu(y);
      if (numbers.uses_residual) y += static_cast<F>(to_double(residual.at(batch, row, column)));
      return y;
    };
    check_product(c, before, product<f16>(x.a, x.b, f), content::random);
  }
}

TEST_CASE("the activations of a linear layer", "[ops][matmul]") {
  const operands x(1, 20, 24, 8, content::random);
  const auto of_a = upload(x.a.host), of_b = upload(x.b.host);
  const auto run = [&]<class Activation>(Activation, auto f) {
    matrices<f32> c(1, 20, 24, false);
    const matrices<f32> before = c;
    auto of_c = under_test().upload(c.host);
    const simt_problem p = problem_of<tiny>(x.a, x.b, c.leading, c.stride);
    ops::simt_matmul<tiny, f32, ops::linear<Activation>>.launch(
        under_test().stream(), grid(u64{p.scheduler.tiles}), of_a, of_b, of_c, p, of_c, of_a, of_a,
        ops::linear_terms{.alpha = 3});
    c.host = of_c.download();
    check_product(c, before, product<f32>(x.a, x.b, [&](auto sum, u32, u32, u32) { return f(sum * 3); }),
                  content::random);
  };
  run(ops::activation::silu{}, [](auto y) { return y / (1 + std::exp(-y)); });
  run(ops::activation::gelu{}, [](auto y) {
    using F = decltype(y);
    return y / 2 * (1 + std::erf(y * static_cast<F>(0.70710678118654752)));
  });
}

TEST_CASE("an epilogue sees where its sum is, also where rows and columns are exchanged", "[ops][matmul]") {
  const operands x(2, 68, 60, 24, content::integers);
  std::vector<f32> of_column(68);
  for (u32 i = 0; i < 68; ++i) of_column[i] = static_cast<f32>(i);
  const auto of_a = upload(x.a.host), of_b = upload(x.b.host), numbers = upload(of_column);
  for (const u32 exchanged : {0u, 1u}) {
    matrices<f32> c(2, 68, 60, false, 4, 4);
    const matrices<f32> before = c;
    auto of_c = under_test().upload(c.host);
    simt_problem p = problem_of<small>(x.a, x.b, c.leading, c.stride);
    p.exchanged = exchanged;
    ops::simt_matmul<small, f32, numbered>.launch(under_test().stream(), grid(u64{p.scheduler.tiles} * 2),
                                                  of_a, of_b, of_c, p, numbers, 2.0f);
    c.host = of_c.download();
    const auto f = [&](auto sum, u32 batch, u32 row, u32 column) {
      using F = decltype(sum);
      const u32 r = exchanged ? column : row, col = exchanged ? row : column;
      return sum + static_cast<F>(of_column[col]) * 2 + static_cast<F>(r * 100 + batch);
    };
    check_product(c, before, product<f32>(x.a, x.b, f), content::integers);
  }
}

TEST_CASE("batches by their addresses, in any order", "[ops][matmul]") {
  const operands x(3, 65, 33, 13, content::random, true, true);
  matrices<f32> c(3, 65, 33, false, 1, 2);
  const matrices<f32> before = c;
  auto of_c = under_test().upload(c.host);
  const auto of_a = upload(x.a.host), of_b = upload(x.b.host);
  const auto addresses = [](u64 base, u64 stride) {
    return under_test().upload(std::vector<u64>{base, base + stride * 4, base + stride * 8});
  };
  const auto a = addresses(of_a.address(), x.a.stride), b = addresses(of_b.address(), x.b.stride),
             to = addresses(of_c.address(), c.stride);
  const simt_problem p = problem_of<by_address>(x.a, x.b, c.leading, c.stride);
  simt_problem unaligned = p;
  unaligned.vector_stores = 0;
  ops::simt_matmul<by_address, f32, ops::identity>.launch(
      under_test().stream(), grid(u64{p.scheduler.tiles} * 3), a, b, to, unaligned);
  c.host = of_c.download();
  check_product(c, before, product<f32>(x.a, x.b, [](auto sum, u32, u32, u32) { return sum; }),
                content::random);
}

TEST_CASE("split K: parts in a workspace, added in their order, the same bits in every run",
          "[ops][matmul]") {
  const operands x(2, 30, 44, 203, content::random);
  const auto of_a = upload(x.a.host), of_b = upload(x.b.host);
  for (const u32 splits : {2u, 5u, 40u}) {  // the last ones of 40 splits are empty
    CAPTURE(splits);
    std::vector<f32> first;
    for (u32 run = 0; run < 3; ++run) {
      matrices<f32> c(2, 30, 44, true, 1, 3);
      const matrices<f32> before = c;
      auto of_c = under_test().upload(c.host);
      auto parts = under_test().allocate<f32>(std::size_t{2} * splits * 30 * 44, uninitialised);
      simt_problem p = problem_of<small>(x.a, x.b, 44, u64{30} * 44);
      p.splits = ops::divisor::of(splits);
      p.k_of_split = ((203 + splits - 1) / splits + 7) / 8 * 8;
      ops::simt_matmul<small, f32, ops::identity>.launch(
          under_test().stream(), grid(u64{p.scheduler.tiles} * splits * 2), of_a, of_b, parts, p);
      const ops::split_problem of_reduce{
          1, static_cast<i64>(c.leading), static_cast<i64>(c.stride), 30, 44, splits, 0};
      ops::split_reduce<f32, ops::scaled>.launch(
          under_test().stream(), grid(ops::split_reduce_blocks(30, 44, 2)), parts, of_c, of_reduce, 2.0f);
      c.host = of_c.download();
      check_product(c, before, product<f32>(x.a, x.b, [](auto sum, u32, u32, u32) { return sum * 2; }),
                    content::random);
      if (run == 0) first = c.host;
      REQUIRE(same_bits(first, c.host));
    }
  }
}

#pragma once
// Shared by the tests of the matmul kernels with matrix instructions of a warp: operands with leading
// dimensions and batches, of small integers, so that results are exact, and the product in f64.

#include "tests/ops/matmul/mma_sync_kernels.hpp"
#include "tests/ops/support.hpp"

#include <algorithm>

namespace kaio::tests {

using ops::identity;
using ops::mma_sync_matmul;
using ops::mma_sync_problem;
using ops::mma_sync_problem_of;

struct shape {
  u32 m, n, k;
  u32 batches = 1;
  u32 splits = 1;
};

template <class T>
std::vector<T> small_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> x(std::max<std::size_t>(count, 1));
  for (T& e : x) e = T(static_cast<int>(engine() % 7) - 3);
  return x;
}

template <class T>
T from_double(double x) {
  if constexpr (std::is_same_v<T, f32>)
    return static_cast<f32>(x);
  else
    return T(x);
}

// NaN, which a result that was not written shows.
template <class T>
buffer<T> poisoned(std::size_t count) {
  return under_test().upload(std::vector<T>(count, from_double<T>(std::numeric_limits<double>::quiet_NaN())));
}

inline u32 round_up(u32 x, u32 to) { return (x + to - 1) / to * to; }

// An operand of batches, in lines of `length` elements with padding after each.
template <class T>
struct operand {
  std::vector<T> host;
  u32 leading, lines;
  operand(u32 length, u32 in_lines, u32 batches, u32 pad, unsigned seed)
      : host(small_numbers<T>(std::size_t{round_up(length, pad) + pad} * in_lines * batches, seed)),
        leading(round_up(length, pad) + pad),
        lines(in_lines) {}
  double at(u32 batch, u32 line, u32 column) const {
    return static_cast<double>(host[(std::size_t{batch} * lines + line) * leading + column]);
  }
  i64 batch_stride() const { return i64{leading} * lines; }
};

template <mma_sync_config C, class Product>
struct problem_data {
  using TA = typename Product::a_element;
  using TB = typename Product::b_element;
  // Leading dimensions are multiples of 16 bytes, unless elements come one by one.
  static constexpr u32 pad_a = C.copy_a == copy_form::elements ? 3 : 16 / sizeof(TA);
  static constexpr u32 pad_b = C.copy_b == copy_form::elements ? 5 : 16 / sizeof(TB);
  operand<TA> a;
  operand<TB> b;
  mma_sync_problem problem;
  explicit problem_data(const shape& s)
      : a(C.a == major::k ? s.k : s.m, C.a == major::k ? s.m : s.k, s.batches, pad_a, 1),
        b(C.b == major::k ? s.k : s.n, C.b == major::k ? s.n : s.k, s.batches, pad_b, 2),
        problem(mma_sync_problem_of<C>(s.m, s.n, s.k, s.batches, s.splits)) {
    problem.lda = a.leading;
    problem.ldb = b.leading;
    problem.batch_a = a.batch_stride();
    problem.batch_b = b.batch_stride();
  }
  double sum(const shape& s, u32 batch, u32 row, u32 column) const {
    double result = 0;
    for (u32 k = 0; k < s.k; ++k)
      result += (C.a == major::k ? a.at(batch, row, k) : a.at(batch, k, row)) *
                (C.b == major::k ? b.at(batch, column, k) : b.at(batch, k, column));
    return result;
  }
};

template <mma_sync_config C, class Product, class Out>
void check(const shape& s, u32 pad_c = 3) {
  problem_data<C, Product> data(s);
  const u32 pitch = s.n + pad_c;
  data.problem.c.pitch = pitch;
  data.problem.c.batch_pitch = i64{pitch} * s.m;
  data.problem.c.by_four = pitch % 4 == 0 ? 1 : 0;
  auto a = under_test().upload(data.a.host);
  auto b = under_test().upload(data.b.host);
  auto c = poisoned<Out>(std::size_t{pitch} * s.m * s.batches);
  const auto& kernel = mma_sync_matmul<C, Product, Out, identity>;
  kernel.launch(under_test().stream(), grid(data.problem.scheduler.tiles), a, b, c, data.problem);
  const auto got = c.download();
  const auto untouched = poisoned<Out>(1).download()[0];
  const std::string_view name = kernel.name();
  for (u32 batch = 0; batch < s.batches; ++batch)
    for (u32 row = 0; row < s.m; ++row)
      for (u32 column = 0; column < pitch; ++column) {
        CAPTURE(name, s.m, s.n, s.k, batch, row, column);
        const Out& one = got[(std::size_t{batch} * s.m + row) * pitch + column];
        if (column >= s.n)
          REQUIRE(std::memcmp(&one, &untouched, sizeof(Out)) == 0);
        else
          REQUIRE(static_cast<double>(one) ==
                  static_cast<double>(from_double<Out>(data.sum(s, batch, row, column))));
      }
}

// All four orders of A and B.
template <class Product, class Out, u32 K = 32>
void check_orders(std::initializer_list<shape> shapes) {
  for (const shape& s : shapes) {
    check<small_cut(major::k, major::k, copy_form::async, copy_form::async, K), Product, Out>(s);
    check<small_cut(major::k, major::mn, copy_form::async, copy_form::async, K), Product, Out>(s);
    check<small_cut(major::mn, major::k, copy_form::async, copy_form::async, K), Product, Out>(s);
    check<small_cut(major::mn, major::mn, copy_form::async, copy_form::async, K), Product, Out>(s);
  }
}

}  // namespace kaio::tests

#pragma once
// The host's side of the tests of wgmma: matrices of numbers, as a case of wgmma_kernels.hpp stores them, and
// their product.

#include "tests/kernels/mma/wgmma_kernels.hpp"
#include "tests/kernels/support.hpp"

#include <algorithm>

namespace kaio::tests {

// rows x depth numbers: of A its rows, of B its columns.
struct number_matrix {
  u32 rows, depth;
  std::vector<double> numbers;
  number_matrix(u32 in_rows, u32 in_depth)
      : rows(in_rows), depth(in_depth), numbers(std::size_t{in_rows} * in_depth) {}
  double& at(u32 row, u32 k) { return numbers[std::size_t{row} * depth + k]; }
  double at(u32 row, u32 k) const { return numbers[std::size_t{row} * depth + k]; }

  // Small integers, so that sums are exact in every type.
  template <class T>
  void randomise(std::mt19937& engine) {
    constexpr bool is_bit = std::is_same_v<T, b1>;
    constexpr bool is_unsigned = is_bit || std::is_same_v<T, u8>;
    std::uniform_int_distribution<int> draw(is_unsigned ? 0 : -3, is_bit ? 1 : 3);
    for (double& x : numbers) x = draw(engine);
  }
};

// As memory has it: each row along K, or each k along the rows.
template <class T>
std::vector<stored_type<T>> in_memory(const number_matrix& m, major order) {
  const u32 outer = order == major::k ? m.rows : m.depth;
  const u32 inner = order == major::k ? m.depth : m.rows;
  constexpr u32 together = std::is_same_v<T, b1> ? 8 : 1;
  std::vector<stored_type<T>> result(std::size_t{outer} * inner / together);
  for (u32 o = 0; o < outer; ++o)
    for (u32 i = 0; i < inner; ++i) {
      const double x = order == major::k ? m.at(o, i) : m.at(i, o);
      auto& to = result[(std::size_t{o} * inner + i) / together];
      if constexpr (together == 8)
        to = static_cast<u8>(to | (x != 0 ? 1u << (i % 8) : 0u));
      else
        to = static_cast<stored_type<T>>(static_cast<float>(x));
    }
  return result;
}

inline std::vector<double> product(const number_matrix& a, const number_matrix& b, double sign,
                                   const std::vector<double>& c) {
  std::vector<double> result = c;
  for (u32 row = 0; row < a.rows; ++row)
    for (u32 column = 0; column < b.rows; ++column) {
      double sum = 0;
      for (u32 k = 0; k < a.depth; ++k) sum += a.at(row, k) * b.at(column, k);
      result[std::size_t{row} * b.rows + column] += sign * sum;
    }
  return result;
}

template <class D>
std::vector<D> as_type(const std::vector<double>& x) {
  std::vector<D> result(x.size());
  std::transform(x.begin(), x.end(), result.begin(),
                 [](double v) { return static_cast<D>(static_cast<float>(v)); });
  return result;
}

template <class D>
u32 bits_of_element(D x) {
  if constexpr (sizeof(D) == 2)
    return x.bits();
  else
    return std::bit_cast<u32>(x);
}

// Elements that are not what they should be, bit by bit.
template <class D>
std::size_t count_different(const std::vector<D>& got, const std::vector<D>& wanted) {
  std::size_t wrong = got.size() == wanted.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i)
    wrong += bits_of_element(got[i]) != bits_of_element(wanted[i]);
  return wrong;
}

inline std::vector<double> random_integers(std::size_t count, int most, std::mt19937& engine) {
  std::uniform_int_distribution<int> draw(-most, most);
  std::vector<double> x(count);
  for (double& e : x) e = draw(engine);
  return x;
}

// Runs a product of small integers with and without something to add to.
template <class Case, wgmma_options Options = wgmma_options{}>
void check_product(u32 seed = 1) {
  std::mt19937 engine(seed);
  using A = typename Case::A;
  using B = typename Case::B;
  using D = typename Case::D;
  number_matrix a(64, Case::depth), b(Case::n, Case::depth);
  a.randomise<A>(engine);
  b.randomise<B>(engine);
  const std::vector<double> c = random_integers(std::size_t{64} * Case::n, 20, engine);
  const double sign = Options.negate_a != Options.negate_b ? -1 : 1;
  auto a_buffer = under_test().upload(in_memory<A>(a, Case::major_a));
  auto b_buffer = under_test().upload(in_memory<B>(b, Case::major_b));
  for (const u32 accumulate : {0u, 1u}) {
    auto c_buffer = under_test().upload(as_type<D>(c));
    wgmma_product<Case, Options>.launch(under_test().stream(), grid(1), a_buffer, b_buffer, c_buffer,
                                        accumulate);
    const std::vector<double> start = accumulate != 0 ? c : std::vector<double>(c.size());
    INFO(Case::name.view() << " accumulate " << accumulate);
    CHECK(count_different(c_buffer.download(), as_type<D>(product(a, b, sign, start))) == 0);
  }
}

}  // namespace kaio::tests

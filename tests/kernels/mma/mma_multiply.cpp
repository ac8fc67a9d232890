// Every instruction of mma.sync against a host model: small integers exactly, random numbers closely,
// integers over their whole range with wrapping and with saturation.
#include "tests/kernels/mma/mma_model.hpp"

#include <boost/hana/for_each.hpp>

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

enum class numbers { small, random, extreme };

// The product that the instruction should give: exact in f64 for integers and small numbers.
template <class Mma, mma_operation Operation>
double expected(matrices<typename Mma::a_fragment>& a, matrices<typename Mma::b_fragment>& b, double c,
                u32 matrix, u32 row, u32 column) {
  double sum = c;
  for (u32 k = 0; k < Mma::k; ++k) {
    const double x = a.number(matrix, row, k);
    const double y = b.number(matrix, k, column);
    if constexpr (Operation == mma_operation::xor_popc)
      sum += x != y;
    else if constexpr (Operation == mma_operation::and_popc)
      sum += x * y;
    else
      sum += x * y;
  }
  if constexpr (std::is_same_v<typename Mma::result::element_type, i32>) {
    if constexpr (Operation == mma_operation::saturated)
      return std::clamp(sum, -2147483648.0, 2147483647.0);
    else
      return static_cast<i32>(static_cast<u32>(static_cast<i64>(sum)));
  }
  return sum;
}

template <class Mma, mma_operation Operation>
void check(numbers which) {
  using C = typename Mma::accumulator::element_type;
  using D = typename Mma::result::element_type;
  std::mt19937_64 engine(Mma::m * 1000 + Mma::k);
  matrices<typename Mma::a_fragment> a;
  matrices<typename Mma::b_fragment> b;
  matrices<typename Mma::accumulator> c;
  matrices<typename Mma::result> d, again;
  const bool exact = which != numbers::random || std::is_same_v<C, i32>;
  using A = typename Mma::a_element;
  using B = typename Mma::b_element;
  a.fill([&] { return exact ? small_element<A>(engine) : random_element<A>(engine); });
  b.fill([&] { return exact ? small_element<B>(engine) : random_element<B>(engine); });
  c.fill([&] {
    if constexpr (std::is_same_v<C, i32>)
      return which == numbers::extreme ? encoded<C>(engine() % 2 == 0 ? 2147483000.0 : -2147483000.0)
                                       : encoded<C>(static_cast<double>(engine() % 2001) - 1000);
    else
      return encoded<C>(static_cast<double>(engine() % 65) - 32);
  });
  auto in_a = under_test().upload(a.registers());
  auto in_b = under_test().upload(b.registers());
  auto in_c = under_test().upload(c.registers());
  using R = typename Mma::result::register_type;
  auto out_d = poisoned<R>(32 * Mma::result::register_count);
  auto out_again = poisoned<R>(32 * Mma::result::register_count);
  multiplication<Mma, Operation>.launch(under_test().stream(), grid(1), in_a, in_b, in_c, out_d, out_again);
  d.take(out_d.download());
  constexpr bool in_place = std::is_same_v<typename Mma::result, typename Mma::accumulator>;
  if (in_place) again.take(out_again.download());
  const std::string_view name = multiplication<Mma, Operation>.name();
  CAPTURE(name);
  for (u32 matrix = 0; matrix < d.count; ++matrix)
    for (u32 row = 0; row < Mma::m; ++row)
      for (u32 column = 0; column < Mma::n; ++column) {
        CAPTURE(matrix, row, column);
        const double got = d.number(matrix, row, column);
        const double want =
            expected<Mma, Operation>(a, b, c.number(matrix, row, column), matrix, row, column);
        // The sum of |products| bounds the error: products of f16 and below are exact in f32, sums are not.
        double scale = std::abs(c.number(matrix, row, column));
        for (u32 k = 0; k < Mma::k; ++k)
          scale += std::abs(a.number(matrix, row, k) * b.number(matrix, k, column));
        const double unit = std::is_same_v<D, f64> ? 0x1p-50 : std::is_same_v<D, f16> ? 0x1p-10 : 0x1p-12;
        const double tolerance = exact ? 0 : scale * unit;
        REQUIRE(std::abs(got - want) <= tolerance);
        if (in_place) {
          const double twice = expected<Mma, Operation>(a, b, got, matrix, row, column);
          REQUIRE(std::abs(again.number(matrix, row, column) - twice) <= 2 * tolerance);
        }
      }
}

template <class List, mma_operation Operation = mma_operation::multiply_add>
void check_all(std::initializer_list<numbers> which) {
  boost::hana::for_each(List{}, [&](auto type) {
    for (const numbers n : which) check<typename decltype(type)::type, Operation>(n);
  });
}

}  // namespace

TEST_CASE("mma of f16, bf16 and tf32 multiplies matrices", "[mma]") {
  check_all<mma_f16>({numbers::small, numbers::random});
}

TEST_CASE("mma.m8n8k4 of f16 multiplies four pairs of matrices, in every order", "[mma]") {
  check_all<quads<f32, f32>>({numbers::small, numbers::random});
  check_all<quads<f16, f16>>({numbers::small, numbers::random});
  check_all<quads<f32, f16>>({numbers::small, numbers::random});
}

TEST_CASE("mma of f64 multiplies matrices", "[mma]") {
  check_all<mma_f64>({numbers::small, numbers::random});
}

TEST_CASE("mma of e4m3 and e5m2 multiplies matrices", "[mma]") {
  check_all<mma_f8<f32, e4m3, e4m3>>({numbers::small, numbers::random});
  check_all<mma_f8<f32, e4m3, e5m2>>({numbers::small, numbers::random});
  check_all<mma_f8<f32, e5m2, e4m3>>({numbers::small});
  check_all<mma_f8<f32, e5m2, e5m2>>({numbers::small});
  check_all<mma_f8<f16, e4m3, e4m3>>({numbers::small, numbers::random});
  check_all<mma_f8<f16, e5m2, e4m3>>({numbers::small});
}

TEST_CASE("mma of integers wraps, and saturates where it is asked to", "[mma]") {
  constexpr auto saturated = mma_operation::saturated;
  check_all<mma_i8<i8, i8>>({numbers::small, numbers::extreme});
  check_all<mma_i8<u8, i8>>({numbers::small});
  check_all<mma_i8<i8, u8>>({numbers::small});
  check_all<mma_i8<u8, u8>>({numbers::small, numbers::extreme});
  check_all<mma_i8<i8, i8>, saturated>({numbers::small, numbers::extreme});
  check_all<mma_i8<u8, u8>, saturated>({numbers::extreme});
  check_all<mma_i4<i4, i4>>({numbers::small, numbers::extreme});
  check_all<mma_i4<u4, i4>>({numbers::small});
  check_all<mma_i4<i4, u4>>({numbers::small});
  check_all<mma_i4<u4, u4>>({numbers::small, numbers::extreme});
  check_all<mma_i4<i4, i4>, saturated>({numbers::extreme});
}

TEST_CASE("mma of bits counts those that differ, or that both have", "[mma]") {
  check_all<mma_b1, mma_operation::xor_popc>({numbers::small});
  check_all<mma_b1, mma_operation::and_popc>({numbers::small});
}

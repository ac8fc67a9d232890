// mma.sp against a host model: random patterns of kept elements, every selector, small numbers so that sums
// are exact.
#include "tests/kernels/mma/mma_model.hpp"

#include <boost/hana/for_each.hpp>

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Which elements of a chunk are kept, as a code of four bits: the places of both in order; for tf32, one of
// two.
constexpr u32 codes[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
constexpr u32 codes_of_tf32[] = {0x4, 0xe};

template <class Mma, u32 Selector, bool Saturated>
void check() {
  using A = typename Mma::a_element;
  constexpr u32 bits = dsl::matrix_element<A>::bits;
  constexpr u32 chunks = Mma::k / Mma::chunk, kept = Mma::chunk / 2;
  std::mt19937_64 engine(Mma::k + Selector);
  matrices<typename Mma::a_fragment> a;
  matrices<typename Mma::b_fragment> b;
  matrices<typename Mma::accumulator> c, d;
  a.fill([&] { return small_element<A>(engine); });
  b.fill([&] { return small_element<typename Mma::b_element>(engine); });
  using C = typename Mma::accumulator::element_type;
  const double limit = Saturated ? 2147483000.0 : 30.0;
  c.fill([&] { return encoded<C>(Saturated ? limit : static_cast<double>(engine() % 61) - limit); });

  // Codes of the row's chunks; the metadata of lanes that the selector does not name is not looked at.
  std::vector<u32> code(16 * chunks), metadata(32);
  for (u32& m : metadata) m = static_cast<u32>(engine());
  for (u32 row = 0; row < 16; ++row)
    for (u32 chunk = 0; chunk < chunks; ++chunk) {
      const u32 one = bits == 32 ? codes_of_tf32[engine() % 2] : codes[engine() % 6];
      code[row * chunks + chunk] = one;
      // Four lanes to rows g and g + 8. Elements of 16 and 32 bits: a lane has four chunks of both rows, the
      // upper row in the upper half. Narrower: lanes have eight chunks of one row, in turn.
      u32 lane = row % 8 * 4 + Selector * (chunks / 4), shift = 0;
      if (bits >= 16) {
        lane += chunk / 4;
        shift = row / 8 * 16 + chunk % 4 * 4;
      } else {
        lane += row / 8 + chunk / 8 * 2;
        shift = chunk % 8 * 4;
      }
      metadata[lane] = (metadata[lane] & ~(15u << shift)) | one << shift;
    }

  auto in_a = under_test().upload(a.registers());
  auto in_b = under_test().upload(b.registers());
  auto in_c = under_test().upload(c.registers());
  auto in_metadata = under_test().upload(metadata);
  auto out_d = poisoned<typename Mma::result::register_type>(32 * Mma::result::register_count);
  sparse_multiplication<Mma, Selector, Saturated>.launch(under_test().stream(), grid(1), in_a, in_b, in_c,
                                                         in_metadata, out_d);
  d.take(out_d.download());
  const std::string_view name = sparse_multiplication<Mma, Selector, Saturated>.name();
  for (u32 row = 0; row < Mma::m; ++row)
    for (u32 column = 0; column < Mma::n; ++column) {
      double product = 0;
      for (u32 chunk = 0; chunk < chunks; ++chunk)
        for (u32 i = 0; i < kept; ++i) {
          const u32 one = code[row * chunks + chunk];
          u32 place = one >> (2 * i) & 3;
          if (bits == 32) place = one == 0xe ? 1 : 0;
          if (bits == 4) place = (one >> (i / 2 * 2) & 3) * 2 + i % 2;
          product += a.number(0, row, chunk * kept + i) * b.number(0, chunk * Mma::chunk + place, column);
        }
      double sum = c.number(0, row, column) + product;
      if (std::is_same_v<C, i32>) sum = static_cast<i32>(static_cast<u32>(static_cast<i64>(sum)));
      sum += product;
      if (std::is_same_v<C, i32>)
        sum = Saturated ? std::clamp(sum, -2147483648.0, 2147483647.0)
                        : static_cast<double>(static_cast<i32>(static_cast<u32>(static_cast<i64>(sum))));
      CAPTURE(name, row, column);
      REQUIRE(d.number(0, row, column) == sum);
    }
}

template <class Mma, u32 Selector = 0>
void check_selectors() {
  if constexpr (Selector < Mma::selectors) {
    check<Mma, Selector, false>();
    check_selectors<Mma, Selector + 1>();
  }
}

}  // namespace

TEST_CASE("mma.sp multiplies what is kept of A", "[mma]") {
  boost::hana::for_each(sparse_wide{}, [](auto type) { check_selectors<typename decltype(type)::type>(); });
  boost::hana::for_each(sparse_narrow{}, [](auto type) { check_selectors<typename decltype(type)::type>(); });
}

TEST_CASE("mma.sp of integers saturates where it is asked to", "[mma]") {
  check<mma_sp_m16n8k32<i32, i8>, 1, true>();
  check<mma_sp_m16n8k128<i32, u4, i4>, 0, true>();
}

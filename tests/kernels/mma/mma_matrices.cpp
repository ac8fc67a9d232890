// Matrices between memory, shared tiles of every layout and registers: the fragments' own loads and stores,
// ldmatrix, stmatrix and movmatrix.
#include "tests/kernels/mma/mma_kernels.hpp"
#include "tests/kernels/support.hpp"

#include <boost/hana/for_each.hpp>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
std::vector<T> small_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> x(count);
  for (T& e : x) e = T(static_cast<int>(engine() % 9) - (std::is_unsigned_v<T> ? 0 : 4));
  return x;
}

template <class T>
double number(const T& x) {
  return static_cast<double>(x);
}

template <class Mma, class Element>
void check_moves() {
  constexpr u32 m = Mma::m, n = Mma::n, k = Mma::k;
  const auto x = small_numbers<Element>(m * k, 1), y = small_numbers<Element>(k * n, 2);
  auto in_x = under_test().upload(x);
  auto in_y = under_test().upload(y);
  using D = typename Mma::result::element_type;
  auto out_z = poisoned<D>(m * n);
  fragment_moves<Mma, Element>.launch(under_test().stream(), grid(1), in_x, in_y, out_z);
  const auto z = out_z.download();
  const std::string_view name = fragment_moves<Mma, Element>.name();
  for (u32 row = 0; row < m; ++row)
    for (u32 column = 0; column < n; ++column) {
      double sum = 1;
      for (u32 i = 0; i < k; ++i) sum += 2 * number(x[row * k + i]) * number(y[i * n + column]);
      CAPTURE(name, row, column);
      REQUIRE(number(z[row * n + column]) == sum);
    }
}

template <class Layout, u32 Number>
void check_ldmatrix() {
  std::vector<u16> x(4096);
  for (u32 i = 0; i < 4096; ++i) x[i] = static_cast<u16>(i * 5 + 1);
  auto in_x = under_test().upload(x);
  for (const u32 row : {0u, 17u, 48u})
    for (const u32 column : {0u, 8u, 48u}) {
      auto out_y = poisoned<u32>(14 * 32);
      ldmatrix_forms<Layout, Number>.launch(under_test().stream(), grid(1), in_x, out_y, row, column);
      const auto y = out_y.download();
      // Matrix j begins 8 (j % 2) rows below and 8 (j / 2) columns to the right.
      u32 at = 0;
      for (const bool transposed : {false, true})
        for (const u32 count : {1u, 2u, 4u})
          for (u32 j = 0; j < count; ++j, ++at)
            for (u32 lane = 0; lane < 32; ++lane)
              for (u32 half = 0; half < 2; ++half) {
                u32 r = lane / 4, c = 2 * (lane % 4) + half;
                if (transposed) std::swap(r, c);
                CAPTURE(Number, row, column, transposed, count, j, lane, half);
                REQUIRE((y[at * 32 + lane] >> (16 * half) & 0xffff) ==
                        x[(row + 8 * (j % 2) + r) * 64 + column + 8 * (j / 2) + c]);
              }
    }
}

template <class Mma, class Layout, u32 Number>
void check_products() {
  using T = typename Mma::a_element;
  constexpr u32 m = Mma::m, n = Mma::n, size = 64;
  const auto x = small_numbers<T>(size * size, 3), y = small_numbers<T>(size * size, 4);
  auto in_x = under_test().upload(x);
  auto in_y = under_test().upload(y);
  constexpr u32 ways = sizeof(T) == 2 ? 5 : 2;
  const u32 first = 24;
  auto out_z = poisoned<f32>(ways * m * 2 * n);
  ldmatrix_products<Mma, Layout, Number>.launch(under_test().stream(), grid(1), in_x, in_y, out_z, first);
  const auto z = out_z.download();
  const std::string_view name = ldmatrix_products<Mma, Layout, Number>.name();
  for (u32 way = 0; way < ways; ++way)
    for (u32 row = 0; row < m; ++row)
      for (u32 column = 0; column < 2 * n; ++column) {
        double sum = 0;
        for (u32 k = 0; k < size; ++k)
          sum += number(x[(first + row) * size + k]) * number(y[k * size + 16 + column]);
        CAPTURE(name, way, row, column);
        REQUIRE(z[(row + way * m) * 2 * n + column] == sum);
      }
}

template <class T, class Layout, u32 Number>
void check_stmatrix() {
  std::vector<f32> x(32 * 8);
  for (u32 i = 0; i < 256; ++i) x[i] = static_cast<f32>(i + 1) * 0.5f;
  auto in_x = under_test().upload(x);
  auto out_y = poisoned<T>(3 * 2048);
  stmatrix_forms<T, Layout, Number>.launch(under_test().stream(), grid(1), in_x, out_y);
  const auto y = out_y.download();
  std::vector<float> want(3 * 2048);
  const auto put = [&](u32 part, u32 row, u32 column, u32 which, bool transposed) {
    for (u32 r = 0; r < 16; ++r)
      for (u32 c = 0; c < 8; ++c) {
        const u32 to = transposed ? (row + c) * 64 + column + r : (row + r) * 64 + column + c;
        want[part * 2048 + to] = static_cast<float>(T(x[(r + 16 * which) * 8 + c]));
      }
  };
  put(0, 0, 0, 0, false);
  put(0, 8, 24, 1, false);
  put(1, 16, 32, 0, false);
  put(1, 16, 40, 1, false);
  put(2, 0, 0, 0, true);
  put(2, 8, 16, 0, true);
  put(2, 16, 16, 1, true);
  for (u32 i = 0; i < want.size(); ++i) {
    CAPTURE(Number, i / 2048, i % 2048 / 64, i % 64);
    REQUIRE(static_cast<float>(y[i]) == want[i]);
  }
}

}  // namespace

TEST_CASE("fragments are read from rows and columns, and written, by their elements", "[mma]") {
  check_moves<mma_m16n8k16<f32, f16>, f16>();
  check_moves<mma_m16n8k16<f16, f16>, f16>();
  check_moves<mma_m16n8k8<f32, bf16>, bf16>();
  check_moves<mma_m16n8k8<f32, tf32>, f32>();
  check_moves<mma_m16n8k8<f64, f64>, f64>();
  check_moves<mma_m8n8k4<f64, f64>, f64>();
  check_moves<mma_m16n8k32<i32, i8>, i8>();
  check_moves<mma_m8n8k16<i32, u8>, u8>();
  check_moves<mma_m16n8k32<f32, e4m3>, e4m3>();
  check_moves<mma_m16n8k16<f32, e5m2>, e5m2>();
}

TEST_CASE("ldmatrix reads 8 x 8 matrices of a tile in every layout", "[mma]") {
  check_ldmatrix<row_major, 0>();
  check_ldmatrix<padded<8>, 1>();
  check_ldmatrix<swizzled<128>, 2>();
  check_ldmatrix<swizzled<64>, 3>();
  check_ldmatrix<swizzled<32>, 4>();
}

TEST_CASE("ldmatrix brings fragments of A and B, straight and transposed", "[mma]") {
  check_products<mma_m16n8k16<f32, f16>, row_major, 0>();
  check_products<mma_m16n8k16<f32, f16>, padded<8>, 1>();
  check_products<mma_m16n8k16<f32, f16>, swizzled<128>, 2>();
  check_products<mma_m16n8k16<f32, bf16>, swizzled<64>, 3>();
  check_products<mma_m16n8k8<f32, f16>, swizzled<32>, 4>();
  check_products<mma_m16n8k32<f32, e4m3>, swizzled<64>, 3>();
}

TEST_CASE("stmatrix writes accumulators as rows and as columns", "[mma]") {
  check_stmatrix<f16, row_major, 0>();
  check_stmatrix<f16, swizzled<128>, 2>();
  check_stmatrix<bf16, padded<8>, 1>();
}

TEST_CASE("stmatrix and movmatrix move words of two elements", "[mma]") {
  std::vector<u32> x(128);
  for (u32 i = 0; i < 128; ++i) x[i] = (i * 2 + 1000) | (i * 2 + 1001) << 16;
  auto in_x = under_test().upload(x);
  auto out_y = poisoned<u32>(832);
  matrix_words.launch(under_test().stream(), grid(1), in_x, out_y);
  const auto y = out_y.download();
  std::vector<u16> tile(256);
  for (u32 i = 0; i < 256; ++i) tile[i] = static_cast<u16>(i);
  const auto element = [&](u32 word, u32 row, u32 column) {
    const u32 w = x[32 * word + row * 4 + column / 2];
    return static_cast<u16>(w >> (16 * (column % 2)));
  };
  const std::vector<u32> words[] = {{0}, {0, 1}, {0, 1, 2, 3}, {3}, {2, 1}, {3, 2, 1, 0}};
  for (u32 part = 0; part < 6; ++part) {
    for (u32 j = 0; j < words[part].size(); ++j)
      for (u32 r = 0; r < 8; ++r)
        for (u32 c = 0; c < 8; ++c)
          tile[(r + 8 * (j % 2)) * 16 + 8 * (j / 2) + c] =
              part >= 3 ? element(words[part][j], c, r) : element(words[part][j], r, c);
    for (u32 i = 0; i < 128; ++i) {
      CAPTURE(part, i);
      REQUIRE((y[part * 128 + i] & 0xffff) == tile[2 * i]);
      REQUIRE(y[part * 128 + i] >> 16 == tile[2 * i + 1]);
    }
  }
  for (u32 word = 0; word < 2; ++word)
    for (u32 lane = 0; lane < 32; ++lane) {
      CAPTURE(word, lane);
      REQUIRE((y[768 + word * 32 + lane] & 0xffff) == element(word, 2 * (lane % 4), lane / 4));
      REQUIRE(y[768 + word * 32 + lane] >> 16 == element(word, 2 * (lane % 4) + 1, lane / 4));
    }
}

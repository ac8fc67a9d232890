// The digits of x in a product of one row with weights of four bits. With their place values they give x, rounded as
// digits.hpp has it, in the order of the codes.
#include "tests/ops/support.hpp"

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/weight_only/gemv/digits.hpp>

#include <algorithm>
#include <bit>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 tiles = 20, k = tiles * ops::w4_tile_k;

template <class T>
constexpr auto digits_of = kernel<"digits_of_" + dsl::type_name<T>, 64, kernel_options{.target = {90}}>(
    [](thread t, in<u32> x, out<u32> y) {
      using digits = ops::w4_one_row_digits<T>;
      const shared<u32, tiles * digits::of_tile> memory(t);
      constexpr u32 pieces = k / digits::piece;
      for (auto i : t.block_stride(val<u32>((pieces + 31) / 32 * 32)).no_unroll()) {
        const val exists = t.let(i < pieces);
        auto words = array_of<4>([&](u32) { return var(t, 0u); });
        if (auto inside = t.when(exists))
          for (u32 w = 0; w < 4; ++w) words[w] = x[i * 4u + w];
        digits::store(t, memory, t.let(i + 0u), words, exists);
      }
      t.barrier();
      for (auto i : t.block_stride(val<u32>(tiles * digits::of_tile)).no_unroll()) y[i] = memory[i];
    });

template <class T>
void check(const std::vector<T>& x) {
  using digits = ops::w4_one_row_digits<T>;
  std::vector<u32> words(k / 2);
  std::memcpy(words.data(), x.data(), k * sizeof(T));
  const auto on_x = under_test().upload(words);
  auto on_y = under_test().upload(std::vector<u32>(tiles * digits::of_tile, 0xcccccccc));
  digits_of<T>.launch(under_test().stream(), grid(1), on_x, on_y);
  const std::vector<u32> y = on_y.download();
  for (u32 tile = 0; tile < tiles; ++tile) {
    const u32* const own = &y[tile * digits::of_tile];
    const T* const of_tile = &x[tile * 64];
    double largest = 0;
    bool has_nan = false;
    for (u32 i = 0; i < 64; ++i) {
      has_nan = has_nan || std::isnan(to_double(of_tile[i]));
      largest = std::max(largest, std::abs(to_double(of_tile[i])));
    }
    const u32* const facts = own + digits::totals;
    float unit[2];
    for (u32 h = 0; h < 2; ++h) std::memcpy(&unit[h], &facts[2 * h + 1], sizeof(float));
    CAPTURE(tile, largest, unit[0]);
    i64 sums[2] = {0, 0};
    for (u32 i = 0; i < 64; ++i) {
      const u32 j = i / 16, in_step = i % 16, c = in_step % 8 / 2, byte = in_step % 2 * 2 + in_step / 8;
      i64 half[2] = {0, 0};
      for (u32 d = 0; d < 4; ++d) {
        const i64 digit = static_cast<i8>(own[d * digits::of_digit + c * 4 + j] >> (8 * byte));
        if (d == 3) REQUIRE(std::abs(digit) <= 64);
        half[d / 2] += digit << (8 * (d % 2));
      }
      for (u32 h = 0; h < 2; ++h) sums[h] += half[h];
      const i64 number = half[0] + (half[1] << 16);
      const double want = to_double(of_tile[i]);
      CAPTURE(i, number, want);
      if (has_nan) continue;
      if (std::isinf(largest)) {
        REQUIRE(number == (std::isinf(want) ? want > 0 ? 1 : -1 : 0));
        continue;
      }
      REQUIRE(unit[1] == 65536 * unit[0]);
      REQUIRE(std::abs(static_cast<double>(number) * static_cast<double>(unit[0]) - want) <=
              std::max(std::ldexp(largest, -30), std::ldexp(1.0, -127)));
      const double ulps = want / static_cast<double>(unit[0]);
      if (ulps == std::rint(ulps)) REQUIRE(static_cast<double>(number) == ulps);
    }
    for (u32 h = 0; h < 2; ++h) REQUIRE(static_cast<i32>(facts[2 * h]) == -sums[h]);
    if (has_nan)
      REQUIRE(std::isnan(unit[0]));
    else if (std::isinf(largest))
      REQUIRE((std::isinf(unit[0]) && unit[0] > 0 && unit[1] == 0));
  }
}

template <class T>
void check_many() {
  std::mt19937_64 engine(20261128);
  std::vector<T> x(k);
  // Each tile has one kind: any finite bits, numbers near each other, or equal ones, so that sums are large.
  for (u32 i = 0; i < k; ++i) {
    const u32 tile = i / 64;
    const float near = std::uniform_real_distribution<float>(-1, 1)(engine);
    x[i] = std::bit_cast<T>(static_cast<u16>(engine()));
    if (!std::isfinite(to_double(x[i]))) x[i] = from_float<T>(1.0f);
    if (tile % 4 == 1) x[i] = from_float<T>(std::ldexp(near, static_cast<int>(tile) - 8));
    if (tile % 4 == 2) x[i] = from_float<T>(tile % 8 == 2 ? -1.9921875f : 1.9921875f);
    if (tile == 3) x[i] = from_float<T>(0.0f);
    if (tile == 7) x[i] = from_float<T>(std::ldexp(near, -120));
  }
  const float infinity = std::numeric_limits<float>::infinity();
  x[64 * 11 + 5] = from_float<T>(infinity);
  x[64 * 11 + 62] = from_float<T>(-infinity);
  x[64 * 15 + 40] = from_float<T>(std::nanf(""));
  x[64 * 16 + 40] = from_float<T>(std::nanf(""));
  x[64 * 16 + 39] = from_float<T>(infinity);
  check(x);
}

}  // namespace

TEST_CASE("matmul_w4: digits of x", "[ops][quantised][w4]") {
  if (under_test().properties().target.sm < 90) return;
  check_many<f16>();
  check_many<bf16>();
}

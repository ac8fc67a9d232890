// e4m3 and e5m2 in kernels: conversions agree with the host bit for bit on every target, and they are stored
// wherever numbers of 8 bits are.
#include "tests/kernels/number/float8_kernels.hpp"
#include "tests/kernels/number/float8_model.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T, u32 Sm>
struct on {
  using type = T;
  static constexpr u32 sm = Sm;
};

template <class T>
T coded(u32 code) {
  return T::from_bits(static_cast<u8>(code));
}

i32 floor_of(float x) {
  if (std::isnan(x)) return 0;
  if (std::isinf(x)) return x > 0 ? std::numeric_limits<i32>::max() : std::numeric_limits<i32>::min();
  return static_cast<i32>(std::floor(x));
}

i32 whole_of(float x) { return std::isfinite(x) ? static_cast<i32>(x) : floor_of(x); }

bool skipped(u32 sm) { return !under_test().is_emulator() && under_test().properties().target.sm < sm; }

}  // namespace

TEMPLATE_TEST_CASE("every code becomes its number", "[float8]", (on<e4m3, 70>), (on<e4m3, 89>),
                   (on<e5m2, 70>), (on<e5m2, 89>)) {
  using T = typename TestType::type;
  if (skipped(TestType::sm)) return;
  std::vector<T> codes;
  for (u32 code = 0; code < 256; ++code) codes.push_back(coded<T>(code));
  auto x = under_test().upload(codes);
  auto single = poisoned<f32>(256);
  auto half = poisoned<f16>(256);
  auto brain = poisoned<bf16>(256);
  auto wide = poisoned<f64>(256);
  auto whole = poisoned<i32>(256), floored = poisoned<i32>(256);
  auto not_zero = poisoned<u8>(256);
  auto first = poisoned<e4m3>(256);
  auto second = poisoned<e5m2>(256);
  float8_decoded<T, TestType::sm>.launch(under_test().stream(), over(256), x, single, half, brain, wide,
                                         whole, not_zero, first, second, floored, 256u);
  const auto got_single = single.download();
  const auto got_half = half.download();
  const auto got_brain = brain.download();
  const auto got_wide = wide.download();
  const auto got_whole = whole.download(), got_floored = floored.download();
  const auto got_not_zero = not_zero.download();
  const auto got_first = first.download();
  const auto got_second = second.download();
  for (u32 code = 0; code < 256; ++code) {
    CAPTURE(code);
    const auto number = static_cast<float>(codes[code]);
    REQUIRE(bits(got_single[code]) == bits(number));
    REQUIRE(got_half[code].bits() == f16(number).bits());
    REQUIRE(model<bf16>::same(got_brain[code].bits(), bf16(number).bits()));
    REQUIRE(same(got_wide[code], static_cast<double>(codes[code])));
    REQUIRE(got_whole[code] == whole_of(number));
    REQUIRE(got_floored[code] == floor_of(number));
    REQUIRE(got_not_zero[code] == (number != 0 ? 1 : 0));
    const bool is_e4m3 = std::is_same_v<T, e4m3>;
    REQUIRE(u32{got_first[code].bits()} == (is_e4m3 ? code : e4m3(number).bits()));
    REQUIRE(u32{got_second[code].bits()} == (is_e4m3 ? e5m2(number).bits() : code));
  }
}

TEMPLATE_TEST_CASE("numbers are rounded once to 8 bits", "[float8]", (on<f32, 70>), (on<f32, 89>),
                   (on<f64, 70>), (on<f64, 89>), (on<f16, 70>), (on<f16, 89>), (on<bf16, 89>), (on<i32, 70>),
                   (on<u64, 89>), (on<i64, 70>), (on<i8, 89>)) {
  using T = typename TestType::type;
  if (skipped(TestType::sm)) return;
  const std::vector<T> numbers = float8_inputs<T>(emulated() ? 500 : 20000);
  const auto n = static_cast<u32>(numbers.size());
  auto x = under_test().upload(numbers);
  auto first = poisoned<e4m3>(n);
  auto second = poisoned<e5m2>(n);
  float8_encoded<T, TestType::sm>.launch(under_test().stream(), over(n), x, first, second, n);
  const auto got_first = first.download();
  const auto got_second = second.download();
  for (u32 i = 0; i < n; ++i) {
    CAPTURE(model<T>::exact(numbers[i]));
    REQUIRE(u32{got_first[i].bits()} == float8_model<e4m3>::nearest(model<T>::exact(numbers[i])));
    REQUIRE(u32{got_second[i].bits()} == float8_model<e5m2>::nearest(model<T>::exact(numbers[i])));
  }
}

TEMPLATE_TEST_CASE("vectors are converted in pairs", "[float8]", (on<e4m3, 70>), (on<e4m3, 89>),
                   (on<e5m2, 70>), (on<e5m2, 89>)) {
  using T = typename TestType::type;
  if (skipped(TestType::sm)) return;
  std::vector<float> numbers = float8_inputs<float>(200);
  numbers.resize(numbers.size() / 4 * 4);
  const auto n = static_cast<u32>(numbers.size() / 4);
  std::vector<f32x4> x(n);
  std::vector<f16x8> h(n);
  for (u32 i = 0; i < n; ++i) {
    for (u32 k = 0; k < 4; ++k) x[i][k] = numbers[4 * i + k];
    for (u32 k = 0; k < 8; ++k) h[i][k] = f16(numbers[(4 * i + 3 * k) % numbers.size()]);
  }
  auto in_x = under_test().upload(x);
  auto in_h = under_test().upload(h);
  auto four = poisoned<vec<T, 4>>(n);
  auto four_back = poisoned<f32x4>(n);
  auto eight = poisoned<vec<T, 8>>(n);
  auto eight_back = poisoned<f16x8>(n);
  auto pair = poisoned<u16>(n);
  auto pair_back = poisoned<f16x2>(n);
  float8_vectors<T, TestType::sm>.launch(under_test().stream(), over(n), in_x, in_h, four, four_back, eight,
                                         eight_back, pair, pair_back, n);
  const auto got_four = four.download();
  const auto got_four_back = four_back.download();
  const auto got_eight = eight.download();
  const auto got_eight_back = eight_back.download();
  const auto got_pair = pair.download();
  const auto got_pair_back = pair_back.download();
  for (u32 i = 0; i < n; ++i) {
    for (u32 k = 0; k < 4; ++k) {
      CAPTURE(i, k, x[i][k]);
      REQUIRE(got_four[i][k].bits() == T(x[i][k]).bits());
      REQUIRE(bits(got_four_back[i][k]) == bits(static_cast<float>(T(x[i][k]))));
    }
    for (u32 k = 0; k < 8; ++k) {
      CAPTURE(i, k);
      REQUIRE(got_eight[i][k].bits() == T(h[i][k]).bits());
      REQUIRE(got_eight_back[i][k].bits() == f16(static_cast<float>(T(h[i][k]))).bits());
    }
    REQUIRE(got_pair[i] == (T(x[i][2]).bits() << 8 | T(x[i][1]).bits()));
    REQUIRE(got_pair_back[i].low.bits() == f16(static_cast<float>(T(x[i][1]))).bits());
    REQUIRE(got_pair_back[i].high.bits() == f16(static_cast<float>(T(x[i][2]))).bits());
  }
}

TEMPLATE_TEST_CASE("8-bit floats are stored wherever numbers are", "[float8]", e4m3, e5m2) {
  using T = TestType;
  using V = vec<T, 16>;
  std::vector<V> x(64);
  for (u32 i = 0; i < 64; ++i)
    for (u32 k = 0; k < 16; ++k) x[i][k] = coded<T>((i * 37 + k * 11) & 0xff);
  auto in = under_test().upload(x);
  auto backwards = poisoned<V>(64), unchanged = poisoned<V>(64);
  auto y = poisoned<T>(128);
  float8_places<T>.launch(under_test().stream(), grid(1), in, backwards, unchanged, y, coded<T>(0x91));
  const auto got_backwards = backwards.download(), got_unchanged = unchanged.download();
  const auto got = y.download();
  const auto kept = [&](u32 i) -> u32 {
    switch (i % 8) {
      case 0: return 0x91;
      case 1: return T(0.3f).bits();
      case 2: return i;
      default: return x[i ^ 1][3].bits();
    }
  };
  for (u32 i = 0; i < 64; ++i) {
    CAPTURE(i);
    for (u32 k = 0; k < 16; ++k) {
      REQUIRE(got_backwards[i][k].bits() == x[i][15 - k].bits());
      REQUIRE(got_unchanged[i][k].bits() == x[i][k].bits());
    }
    REQUIRE(u32{got[i].bits()} == kept(i % 8 == 3 ? i ^ 3 : i));
    REQUIRE(got[i + 64].bits() == x[i][0].bits());
  }
}

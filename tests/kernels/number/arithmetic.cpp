// Every operation and every conversion on every type: edges with edges, and random operands, bit for bit
// against the host.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/number/bits_model.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// The host's meaning of the operations, where C++ leaves it undefined or lacks it.
template <class T>
struct host : host_half<T> {
  static bool divides(T, T) { return true; }
};

template <class T>
  requires std::is_floating_point_v<T>
struct host<T> {
  static T add(T a, T b) { return a + b; }
  static T sub(T a, T b) { return a - b; }
  static T mul(T a, T b) { return a * b; }
  static T div(T a, T b) { return a / b; }
  static T fma(T a, T b, T c) { return std::fma(a, b, c); }
  static bool divides(T, T) { return true; }
  static T negated(T a) { return -a; }
  static T absolute(T a) { return std::fabs(a); }
  static bool less(T a, T b) { return a < b; }
  static bool equal(T a, T b) { return a == b; }
  static T min(T a, T b) {
    if (a == b) return std::signbit(a) ? a : b;
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;  // fmin minds signalling ones
    return a < b ? a : b;
  }
  static T max(T a, T b) {
    if (a == b) return std::signbit(a) ? b : a;
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
    return a < b ? b : a;
  }
};

template <dsl::integer T>
struct host<T> {
  static u64 wide(T a) { return static_cast<u64>(a); }
  static T add(T a, T b) { return static_cast<T>(wide(a) + wide(b)); }
  static T sub(T a, T b) { return static_cast<T>(wide(a) - wide(b)); }
  static T mul(T a, T b) { return static_cast<T>(wide(a) * wide(b)); }
  static T div(T a, T b) { return divides(a, b) ? static_cast<T>(a / b) : T{0}; }
  static T rem(T a, T b) { return divides(a, b) ? static_cast<T>(a % b) : T{0}; }
  static T fma(T a, T b, T c) { return add(mul(a, b), c); }
  // Division by zero, and of the least number by -1, has no defined result.
  static bool divides(T a, T b) {
    return b != 0 && !(std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1));
  }
  static T negated(T a) { return sub(T{0}, a); }
  static T absolute(T a) { return a < T{0} ? negated(a) : a; }
  static bool less(T a, T b) { return a < b; }
  static bool equal(T a, T b) { return a == b; }
  static T min(T a, T b) { return a < b ? a : b; }
  static T max(T a, T b) { return a < b ? b : a; }
};

// `fuses`: a product in a sum is one fma.
template <class T>
std::vector<T> expected(T a, T b, bool fuses, std::vector<bool>& defined) {
  using h = host<T>;
  const auto mad = [&](T x, T y, T z) { return fuses ? h::fma(x, y, z) : h::add(h::mul(x, y), z); };
  const bool less = h::less(a, b), equal = h::equal(a, b), greater = h::less(b, a);
  std::vector<T> y = {h::add(a, b),  h::sub(a, b),          h::mul(a, b),       h::div(a, b),
                      h::min(a, b),  h::max(a, b),          mad(a, b, a),       mad(h::negated(a), b, a),
                      less ? a : b,  less || equal ? a : b, greater ? a : b,    greater || equal ? a : b,
                      equal ? a : b, equal ? b : a,         mad(a, T(2), T(1)), !less && !equal ? T(3) : a};
  defined.assign(y.size(), true);
  defined[3] = h::divides(a, b);
  if constexpr (dsl::integer<T>) {
    constexpr unsigned width = sizeof(T) * 8;
    const auto shift = static_cast<unsigned>(b & 63);
    y.push_back(h::rem(a, b));
    defined.push_back(h::divides(a, b));
    const T rest[] = {static_cast<T>(a & b),
                      static_cast<T>(a | b),
                      static_cast<T>(a ^ b),
                      static_cast<T>(~a),
                      shift >= width ? T{0} : static_cast<T>(h::wide(a) << shift),
                      shift >= width ? static_cast<T>(a < T{0} ? -1 : 0) : static_cast<T>(a >> shift),
                      static_cast<T>(a / 8),
                      static_cast<T>(a % 8),
                      static_cast<T>(a / 7)};
    for (const T r : rest) {
      y.push_back(r);
      defined.push_back(true);
    }
  }
  if constexpr (!std::is_unsigned_v<T>) {
    y.push_back(h::negated(a));
    y.push_back(h::absolute(a));
    defined.insert(defined.end(), 2, true);
  }
  return y;
}

// A type on a target.
template <class T, u32 Sm = 70>
struct on {
  using type = T;
  static constexpr u32 sm = Sm;
};

}  // namespace

TEMPLATE_TEST_CASE("every operation agrees with the host", "[arithmetic]", on<f32>, on<f64>, on<f16>,
                   (on<f16, 80>), on<bf16>, (on<bf16, 80>), (on<bf16, 90>), on<i8>, on<i16>, on<i32>, on<i64>,
                   on<u8>, on<u16>, on<u32>, on<u64>) {
  using T = typename TestType::type;
  constexpr u32 sm = TestType::sm;
  const value_pairs<T> operands(emulated() ? 300 : 20000);
  const auto n = static_cast<u32>(operands.a.size());
  auto a = under_test().upload(operands.a), b = under_test().upload(operands.b);
  auto y = poisoned<T>(std::size_t{operation_count<T>} * n);
  every_operation<T, sm>.launch(under_test().stream(), over(n), a, b, y, n);
  const std::vector<T> got = y.download();
  std::vector<bool> defined;
  for (u32 i = 0; i < n; ++i) {
    const std::vector<T> want =
        expected(operands.a[i], operands.b[i], sm >= 80 || !std::is_same_v<T, bf16>, defined);
    REQUIRE(want.size() == operation_count<T>);
    for (u32 k = 0; k < operation_count<T>; ++k) {
      const T value = got[std::size_t{k} * n + i];
      if (!defined[k] || model<T>::same(model<T>::bits(value), model<T>::bits(want[k]))) continue;
      FAIL("operation " << k << " of " << model<T>::exact(operands.a[i]) << " and "
                        << model<T>::exact(operands.b[i]) << ": " << model<T>::exact(value) << ", not "
                        << model<T>::exact(want[k]));
    }
  }
}

namespace {

// The result for a NaN (PTX, cvt): only the top bit for 64-bit integers, and for 32-bit ones from f64. Small
// signed integers from f64 take their least number. All others are 0.
template <class To, class From>
To of_nan() {
  if (sizeof(To) < 8 && sizeof(From) < 8) return To{0};
  if (sizeof(To) < 4) return std::is_signed_v<To> ? std::numeric_limits<To>::min() : To{0};
  return static_cast<To>(std::uint64_t{1} << (sizeof(To) * 8 - 1));
}

template <dsl::integer To>
To clamped(long double x) {
  using limits = std::numeric_limits<To>;
  if (x >= std::ldexp(1.0L, limits::digits)) return limits::max();
  return x < static_cast<long double>(limits::min()) ? limits::min() : static_cast<To>(x);
}

// The bits of the result, extended to 64.
template <class To, class From>
u64 converted(From x, toward mode) {
  const long double exact = model<From>::exact(x);
  if constexpr (is_float<To>) {
    return model<To>::encode(round_to(model<To>::format, exact, mode));
  } else if constexpr (std::is_same_v<To, bool>) {
    return exact != 0;
  } else if constexpr (dsl::integer<From>) {
    return static_cast<u64>(static_cast<To>(x));
  } else {
    return static_cast<u64>(std::isnan(exact) ? of_nan<To, From>() : clamped<To>(whole(exact, mode)));
  }
}

template <class To, class From>
std::vector<u64> conversions(From x) {
  std::vector<u64> y = {converted<To>(x, is_float<To> ? toward::nearest : toward::zero)};
  if constexpr (conversion_count<To, From> == 2)
    y.push_back(static_cast<u64>(clamped<To>(model<From>::exact(x))));
  if constexpr (conversion_count<To, From> == 5)
    for (const toward mode : {toward::zero, toward::below, toward::above, toward::nearest})
      y.push_back(converted<To>(x, mode));
  return y;
}

template <class From>
u32 conversion_rows() {
  u32 rows = 0;
  for_each_type(every_type{}, [&]<class To>() { rows += conversion_count<To, From>; });
  return rows;
}

}  // namespace

TEMPLATE_TEST_CASE("every conversion agrees with the host", "[arithmetic]", on<f64>, (on<f64, 80>), on<f32>,
                   (on<f32, 80>), on<f16>, on<bf16>, on<i64>, (on<i64, 80>), on<i32>, on<i16>, on<i8>,
                   on<u64>, on<u32>, on<u16>, on<u8>) {
  using T = typename TestType::type;
  const std::vector<T> x = values_of<T>(emulated() ? 500 : 20000);
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto y = poisoned<u64>(std::size_t{conversion_rows<T>()} * n);
  every_conversion<T, TestType::sm>.launch(under_test().stream(), over(n), in, y, n);
  const std::vector<u64> got = y.download();
  u32 row = 0;
  for_each_type(every_type{}, [&]<class To>() {
    for (u32 i = 0; i < n; ++i) {
      const std::vector<u64> want = conversions<To>(x[i]);
      for (u32 k = 0; k < want.size(); ++k) {
        const u64 value = got[std::size_t{row + k} * n + i];
        if (!model<To>::same(value, want[k]))
          FAIL("conversion " << k << " of " << model<T>::exact(x[i]) << " to " << type_name<To>.data << ": "
                             << std::hex << value << ", not " << want[k]);
      }
    }
    row += conversion_count<To, T>;
  });
}

TEST_CASE("every conversion of a condition agrees with the host", "[arithmetic]") {
  const bool x[] = {false, true};
  auto in = under_test().upload(x);
  auto y = poisoned<u64>(std::size_t{conversion_rows<bool>()} * 2);
  every_conversion<bool>.launch(under_test().stream(), over(2), in, y, 2u);
  const std::vector<u64> got = y.download();
  u32 row = 0;
  for_each_type(every_type{}, [&]<class To>() {
    for (u32 i = 0; i < 2; ++i) {
      INFO("to " << type_name<To>.data);
      CHECK(got[std::size_t{row} * 2 + i] == converted<To>(static_cast<i8>(x[i]), toward::nearest));
    }
    ++row;
  });
}

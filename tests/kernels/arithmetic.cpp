// Every operation on every type: edges with edges, and random operands, bit for bit against the host.
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// The host's meaning of the operations that C++ leaves undefined or that it lacks.
template <class T>
using unsigned_of = std::make_unsigned_t<T>;

template <class T>
struct host {
  static constexpr bool floats = std::is_floating_point_v<T>;
  static T add(T a, T b) {
    if constexpr (floats)
      return a + b;
    else
      return static_cast<T>(unsigned_of<T>(a) + unsigned_of<T>(b));
  }
  static T sub(T a, T b) {
    if constexpr (floats)
      return a - b;
    else
      return static_cast<T>(unsigned_of<T>(a) - unsigned_of<T>(b));
  }
  static T mul(T a, T b) {
    if constexpr (floats)
      return a * b;
    else
      return static_cast<T>(unsigned_of<T>(a) * unsigned_of<T>(b));
  }
  // Division by zero, and of the least number by -1, has no defined result.
  static bool divides(T a, T b) {
    if constexpr (floats)
      return true;
    else
      return b != 0 &&
             !(std::is_signed_v<T> && a == std::numeric_limits<T>::min() && b == static_cast<T>(-1));
  }
  static T mad(T a, T b, T c) {
    if constexpr (floats)
      return std::fma(a, b, c);
    else
      return add(mul(a, b), c);
  }
  static T min(T a, T b) {
    if constexpr (floats) {
      if (a == b) return std::signbit(a) ? a : b;
      return std::fmin(a, b);
    } else {
      return a < b ? a : b;
    }
  }
  static T max(T a, T b) {
    if constexpr (floats) {
      if (a == b) return std::signbit(a) ? b : a;
      return std::fmax(a, b);
    } else {
      return a < b ? b : a;
    }
  }
};

template <class T>
std::vector<T> expected(T a, T b, std::vector<bool>& defined) {
  using h = host<T>;
  const bool divides = h::divides(a, b);
  std::vector<T> y = {
      h::add(a, b),          h::sub(a, b),
      h::mul(a, b),          divides ? static_cast<T>(a / b) : T{},
      h::min(a, b),          h::max(a, b),
      h::mad(a, b, a),       h::floats ? h::mad(static_cast<T>(-a), b, a) : h::sub(a, h::mul(a, b)),
      a < b ? a : b,         a <= b ? a : b,
      a > b ? a : b,         a >= b ? a : b,
      a == b ? a : b,        a != b ? a : b,
      h::mad(a, T{2}, T{1}), !(a < b) && a != b ? T{3} : a};
  defined.assign(y.size(), true);
  defined[3] = divides;
  if constexpr (std::is_integral_v<T>) {
    constexpr unsigned width = sizeof(T) * 8;
    const auto shift = static_cast<unsigned>(b & 63);
    y.push_back(divides ? static_cast<T>(a % b) : T{});
    defined.push_back(divides);
    const T rest[] = {static_cast<T>(a & b),
                      static_cast<T>(a | b),
                      static_cast<T>(a ^ b),
                      static_cast<T>(~a),
                      shift >= width ? T{0} : static_cast<T>(unsigned_of<T>(a) << shift),
                      shift >= width ? static_cast<T>(a < T{0} ? -1 : 0) : static_cast<T>(a >> shift),
                      static_cast<T>(a / 8),
                      static_cast<T>(a % 8),
                      static_cast<T>(a / 7)};
    for (const T r : rest) {
      y.push_back(r);
      defined.push_back(true);
    }
  }
  if constexpr (std::is_signed_v<T>) {
    y.push_back(h::floats ? static_cast<T>(-a) : h::sub(T{0}, a));
    if constexpr (h::floats)
      y.push_back(std::fabs(a));
    else
      y.push_back(a < 0 ? h::sub(T{0}, a) : a);
    defined.insert(defined.end(), 2, true);
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("every operation agrees with the host", "[arithmetic]", f32, f64, i32, u32, i64, u64) {
  using T = TestType;
  const pairs<T> operands(under_test().is_emulator() ? 300 : 20000);
  const auto n = static_cast<u32>(operands.a.size());
  auto a = under_test().upload(operands.a), b = under_test().upload(operands.b);
  auto y = poisoned<T>(std::size_t{operation_count<T>} * n);
  every_operation<T>.launch(under_test().stream(), over(n), a, b, y, n);
  const std::vector<T> got = y.download();
  std::vector<bool> defined;
  for (u32 i = 0; i < n; ++i) {
    const std::vector<T> want = expected(operands.a[i], operands.b[i], defined);
    REQUIRE(want.size() == operation_count<T>);
    for (u32 k = 0; k < operation_count<T>; ++k) {
      const T value = got[std::size_t{k} * n + i];
      if (!defined[k] || same(value, want[k])) continue;
      FAIL("operation " << k << " of " << operands.a[i] << " and " << operands.b[i] << ": " << value
                        << ", not " << want[k]);
    }
  }
}

namespace {

// cvt.rzi: toward zero, saturating; NaN is 0 where both sides have 32 bits, and elsewhere the top bit alone.
template <class To, class From>
To convert(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From{0};
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    if (std::isnan(x))
      return sizeof(To) + sizeof(From) == 8 ? To{0}
                                            : static_cast<To>(std::uint64_t{1} << (sizeof(To) * 8 - 1));
    const From whole = std::trunc(x);
    if (whole >= std::ldexp(From{1}, std::numeric_limits<To>::digits)) return std::numeric_limits<To>::max();
    if (whole < static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    return static_cast<To>(whole);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void check(const std::vector<From>& x, const std::vector<To>& got, const char* name) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const To want = convert<To>(x[i]);
    const bool equal = [&] {
      if constexpr (std::is_same_v<To, bool>)
        return got[i] == want;
      else
        return same<To>(got[i], want);
    }();
    if (!equal) FAIL("cast of " << x[i] << " to " << name << ": " << got[i] << ", not " << want);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("every conversion agrees with the host", "[arithmetic]", f32, f64, i32, u32, i64, u64) {
  using T = TestType;
  const std::vector<T> x = pairs<T>(under_test().is_emulator() ? 500 : 20000).a;
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto f = poisoned<f32>(n);
  auto d = poisoned<f64>(n);
  auto i = poisoned<i32>(n);
  auto u = poisoned<u32>(n);
  auto l = poisoned<i64>(n);
  auto m = poisoned<u64>(n);
  auto b = under_test().allocate<bool>(n);
  auto same_bits = poisoned<T>(n);
  every_conversion<T>.launch(under_test().stream(), over(n), in, f, d, i, u, l, m, b, same_bits, n);
  check(x, f.download(), "f32");
  check(x, d.download(), "f64");
  check(x, i.download(), "i32");
  check(x, u.download(), "u32");
  check(x, l.download(), "i64");
  check(x, m.download(), "u64");
  check(x, b.download(), "bool");
  const std::vector<T> back = same_bits.download();
  for (u32 k = 0; k < n; ++k) REQUIRE(bits(back[k]) == bits(x[k]));
}

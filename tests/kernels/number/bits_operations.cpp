// Every operation on integers, on every integer type, bit for bit against loops over bits on the host; and
// divisions by constants, which the library turns into multiplications.
#include "tests/kernels/number/bits_kernels.hpp"
#include "tests/kernels/number/bits_model.hpp"
#include "tests/kernels/support.hpp"

#include <utility>

using namespace kaio;
using namespace kaio::tests;

namespace {

__extension__ using i128 = __int128;
__extension__ using u128 = unsigned __int128;

template <class T>
struct host_bits {
  using U = std::make_unsigned_t<T>;
  static constexpr unsigned width = sizeof(T) * 8;

  static bool bit(T x, unsigned k) { return ((std::uint64_t{static_cast<U>(x)} >> k) & 1) != 0; }
  static u32 popc(T x) {
    u32 n = 0;
    for (unsigned k = 0; k < width; ++k) n += bit(x, k);
    return n;
  }
  static u32 clz(T x) {
    u32 n = 0;
    while (n < width && !bit(x, width - 1 - n)) ++n;
    return n;
  }
  static u32 ctz(T x) {
    u32 n = 0;
    while (n < width && !bit(x, n)) ++n;
    return n;
  }
  static u32 bfind(T x) { return width - 1 - clz(x < T{0} ? static_cast<T>(~x) : x); }
  static T brev(T x) {
    std::uint64_t r = 0;
    for (unsigned k = 0; k < width; ++k) r |= std::uint64_t{bit(x, k)} << (width - 1 - k);
    return static_cast<T>(r);
  }
  static T mul_hi(T a, T b) {
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>((static_cast<i128>(a) * static_cast<i128>(b)) >> width);
    else
      return static_cast<T>((static_cast<u128>(a) * static_cast<u128>(b)) >> width);
  }
  static U abs_diff(T a, T b) {
    return static_cast<U>(a < b ? static_cast<i128>(b) - a : static_cast<i128>(a) - b);
  }
  static T clamped(i128 x) {
    if (x > static_cast<i128>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (x < static_cast<i128>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    return static_cast<T>(x);
  }
  static T extract(T x, u32 start, u32 length) {
    std::uint64_t r = 0;
    for (unsigned k = 0; k < width; ++k) {
      const unsigned last = std::min(start + length, width);  // one above the highest bit of the field
      const bool sign = length != 0 && std::is_signed_v<T> && bit(x, last - 1);
      const bool in_field = k < length && start + k < width;
      r |= std::uint64_t{in_field ? bit(x, start + k) : sign} << k;
    }
    return static_cast<T>(r);
  }
  static T insert(T x, T field, u32 start, u32 length) {
    std::uint64_t r = 0;
    for (unsigned k = 0; k < width; ++k)
      r |= std::uint64_t{k >= start && k < start + length ? bit(field, k - start) : bit(x, k)} << k;
    return static_cast<T>(r);
  }
  static T left(T x, u32 n) {
    std::uint64_t r = 0;
    for (unsigned k = 0; k < width; ++k) r |= std::uint64_t{bit(x, k)} << ((k + n) % width);
    return static_cast<T>(r);
  }
  static T right(T x, u32 n) { return left(x, width - n % width); }
};

template <class T>
std::uint64_t extended(T x) {
  return static_cast<std::uint64_t>(x);
}

u32 funnel(u32 low, u32 high, u32 n, bool left) {
  const u64 both = u64{high} << 32 | low;
  return n == 0 ? (left ? high : low) : static_cast<u32>(left ? both >> (32 - n) : both >> n);
}

template <class Part, class Number>
int part(Number x, unsigned k) {
  return static_cast<Part>(static_cast<u32>(x) >> (k * sizeof(Part) * 8));
}

template <class A, class B>
u32 dot4(u32 a, u32 b, u32 c) {
  for (unsigned k = 0; k < 4; ++k) c += static_cast<u32>(part<A>(a, k) * part<B>(b, k));
  return c;
}
template <class A, class B>
u32 dot2(u32 a, u32 b, u32 c, unsigned first) {
  for (unsigned k = 0; k < 2; ++k) c += static_cast<u32>(part<A>(a, k) * part<B>(b, first + k));
  return c;
}

u32 permuted(u32 a, u32 b, u32 selector) {
  u32 r = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const u32 nibble = (selector >> (4 * k)) & 15;
    const u32 byte = ((nibble & 4) != 0 ? b : a) >> (8 * (nibble & 3)) & 0xff;
    r |= ((nibble & 8) != 0 ? ((byte & 0x80) != 0 ? 0xffu : 0u) : byte) << (8 * k);
  }
  return r;
}

template <class T>
std::vector<std::uint64_t> expected_bits(T a, T b, T c) {
  using h = host_bits<T>;
  using U = typename h::U;
  const u32 n = static_cast<u32>(b) % 80, m = static_cast<u32>(c) % 80;
  std::vector<std::uint64_t> y = {
      h::popc(a),
      h::clz(a),
      h::ctz(a),
      a == T{0} ? 0u : h::ctz(a) + 1,
      h::bfind(a),
      extended(h::brev(a)),
      extended(h::mul_hi(a, b)),
      extended(static_cast<T>(static_cast<U>(h::mul_hi(a, b)) + static_cast<U>(c))),
      extended(h::abs_diff(a, b)),
      extended(static_cast<U>(h::abs_diff(a, b) + static_cast<U>(c))),
      extended(h::clamped(static_cast<i128>(a) + b)),
      extended(h::clamped(static_cast<i128>(a) - b)),
      extended(h::extract(a, n, m)),
      extended(h::extract(a, 3, 4)),
      extended(h::insert(a, b, n, m)),
      extended(h::insert(a, b, 2, 5)),
      extended(static_cast<T>((a & b) | (a & c) | (b & c))),
      extended(static_cast<T>(~(a ^ b) | (c & ~a))),
      extended(h::left(a, n)),
      extended(h::right(a, n)),
      extended(h::left(a, 5)),
      extended(h::right(a, m + 33)),
  };
  if constexpr (sizeof(T) < 8) {
    using W = dsl::wide_of<T>;
    using Q = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const auto product = [](T x, T z) { return static_cast<W>(static_cast<Q>(x) * static_cast<Q>(z)); };
    y.push_back(extended(product(a, b)));
    y.push_back(extended(product(a, T{3})));
    y.push_back(extended(static_cast<W>(static_cast<std::uint64_t>(product(a, b)) +
                                        static_cast<std::uint64_t>(product(c, c)))));
  }
  if constexpr (sizeof(T) == 4) {
    const auto ua = static_cast<u32>(a), ub = static_cast<u32>(b), uc = static_cast<u32>(c);
    constexpr bool is_signed = std::is_signed_v<T>;
    using byte = std::conditional_t<is_signed, i8, u8>;
    using half = std::conditional_t<is_signed, i16, u16>;
    for (const u32 r :
         {funnel(ua, uc, n % 32, true), funnel(ua, uc, n % 32, false), funnel(ua, uc, std::min(n, 32u), true),
          n >= 32 ? uc : funnel(ua, uc, n, false), dot4<byte, byte>(ua, ub, uc),
          dot2<half, byte>(ua, ub, uc, 0), dot2<half, byte>(ua, ub, uc, 2)})
      y.push_back(extended(static_cast<T>(r)));
    y.push_back(extended(static_cast<i32>(dot4<u8, i8>(ua, ub, uc))));
    y.push_back(extended(static_cast<i32>(dot2<i16, u8>(ua, ub, 5, 2))));
    y.push_back(permuted(ua, ub, uc));
  }
  return y;
}

}  // namespace

TEMPLATE_TEST_CASE("every operation on integers agrees with the host", "[bits]", i8, i16, i32, i64, u8, u16,
                   u32, u64) {
  using T = TestType;
  const value_pairs<T> operands(emulated() ? 300 : 20000);
  const auto n = static_cast<u32>(operands.a.size());
  std::vector<T> third(n);
  for (u32 i = 0; i < n; ++i) third[i] = operands.b[(i * 5 + 1) % n];
  auto a = under_test().upload(operands.a), b = under_test().upload(operands.b),
       c = under_test().upload(third);
  auto y = poisoned<u64>(std::size_t{integer_row_count<T>} * n);
  every_bit_operation<T>.launch(under_test().stream(), over(n), a, b, c, y, n);
  const std::vector<u64> got = y.download();
  for (u32 i = 0; i < n; ++i) {
    const auto want = expected_bits(operands.a[i], operands.b[i], third[i]);
    REQUIRE(want.size() == integer_row_count<T>);
    for (u32 k = 0; k < want.size(); ++k) {
      const u64 value = got[std::size_t{k} * n + i];
      if (value != want[k])
        FAIL("operation " << k << " of " << +operands.a[i] << ", " << +operands.b[i] << ", " << +third[i]
                          << ": " << std::hex << value << ", not " << want[k]);
    }
  }
}

TEST_CASE("operations on constants give what the device gives", "[bits]") {
  auto y = poisoned<u64>(std::size(bit_constant_results));
  bit_constants.launch(under_test().stream(), over(1), y, 0u);
  const std::vector<u64> got = y.download();
  for (std::size_t k = 0; k < got.size(); ++k) {
    INFO("constant " << k);
    CHECK(got[k] == bit_constant_results[k]);
  }
}

namespace {

template <class T, u32 First, u32 Last>
void divide_by_constants(const std::vector<T>& x) {
  constexpr auto table = divisors<T>();
  const auto n = static_cast<u32>(x.size());
  auto in = under_test().upload(x);
  auto q = poisoned<T>(table.size() * n), r = poisoned<T>(table.size() * n);
  constant_division<T, First, Last>.launch(under_test().stream(), over(n), in, q, r, n);
  const std::vector<T> quotient = q.download(), remainder = r.download();
  for (u32 k = First; k < Last; ++k)
    for (u32 i = 0; i < n; ++i) {
      if (std::is_signed_v<T> && table[k] == static_cast<T>(-1) && x[i] == std::numeric_limits<T>::min())
        continue;
      const std::size_t at = std::size_t{k} * n + i;
      const auto want_quotient = static_cast<T>(x[i] / table[k]),
                 want_remainder = static_cast<T>(x[i] % table[k]);
      if (quotient[at] != want_quotient || remainder[at] != want_remainder)
        FAIL(+x[i] << " by " << +table[k] << " is " << +quotient[at] << " and " << +remainder[at] << ", not "
                   << +want_quotient << " and " << +want_remainder);
    }
}

}  // namespace

TEMPLATE_TEST_CASE("division by constants agrees with the host", "[bits]", i8, i16, i32, i64, u8, u16, u32,
                   u64) {
  using T = TestType;
  std::vector<T> x = values_of<T>(emulated() ? 300 : 20000);
  if constexpr (sizeof(T) == 1) {
    x.clear();
    for (int k = 0; k < 256; ++k) x.push_back(static_cast<T>(k));
  } else {
    // Multiples of each divisor, and their neighbours.
    for (const T d : divisors<T>())
      for (const int factor : {1, 2, 3, 1000003})
        for (const int k : {-1, 0, 1})
          x.push_back(static_cast<T>(static_cast<std::uint64_t>(d) * static_cast<std::uint64_t>(factor) +
                                     static_cast<std::uint64_t>(k)));
  }
  divide_by_constants<T, 0, 48>(x);
  divide_by_constants<T, 48, 96>(x);
}

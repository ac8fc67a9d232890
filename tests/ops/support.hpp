#pragma once
// Shared by the tests of operations: the device under test (KAIO_DEVICE), matrices with their layouts,
// strides and batches, poisoned padding and outputs, references in double precision, and the rule by which a
// result passes:
//
//   random numbers     the largest error is at most twice that of the plain computation in the same types (f32
//                      sums in order, rounded to the type of the output), both against double precision
//   small integers     equal, bit for bit
//   NaN                where the reference has one, and nowhere else
//
// Padding of inputs holds NaN, so that a kernel that reads it shows; padding of outputs holds a pattern,
// which must still be there.

#include "catch.hpp"

#include <kaio/kaio.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace kaio::tests {

inline device& under_test() {
  static device it = device::open();
  return it;
}

template <class T>
double to_double(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<double>(x);
  else
    return static_cast<double>(static_cast<float>(x));
}
// Rounded once to T.
template <class T>
T from_float(float x) {
  if constexpr (std::is_same_v<T, float>)
    return x;
  else
    return T(x);
}

enum class content { random, integers, poison };

// `batches` matrices in memory, by rows or by columns, with the leading dimension `leading`.
template <class T>
struct matrices {
  u32 batches, rows, columns;
  bool by_columns;
  u64 leading, stride;  // elements from one line to the next, from one batch to the next
  std::vector<T> host;

  matrices(u32 in_batches, u32 in_rows, u32 in_columns, bool in_by_columns, u32 pad = 0, u32 batch_pad = 0)
      : batches(in_batches),
        rows(in_rows),
        columns(in_columns),
        by_columns(in_by_columns),
        leading((in_by_columns ? in_rows : in_columns) + u64{pad}),
        stride(leading * (in_by_columns ? in_columns : in_rows) + batch_pad),
        host(stride * in_batches) {
    fill(content::poison, 0);
  }

  std::size_t index(u32 b, u32 r, u32 c) const {
    return b * stride + (by_columns ? c * leading + r : r * leading + c);
  }
  T& at(u32 b, u32 r, u32 c) { return host[index(b, r, c)]; }
  const T& at(u32 b, u32 r, u32 c) const { return host[index(b, r, c)]; }

  // Every element of the padding is NaN; poison: so is the rest, by a pattern of its own.
  matrices& fill(content what, std::uint64_t seed) {
    if (!host.empty()) std::memset(static_cast<void*>(host.data()), 0xff, host.size() * sizeof(T));
    if (what == content::poison) return *this;
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<float> any(-1, 1);
    for (u32 b = 0; b < batches; ++b)
      for (u32 r = 0; r < rows; ++r)
        for (u32 c = 0; c < columns; ++c)
          at(b, r, c) =
              from_float<T>(what == content::random ? any(engine) : static_cast<float>(engine() % 9) - 4.0f);
    return *this;
  }
};

// The expected product: in double precision, and as plain code in the types of the kernel gives it.
struct reference {
  std::vector<double> exact, plain;  // [batch][row][column]
};

// f(x, batch, row, column) is the epilogue, called with double and with float.
template <class Out, class A, class B, class F>
reference product(const matrices<A>& a, const matrices<B>& b, const F& f) {
  reference result;
  for (u32 batch = 0; batch < a.batches; ++batch)
    for (u32 r = 0; r < a.rows; ++r)
      for (u32 c = 0; c < b.columns; ++c) {
        double exact = 0;
        float plain = 0;
        for (u32 k = 0; k < a.columns; ++k) {
          const double x = to_double(a.at(batch, r, k)), y = to_double(b.at(batch, k, c));
          exact += x * y;
          plain += static_cast<float>(x) * static_cast<float>(y);
        }
        result.exact.push_back(f(exact, batch, r, c));
        result.plain.push_back(to_double(from_float<Out>(f(plain, batch, r, c))));
      }
  return result;
}

// The unit in the last place of a number of this size, in Out.
template <class Out>
double unit_in_last_place(double x) {
  constexpr int digits = sizeof(Out) == 8 ? 53 : sizeof(Out) == 4 ? 24 : std::is_same_v<Out, f16> ? 11 : 8;
  if (x == 0 || !std::isfinite(x)) return 0;
  return std::ldexp(1.0, std::ilogb(x) + 1 - digits);
}

// Fails the test where `got` breaks the rule; `before` is the output before the call.
template <class Out>
void check_product(const matrices<Out>& got, const matrices<Out>& before, const reference& want,
                   content what) {
  double worst = 0, allowed = 0, largest = 0;
  std::size_t i = 0;
  for (u32 b = 0; b < got.batches; ++b)
    for (u32 r = 0; r < got.rows; ++r)
      for (u32 c = 0; c < got.columns; ++c, ++i) {
        const double x = to_double(got.at(b, r, c)), exact = want.exact[i], plain = want.plain[i];
        if (std::isnan(x) != std::isnan(plain) || std::isinf(plain) || std::isinf(x)) {
          CAPTURE(b, r, c, x, exact, plain);
          REQUIRE(((std::isnan(x) && std::isnan(plain)) || x == plain));
          continue;
        }
        if (std::isnan(x)) continue;
        if (what == content::integers && x != plain) {
          CAPTURE(b, r, c, exact);
          REQUIRE(x == plain);
        }
        worst = std::max(worst, std::abs(x - exact));
        allowed = std::max(allowed, std::abs(plain - exact));
        largest = std::max(largest, std::abs(exact));
      }
  CAPTURE(worst, allowed, largest);
  // A plain computation of few terms may happen to be exact where another order of roundings is not.
  REQUIRE(worst <= std::max(2 * allowed, unit_in_last_place<Out>(largest)));
  // Nothing but the elements was written.
  std::vector<bool> is_element(got.host.size(), false);
  for (u32 b = 0; b < got.batches; ++b)
    for (u32 r = 0; r < got.rows; ++r)
      for (u32 c = 0; c < got.columns; ++c) is_element[got.index(b, r, c)] = true;
  for (std::size_t k = 0; k < got.host.size(); ++k)
    if (!is_element[k] && std::memcmp(&got.host[k], &before.host[k], sizeof(Out)) != 0) {
      CAPTURE(k);
      FAIL("a kernel wrote into the padding of its output");
    }
}

// A kernel is its own reference for determinism: the same bits in every run.
template <class Out>
bool same_bits(const std::vector<Out>& a, const std::vector<Out>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(Out)) == 0);
}

// Memory of at least one element, so that an empty operand still has an address.
template <class T>
buffer<T> upload(const std::vector<T>& host) {
  if (host.empty()) return under_test().allocate<T>(1);
  return under_test().upload(host);
}

}  // namespace kaio::tests

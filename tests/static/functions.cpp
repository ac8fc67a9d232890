// The code of the mathematical functions: one instruction where PTX has one, one reduction for a pair, and
// rare arguments in a branch.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
#include <string_view>

using namespace kaio;

template <class Kernel>
constexpr unsigned times(const Kernel& k, std::string_view text) {
  unsigned n = 0;
  for (const std::string_view segment : k.ptx())
    for (std::size_t at = segment.find(text); at != std::string_view::npos; at = segment.find(text, at + 1))
      ++n;
  return n;
}

inline constexpr auto single_instructions =
    kernel<"single_instructions", 32>([](thread, in<f32> x, out<f32> y, val<u32> i) {
      y[i] = floor(x[i]);
      y[i + 1] = ceil(x[i]);
      y[i + 2] = trunc(x[i]);
      y[i + 3] = rint(x[i]);
      y[i + 4] = rcp(x[i]);
      y[i + 5] = copysign(x[i], x[i + 1]);
      y[i + 6] = fast::sin(x[i]);
      y[i + 7] = fast::cos(x[i]);
      y[i + 8] = fast::rcp(x[i]);
      y[i + 9] = fast::rsqrt(x[i]);
      y[i + 10] = fast::sqrt(x[i]);
      y[i + 11] = fast::div(x[i], x[i + 1]);
    });
static_assert(times(single_instructions, "cvt.rmi.f32.f32") == 1);
static_assert(times(single_instructions, "cvt.rpi.f32.f32") == 1);
static_assert(times(single_instructions, "cvt.rzi.f32.f32") == 1);
static_assert(times(single_instructions, "cvt.rni.f32.f32") == 1);
static_assert(times(single_instructions, "rcp.rn.f32") == 1);
static_assert(times(single_instructions, "copysign.f32") == 1);
static_assert(times(single_instructions, "sin.approx.f32") == 1);
static_assert(times(single_instructions, "cos.approx.f32") == 1);
static_assert(times(single_instructions, "rcp.approx.f32") == 1);
static_assert(times(single_instructions, " rsqrt.approx.f32") == 1);
static_assert(times(single_instructions, " sqrt.approx.f32") == 1);
static_assert(times(single_instructions, "div.approx.f32") == 1);
static_assert(times(single_instructions, "mul.rn") == 0 && times(single_instructions, "bra") == 0);

// The long multiplication of huge angles is there once, in one branch.
inline constexpr auto pair = kernel<"pair", 32>([](thread, in<f32> x, out<f32> y, val<u32> i) {
  const auto [s, c] = sincos(x[i]);
  y[i] = s;
  y[i + 1] = c;
});
static_assert(times(pair, "bra") == 1 && times(pair, "mul.hi.u32") == 2);
inline constexpr auto apart = kernel<"apart", 32>([](thread, in<f32> x, out<f32> y, val<u32> i) {
  y[i] = sin(x[i]);
  y[i + 1] = cos(x[i]);
});
static_assert(times(apart, "bra") == 2);

// Values of the branch are not known after it: the same product is computed again.
constexpr dsl::value twice_where_positive(dsl::tracer& t, dsl::value x) {
  const dsl::detail::evaluator<f32> e(t);
  const dsl::value positive = t.compare(dsl::operation::gt, ptx::type::f32, x, e.number(0.0f));
  const dsl::value square = dsl::detail::rare(t, positive, x, [&] { return e.mul(x, x); });
  return e.add(square, e.mul(x, x));
}
struct twice_function {
  static constexpr auto name = dsl::known_function::none;
  template <dsl::host_floating T>
  static constexpr dsl::value lower(const dsl::detail::evaluator<T>& e, dsl::value x) {
    if constexpr (std::is_same_v<T, f32>) return twice_where_positive(e.trace(), x);
    return x;
  }
};
inline constexpr auto scoped = kernel<"scoped", 32>(
    [](thread, in<f32> x, out<f32> y, val<u32> i) { y[i] = dsl::apply_function<twice_function>(x[i]); });
static_assert(times(scoped, "mul.rn.f32") == 2 && times(scoped, "bra") == 1);

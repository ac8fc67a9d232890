// The code of the exponential functions: the special function unit where it is accurate enough, no
// branches, and the architecture that an instruction needs.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

inline constexpr auto softplus = kernel<"softplus", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = log1p(exp(x[i]));
});
static_assert(times(softplus, "ex2.approx.ftz.f32") == 1 && times(softplus, "lg2") == 0);
static_assert(times(softplus, "bra") == 0);

// One power serves both functions: their common instructions are recorded once.
inline constexpr auto shared_power = kernel<"shared_power", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = sinh(x[i]) * cosh(x[i]);
});
static_assert(times(shared_power, "ex2.approx.ftz.f32") == 1 &&
              times(shared_power, "rcp.approx.ftz.f32") == 1);

// f64 has no division and no branch either.
inline constexpr auto wide = kernel<"wide", 32>([](thread t, in<f64> x, out<f64> y) {
  val i = t.global_id();
  y[i] = tanh(log(x[i])) + pow(x[i], 0.25);
});
static_assert(times(wide, "div.rn.f64") == 0 && times(wide, "bra") == 0);

inline constexpr auto quick = kernel<"quick", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = fast::tanh(x[i]) + fast::exp2(x[i]) + fast::log2(x[i]);
});
static_assert(times(quick, "tanh.approx.f32") == 1 && times(quick, "ex2.approx.f32") == 1);
static_assert(times(quick, "lg2.approx.f32") == 1);
static_assert(quick.needs().target == ptx::target{75, false});
static_assert(quick.needs().version == ptx::isa_version{7, 0});
static_assert(softplus.needs().target == ptx::target{70, false});

// 16-bit types go through f32, packed pairs half by half; literals take the type of the other operand.
inline constexpr auto packed_pairs = kernel<"packed_pairs", 32>([](thread t, in<f16x2> x, out<f16x2> y) {
  val i = t.global_id();
  y[i] = sigmoid(x[i]);
});
static_assert(times(packed_pairs, "ex2.approx.ftz.f32") == 2);
inline constexpr auto powers = kernel<"powers", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = pow(x[i], 2) + fast::pow(2, x[i]);
});
static_assert(times(powers, "0f40000000") > 0);

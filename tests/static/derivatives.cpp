// derivative() records nothing for values that do not depend on the variable, and no factors of 0 and 1. Every
// pure instruction of the catalogue has a rule, or is known to have none.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;

constexpr bool all_instructions_are_known() {
  for (const ptx::instruction_facts& row : ptx::detail::catalogue)
    if (row.op != ptx::opcode::none && row.pure &&
        dsl::detail::rule_of(row.op) == dsl::detail::derivative_rule::none)
      return false;
  return true;
}
static_assert(all_instructions_are_known(),
              "kaio: a pure instruction needs its row in derivative/instruction_rules.hpp");

// The derivative of scale * s is scale itself; of a value that does not depend on s, 0.
inline constexpr auto linear =
    kernel<"linear", 32>([](thread, in<f32> x, out<f32> y, val<f32> scale, val<f32> n) {
      val s = x[0u];
      y[0u] = derivative(scale * s + 2.0f, s);
      y[1u] = derivative(scale * scale, s);
      y[2u] = derivative(-s, s);
      y[3u] = derivative(scale + n, n);
    });
static_assert(!linear.ptx().contains("mul.rn") && !linear.ptx().contains("fma") &&
              !linear.ptx().contains("ld.global"));
static_assert(linear.ptx().contains("0fBF800000") && linear.ptx().contains("0f00000000"));

// The soft cap's derivative is made of the tanh that the cap has already.
inline constexpr auto cap = kernel<"cap", 32>([](thread, in<f32> x, out<f32> y) {
  val s = x[0u];
  val capped = 30.0f * fast::tanh(s * (1.0f / 30.0f));
  y[0u] = capped;
  y[1u] = derivative(capped, s);
});
static_assert(cap.ptx().count("tanh.approx.f32") == 1);
static_assert(cap.ptx().count("fma.rn.f32") == 1 && cap.ptx().count("mul.rn.f32") == 4);

// A comparison that chooses is one setp for both.
inline constexpr auto chosen = kernel<"chosen", 32>([](thread, in<f32> x, out<f32> y) {
  val s = x[0u];
  val z = select(s > 1.0f, s * s, s);
  y[0u] = z;
  y[1u] = derivative(z, s);
});
static_assert(chosen.ptx().count("setp") == 1 && chosen.ptx().count("selp") == 2);

// No contraction where the author has refused it.
inline constexpr auto exact =
    kernel<"exact", 32, kernel_options{.contract = false}>([](thread, in<f32> x, out<f32> y) {
      val s = x[0u];
      y[0u] = derivative(s * s * s, s);
    });
static_assert(!exact.ptx().contains("fma"));

// An integer made from the variable has the derivative 0 where only a comparison uses it.
inline constexpr auto stepped = kernel<"stepped", 32>([](thread, in<f32> x, out<f32> y) {
  val s = x[0u];
  val level = cast<i32>(s);
  y[0u] = derivative(select(level > 2, s, 3.0f * s), s);
});
static_assert(stepped.ptx().count("selp") == 1);

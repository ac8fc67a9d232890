// A var is read where it is read: later assignments do not reach back. Copies appear only where they are
// needed.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

// acc = acc + x costs one instruction.
inline constexpr auto accumulate = kernel<"accumulate", 32>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  var acc(t, 0.0f);
  for (auto k : t.range(0u, n)) acc = acc + x[k];
  y[0] = acc;
});
static_assert(accumulate.ptx().count("mov.f32") == 1);  // acc = 0; the store reads acc itself
static_assert(accumulate.ptx().count("add.rn.f32") == 1);

// A swap needs one copy.
inline constexpr auto swapped = kernel<"swapped", 32>([](thread, in<f32> x, out<f32> y) {
  var a = x[0];
  var b = x[1];
  val old = a;
  a = b;
  b = old;
  y[0] = a;
  y[1] = b;
});
static_assert(swapped.ptx().count("mov.f32") == 3);

// Kernels are identified by their type: two lambdas, two kernels; one name in two files is one kernel.
inline constexpr auto first = kernel<"same", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
inline constexpr auto second = kernel<"same", 32>([](thread, out<f32> y) { y[0] = 2.0f; });
static_assert(&first.image() != &second.image());
static_assert(first.ptx().contains("0f3F800000") && second.ptx().contains("0f40000000"));

// Several declarations are statements of the line that they are on.
inline constexpr std::uint32_t line_of_packs = __LINE__ + 2;
inline constexpr auto packs = kernel<"packs", 32>([](thread t, in<f32> x, out<f32> y) {
  auto [i, start] = t.vals(t.global_id(), x[3]);
  auto [sum, step] = t.vars(start, 1.0f);
  sum += step;
  y[i] = sum;
});
constexpr bool has_line(std::uint32_t line) {
  for (std::uint32_t s = 0; s < packs.program().statement_count; ++s)
    if (packs.program().statements[s].line == line) return true;
  return false;
}
static_assert(has_line(line_of_packs) && has_line(line_of_packs + 1) && has_line(line_of_packs + 2));

// Expressions are lowered in a stated order, once for each dominating scope, with constants folded.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// Equal loads and equal products are made once; a scope's own values are forgotten when it closes.
inline constexpr auto numbered = kernel<"numbered", 32>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  y[i] = x[i] * x[i] + x[i] * x[i];
  if (auto g = t.when(i < n)) y[i + n] = exp(x[i]);
  y[i + 2 * n] = exp(x[i]);
});
static_assert(times(numbered, "ld.global.nc.f32") == 1);
static_assert(times(numbered, "ex2.approx") == 2);

// Unused values are not emitted.
inline constexpr auto unused = kernel<"unused", 32>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  [[maybe_unused]] val dropped = exp(x[i]) / 3.0f;
  y[i + n] = 0.0f;
});
static_assert(times(unused, "ex2") == 0 && times(unused, "ld.global") == 0);

// Constants fold, literals take the operand's type, powers of two become shifts and masks.
inline constexpr auto folded = kernel<"folded", 32>([](thread, out<u32> y, val<u32> n) {
  val two = 2u;
  val four = two * 2 + 0;
  y[n] = n * four + (n % 16 + n / 8) * 1;
  y[0] = select(two < four, n, n + 5);
});
static_assert(times(folded, "mul.lo") == 0 && times(folded, "div") == 0 && times(folded, "rem") == 0);
static_assert(times(folded, "shl.b32") == 1 && times(folded, "shr.u32") == 1 && times(folded, ", 15;") == 1);
static_assert(times(folded, "selp") == 0);

// An int literal next to a float is that number, not its bits (2 is 0f40000000).
inline constexpr auto literal = kernel<"literal", 32>([](thread t, in<f32> x, out<f32> y) {
  val i = t.global_id();
  y[i] = max(x[i] * 2, 1);
});
static_assert(literal.ptx().contains("0f40000000") && literal.ptx().contains("0f3F800000"));

// A product in a sum is contracted; one that was bound before is not; the policy can be switched
// off.
inline constexpr auto contracted = kernel<"contracted", 32>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
  val a = x[i];
  y[i] = a * a + 1.0f;
  y[i] += a * 3.0f;
  var v = a;
  v -= a * 5.0f;
  y[i] = v - a * 7.0f;
  val product = a * 9.0f;
  y[i] = product + 1.0f;
});
static_assert(times(contracted, "fma.rn.f32") == 4);
static_assert(times(contracted, "add.rn.f32") == 1);
inline constexpr auto separate =
    kernel<"separate", 32, kernel_options{.contract = false}>([](thread t, in<f32> x, out<f32> y) {
      val i = t.global_id();
      y[i] = x[i] * x[i] + 1.0f;
      y[i + 1] = fma(x[i], x[i], 2.0f);
    });
static_assert(times(separate, "fma.rn.f32") == 1 && times(separate, "mul.rn.f32") == 1);

// Constant parts of an index are offsets where that is exact: i32, i64 and u64; a u32 sum may wrap.
inline constexpr auto addressed =
    kernel<"addressed", 32>([](thread, in<f32> x, out<f32> y, val<i32> i, val<u64> j, val<u32> k) {
      y[i + 3] = x[i - 1];
      y[j + 2] = x[7];
      y[k + 1] = x[k];
    });
static_assert(addressed.ptx().contains("+12]") && addressed.ptx().contains("+-4]"));
static_assert(addressed.ptx().contains("+8]") && addressed.ptx().contains("+28]"));
static_assert(times(addressed, "mul.wide.s32") == 1 && times(addressed, "mul.wide.u32") == 2);
static_assert(times(addressed, "+4]") == 0);

// Left before right, whatever order the compiler evaluates operands in.
inline constexpr auto ordered = kernel<"ordered", 32>(
    [](thread, in<f32> x, in<f32> z, out<f32> y) { y[thread_idx_x()] = x[0] / z[0] - z[1] / x[1]; });
constexpr bool loads_in_order() {
  constexpr std::string_view text = *ordered.ptx().begin();
  std::size_t at = 0;
  unsigned loads = 0;
  bool in_order = true;
  constexpr std::string_view ends[] = {"%rd2]", "%rd4]", "%rd4+4]", "%rd2+4]"};
  while ((at = text.find("ld.global.nc.f32", at)) != std::string_view::npos) {
    const std::size_t end = text.find(';', at);
    in_order = in_order && loads < 4 && text.substr(at, end - at).ends_with(ends[loads]);
    ++loads;
    at = end;
  }
  return in_order && loads == 4;
}
static_assert(loads_in_order());

// Constants in types are operands too.
inline constexpr auto typed_constant = kernel<"typed_constant", 32>([](thread, out<u32> y, val<u32> n) {
  y[n * std::integral_constant<unsigned, 16>{}] = n + std::integral_constant<int, 3>{};
});
static_assert(times(typed_constant, "shl.b32") == 1 && times(typed_constant, ", 3;") == 1);

// A val without a kernel is a pure tree, computed once where it is used.
inline constexpr auto contextless = kernel<"contextless", 32>([](thread, out<u32> y) {
  val i = thread_idx_x() + block_idx_x() * block_dim_x();
  y[i] = i;
});
static_assert(times(contextless, "mad.lo.u32") == 1);

// A shifted literal has the type that it has in C++.
inline constexpr auto shifted = kernel<"shifted", 32>([](thread, out<u32> y, out<u64> z, val<u32> n) {
  y[0] = 1u << n;
  z[0] = 1ull << n;
});
static_assert(times(shifted, "shl.b32") == 1 && times(shifted, "shl.b64") == 1);

// If bits are in a register of the right class, they are read there; a variable's, as long as it has them. A variable
// of the other type is computed into at once.
inline constexpr auto renamed = kernel<"renamed", 32>([](thread t, in<u32> x, out<u32> y) {
  val i = t.global_id();
  val word = x[i];
  val pair = bit_cast<f16x2>(word);
  val sum = pair + pair;
  y[i] = bit_cast<u32>(sum);
  y[i + 1] = cast<u32>(cast<i32>(word) >> 3);
  var moving(t, word + 1u);
  val before = bit_cast<f16x2>(moving);
  y[i + 2] = bit_cast<u32>(before * before);
  moving = bit_cast<u32>(pair * before);
  y[i + 3] = moving;
});
static_assert(times(renamed, "mov.b32") == 0);
static_assert(times(renamed, "add.rn.f16x2") == 1 && times(renamed, "mul.rn.f16x2") == 2);
inline constexpr auto kept = kernel<"kept", 32>([](thread t, in<u32> x, out<u32> y) {
  val i = t.global_id();
  var moving(t, x[i]);
  val before = bit_cast<f16x2>(moving);
  moving += 1u;
  y[i] = bit_cast<u32>(before + before) + moving;
});
static_assert(times(kept, "mov.b32") == 1);  // the bits before

// Both halves of a pair come from one instruction, a variable is not computed into by it.
inline constexpr auto halves = kernel<"halves", 32>([](thread t, in<f16x2> x, out<f16> y) {
  val i = t.global_id();
  val pair = x[i];
  var lower(t, f16(0.0f));
  lower = low(pair);
  y[i] = lower + high(pair);
});
static_assert(times(halves, "mov.b32 {") == 1);
static_assert(halves.ptx().contains("mov.b32 {%rs2, %rs3}, ") &&
              halves.ptx().contains("mov.b16 %rs1, %rs2;"));

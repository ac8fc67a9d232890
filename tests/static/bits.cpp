// The code of operations on integers, roundings, conversions and packed pairs, on each target.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// One instruction each.
inline constexpr auto words = kernel<"words", 32>([](thread t, in<u32> x, out<u32> y, val<u32> n) {
  val a = x[t.global_id()];
  y[0] = popc(a);
  y[1] = clz(a);
  y[2] = brev(a);
  y[3] = mul_hi(a, n);
  y[4] = bit_extract(a, 4, 8);
  y[5] = bit_insert(a, n, n, 8);
  y[6] = lop3(a, n, 255u, [](auto p, auto q, auto r) { return p ^ (q & ~r); });
  y[7] = rotate_left(a, 13);
  y[8] = dp4a(a, n, 0u);
  y[9] = byte_perm(a, n, 0x3210u);
  y[10] = mad_hi(a, n, a);
  y[11] = abs_diff(a, n);
  y[12] = funnel_shift_right_clamped(a, n, 5);
});
static_assert(times(words, "popc.b32") == 1 && times(words, "clz.b32") == 1 && times(words, "brev.b32") == 1);
static_assert(times(words, "mul.hi.u32") == 1 && times(words, "mad.hi.u32") == 1);
static_assert(times(words, "bfe.u32") == 1 && times(words, "bfi.b32") == 1 && times(words, "prmt.b32") == 1);
static_assert(times(words, ", 255, 180;") == 1);  // 0xF0 ^ (0xCC & ~0xAA)
static_assert(times(words, "shf.l.wrap.b32") == 1 && times(words, "shf.r.clamp.b32") == 1);
static_assert(times(words, "dp4a.u32.u32") == 1 && times(words, "sad.u32") == 1);

inline constexpr auto wide = kernel<"wide", 32>([](thread t, in<i32> x, out<i64> y, out<i32> z) {
  val a = x[t.global_id()];
  y[0] = mul_wide(a, a);
  y[1] = mad_wide(a, 3, 7);
  z[0] = add_sat(a, 5);
  z[1] = cast<i32>(cast_sat<i8>(a));
});
static_assert(times(wide, "mul.wide.s32") >= 1 && times(wide, "mad.wide.s32") == 1);
static_assert(times(wide, "add.sat.s32") == 1 && times(wide, "cvt.sat.s8.s32") == 1);

// Two equal products are one instruction.
inline constexpr auto numbered = kernel<"numbered", 32>([](thread t, in<u32> x, out<u32> y) {
  val a = x[t.global_id()];
  y[0] = mul_hi(a, 5u) + popc(a);
  y[1] = mul_hi(a, 5u) ^ popc(a);
});
static_assert(times(numbered, "mul.hi") == 1 && times(numbered, "popc") == 1);

inline constexpr auto roundings = kernel<"roundings", 32>([](thread t, in<f32> x, out<f32> y, out<i32> z) {
  val a = x[t.global_id()];
  y[0] = add(a, 1.0f, round_up);
  y[1] = mul(a, a, round_toward_zero) + 1.0f;
  y[2] = fma(a, a, a, round_down);
  y[3] = sqrt(a, round_up);
  y[4] = rcp(a, round_nearest);
  y[5] = saturate(a);
  z[0] = cast<i32>(a, round_down);
  z[1] = cast<i32>(a, round_nearest);
});
static_assert(times(roundings, "add.rp.f32") == 1 && times(roundings, "mul.rz.f32") == 1);
static_assert(times(roundings, "fma.rm.f32") == 1 && times(roundings, "fma.rn.f32") == 0);  // not contracted
static_assert(times(roundings, "sqrt.rp.f32") == 1 && times(roundings, "rcp.rn.f32") == 1);
static_assert(times(roundings, "add.rn.sat.f32") == 1);
static_assert(times(roundings, "cvt.rmi.s32.f32") == 1 && times(roundings, "cvt.rni.s32.f32") == 1);

// A pair is one instruction where the target has it.
template <dsl::packed P, u32 Sm>
inline constexpr auto pairs = kernel<"pairs", 32, kernel_options{.target = {Sm}}>(
    [](thread t, in<P> x, in<f32> f, out<P> y, val<u32> n) {
      val a = x[t.global_id()];
      val b = x[n];
      y[0] = a + b;
      y[1] = a - b;
      y[2] = a * b;
      y[3] = min(a, b);
      y[4] = -a;
      y[5] = abs(a);
      y[6] = pack<P>(f[0], f[1]);
    });

static_assert(times(pairs<f16x2, 70>, "add.rn.f16x2") == 1 && times(pairs<f16x2, 70>, "sub.rn.f16x2") == 1);
static_assert(times(pairs<f16x2, 70>, "mul.rn.f16x2") == 1 && times(pairs<f16x2, 70>, "neg.f16x2") == 1);
static_assert(times(pairs<f16x2, 70>, "abs.f16x2") == 1 && times(pairs<f16x2, 70>, "min.f32") == 2);
static_assert(times(pairs<f16x2, 70>, "cvt.rn.f16.f32") == 4 && pairs<f16x2, 70>.needs().target.sm == 70);

static_assert(times(pairs<f16x2, 80>, "min.f16x2") == 1 && times(pairs<f16x2, 80>, "cvt.rn.f16x2.f32") == 1);

static_assert(times(pairs<bf16x2, 70>, "bf16") == 0 && pairs<bf16x2, 70>.needs().target.sm == 70);
static_assert(times(pairs<bf16x2, 70>, "xor.b32") == 1);  // the sign

static_assert(times(pairs<bf16x2, 80>, "fma.rn.bf16x2") == 3 && times(pairs<bf16x2, 80>, "neg.bf16x2") == 1);
static_assert(times(pairs<bf16x2, 80>, "min.bf16x2") == 1 && pairs<bf16x2, 80>.needs().target.sm == 80);

static_assert(times(pairs<bf16x2, 90>, "add.rn.bf16x2") == 1 &&
              times(pairs<bf16x2, 90>, "mul.rn.bf16x2") == 1);
static_assert(times(pairs<bf16x2, 90>, "sub.rn.bf16x2") == 1 && times(pairs<bf16x2, 90>, "fma") == 0);

// Literals take the type of the other operand.
inline constexpr auto literals =
    kernel<"literals", 32>([](thread, inout<f16> x, inout<f16x2> y, inout<i8> z) {
      x[0] = x[0] * 0.5f;
      y[0] = y[0] * 0.5f + 1;
      z[0] = z[0] + 127;
    });
static_assert(literals.ptx().contains("0x3800") && literals.ptx().contains("0x38003800") &&
              literals.ptx().contains("0x3C003C00"));

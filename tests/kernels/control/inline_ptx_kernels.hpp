#pragma once
// Instructions that the language has no function for, by ptx_op: registers of every class, immediates, several
// results, addresses, a flag between two instructions, a barrier.

#include <kaio/dsl/dsl.hpp>

namespace kaio::tests {

// --- expressions

inline constexpr auto nth_set_bit =
    ptx_op<"fns.b32", u32(u32, u32, i32), ptx_effect::pure, ptx_since{.target = {70}, .version = {6, 0}}>;
inline constexpr auto bit_mask =
    ptx_op<"bmsk.clamp.b32", u32(u32, u32), ptx_effect::pure, ptx_since{.target = {70}, .version = {7, 6}}>;
inline constexpr auto is_subnormal =
    ptx_op<"testp.subnormal.f32", bool(f32), ptx_effect::pure, ptx_since{.target = {70}, .version = {6, 0}}>;
inline constexpr auto by_sign = ptx_op<"slct.f64.s32", f64(f64, f64, i32), ptx_effect::pure,
                                       ptx_since{.target = {70}, .version = {6, 0}}>;
inline constexpr auto sum_of_16_bits = ptx_op<"add.u16", u16(u16, u16), ptx_effect::pure>;
inline constexpr auto either = ptx_op<"selp.b32 $0, $1, $2, !$3", u32(u32, u32, bool), ptx_effect::pure>;
inline constexpr auto nan_minimum = ptx_op<"min.NaN.f16x2", f16x2(f16x2, f16x2), ptx_effect::pure,
                                           ptx_since{.target = {80}, .version = {7, 0}}>;
inline constexpr auto lanes_above = ptx_op<"mov.u32 $0, %lanemask_gt", u32(), ptx_effect::pure>;

inline constexpr u32 expression_rows = 9;
inline constexpr auto inline_expressions =
    kernel<"inline_expressions", 64>([](thread t, in<u32> x, in<f32> f, out<u32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        u32 row = 0;
        const auto out = [&](const auto& result) { y[i + n * row++] = result; };
        val a = x[i];
        out(nth_set_bit(a, 0, 3));
        out(nth_set_bit(a, 8u, 1) + nth_set_bit(a, 8u, 1));
        out(bit_mask(a & 31, 5u));
        out(cast<u32>(is_subnormal(f[i])));
        val large = by_sign(1.5, 1e300, bit_cast<i32>(a));
        out(cast<u32>(large > 2.0));
        out(cast<u32>(sum_of_16_bits(cast<u16>(a), cast<u16>(i))));
        out(cast<u32>(sum_of_16_bits(65535, cast<u16>(a))));
        out(either(a, 7u, f[i] < 0.0f));
        out(lanes_above());
      }
    });

inline constexpr auto inline_pairs =
    kernel<"inline_pairs", 64>([](thread t, in<f16x2> x, out<f16x2> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = nan_minimum(x[i], 1.5f);
    });

// --- statements

inline constexpr auto add_out =
    ptx_op<"add.cc.u32", u32(u32, u32), ptx_effect::memory, ptx_since{.target = {70}, .version = {6, 0}}>;
inline constexpr auto add_in =
    ptx_op<"addc.u32", u32(u32, u32), ptx_effect::memory, ptx_since{.target = {70}, .version = {6, 0}}>;
inline constexpr auto match_lanes =
    ptx_op<"match.all.sync.b32 $0|$1, $2, $3", ptx_results<u32, bool>(u32, u32), ptx_effect::memory>;
inline constexpr auto halves_of =
    ptx_op<"mov.b64 {$0, $1}, $2", ptx_results<u32, u32>(u64), ptx_effect::pure>;
inline constexpr auto load_two =
    ptx_op<"ld.global.v2.u32 {$0, $1}, [$2]", ptx_results<u32, u32>(ptx_global), ptx_effect::memory>;
inline constexpr auto load_further = ptx_op<"ld.global.u32 $0, [$1+4]", u32(ptx_global), ptx_effect::memory>;
inline constexpr auto store_two =
    ptx_op<"st.global.v2.u32 [$0], {$1, $2}", void(ptx_global, u32, u32), ptx_effect::memory>;
inline constexpr auto load_volatile = ptx_op<"ld.volatile.shared.u32", u32(ptx_shared), ptx_effect::memory>;
inline constexpr auto store_shared = ptx_op<"st.shared.u32", void(ptx_shared, u32), ptx_effect::memory>;
inline constexpr auto wait_for_block = ptx_op<"barrier.sync.aligned 0", void(), ptx_effect::barrier,
                                              ptx_since{.target = {70}, .version = {6, 0}}>;

// One block of 64 threads. Rows: the sum of two 64-bit numbers; what match gives for the lane's parity, and for
// a constant; the halves of a product; two neighbours loaded, twice; the shared array from its other end.
inline constexpr u32 statement_rows = 11;
inline constexpr auto inline_statements =
    kernel<"inline_statements", 64>([](thread t, in<u32> x, inout<u32> y, out<u32> pairs) {
      shared<u32, 64> numbers(t);
      val i = t.global_id();
      val a = x[2 * i];
      val b = x[2 * i + 1];
      val low = add_out(t, a, b);
      val high = add_in(t, b, 0u);
      y[i] = low;
      y[i + 64] = high;
      const auto [odd_lanes, all_odd] = match_lanes(t, i & 1, 0xffffffffu);
      y[i + 64 * 2] = select(all_odd, odd_lanes + 1, odd_lanes);
      const auto [lanes, all_same] = match_lanes(t, t.let(i * 0), 0xffffffffu);
      y[i + 64 * 3] = select(all_same, lanes, 5u);
      const auto parts = halves_of(t, mul_wide(a, b));
      y[i + 64 * 4] = parts.get<0>();
      y[i + 64 * 5] = parts.get<1>();
      const auto two = load_two(t, x[2 * i]);
      y[i + 64 * 6] = two.get<0>() ^ two.get<1>();
      y[i + 64 * 7] = load_further(t, x[2 * i]);
      store_two(t, pairs[2 * i], b, a);
      store_shared(t, numbers[i], a);
      wait_for_block(t);
      y[i + 64 * 8] = load_volatile(t, numbers[63 - i]);
      y[i + 64 * 9] = load_volatile(t, numbers[5]);
      y[i + 64 * 10] = block_reduce(t, i, maximum{});
    });

// Fourteen operands: D = A B + C of ones and the lane.
inline constexpr auto multiply_tf32 = ptx_op<
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$10, $11, $12, $13}",
    ptx_results<f32, f32, f32, f32>(u32, u32, u32, u32, u32, u32, f32, f32, f32, f32), ptx_effect::memory,
    ptx_since{.target = {80}, .version = {7, 0}}>;
inline constexpr auto inline_matrix = kernel<"inline_matrix", 32>([](thread t, out<f32> y) {
  val lane = t.thread_rank();
  val one = t.let(bit_cast<u32>(t.let(1.0f)));
  val c = cast<f32>(lane);
  const auto d = multiply_tf32(t, one, one, one, one, one, one, c, c, c, 0.5f);
  y[4 * lane] = d.get<0>();
  y[4 * lane + 1] = d.get<1>();
  y[4 * lane + 2] = d.get<2>();
  y[4 * lane + 3] = d.get<3>();
});

}  // namespace kaio::tests

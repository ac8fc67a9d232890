#pragma once
// The kernels that test cooperation of the lanes of a warp.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// x -> a * x + b modulo 2^32: its composition is associative, but does not commute.
struct affine {
  val<u32> a, b;
};
struct compose {
  constexpr affine operator()(const affine& first, const affine& then) const {
    return {first.a * then.a, then.a * first.b + then.b};
  }
};

// Every shuffle of a type, a row each; the rows of `in_range` belong to the last three.
template <dsl::scalar T>
inline constexpr auto every_shuffle = kernel<"every_shuffle_" + type_name<T>, 64>(
    [](thread t, in<T> x, out<T> y, out<u32> in_range, in<u32> lane) {
      val i = t.global_id();
      val v = x[i];
      y[i] = shfl_idx(v, lane[i]);
      y[i + 64] = shfl_up(v, 3);
      y[i + 128] = shfl_down(v, 5u);
      y[i + 192] = shfl_xor(v, 9);
      y[i + 256] = shfl_idx<8>(v, 2);
      const auto up = shfl_up_checked<16>(v, 5);
      y[i + 320] = up.value;
      in_range[i] = cast<u32>(up.in_range);
      const auto down = shfl_down_checked<8>(v, lane[i] % 8);
      y[i + 384] = down.value;
      in_range[i + 64] = cast<u32>(down.in_range);
      const auto across = shfl_xor_checked<4>(v, 6);
      y[i + 448] = across.value;
      in_range[i + 128] = cast<u32>(across.in_range);
    });

// An aggregate of every kind of member: mixed types, a nested one, an array in registers.
struct eight_members {
  val<u8> a;
  val<f64> b;
  val<bool> c;
  affine d;
  val<f16> e;
  dsl::register_array<val<i64>, 2> f;
  val<bf16x2> g;
  val<f32> h;
};

inline constexpr auto shuffled_aggregate = kernel<"shuffled_aggregate", 32>(
    [](thread t, in<u32> x, out<u32> y, out<f64> b, out<i64> f, out<f16> e, out<bf16x2> g, in<bf16x2> pairs) {
      val i = t.thread_rank();
      val v = x[i];
      const eight_members mine{cast<u8>(v),
                               cast<f64>(v),
                               v % 3 == 0,
                               {v * 2, v * 3},
                               cast<f16>(cast<f32>(v)),
                               array_of<2>([&](u32 k) { return t.let(cast<i64>(v) * -4294967299 + k); }),
                               t.let(pairs[i]),
                               cast<f32>(v)};
      const auto [got, in_range] = shfl_down_checked(mine, 1);
      y[i] = cast<u32>(got.a);
      b[i] = got.b;
      y[i + 32] = cast<u32>(got.c);
      y[i + 64] = got.d.a;
      y[i + 96] = got.d.b;
      e[i] = got.e;
      f[i] = got.f[0];
      f[i + 32] = got.f[1];
      g[i] = got.g;
      y[i + 128] = bit_cast<u32>(got.h);
      y[i + 160] = cast<u32>(in_range);
    });

// Votes, matches, masks and elections, of all lanes and of some.
template <u32 Target>
inline constexpr auto votes = kernel<"votes_sm_" + decimal<Target>, 64, kernel_options{.target = {Target}}>(
    [](thread t, in<u32> x, in<u64> key, out<u32> y) {
      val i = t.thread_rank();
      val lane = t.lane_rank();
      val v = x[i];
      y[i] = ballot(v % 3 == 0);
      y[i + 64] = cast<u32>(warp_all(v < 100)) + cast<u32>(warp_any(v % 7 == 0)) * 2 +
                  cast<u32>(warp_uniform(v > 1000)) * 4 + cast<u32>(warp_uniform(v % 2 == 0)) * 8;
      y[i + 128] = match_any(v % 5);
      y[i + 192] = match_any(key[i]);
      const auto [same, matched] = match_all(v);
      y[i + 256] = same + cast<u32>(matched);
      const auto [wide, wide_matched] = match_all(key[i] / 1000000000000u);
      y[i + 320] = select(wide_matched, wide, 77u);
      y[i + 384] = cast<u32>(elect(t));
      y[i + 448] =
          (lanemask_eq() ^ lanemask_lt() * 3) + lanemask_le() * 5 + lanemask_gt() * 7 + lanemask_ge() * 11;
      if (auto some = t.when((lane >= 5) & (lane < 20))) {
        const u32 members = 0x000fffe0;
        y[i + 512] = ballot(v % 2 == 0, members);
        y[i + 576] = cast<u32>(elect(t, members));
        y[i + 640] = select(lane == 5, v, shfl_xor<16>(v, 1, members));  // lane 4 is no member
        sync_warp(t, members);
        y[i + 704] = activemask(t) & members;
        y[i + 768] = match_any(v % 5, members);
        y[i + 832] = cast<u32>(warp_all(lane < 20, members));
      }
    });

// Reductions and scans of groups of Width lanes, in blocks of any size; rows of a and of b.
template <u32 Threads, u32 Width>
inline constexpr auto warp_folds = kernel<"warp_folds_" + decimal<Threads> + "_" + decimal<Width>, Threads>(
    [](thread t, in<u32> a, in<u32> b, in<f32> x, out<u32> y, out<f32> z) {
      val i = t.thread_rank();
      const affine mine{a[i], b[i]};
      u32 row = 0;
      const auto put = [&](const affine& r) {
        y[i + row++ * Threads] = r.a;
        y[i + row++ * Threads] = r.b;
      };
      const affine all = warp_reduce<Width>(t, mine, compose{});
      put(all);
      const affine first = warp_reduce_to_first<Width>(t, mine, compose{});
      put(first);
      const affine up_to = warp_inclusive_scan<Width>(t, mine, compose{});
      put(up_to);
      const affine start{t.let(a[i] * 0 + 3), t.let(a[i] * 0 + 5)};
      const affine before = warp_exclusive_scan<Width>(t, mine, compose{}, start);
      put(before);
      z[i] = warp_reduce<Width>(t, x[i], plus{});
      z[i + Threads] = warp_reduce<Width>(t, x[i], [](const auto& p, const auto& q) { return p + q; });
      z[i + Threads * 2] = warp_reduce<Width>(t, x[i], minimum{});
      z[i + Threads * 3] = warp_exclusive_scan<Width>(t, x[i], maximum{}, -1.0f);
    });

// Every operator that redux.sync has, of every integer that fits; a row each.
template <dsl::integer T, u32 Threads, u32 Target>
inline constexpr auto integer_folds =
    kernel<"integer_folds_" + type_name<T> + "_" + decimal<Threads> + "_sm_" + decimal<Target>, Threads,
           kernel_options{.target = {Target}}>([](thread t, in<T> x, out<T> y) {
      val i = t.thread_rank();
      u32 row = 0;
      const auto put = [&](const auto& op) {
        y[i + row++ * Threads] = warp_reduce(t, x[i], op);
        y[i + row++ * Threads] = block_reduce(t, x[i], op);
      };
      put(plus{});
      put(minimum{});
      put(maximum{});
      put(bit_and{});
      put(bit_or{});
      put(bit_xor{});
    });

// Reductions of types of fewer than 32 bits: f16, bool.
inline constexpr auto narrow_folds =
    kernel<"narrow_folds", 75>([](thread t, in<f16> x, in<u32> z, out<f16> y, out<u32> w) {
      val i = t.thread_rank();
      y[i] = warp_reduce(t, x[i], plus{});
      y[i + 75] = block_reduce(t, x[i], maximum{});
      y[i + 150] = warp_inclusive_scan(t, x[i], minimum{});
      const auto fold = [&](const auto& op, const val<bool>& c) {
        val of_warp = warp_reduce(t, c, op);
        val of_block = block_reduce(t, c, op);
        val up_to = block_inclusive_scan(t, c, op);
        return cast<u32>(of_warp) + cast<u32>(of_block) * 2 + cast<u32>(up_to) * 4;
      };
      w[i] = fold(bit_or{}, t.let(z[i] == 40));
      w[i + 75] = fold(bit_and{}, t.let(z[i] < 50));
      w[i + 150] = fold(bit_xor{}, t.let(z[i] % 3 == 1));
    });

}  // namespace kaio::tests

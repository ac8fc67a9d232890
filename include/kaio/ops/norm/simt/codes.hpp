#pragma once
// rms_norm into 8-bit codes with a scale. The norm is rounded to T as rms_norm rounds it. The row's scale and
// codes are those of quantise_int8 and quantise_fp8, bit for bit.
//
//   x in registers -- sum of squares -- y -- largest |y| of the row -- scale -- codes
//
// y stays in registers for the runs that they hold; y of further runs is computed twice.

#include <kaio/ops/norm/common/codes_problem.hpp>
#include <kaio/ops/norm/simt/kernel.hpp>
#include <kaio/ops/shared/divided_by.hpp>
#include <kaio/ops/shared/e4m3_code.hpp>
#include <kaio/ops/shared/int8_code.hpp>

#include <cstdint>

namespace kaio::ops {

// The maximum of `own` over the lanes of a row. All threads of the block call it.
constexpr val<f32> largest_of_row(thread t, const val<f32>& own, const row_place& place,
                                  const row_sums& of_warps) {
  var largest(t, own);
  for (u32 distance = 16; distance != 0; distance /= 2) {
    const val other = shfl_xor(largest, distance);
    largest = select(place.lanes > distance, max(largest, other), largest);
  }
  if (auto several = t.when(place.lanes > 32u)) {
    const val warp = t.let(t.warp_rank());
    const val of_warp = t.let(largest);
    if (auto one = t.when(t.lane_rank() == 0u)) of_warps[warp] = of_warp;
    t.barrier();
    const val count = t.let(place.lanes / 32u);
    const val first = t.let(warp - warp % count);
    for (u32 w = 0; w < row_warps; ++w) {
      const val other = t.let(of_warps[w]);
      largest = select(all_of(first <= w, first + count > w), max(largest, other), largest);
    }
  }
  return t.let(largest);
}

template <dsl::scalar T, std::uint32_t Sm>
struct rms_norm_codes_body {
  using norm = rms_norm_body<T, Sm, true>;

  static constexpr void run(thread t, const val<rms_norm_codes_problem>& problem) {
    const auto of_norm = problem[&rms_norm_codes_problem::norm];
    const row_sums of_warps(t);  // apart from the norm's, which other warps may still read
    norm::run(t, of_norm, [&](const row_place& place, const val<bool>& exists, const auto& results) {
      const val to =
          norm::row_of(t, of_norm, of_norm[&rms_norm_problem::out], place.row, t.let(val<u32>(0u)));
      const val is_i8 = t.let(problem[&rms_norm_codes_problem::kept] == static_cast<u32>(kept_type::i8));
      const auto scales = problem[&rms_norm_codes_problem::scales];
      var scale(t, problem[&rms_norm_codes_problem::scale]);
      if (auto of_rows = t.when(scales[&row_strides::address] != 0u)) {
        var largest(t, 0.0f);
        results([&](const val<u32>&, const val<u64>&, const auto& y) {
          for (const auto& one : y) largest = max(largest, abs(one));
        });
        const val of_row = largest_of_row(t, t.let(largest), place, of_warps);
        const val of_i8 = int8_scale(t, of_row), of_e4m3 = e4m3_scale(t, of_row);
        scale = select(is_i8, of_i8, of_e4m3);
        if (auto one = t.when(all_of(exists, place.lane == 0u))) {
          const val at = norm::row_of(t, of_norm, scales, place.row, t.let(val<u32>(2u)));
          pointer_at<out<f32>>(t, at)[0] = scale;
        }
      }
      const val by = t.let(scale);
      // A row's own scale is at least 2^-9 of each of its numbers, as divided_by needs.
      const val is_of_row = t.let(scales[&row_strides::address] != 0u);
      const val is_usual = t.let(all_of(is_of_row, has_reciprocal(t, by)));
      const val reciprocal = t.let(1.0f / by);
      results([&]<class Y>(const val<u32>& at, const val<u64>&, const Y& y) {
        auto quotients = array_of<Y::size()>([&](u32) { return var(t, 0.0f); });
        if (auto usual = t.when(is_usual))
          for (u32 i = 0; i < Y::size(); ++i) quotients[i] = divided_by(t, t.let(y[i]), by, reciprocal);
        if (auto other = t.otherwise())
          for (u32 i = 0; i < Y::size(); ++i) quotients[i] = y[i] / by;
        const val address = t.let(to + cast<u64>(at) * u64{Y::size()});
        if (auto integers = t.when(is_i8))
          store<i8, Y::size()>(t, address, [&](u32 i) { return int8_code_of(t, t.let(quotients[i])); });
        if (auto floats = t.otherwise())
          store<e4m3, Y::size()>(t, address, [&](u32 i) { return e4m3_code_of(t, t.let(quotients[i])); });
      });
    });
  }

 private:
  template <class Code, std::uint32_t Count, class Make>
  static constexpr void store(thread t, const val<u64>& address, const Make& code) {
    const auto memory = pointer_at<out<Code>>(t, address);
    if constexpr (Count == 1) {
      memory[0] = code(0);
    } else {
      const auto all = array_of<Count>(code);
      for (u32 i = 0; i < Count; i += 4)
        store_vec(memory[i], make_vec(all[i], all[i + 1], all[i + 2], all[i + 3]));
    }
  }
};

// Launched like rms_norm_rows.
template <dsl::scalar T, std::uint32_t Sm>
inline constexpr auto rms_norm_code_rows =
    kaio::kernel<"rms_norm_codes_" + type_name<T> + "_sm" + decimal<Sm>, row_threads,
                 // Two blocks per multiprocessor: with three, ptxas spills a register.
                 kernel_options{.target = {Sm, false}, .min_blocks = Sm < 90 ? 2u : 0u}>(
        [](thread t, val<rms_norm_codes_problem> problem) { rms_norm_codes_body<T, Sm>::run(t, problem); });

}  // namespace kaio::ops

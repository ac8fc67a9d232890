#pragma once
// Scans rows. A group of 1 to 256 threads has a row, or a chunk of a long row, and goes through it tile by tile.
// A thread has the 16 bytes of neighbours that one load brings:
//
//   tile      thread 0 | thread 1 | ...      each scans its own elements
//   before    the elements of all threads below, by a scan of the warp and the sums of the warps
//   carry     all tiles before
//
//   result = carry, before, own elements, combined in this order
//
// The next tile is loaded before the current one is scanned. A long row takes three launches: sums of chunks,
// their exclusive scan, and the chunks. The order of combination depends on the size of a row alone.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/reduce/simt/rows.hpp>
#include <kaio/ops/scan/common/problem.hpp>
#include <kaio/ops/shared/row_of_thread.hpp>

namespace kaio::ops {

template <class T, class Combine>
struct scan_body {
  static constexpr u32 width = 16 / sizeof(T), warps = scan_threads / 32;
  using vector = vec<T, width>;

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem, const val<T>& identity) {
    shared<T, 2, warps> of_warps(t);
    const row_place place = place_of_thread(t, t.let(problem[&scan_problem::lanes_log]));
    const val split = t.let(block_idx_y());
    const val begin = t.let(cast<u64>(split) * cast<u64>(problem[&scan_problem::chunk]));
    const val rest = t.let(problem[&scan_problem::size] - begin);
    const val chunk = t.let(problem[&scan_problem::chunk]);
    const val size = t.let(select(rest < cast<u64>(chunk), cast<u32>(rest), chunk));
    const val exists = t.let(place.row < problem[&scan_problem::rows]);
    const val count = t.let(select(exists, size, 0u));
    const kept_offsets offsets = offsets_of(t, place.row, problem[&scan_problem::kept]);
    const auto line_of = [&](const val<u64>& address, const val<i64>& offset, const val<i64>& stride,
                             const val<u32>& aligned) {
      const val start = t.let(address + cast<u64>(offset + cast<i64>(begin) * stride) * u64{sizeof(T)});
      return line{start, stride, t.let(aligned != 0u)};
    };
    const val from_address = t.let(problem[&scan_problem::from]),
              to_address = t.let(problem[&scan_problem::to]);
    const val from_stride = t.let(problem[&scan_problem::from_stride]);
    const val to_stride = t.let(problem[&scan_problem::to_stride]);
    const val from_aligned = t.let(problem[&scan_problem::from_aligned]);
    const val to_aligned = t.let(problem[&scan_problem::to_aligned]);
    const line from = line_of(from_address, offsets.from, from_stride, from_aligned);
    const line to = line_of(to_address, offsets.to, to_stride, to_aligned);
    const val step = t.let(problem[&scan_problem::step]);
    const val writes = t.let(step != static_cast<u32>(scan_step::totals));
    const val exclusive = t.let(problem[&scan_problem::exclusive] != 0u);
    const val at_carry =
        t.let(problem[&scan_problem::carries] +
              (cast<u64>(place.row) * cast<u64>(problem[&scan_problem::splits]) + cast<u64>(split)) *
                  u64{sizeof(T)});

    var carry(t, identity);
    if (auto carried = t.when(all_of(exists, step == static_cast<u32>(scan_step::carried))))
      carry = pointer_at<inout<T>>(t, at_carry)[0];
    auto next = array_of<width>([&](u32) { return var(t, identity); });
    load(t, from, t.let(place.lane * width), count, next);
    var parity(t, 0u);
    for (auto tile : t.range(0u, size, t.let(place.lanes * width)).no_unroll()) {
      const val first = t.let(tile + place.lane * width);
      auto sums = array_of<width>([&](u32 i) { return var(t, next[i]); });
      for (u32 i = 0; i < width; ++i) next[i] = identity;
      load(t, from, t.let(first + place.lanes * width), count, next);
      for (u32 i = 1; i < width; ++i) {
        const val before = t.let(sums[i - 1]);
        const val own = t.let(sums[i]);
        sums[i] = combined(t, before, own);
      }
      const before_and_all of_tile =
          combine_threads(t, t.let(sums[width - 1]), place, identity, of_warps, parity);
      const val of_tiles = t.let(carry);
      const val base = combined(t, of_tiles, of_tile.before);
      carry = combined(t, of_tiles, of_tile.all);
      if (auto results = t.when(writes)) {
        for (u32 i = 0; i < width; ++i) sums[i] = combined(t, base, t.let(sums[i]));
        if (auto shifted = t.when(exclusive)) {
          for (u32 i = width - 1; i > 0; --i) sums[i] = sums[i - 1];
          sums[0] = base;
        }
        store(t, to, first, count, sums);
      }
    }
    if (auto total = t.when(all_of(exists, !writes, place.lane == 0u)))
      pointer_at<out<T>>(t, at_carry)[0] = carry;
  }

 private:
  struct line {
    val<u64> address;
    val<i64> stride;
    val<bool> aligned;
  };
  struct before_and_all {
    val<T> before, all;
  };

  static constexpr val<T> combined(thread t, const val<T>& a, const val<T>& b) {
    return t.let(Combine{}(a, b));
  }
  static constexpr void load(thread t, const line& from, const val<u32>& first, const val<u32>& count,
                             auto& x) {
    if (auto some = t.when(first < count)) {
      const val is_whole = t.let(all_of(from.aligned, count - first >= width));
      if (auto whole = t.when(is_whole)) {
        const val address = t.let(from.address + cast<u64>(first) * u64{sizeof(T)});
        const val all = pointer_at<inout<vector>>(t, address)[0];
        for (u32 i = 0; i < width; ++i) x[i] = all[i];
      }
      if (auto part = t.otherwise()) {
        const auto memory = pointer_at<inout<T>>(t, from.address);
        const val at = t.let(cast<i64>(first) * from.stride);
        for (u32 i = 0; i < width; ++i)
          if (auto inside = t.when(count - first > i)) x[i] = memory[at + from.stride * i64{i}];
      }
    }
  }
  static constexpr void store(thread t, const line& to, const val<u32>& first, const val<u32>& count,
                              const auto& x) {
    if (auto some = t.when(first < count)) {
      const val is_whole = t.let(all_of(to.aligned, count - first >= width));
      if (auto whole = t.when(is_whole)) {
        const val address = t.let(to.address + cast<u64>(first) * u64{sizeof(T)});
        const auto memory = pointer_at<out<vector>>(t, address);
        const auto y = array_of<width>([&](u32 i) { return t.let(x[i]); });
        if constexpr (width == 2)
          memory[0] = make_vec(y[0], y[1]);
        else
          memory[0] = make_vec(y[0], y[1], y[2], y[3]);
      }
      if (auto part = t.otherwise()) {
        const auto memory = pointer_at<out<T>>(t, to.address);
        const val at = t.let(cast<i64>(first) * to.stride);
        for (u32 i = 0; i < width; ++i)
          if (auto inside = t.when(count - first > i)) memory[at + to.stride * i64{i}] = x[i];
      }
    }
  }
  // All threads of the block call it: the threads of the row below this one, and all of them.
  static constexpr before_and_all combine_threads(thread t, const val<T>& own, const row_place& place,
                                                  const val<T>& identity, const shared<T, 2, warps>& of_warps,
                                                  var<u32>& parity) {
    const val lane = t.let(place.lane & 31u);
    var sum(t, own);
    for (u32 distance = 1; distance < 32; distance *= 2) {
      const val before = t.let(sum);
      const val other = shfl_up(before, distance);
      const val both = combined(t, other, before);
      sum = select(lane >= distance, both, before);
    }
    const val inclusive = t.let(sum);
    const val below = shfl_up(inclusive, 1);
    var before(t, select(lane == 0u, identity, below));
    const val last = t.let(t.lane_rank() | (min(place.lanes, 32u) - 1u));
    const val of_group = shfl_idx(inclusive, last);
    var all(t, of_group);
    if (auto several = t.when(place.lanes > 32u)) {
      const val warp = t.let(t.warp_rank());
      const val which = t.let(parity);
      if (auto one = t.when(t.lane_rank() == 31u)) of_warps[which][warp] = inclusive;
      t.barrier();
      const val count = t.let(place.lanes / 32u);
      const val first = t.let(warp - warp % count);
      var sum_before(t, identity);
      all = identity;
      for (auto w : t.range(first, t.let(first + count)).no_unroll()) {
        const val so_far = t.let(all);
        sum_before = select(w == warp, so_far, sum_before);
        const val other = t.let(of_warps[which][w]);
        all = combined(t, so_far, other);
      }
      const val of_warps_below = t.let(sum_before);
      const val of_lanes_below = t.let(before);
      before = combined(t, of_warps_below, of_lanes_below);
      parity = 1u - which;
    }
    return {t.let(before), t.let(all)};
  }
};

// Launched with grid(row_blocks(rows, lanes_log), splits).
template <class T, class Combine>
inline constexpr auto scan_rows =
    kaio::kernel<"scan_" + reduce_name<Combine> + "_" + type_name<T>, scan_threads,
                 kernel_options{.target = {70}}>([](thread t, val<scan_problem> problem, val<T> identity) {
      scan_body<T, Combine>::run(t, problem, identity);
    });

}  // namespace kaio::ops

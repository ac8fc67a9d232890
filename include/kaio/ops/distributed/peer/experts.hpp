#pragma once
// Rows to the ranks of their experts and back, by two kernels. Counts are in device memory alone.
//
//   peer_counts  one block: sends the rank's count of rows for each expert, and where it receives rows, to all ranks, and
//                makes a list of segments: rows that follow each other on this rank and on another one
//   peer_send    sends the rows of all segments
//
//   to experts     segment e:              the rows of expert e of this rank's sorted rows, to its owner
//   back           segment (j, source r):  the rows that rank r sent to local expert j, to rank r
//
// An owner has rows by expert, then by rank. Ranks that have read counts have ended their earlier work, so nobody reads
// what the rows replace.

#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/ops/shared/element_run.hpp>

namespace kaio::ops {

inline constexpr u32 most_peer_experts = 1024;
inline constexpr u32 peer_count_words =
    most_peer_experts + 8;  // of each rank: counts, then an address of two words

// Memory of one rank that peer_counts writes and peer_send reads.
struct peer_segments {
  u64 begins;     // (segments + 1) u32: the first row of each segment on this rank, and their end
  u64 ranks;      // (segments) u32: where to
  u64 rows;       // (segments) u32: the first row there
  u64 addresses;  // (ranks) u64: where each rank receives rows
};

struct peer_count_problem {
  peer_table peers;
  peer_segments to;
  u64 counts, half;  // bytes: where counts begin in the memory of a rank, from one half to the next
  u32 counter, words;
  u32 experts, is_back;
  u64 offsets;        // (experts + 1) i32, of the rank's sorted rows
  u64 local_offsets;  // (experts / ranks + 1) i32, written; 0: not
  u64 address;        // where this rank receives rows
  u32 capacity;       // rows that fit there
};

struct peer_send_problem {
  peer_table peers;
  peer_segments from;
  u32 counter, words;
  u32 segments;
  u64 x, x_row;  // bytes from one row to the next
  u64 indices;   // (rows) i32: row i is row indices[i] of x; 0: row i
  u32 x_rows, limit,
      capacity;      // rows of x; segments' rows from `limit` on are left out; rows that fit elsewhere
  u32 bytes, shift;  // of a row; log2 of the bytes of an element
  u32 by_16;         // rows are moved by 16 bytes
};

inline constexpr u32 peer_experts_threads = 256;

inline constexpr auto peer_counts = kaio::kernel<"distributed_peer_counts", peer_experts_threads,
                                                 kernel_options{.target = {70}, .min_blocks = 1}>(
    [](thread t, val<peer_count_problem> problem) {
      using p = peer_count_problem;
      const val peers = t.let(problem[&p::peers]);
      const peer_access at(t, peers);
      const val ranks = at.ranks(), rank = at.rank();
      const inout<u32> counter =
          pointer_at<inout<u32>>(t, t.let(at.signals(rank) + cast<u64>(problem[&p::counter]) * u64{4}));
      const val number = t.let(counter[0] + 1u);
      const val place = t.let(problem[&p::counts] + cast<u64>(number & 1u) * problem[&p::half]);
      const val experts = t.let(problem[&p::experts]);
      const val lane = t.let(t.thread_rank());
      const auto offsets = pointer_at<inout<i32>>(t, t.let(problem[&p::offsets]));
      const val address = t.let(problem[&p::address]);
      for (auto to : t.range(0u, ranks).no_unroll()) {
        const auto words = pointer_at<inout<u32>>(
            t, t.let(at.data(t.let(to)) + place + cast<u64>(rank * peer_count_words) * u64{4}));
        for (auto e : t.range(lane, experts, peer_experts_threads).no_unroll())
          words[e] = cast<u32>(max(offsets[e + 1u] - offsets[e], 0));
        if (auto one = t.when(lane == 0u)) {
          words[most_peer_experts] = cast<u32>(address & u64{0xffffffff});
          words[most_peer_experts + 1] = cast<u32>(address >> 32u);
        }
      }
      const val came = at.meet(t.let(problem[&p::words]), number);

      const val to = t.let(problem[&p::to]);
      const auto counts = pointer_at<inout<u32>>(t, t.let(at.data(rank) + place));
      if (auto of_rank = t.when(lane < ranks)) {
        const val first = t.let(lane * peer_count_words + most_peer_experts);
        const val high = counts[first + 1u], low = counts[first];
        pointer_at<inout<u64>>(t, t.let(to[&peer_segments::addresses]))[lane] =
            cast<u64>(low) | cast<u64>(high) << 32u;
      }
      // The rows of experts `first` to before `last` of ranks before `end`, from rank `begin` on.
      const auto rows_of = [&](const val<u32>& first, const val<u32>& last, const val<u32>& begin,
                               const val<u32>& end) {
        var sum(t, 0u);
        for (auto r : t.range(begin, end).no_unroll())
          for (auto e : t.range(first, last).no_unroll()) sum += counts[r * peer_count_words + e];
        return t.let(sum);
      };
      const val zero = t.let(lane & 0u);
      const val local = t.let(experts / ranks);
      const val own = t.let(rank * local);
      const val is_back = t.let(problem[&p::is_back] != 0u);
      const auto begins = pointer_at<inout<u32>>(t, t.let(to[&peer_segments::begins]));
      const auto to_ranks = pointer_at<inout<u32>>(t, t.let(to[&peer_segments::ranks]));
      const auto to_rows = pointer_at<inout<u32>>(t, t.let(to[&peer_segments::rows]));
      for (auto s : t.range(lane, t.let(experts + 1u), peer_experts_threads).no_unroll()) {
        // The expert, the rank whose rows they are, and the first expert of the owner.
        const val ends = t.let(s == experts);
        const val expert = t.let(select(ends, experts, select(is_back, own + s / ranks, s)));
        const val source = t.let(select(is_back, s % ranks, rank));
        const val owner = t.let(select(is_back, rank, expert / local));
        // The row of the sorted rows of `source`, and the row at the owner.
        const val sorted = rows_of(zero, expert, source, t.let(source + 1u));
        const val owners_first = t.let(owner * local);
        const val last = t.let(select(ends, owners_first + local, expert));
        const val before = rows_of(owners_first, t.let(select(is_back, last, expert)), zero, ranks);
        const val next = t.let(select(ends, expert, expert + 1u));
        const val earlier = rows_of(expert, next, zero, source);
        const val received = t.let(before + earlier);
        begins[s] = select(is_back, received, sorted);
        if (auto exists = t.when(s < experts)) {
          to_ranks[s] = select(is_back, source, owner);
          to_rows[s] = select(is_back, sorted, received);
        }
      }
      const val local_offsets = t.let(problem[&p::local_offsets]);
      if (auto writes = t.when(local_offsets != u64{0})) {
        const auto written = pointer_at<inout<i32>>(t, local_offsets);
        for (auto j : t.range(lane, t.let(local + 1u), peer_experts_threads).no_unroll())
          written[j] = cast<i32>(min(rows_of(own, t.let(own + j), zero, ranks), problem[&p::capacity]));
      }
      if (auto one = t.when(lane == 0u)) counter[0] = number;
      at.require(came);
    });

// Launched with the workspace's number of blocks, on all ranks. A warp has a row.
inline constexpr auto peer_send = kaio::kernel<"distributed_peer_send", peer_experts_threads,
                                               kernel_options{.target = {70}, .min_blocks = 1}>(
    [](thread t, val<peer_send_problem> problem) {
      using p = peer_send_problem;
      const val peers = t.let(problem[&p::peers]);
      const peer_access at(t, peers);
      const val rank = at.rank();
      const val word = t.let(problem[&p::counter] + block_idx_x());
      const inout<u32> counter =
          pointer_at<inout<u32>>(t, t.let(at.signals(rank) + cast<u64>(word) * u64{4}));
      const val number = t.let(counter[0] + 1u);
      const val from = t.let(problem[&p::from]);
      const auto begins = pointer_at<inout<u32>>(t, t.let(from[&peer_segments::begins]));
      const auto to_ranks = pointer_at<inout<u32>>(t, t.let(from[&peer_segments::ranks]));
      const auto to_rows = pointer_at<inout<u32>>(t, t.let(from[&peer_segments::rows]));
      const auto addresses = pointer_at<inout<u64>>(t, t.let(from[&peer_segments::addresses]));
      const val segments = t.let(problem[&p::segments]);
      const val rows = t.let(min(begins[segments], problem[&p::limit]));
      const val bytes = t.let(problem[&p::bytes]), shift = t.let(problem[&p::shift]);
      const val indices = t.let(problem[&p::indices]);
      const val warps = t.let(grid_dim_x() * (peer_experts_threads / 32));
      for (auto i : t.range(t.let(block_idx_x() * (peer_experts_threads / 32) + t.warp_rank()), rows, warps)
                        .no_unroll()) {
        const val row = t.let(i);
        // The last segment that begins at the row or before: earlier ones that begin there are empty.
        var low(t, 0u), high(t, segments);
        for (auto l : t.loop()) {
          l.break_if(low + 1u >= high);
          const val middle = t.let((low + high) / 2u);
          const val is_before = t.let(begins[middle] <= row);
          low = select(is_before, middle, low);
          high = select(is_before, high, middle);
        }
        const val segment = t.let(low);
        const val to_row = t.let(to_rows[segment] + (row - begins[segment]));
        var source(t, row);
        if (auto gathers = t.when(indices != u64{0}))
          source = bit_cast<u32>(pointer_at<inout<i32>>(t, indices)[row]);
        if (auto moves = t.when(all_of(source < problem[&p::x_rows], to_row < problem[&p::capacity]))) {
          const val lanes = t.let((t.lane_rank() & 0u) + 32u), lane = t.let(t.lane_rank());
          const val by_16 = t.let(problem[&p::by_16] != 0u);
          const val to = t.let(addresses[to_ranks[segment]] + cast<u64>(to_row) * cast<u64>(bytes));
          const val from_row = t.let(problem[&p::x] + cast<u64>(source) * problem[&p::x_row]);
          copy_row(t, from_row, to, bytes, shift, by_16, lane, lanes);
        }
      }
      const val came = at.meet(t.let(problem[&p::words]), number);
      if (auto one = t.when(t.thread_rank() == 0u)) counter[0] = number;
      at.require(came);
    });

}  // namespace kaio::ops

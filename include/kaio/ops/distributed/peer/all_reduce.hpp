#pragma once
// Sums over ranks by peer memory, in one kernel of each rank. Eight neighbours are a piece; a block of one rank meets the
// block of its number on all others.
//
//   one-shot   every rank sends all pieces to all; each adds all
//   two-shot   every rank sends part p of its pieces to rank p, which adds them and sends the sums to all
//
//   memory of a rank: two halves, by the parity of a block's calls
//   half:  slot of rank 0 | slot of rank 1 | ... | sums (two-shot)
//
// A half is free two calls later: a rank that begins call n has seen all signals of call n - 1, which the others send
// after their call n - 2 has ended. Sums are f32, rank 0 first, rounded once: equal bits on all ranks.

#include <kaio/ops/distributed/peer/signals.hpp>
#include <kaio/ops/shared/element_run.hpp>

namespace kaio::ops {

struct peer_sum_problem {
  peer_table peers;
  u64 half, slot;     // bytes from one to the next
  u64 sums;           // where they begin in a half, in bytes
  u32 counter;        // words of signals: of each block its count of calls,
  u32 first, second;  // and one for each block and rank, for each meeting
  u64 from, to;
  u64 size;                      // elements
  u64 part;                      // pieces of each rank; 0: one-shot
  u32 type;                      // element_type
  u32 from_aligned, to_aligned;  // to 16 bytes
};

inline constexpr u32 peer_sum_threads = 256;

// A call of a block.
struct peer_turn {
  inout<u32> counter;  // of calls, in memory
  val<u32> number;     // of this call
  val<u64> half;       // where its half begins in the memory of each rank
  val<u64> slot;       // bytes of a slot
  val<u64> slots;      // address of this rank's half
};
template <class Problem>
constexpr peer_turn peer_turn_of(thread t, const peer_access& at, const val<Problem>& problem) {
  const val word = t.let(problem[&Problem::counter] + block_idx_x());
  const inout<u32> counter =
      pointer_at<inout<u32>>(t, t.let(at.signals(at.rank()) + cast<u64>(word) * u64{4}));
  const val number = t.let(counter[0] + 1u);
  const val half = t.let(cast<u64>(number & 1u) * problem[&Problem::half]);
  const val slot = t.let(problem[&Problem::slot]);
  const val slots = t.let(at.data(at.rank()) + half);
  return {counter, number, half, slot, slots};
}

// Pieces of eight elements in the memory of ranks: whole and aligned, also the last ones.
constexpr element_run peer_piece(thread t, const val<u64>& memory, const val<u64>& piece,
                                 const val<u32>& piece_shift) {
  return {t.let(memory + (piece << piece_shift)), t.let(u32{run_size} + (piece_shift & 0u)),
          t.let(piece_shift != 0u)};
}
// Piece number `piece` of `size` elements.
constexpr element_run piece_of(thread t, const val<u64>& memory, const val<u64>& piece, const val<u64>& size,
                               const val<u32>& piece_shift, const val<bool>& aligned) {
  const val left = t.let(size - piece * u64{run_size});
  const val count = t.let(cast<u32>(min(left, u64{run_size})));
  return {t.let(memory + (piece << piece_shift)), count, t.let(all_of(aligned, count == run_size))};
}
// Copies a piece's elements as they are.
constexpr void move_piece(thread t, const element_run& from, const element_run& to,
                          const val<u32>& piece_shift) {
  const val shift = t.let(piece_shift - 3u);
  static_assert(run_size == 1u << 3);
  const val count = t.let(min(from.count, to.count));
  const val lanes = t.let(min(count, 1u)), lane = t.let(count & 0u);
  const val whole = t.let(all_of(from.whole, to.whole));
  copy_row(t, from.address, to.address, t.let(count << shift), shift, whole, lane, lanes);
}
// The sum of piece `piece` in the slots of all ranks.
template <class Sums>
constexpr void add_slots(thread t, const val<u32>& ranks, const val<u64>& slots, const val<u64>& slot,
                         const val<u64>& piece, const val<u32>& piece_shift, const val<u32>& type,
                         Sums& sums) {
  for (auto r : t.range(0u, ranks).no_unroll()) {
    auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });
    load_run(t, type, peer_piece(t, t.let(slots + cast<u64>(r) * slot), piece, piece_shift), x, 0);
    for (u32 i = 0; i < run_size; ++i) sums[i] = sums[i] + x[i];
  }
}

// Launched with the workspace's number of blocks, on all ranks. min_blocks: without it, ptxas keeps few registers because
// of the assertion, and spills.
inline constexpr auto peer_sum =
    kaio::kernel<"distributed_peer_sum", peer_sum_threads, kernel_options{.target = {70}, .min_blocks = 1}>(
        [](thread t, val<peer_sum_problem> problem) {
          using p = peer_sum_problem;
          const val peers = t.let(problem[&p::peers]);
          const peer_access at(t, peers);
          const val ranks = at.ranks(), rank = at.rank();
          const peer_turn turn = peer_turn_of(t, at, problem);
          const val number = turn.number;
          const val half = turn.half, slot = turn.slot, slots = turn.slots;

          const val type = t.let(problem[&p::type]);
          const val piece_shift = t.let(select(type == static_cast<u32>(element_type::f32), 5u, 4u));
          const val size = t.let(problem[&p::size]), part = t.let(problem[&p::part]);
          const val pieces = t.let((size + u64{run_size - 1}) / u64{run_size});
          const val two_shot = t.let(part != u64{0});
          const val from = t.let(problem[&p::from]), to = t.let(problem[&p::to]);
          const val from_aligned = t.let(problem[&p::from_aligned] != 0u);
          const val to_aligned = t.let(problem[&p::to_aligned] != 0u);
          const val lane = t.let(t.global_id<u64>());
          const val lanes = t.let(cast<u64>(grid_dim_x()) * u64{peer_sum_threads});
          // Calls each(piece) for this thread's pieces of the part of `owner`; one-shot: of all.
          const auto for_part = [&](const val<u32>& owner, const auto& each) {
            const val begin = t.let(cast<u64>(owner) * part);
            const val end = t.let(select(two_shot, min(begin + part, pieces), pieces));
            for (auto i : t.range(t.let(begin + lane), end, lanes).no_unroll()) each(t.let(i), begin);
          };
          // Calls each(rank) for all ranks, those after this one first.
          const auto for_ranks = [&](const auto& each) {
            for (auto step : t.range(1u, t.let(ranks + 1u)).no_unroll()) {
              const val next = t.let(rank + step);
              each(t.let(select(next >= ranks, next - ranks, next)));
            }
          };

          for_ranks([&](const val<u32>& to_rank) {
            const val memory = t.let(at.data(to_rank) + half + cast<u64>(rank) * slot);
            for_part(to_rank, [&](const val<u64>& i, const val<u64>& begin) {
              const element_run sent = peer_piece(t, memory, t.let(i - begin), piece_shift);
              move_piece(t, piece_of(t, from, i, size, piece_shift, from_aligned), sent, piece_shift);
            });
          });
          var came(t, at.meet(t.let(problem[&p::first]), number));
          const val gathered = t.let(half + problem[&p::sums]);
          const val own = t.let(at.data(rank) + gathered);
          for_part(rank, [&](const val<u64>& i, const val<u64>& begin) {
            auto sums = array_of<run_size>([&](u32) { return var(t, 0.0f); });
            add_slots(t, ranks, slots, slot, t.let(i - begin), piece_shift, type, sums);
            const element_run in_memory = peer_piece(t, own, i, piece_shift);
            const element_run in_tensor = piece_of(t, to, i, size, piece_shift, to_aligned);
            store_run(t, type,
                      {t.let(select(two_shot, in_memory.address, in_tensor.address)),
                       t.let(select(two_shot, in_memory.count, in_tensor.count)),
                       t.let(any_of(two_shot, in_tensor.whole))},
                      sums, 0);
            if (auto sends = t.when(two_shot))
              for_ranks([&](const val<u32>& to_rank) {
                if (auto other = t.when(to_rank != rank))
                  move_piece(t, in_memory, peer_piece(t, t.let(at.data(to_rank) + gathered), i, piece_shift),
                             piece_shift);
              });
          });
          if (auto again = t.when(two_shot)) {
            came = all_of(came, at.meet(t.let(problem[&p::second]), number));
            for_ranks([&](const val<u32>& owner) {
              for_part(owner, [&](const val<u64>& i, const val<u64>&) {
                const element_run in_tensor = piece_of(t, to, i, size, piece_shift, to_aligned);
                move_piece(t, peer_piece(t, own, i, piece_shift), in_tensor, piece_shift);
              });
            });
          }
          if (auto one = t.when(t.thread_rank() == 0u)) turn.counter[0] = number;
          at.require(t.let(came));
        });

}  // namespace kaio::ops

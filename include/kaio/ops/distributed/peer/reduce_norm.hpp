#pragma once
// The sum over ranks, the addition of a residual and the RMS norm of rows in one kernel: the one-shot form of
// all_reduce.hpp. A block sends rows b, b + blocks, ... to all ranks, meets the blocks of its number, and then
//
//   x = sum of all ranks, rounded to T     h = x + residual, rounded to T, stored     y = h / rms(h) * weight
//
// A thread keeps the last piece of a row in registers between the passes; the others are in its rank's own slot.

#include <kaio/ops/distributed/peer/all_reduce.hpp>
#include <kaio/ops/shared/element_run.hpp>

namespace kaio::ops {

struct peer_rows {
  u64 address;  // 0: there is none
  u64 row;      // bytes from one to the next
  u32 aligned;  // every row begins at a multiple of 16 bytes
};

struct peer_norm_problem {
  peer_table peers;
  u64 half, slot;
  u32 counter, first;
  u64 rows, size;
  peer_rows x, residual, residual_out, out;
  u64 weight;
  u32 weight_aligned, weight_type;
  u32 type;
  f32 epsilon, weight_offset;
  u32 casts;  // the normalised number is rounded to T before the weight
};

inline constexpr u32 peer_norm_threads = 512;

// Eight numbers, rounded to the elements of `type`.
template <class Vars>
constexpr void round_run(thread t, const val<u32>& type, Vars& x) {
  const auto round = [&]<class A>(A) {
    auto words = array_of<detail::run_words>([&](u32 w) { return detail::word_of_numbers<A>(t, x, 0, w); });
    for (u32 i = 0; i < run_size; ++i) x[i] = detail::number_of_words<A>(t, words, i);
  };
  if (auto half = t.when(type == static_cast<u32>(element_type::f16))) round(detail::stored_f16{});
  if (auto brain = t.when(type == static_cast<u32>(element_type::bf16))) round(detail::stored_bf16{});
}

// Launched with the workspace's number of blocks, on all ranks. min_blocks: without it, ptxas keeps few registers because
// of the assertion, and spills.
inline constexpr auto peer_norm =
    kaio::kernel<"distributed_peer_norm", peer_norm_threads, kernel_options{.target = {70}, .min_blocks = 1}>(
        [](thread t, val<peer_norm_problem> problem) {
          using p = peer_norm_problem;
          const val peers = t.let(problem[&p::peers]);
          const peer_access at(t, peers);
          const val ranks = at.ranks(), rank = at.rank();
          const peer_turn turn = peer_turn_of(t, at, problem);
          const val number = turn.number;
          const val half = turn.half, slot = turn.slot, slots = turn.slots;

          const val type = t.let(problem[&p::type]);
          const val piece_shift = t.let(select(type == static_cast<u32>(element_type::f32), 5u, 4u));
          const val size = t.let(problem[&p::size]), rows = t.let(problem[&p::rows]);
          const val pieces = t.let((size + u64{run_size - 1}) / u64{run_size});
          const val lane = t.let(cast<u64>(t.thread_rank()));
          const val first_row = t.let(cast<u64>(block_idx_x())), row_step = t.let(cast<u64>(grid_dim_x()));
          // Piece i of row `row` of a tensor.
          const auto piece_in = [&](const val<peer_rows>& of, const val<u64>& row, const val<u64>& i) {
            const val aligned = t.let(of[&peer_rows::aligned] != 0u);
            const val line = t.let(of[&peer_rows::address] + row * of[&peer_rows::row]);
            return piece_of(t, line, i, size, piece_shift, aligned);
          };
          const val x_rows = t.let(problem[&p::x]);
          for (auto step : t.range(1u, t.let(ranks + 1u)).no_unroll()) {
            const val next = t.let(rank + step);
            const val to_rank = t.let(select(next >= ranks, next - ranks, next));
            const val memory = t.let(at.data(to_rank) + half + cast<u64>(rank) * slot);
            for (auto row : t.range(first_row, rows, row_step).no_unroll())
              for (auto i : t.range(lane, pieces, u64{peer_norm_threads}).no_unroll()) {
                const element_run sent = peer_piece(t, memory, t.let(row * pieces + i), piece_shift);
                const val piece = t.let(i), line = t.let(row);
                move_piece(t, piece_in(x_rows, line, piece), sent, piece_shift);
              }
          }
          var came(t, at.meet(t.let(problem[&p::first]), number));

          const val own = t.let(slots + cast<u64>(rank) * slot);
          const val residual = t.let(problem[&p::residual]), residual_out = t.let(problem[&p::residual_out]);
          const val steps = t.let(select(residual[&peer_rows::address] != u64{0}, 2u, 1u));
          const val out = t.let(problem[&p::out]);
          const val weight = t.let(problem[&p::weight]);
          const val weight_type = t.let(problem[&p::weight_type]);
          const val weight_shift = t.let(select(weight_type == static_cast<u32>(element_type::f32), 5u, 4u));
          const val weight_aligned = t.let(problem[&p::weight_aligned] != 0u);
          for (auto row : t.range(first_row, rows, row_step).no_unroll()) {
            const val line = t.let(row);
            auto h = array_of<run_size>([&](u32) { return var(t, 0.0f); });
            var squares(t, 0.0f);
            for (auto i : t.range(lane, pieces, u64{peer_norm_threads}).no_unroll()) {
              const val piece = t.let(i);
              const val place = t.let(line * pieces + piece);
              for (u32 e = 0; e < run_size; ++e) h[e] = 0.0f;
              // Step 0 adds the slots of all ranks, step 1 the residual; each rounds.
              for (auto step : t.range(0u, steps).no_unroll()) {
                const val of_ranks = t.let(step == 0u);
                const element_run more = piece_in(residual, line, piece);
                for (auto r : t.range(0u, t.let(select(of_ranks, ranks, 1u))).no_unroll()) {
                  const element_run sent =
                      peer_piece(t, t.let(slots + cast<u64>(r) * slot), place, piece_shift);
                  auto x = array_of<run_size>([&](u32) { return var(t, 0.0f); });
                  // Elements beyond the row are those of earlier calls.
                  load_run(t, type,
                           {t.let(select(of_ranks, sent.address, more.address)), more.count,
                            t.let(any_of(more.whole, all_of(of_ranks, more.count == run_size)))},
                           x, 0);
                  for (u32 e = 0; e < run_size; ++e) h[e] = h[e] + x[e];
                }
                round_run(t, type, h);
              }
              const element_run kept = peer_piece(t, own, place, piece_shift);
              store_run(t, type, kept, h, 0);
              if (auto stores = t.when(residual_out[&peer_rows::address] != u64{0}))
                move_piece(t, kept, piece_in(residual_out, line, piece), piece_shift);
              for (u32 e = 0; e < run_size; ++e) squares = fma(h[e], h[e], squares);
            }
            const val total = block_reduce(t, t.let(squares), plus{});
            const val inverse = t.let(rsqrt(total / cast<f32>(size) + problem[&p::epsilon]));
            const val offset = t.let(problem[&p::weight_offset]);
            // From the last piece, which is in registers, to the first.
            const val own_pieces =
                t.let(select(lane < pieces,
                             (pieces - lane + u64{peer_norm_threads - 1}) / u64{peer_norm_threads}, u64{0}));
            for (auto back : t.range(u64{0}, own_pieces).no_unroll()) {
              const val piece = t.let(lane + (own_pieces - u64{1} - back) * u64{peer_norm_threads});
              if (auto reads = t.when(back != u64{0}))
                load_run(t, type, peer_piece(t, own, t.let(line * pieces + piece), piece_shift), h, 0);
              auto y = array_of<run_size>([&](u32 e) { return var(t, h[e] * inverse); });
              if (auto rounds = t.when(problem[&p::casts] != 0u)) round_run(t, type, y);
              auto by = array_of<run_size>([&](u32) { return var(t, 0.0f); });
              load_run(t, weight_type, piece_of(t, weight, piece, size, weight_shift, weight_aligned), by, 0);
              for (u32 e = 0; e < run_size; ++e) y[e] = y[e] * (offset + by[e]);
              store_run(t, type, piece_in(out, line, piece), y, 0);
            }
          }
          if (auto one = t.when(t.thread_rank() == 0u)) turn.counter[0] = number;
          at.require(t.let(came));
        });

}  // namespace kaio::ops

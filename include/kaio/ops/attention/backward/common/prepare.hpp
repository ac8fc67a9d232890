#pragma once
// The first kernel of attention_backward: two numbers of each query, which every tile of its scores needs; and
// turns of adding to dq that have not begun (turns.hpp).
//
//   shift = lse as an exponent of two       delta = sum over d of dO[d] * O[d], less dlse
//
// And the last one, of sinks: dsink_h = - sum over queries of exp(sink_h - lse) * delta, by a block for each
// head, whose threads add up queries 256 apart: the same order every time.
//
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/common/any_element.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

struct attention_prepare_config {
  static constexpr std::uint32_t warps = 8, threads = warps * 32, queries = 64;  // of a block
};

namespace detail {

template <class OfGradient, class OfOut>
constexpr void add_products(thread t, var<f32>& sum, const val<u64>& dout, const val<i64>& dout_at,
                            const val<u64>& out, const val<i64>& out_at, const val<u32>& size) {
  using from_dout = in<typename OfGradient::stored>;
  using from_out = in<typename OfOut::stored>;
  const auto x = pointer_at<from_dout>(t, dout).from(dout_at);
  const auto y = pointer_at<from_out>(t, out).from(out_at);
  for (auto d : t.range(t.lane_rank(), size, 32u)) sum += OfGradient::read(x[d]) * OfOut::read(y[d]);
}

}  // namespace detail

// Launched with a grid of query_tiles * heads * batches blocks, of 64 queries each.
inline constexpr auto attention_backward_prepare =
    kaio::kernel<"attention_backward_prepare", attention_prepare_config::threads>(
        [](thread t, val<attention_problem> problem, val<attention_gradients> gradients) {
          using config = attention_prepare_config;
          const attention_block block =
              find_block(t, problem, t.let(block_idx_x()), config::queries, range_walks<int>{0});
          clear_turns(t, problem, gradients, block);
          const val warp = t.let(t.warp_rank()), lane = t.let(t.lane_rank());
          const val v_size = t.let(problem[&attention_problem::v_size]);
          const auto of_out = problem[&attention_problem::o];
          const auto of_dout = gradients[&attention_gradients::dout];
          const val out_head = head_offset(t, of_out, block, block.head, block.first_q_row);
          const val dout_head = head_offset(t, of_dout, block, block.head, block.first_q_row);
          const val type = t.let(gradients[&attention_gradients::type]);
          const val same = t.let(type == gradients[&attention_gradients::out_type]);
          const val first = first_number(t, problem, gradients, block);
          for (auto i : t.range(warp, config::queries, config::warps).no_unroll()) {
            const val query = t.let(block.first_query + i);
            if (auto exists = t.when(query < block.query_limit)) {
              const val row = t.let(cast<i64>(query));
              const val out_at = t.let(out_head + row * of_out[&attention_strides::row]);
              const val dout_at = t.let(dout_head + row * of_dout[&attention_strides::row]);
              const val out = t.let(of_out[&attention_strides::address]);
              const val dout = t.let(of_dout[&attention_strides::address]);
              var sum(t, 0.0f);
              with_any_element(t, type, [&]<class A>(A) {
                if (auto alike = t.when(same))
                  detail::add_products<A, A>(t, sum, dout, dout_at, out, out_at, v_size);
                if (auto wide = t.otherwise())
                  detail::add_products<A, detail::stored_f32>(t, sum, dout, dout_at, out, out_at, v_size);
              });
              const val total = warp_reduce(t, sum, plus{});
              if (auto leads = t.when(lane == 0u)) {
                const val q_row = t.let(cast<i64>(block.first_q_row + query));
                const val lse_at =
                    t.let(cast<i64>(block.tensor_batch) * problem[&attention_problem::lse_batch] +
                          cast<i64>(block.head) * problem[&attention_problem::lse_head] +
                          q_row * problem[&attention_problem::lse_row]);
                const val lse =
                    t.let(pointer_at<in<f32>>(t, t.let(problem[&attention_problem::lse]))[lse_at]);
                const val empty = t.let(lse == -std::numeric_limits<f32>::infinity());
                var delta(t, total);
                const val dlse = t.let(gradients[&attention_gradients::dlse]);
                if (auto given = t.when(dlse != u64{0})) {
                  const val at =
                      t.let(cast<i64>(block.tensor_batch) * gradients[&attention_gradients::dlse_batch] +
                            cast<i64>(block.head) * gradients[&attention_gradients::dlse_head] +
                            q_row * gradients[&attention_gradients::dlse_row]);
                  delta -= pointer_at<in<f32>>(t, dlse)[at];
                }
                const val to = t.let(first + cast<u64>(query));
                const auto shifts =
                    pointer_at<kaio::out<f32>>(t, t.let(gradients[&attention_gradients::shifts]));
                const auto deltas =
                    pointer_at<kaio::out<f32>>(t, t.let(gradients[&attention_gradients::deltas]));
                shifts[to] = select(empty, std::numeric_limits<f32>::infinity(), lse * log2_of_e);
                deltas[to] = delta;
              }
            }
          }
        });

// Launched with a block for each head of queries, after attention_backward_prepare.
inline constexpr auto attention_backward_sinks = kaio::kernel<"attention_backward_sinks", 256>(
    [](thread t, val<attention_problem> problem, val<attention_gradients> gradients) {
      const val head = t.let(block_idx_x());
      const val shifts = t.let(gradients[&attention_gradients::shifts]);
      const val deltas = t.let(gradients[&attention_gradients::deltas]);
      var sum(t, 0.0f);
      for (auto b : t.range(0u, t.let(problem[&attention_problem::batches])).no_unroll()) {
        const val batch = t.let(b);
        const attention_sequence sequence(t, problem, batch);
        const val queries = t.let(sequence.queries), keys = t.let(sequence.keys);
        const attention_block block{batch,
                                    head,
                                    head,
                                    batch,
                                    queries,
                                    queries,
                                    keys,
                                    t.let(sequence.tensor_batch),
                                    t.let(sequence.first_q_row),
                                    t.let(sequence.first_k_row),
                                    t.let(cast<i32>(keys) - cast<i32>(queries))};
        const val sink = sink_of(t, problem, block);
        const val first = first_number(t, problem, gradients, block);
        for (auto i : t.block_stride(t.let(min(queries, problem[&attention_problem::queries])))) {
          const val at = t.let(first + cast<u64>(i));
          const val share = t.let(fast::ftz::exp2(sink - pointer_at<in<f32>>(t, shifts)[at]));
          sum -= select(share == 0.0f, 0.0f, share * pointer_at<in<f32>>(t, deltas)[at]);
        }
      }
      const val total = block_reduce(t, sum, plus{});
      if (auto leads = t.when(t.thread_rank() == 0u)) {
        const val at = t.let(cast<i64>(head) * gradients[&attention_gradients::dsink_head]);
        const val to = t.let(gradients[&attention_gradients::dsinks]);
        with_any_element(t, t.let(gradients[&attention_gradients::dsinks_type]), [&]<class A>(A) {
          pointer_at<kaio::out<typename A::stored>>(t, to)[at] = A::write(t, total);
        });
      }
    });

}  // namespace kaio::ops

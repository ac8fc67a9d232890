#pragma once
// The gradients of an attention for sm_90a: warp-specialised, with tensor copies and wgmma. A block takes one
// tile of 128 keys of a KV head after the other (tile_records.hpp). Each of its two consumer warpgroups has
// 64 keys. For each query head of the group, the block walks over the tiles of queries that attend to the
// keys. S and dP are computed once, transposed, so that P^T and dS^T are register operands as they are. Only
// dS goes through shared memory, for dQ; each consumer computes 64 x 64 of dQ:
//
//   S^T = K Q^T    dP^T = V dO^T    P^T = exp2(S^T - shift)    dS^T = P^T * (dP^T - delta) * dx/dS
//   dV += P^T dO   dK += dS^T Q     dQ  = dS K
//
// The third warpgroup has the producer warps. One copies tiles of Q and dO into rings of two stages, one
// brings the two numbers of each query. Two warps add dQ of every other step to f32 sums in memory by bulk
// copies. They add in turns (turns.hpp), so equal calls give equal bits. Another kernel converts the sums to
// dq (finish.hpp).
//
//   tensor cores   S0 | dP0 | dV0  | dK0 dQ0 S1       | dP1 | dV1  | dK1 dQ1 S2       | dP2 ...
//   a consumer        | P0  | dS0 ||         dQ0 out  | P1  | dS1 ||         dQ1 out  | P2 ...
//
// The mark || is the only barrier of a step: both consumers have stored dS. P is computed while dP is in
// flight, dS while dV is, and dQ leaves while the next S is. Registers do not suffice for more in flight: dS
// is an operand of dK, which has ended when the next S begins. A step of 128 queries has two halves. S of the
// second half is in flight with dP of the first; dQ and dK cover both.
//
// A masked score multiplies by 0, which gives NaN if the other factor is NaN or infinite. dS may also exceed
// the largest number of f16. Sums that are not all finite set a flag, as in the kernels for sm_80, and are
// computed again in f32.
//
// Sources: Shah et al., "FlashAttention-3", 2024; PTX ISA, "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate", "cp.reduce.async.bulk".

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/functions.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/backward/sm90/config.hpp>
#include <kaio/ops/attention/backward/sm90/consumer.hpp>
#include <kaio/ops/attention/backward/sm90/producers.hpp>
#include <kaio/ops/attention/backward/sm90/shared.hpp>
#include <kaio/ops/attention/backward/sm90/steps.hpp>

namespace kaio::ops {

template <attention_backward_sm90_config C, scalar T>
struct attention_backward_sm90_body {
  static_assert(C.valid(), "kaio: the kernel of attention_backward does not support this tile shape");
  using operands = backward_sm90_operands<T>;
  using shared_memory = backward_sm90_shared<C, T>;
  using producers = backward_sm90_producers<C, T>;
  using tile = backward_tile<C.queries>;

  template <class Functions>
  static constexpr void run(thread t, const operands& rows, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients, const Functions& functions) {
    const shared_memory shared(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      rows.prefetch_maps();
      shared.init();
    }
    rows.clear_missing_columns(shared, C.threads);
    launch_dependents(t);
    t.barrier();
    const val group_size = t.let(problem[&attention_problem::heads_of_group]);
    const backward_sm90_call<Functions> call{problem, gradients, functions, group_size};

    const val warpgroup = warpgroup_rank(t);
    if (auto others = t.when(warpgroup == C.consumers)) {
      decrease_registers<C.producer_registers()>(t);
      run_producers(t, shared, rows, call);
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      backward_sm90_consumer<C, T, Functions>(t, shared, call, warpgroup).run();
    }
  }

 private:
  template <class Functions>
  using call_of = backward_sm90_call<Functions>;

  // A thread that copies, a warp that brings numbers, and a warp per stage that adds dQ.
  template <class Functions>
  static constexpr void run_producers(thread t, const shared_memory& shared, const operands& rows,
                                      const call_of<Functions>& call) {
    const auto producers_of = [&](const tile& one) {
      return producers{shared, one.keys, one.share, call.group_size};
    };
    const val warp = t.let(t.warp_rank() % 4u);
    if (auto copies = t.when(t.thread_rank() == 128 * C.consumers)) {
      auto to = shared.steps.producer(t);
      shared.tiles.pass_on(next_tile<Functions>{t, call}, [&](const tile& one, const val<u32>& n) {
        producers_of(one).copy(t, n, to, rows);
      });
    }
    if (auto brings = t.when(warp == 1u)) {
      grid_dependency_wait(t);  // the numbers
      auto to = shared.steps.producer(t);
      shared.tiles.for_each(
          [&](const tile& one) { producers_of(one).bring_numbers(t, to, call.problem, call.gradients); });
    }
    if (auto adds = t.when(warp >= 2u)) {
      grid_dependency_wait(t);  // the turns
      const val stage = t.let(warp - 2u);
      var<u32> first(t, stage);  // the first step of the tile in this stage of the ring
      shared.tiles.for_each([&](const tile& one) {
        producers_of(one).add_dq(t, stage, t.let(first), one.before, call.problem, call.gradients);
        first ^= one.share.rounds & 1u;
      });
    }
  }

  // The tiles of all heads in the order of turns.hpp, as `next` of tile_records.hpp.
  template <class Functions>
  struct next_tile {
    thread t;
    const call_of<Functions>& call;

    constexpr val<u32> count() const {
      return t.let(call.gradients[&attention_gradients::key_tiles] *
                   call.gradients[&attention_gradients::key_heads] *
                   call.problem[&attention_problem::batches] * parts());
    }
    constexpr val<u32> ticket(const val<u32>& n) const { return take_ticket(t, call.gradients, n); }
    constexpr val<u32> parts() const { return t.let(call.gradients[&attention_gradients::query_parts]); }
    constexpr val<u32> part(const val<u32>& ticket) const { return t.let(ticket % parts()); }
    constexpr key_place place(const val<u32>& ticket) const {
      const val tile = t.let(ticket / parts());
      return key_place::of(t, call.gradients, key_tile_in_turns(t, call.problem, call.gradients, tile),
                           C.keys);
    }
    constexpr attention_key_block keys(const key_place& place) const {
      return find_key_block(t, call.problem, place);
    }
    // If some keys of the tile do not exist, no query attends to all of them: every score is masked.
    constexpr query_range_walk<C.queries> walk(const attention_key_block& keys) const {
      const auto walk = query_range_walk<C.queries>::over(t, keys, C.keys, call.functions.queries);
      const val all_exist = t.let(keys.first_key + C.keys <= keys.keys);
      return {walk.first, walk.last, walk.whole_first, t.let(select(all_exist, walk.whole_last, 0u))};
    }
    constexpr auto before(const attention_key_block& keys) const {
      const val groups = t.let(call.gradients[&attention_gradients::dq_groups]);
      return earlier_additions<C.queries>::to(t, keys, C.keys, groups, call.functions.queries);
    }
    constexpr backward_share share(const attention_key_block& keys, const query_range_walk<C.queries>& walk,
                                   const val<u32>& part) const {
      return backward_share::of(t, keys, walk, call.group_size, parts(), part);
    }
  };
};

template <attention_backward_sm90_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_backward_sm90_kernel;

template <attention_backward_sm90_config C, scalar T, class Score, class Mask, class... OfScore,
          class... OfMask>
struct attention_backward_sm90_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                                      attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_backward_sm90_" + type_name<T> + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.keys> + "x" +
                               decimal<C.queries> + "_" + attention_function_name<Score> + "_" +
                               attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {90, true}, .large_shared = true, .min_blocks = 1};
  using functions = backward_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, tensor_map<T, 4> q, tensor_map<T, 4> k, tensor_map<T, 4> v, tensor_map<T, 4> dout,
         tensor_map<T, 4> q_rest, tensor_map<T, 4> k_rest, tensor_map<T, 4> v_rest,
         tensor_map<T, 4> dout_rest, val<attention_problem> problem, val<attention_gradients> gradients,
         OfScore... of_score, OfMask... of_mask) {
        attention_backward_sm90_body<C, T>::run(
            t,
            backward_sm90_operands<T>::of(t, problem, {q, k, v, dout}, {q_rest, k_rest, v_rest, dout_rest}),
            problem, gradients, functions::of(t, gradients, of_score..., of_mask...));
      });
};

// Launched after attention_backward_prepare, with one block for each 128 keys of each head of K. If
// C.many_tiles, there is at most one block per multiprocessor. The arguments are, in this order:
//
//   the maps of q, k, v and dout (boxes of 64 elements, and of the tile's queries or keys)
//   the maps of the last elements of their rows (attention_rest_map)
//   the problem, the gradients, the arguments of the score, those of the mask
template <attention_backward_sm90_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_backward_sm90 =
    attention_backward_sm90_kernel<C, T, Score, Mask, parameters_of_score<Score>,
                                   parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

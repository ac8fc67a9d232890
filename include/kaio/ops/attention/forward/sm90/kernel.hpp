#pragma once
// Attention for sm_90a: persistent, warp-specialised, with tensor copies and wgmma.
// O = softmax(mask(score(Q K^T))) V.
//
// A block has a tile of 64 queries for each consumer warpgroup. One thread of the last warpgroup, the
// producer, copies tiles of Q, K and V into three rings. All consumers read each stage of K and V. A stage of
// Q is also for all of them, or for one consumer, which then releases its queries as soon as it is done with
// them:
//
//   producer      Q | K0 | K1 V0 | K2 V1 | Q' K0' V2 | K1' V0' | ...     ahead by the depth of the rings
//
// A consumer keeps S (64 x keys) and O (64 x depth_v) in registers. P is S rounded to T, already an operand
// of wgmma. While a consumer computes the softmax of one tile, the tensor cores multiply P of the tile before
// with V. Named barriers make the consumers issue in turns, so that one's softmax overlaps another's
// products:
//
//   consumer 0    S1, PV0 | softmax 1      | S2, PV1 | softmax 2 ...
//   consumer 1              S1, PV0 | softmax 1      | S2, PV1 | ...
//
// The correction is mostly 1 (softmax.hpp). A single consumer takes no turns; two such blocks share a
// multiprocessor if they fit. The blocks of a cluster may share a tile of queries (cluster.hpp).
//
//   shared.hpp      the rings and their barriers      consumer.hpp   S, softmax and O of 64 queries
//   producer.hpp    the copies                        finish.hpp     O and log-sum-exp leave
//
// Sources: Shah et al., "FlashAttention-3: Fast and Accurate Attention with Asynchrony and Low-precision",
// 2024; PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate", "cp.async.bulk.tensor".

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/functions.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/consumer.hpp>
#include <kaio/ops/attention/forward/sm90/producer.hpp>
#include <kaio/ops/attention/forward/sm90/shared.hpp>

namespace kaio::ops {

template <attention_sm90_config C, scalar T, class Score>
struct attention_sm90_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");

  template <class Functions>
  static constexpr void run(thread t, const attention_sm90_maps<T>& maps,
                            const val<attention_problem>& problem, const Functions& functions) {
    const attention_sm90_shared<C, T> shared(t);
    if (auto first = t.when(t.thread_rank() == 0u)) {
      maps.prefetch();
      shared.init();
    }
    t.barrier();
    launch_dependents(t);
    grid_dependency_wait(t);

    const val warpgroup = warpgroup_rank(t);
    if (auto producer = t.when(warpgroup == C.consumers)) {
      decrease_registers<C.producer_registers()>(t);
      if (auto one = t.when(t.thread_rank() == 128 * C.consumers)) {
        using producer_thread = attention_sm90_producer<C, T, decltype(functions.walks)>;
        producer_thread(t, shared, maps, problem, functions.walks).run();
      }
    }
    if (auto consumer = t.otherwise()) {
      increase_registers<C.consumer_registers()>(t);
      using consumer_warpgroup = attention_sm90_consumer<C, T, Score, Functions>;
      consumer_warpgroup(t, shared, problem, functions, warpgroup).run();
    }
  }
};

template <attention_sm90_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_sm90_kernel;

template <attention_sm90_config C, scalar T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_sm90_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_sm90_" + type_name<T> + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.queries()> +
                               "x" + decimal<C.keys> + "_s" + decimal<C.stages> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{
      .target = {90, true}, .large_shared = true, .min_blocks = C.min_blocks()};
  using functions = attention_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, tensor_map<T, 4> q, tensor_map<T, 4> k, tensor_map<T, 4> v, tensor_map<T, 4> k_rest,
         tensor_map<T, 4> v_rest, val<attention_problem> problem, OfScore... of_score, OfMask... of_mask) {
        attention_sm90_body<C, T, Score>::run(t, {q, k, v, k_rest, v_rest}, problem,
                                              functions::of(t, of_score..., of_mask...));
      });
};

// Launched with a grid of min(tiles, resident blocks) blocks, or of tiles * parts in clusters of `parts`.
// Arguments:
//
//   q, k, v          maps with boxes of 64 elements x a stage's queries or a tile's keys
//   k_rest, v_rest   maps of the last elements of the rows of k and v (attention_rest_map)
//   problem, then the arguments of the score, then those of the mask
template <attention_sm90_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_sm90 =
    attention_sm90_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

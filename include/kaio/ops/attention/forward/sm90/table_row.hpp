#pragma once
// The kernels for sm_90a: their row in the table of variants, and the launch for a call.

#include <kaio/ops/attention/forward/choice/division.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>
#include <kaio/ops/attention/forward/choice/variant.hpp>
#include <kaio/ops/attention/forward/sm90/kernel.hpp>
#include <kaio/ops/attention/forward/sm90/tensor_maps.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Launches with the keys of each tile divided into `parts`.
template <attention_sm90_config C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_sm90_in_parts(const stream& s, const attention_call& call, std::uint32_t parts,
                                    const Extra&... extra) {
  const attention_problem& p = call.problem;
  const std::uint32_t at_once = s.properties().multiprocessors * C.min_blocks();
  const std::uint64_t tiles = call.blocks(C.queries());
  auto blocks = grid(parts == 1 ? std::min<std::uint64_t>(tiles, at_once) : tiles * parts).programmatic();
  if (parts > 1) blocks = blocks.cluster(parts);
  const auto q = attention_map<T>(s, call.q, p.q, p.qk_size, C.stage_queries());
  const auto k = attention_map<T>(s, call.k, p.k, p.qk_size, C.keys);
  const auto v = attention_map<T>(s, call.v, p.v, p.v_size, C.keys);
  const auto k_rest = attention_rest_map<T>(s, call.k, p.k, p.qk_size, C.keys, k);
  const auto v_rest = attention_rest_map<T>(s, call.v, p.v, p.v_size, C.keys, v);
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_sm90<C, T, Score, Mask>.launch(s, blocks, q, k, v, k_rest, v_rest,
                                                 problem_of(call, C.queries(), at_once), arguments...);
      },
      extra...);
}
template <attention_sm90_config C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_sm90(const stream& s, const attention_call& call, const Extra&... extra) {
  const std::uint32_t at_once = s.properties().multiprocessors * C.min_blocks();
  launch_attention_sm90_in_parts<C, T, Score, Mask>(
      s, call, attention_cluster_division(call, C.queries(), C.keys, C.most_parts(), at_once), extra...);
}

template <attention_sm90_config C, scalar T, class Score, class Mask>
attention_variant describe_attention_sm90() {
  return {.image = &attention_sm90<C, T, Score, Mask>.image(),
          .family = attention_family::sm90,
          .type = element_kind_of<T>(),
          .depth_qk = C.depth_qk,
          .depth_v = C.depth_v,
          .queries = C.queries(),
          .keys = C.keys,
          .division = C.most_parts(),
          .qk_step = C.depth_qk,
          .v_step = C.depth_v,
          .resident = C.min_blocks(),
          .plain = std::is_same_v<Score, plain_score>,
          .copies_tensors = true,
          .in_blocks = is_block_sparse<Mask>,
          .reads_pairs = std::is_same_v<Score, pair_biased_score>};
}

}  // namespace kaio::ops

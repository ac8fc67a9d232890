#pragma once
// The kernels by multiply-adds: their row in the table of variants, and the launch for a call.

#include <kaio/ops/attention/forward/choice/division.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>
#include <kaio/ops/attention/forward/choice/variant.hpp>
#include <kaio/ops/attention/forward/simt/kernel.hpp>

#include <type_traits>

namespace kaio::ops {

// Launches with `groups` warps that share rows: the kernel's least number or its largest.
template <attention_simt_config C, class T, class Score, class Mask, class... Extra>
void launch_attention_simt_in_groups(const stream& s, const attention_call& call, std::uint32_t groups,
                                     const Extra&... extra) {
  using stored = stored_element<T>;
  auto o = memory_of<stored>(call.o);
  const std::uint32_t queries = C.queries(groups), at_once = s.properties().multiprocessors * C.blocks;
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_simt<C, T, Score, Mask>.launch(s, grid(call.blocks(queries)), memory_of<stored>(call.q),
                                                 memory_of<stored>(call.k), memory_of<stored>(call.v), o,
                                                 problem_of(call, queries, at_once), groups, arguments...);
      },
      extra...);
}
template <attention_simt_config C, class T, class Score, class Mask, class... Extra>
void launch_attention_simt(const stream& s, const attention_call& call, const Extra&... extra) {
  const device_properties& device = s.properties();
  const std::uint32_t at_once =
      device.multiprocessors *
      attention_resident_blocks(attention_simt<C, T, Score, Mask>.image().needs, C.blocks, device);
  launch_attention_simt_in_groups<C, T, Score, Mask>(
      s, call, C.least_groups * attention_division(call, C.queries(C.least_groups), C.division(), at_once),
      extra...);
}

template <attention_simt_config C, class T, class Score, class Mask>
attention_variant describe_attention_simt() {
  return {.image = &attention_simt<C, T, Score, Mask>.image(),
          .family = attention_family::simt,
          .type = element_kind_of<stored_element<T>>(),
          .depth_qk = C.depth,
          .depth_v = C.depth,
          .queries = C.queries(C.least_groups),
          .keys = C.keys(C.least_groups),
          .division = C.division(),
          .qk_step = C.chunk,
          .v_step = C.depth,
          .resident = C.blocks,
          .plain = std::is_same_v<Score, plain_score>,
          .in_blocks = is_block_sparse<Mask>,
          .is_biased = std::is_same_v<Score, biased_score>};
}
// The rows of the kernel that serves f32 and f16. Each is for one type, with or without lists.
template <attention_simt_config C, scalar T, bool InBlocks>
attention_variant describe_attention_simt_any() {
  using score = std::conditional_t<InBlocks, general_score, biased_score>;
  using mask = std::conditional_t<InBlocks, block_sparse<band_mask>, band_mask>;
  attention_variant row = describe_attention_simt<C, f32_or_f16, biased_score, in_any_blocks<band_mask>>();
  row.run = launch_attention_simt<C, f32_or_f16, biased_score, in_any_blocks<band_mask>>;
  row.own_name =
      attention_simt_kernel<C, T, score, mask, parameters_of_score<score>, parameters_of_mask<mask>>::name
          .view();
  row.type = element_kind_of<T>();
  row.in_blocks = InBlocks;
  row.is_biased = !InBlocks;
  row.has_lists = true;
  return row;
}

}  // namespace kaio::ops

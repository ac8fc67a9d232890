#pragma once
// The kernels for sm_90a: the row of a configuration in the table of variants, and the launch that runs a
// call.

#include <kaio/ops/attention/choice/function_arguments.hpp>
#include <kaio/ops/attention/choice/variant.hpp>
#include <kaio/ops/attention/sm90/kernel.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Rows of a head as tensor copies see them: (element, row, head, batch), in boxes of 64 elements x
// `box_rows`.
template <scalar T>
encoded_tensor_map<T, 4> attention_map(const stream& s, const attention_operand& x,
                                       const attention_strides& strides, std::uint32_t size,
                                       std::uint32_t box_rows) {
  // Along an extent of 1 any stride is right.
  const auto stride = [](i64 elements, std::uint32_t extent) {
    return extent == 1 ? std::uint64_t{16} : static_cast<std::uint64_t>(elements);
  };
  return tiled_tensor_map<4>(s, memory_of<T>(x),
                             {.extents = {size, x.rows, x.heads, x.batches},
                              .strides = {stride(strides.row, x.rows), stride(strides.head, x.heads),
                                          stride(strides.batch, x.batches)},
                              .box = {attention_sm90_config::panel, box_rows, 1, 1},
                              .swizzle = tensor_swizzle::bytes_128,
                              .promotion = l2_promotion::bytes_256});
}

template <attention_sm90_config C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_sm90(const stream& s, const attention_call& call, const Extra&... extra) {
  const attention_problem& p = call.problem;
  const std::uint64_t blocks =
      std::min<std::uint64_t>(call.blocks(C.queries()), s.properties().multiprocessors);
  const auto q = attention_map<T>(s, call.q, p.q, p.qk_size, C.queries());
  const auto k = attention_map<T>(s, call.k, p.k, p.qk_size, C.keys);
  const auto v = attention_map<T>(s, call.v, p.v, p.v_size, C.keys);
  with_function_arguments<Score, Mask>(
      call,
      [&](const auto&... arguments) {
        attention_sm90<C, T, Score, Mask>.launch(
            s, grid(blocks).programmatic(), q, k, v,
            problem_of(call, C.queries(), s.properties().multiprocessors), arguments...);
      },
      extra...);
}

template <attention_sm90_config C, scalar T, class Score, class Mask>
attention_variant describe_attention_sm90() {
  return {.image = &attention_sm90<C, T, Score, Mask>.image(),
          .family = attention_family::sm90,
          .type = detail::attention_type_of<T>(),
          .depth_qk = C.depth_qk,
          .depth_v = C.depth_v,
          .queries = C.queries(),
          .keys = C.keys,
          .qk_step = C.depth_qk,
          .v_step = C.depth_v,
          .plain = std::is_same_v<Score, plain_score>,
          .copies_tensors = true,
          .in_blocks = is_block_sparse<Mask>};
}

}  // namespace kaio::ops

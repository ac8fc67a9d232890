#pragma once
// The backward kernels for sm_90a: the row of a configuration in the table of variants, and the launches that
// run a call.

#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/backward/sm90/division.hpp>
#include <kaio/ops/attention/backward/sm90/finish.hpp>
#include <kaio/ops/attention/backward/sm90/kernel.hpp>
#include <kaio/ops/attention/backward/sm90/wide_kernel.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>
#include <kaio/ops/attention/forward/sm90/tensor_maps.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The parts of a call's workspace, which follow each other; sizes in bytes.
struct backward_sm90_workspace {
  std::uint64_t turns, key_flags, query_flags, dq_sums, part_sums;
  backward_division division;
  // Counts: tiles of queries per head (packed: of all batches together), and tiles of all heads.
  std::uint64_t dq_tiles, group_tiles;

  template <auto C>
  static constexpr backward_sm90_workspace of(const attention_backward_call& call) {
    const attention_problem& p = call.forward.problem;
    const auto division = backward_division::of<C>(call);
    const auto words = [](std::uint64_t count) { return (count * sizeof(u32) + 15) / 16 * 16; };
    constexpr std::uint64_t rows = 2 * rows_of_dq_tile;
    const bool packed = p.packed != 0;
    const std::uint64_t tiles =
        packed ? (call.gradients.q_rows / rows + p.batches + 1) * 2 : (p.queries + rows - 1) / rows * 2;
    const std::uint64_t all = tiles * p.heads * (packed ? 1 : p.batches);
    const std::uint64_t left = division.parts == 1 ? 0 : key_tiles<C>(call) * division.parts;
    const std::uint64_t key_columns = division.parts == 1 ? 1 : C.columns_qk() / 64;
    return {words(first_turn + all * division.groups),
            words(call.key_blocks(rows_of_flag) * key_columns),
            words(call.forward.blocks(rows_of_flag) * (C.columns_qk() / 64)),
            all * division.groups * rows_of_dq_tile * C.columns_qk() * sizeof(f32),
            left * call.gradients.key_heads * p.batches * floats_of_part<C> * sizeof(f32),
            division,
            tiles,
            all};
  }
  // Tiles of 64 keys per head in the sums of parts.
  template <auto C>
  static constexpr std::uint64_t key_tiles(const attention_backward_call& call) {
    return call.key_tiles(C.keys) * (C.keys / keys_of_sums);
  }
  constexpr std::uint64_t bytes() const { return turns + key_flags + query_flags + dq_sums + part_sums; }
};

// Writes the addresses of these parts to the call, also for the preparation and the multiply-add kernels.
template <auto C>
void place_attention_backward_sm90(attention_backward_call& call) {
  const auto sizes = backward_sm90_workspace::of<C>(call);
  attention_gradients& g = call.gradients;
  g.turns = call.own_workspace;
  g.key_flags = g.turns + sizes.turns;
  g.query_flags = g.key_flags + sizes.key_flags;
  g.dq_sums = g.query_flags + sizes.query_flags;
  g.part_sums = g.dq_sums + sizes.dq_sums;
  g.dq_tiles = static_cast<u32>(sizes.dq_tiles);
  g.group_tiles = static_cast<u32>(sizes.group_tiles);
  g.turn_words = static_cast<u32>(sizes.turns / sizeof(u32));
  g.sum_key_tiles = static_cast<u32>(backward_sm90_workspace::key_tiles<C>(call));
  g.sum_depth = C.depth_qk;
  g.dq_groups = sizes.division.groups;
  g.query_parts = sizes.division.parts;
  g.flag_key_tiles = static_cast<u32>(call.key_tiles(rows_of_flag));
  g.flag_query_tiles = static_cast<u32>(call.forward.query_tiles(rows_of_flag));
  g.batches = call.forward.problem.batches;
  const u32 columns = std::max(call.forward.problem.qk_size, call.forward.problem.v_size);
  g.flag_key_parts = sizes.division.parts == 1 ? 1 : (columns + 63) / 64;
  g.flag_query_parts = C.columns_qk() / 64;
}

// Returns how many heads of K take turns. With more heads, fewer tiles of a head run at a time. However, L2
// has to hold Q, dO and the sums of dQ of all of them. Without a causal mask, all blocks of a head are at
// different queries, and L2 has to hold more. Using 0.4 of it was best on an H200, for heads of 2 to 16 MB.
template <auto C>
u32 backward_heads_at_once(const attention_backward_call& call, const device_properties& device) {
  constexpr u32 tiles_at_work = 4;
  const attention_problem& p = call.forward.problem;
  const std::uint64_t of_query = 2 * C.depth_qk + 2 * C.depth_v + sizeof(f32) * C.columns_qk();
  const std::uint64_t of_head = std::max<std::uint64_t>(of_query * p.queries * p.heads_of_group, 1);
  const std::uint64_t cache = p.longest_first != 0 ? device.l2_bytes : std::uint64_t{device.l2_bytes} * 2 / 5;
  const std::uint64_t most = std::max(device.multiprocessors / tiles_at_work, 1u);
  return static_cast<u32>(std::clamp<std::uint64_t>(cache / of_head, 1, most));
}

// The tile shape for head sizes up to 64, 96, 128 or 256. Scores that read memory, as those of users may, are
// computed in two parts at 128: a thread has the fewest registers left there.
template <std::uint32_t Depth, class Score>
inline constexpr auto attention_backward_sm90_shape = [] {
  constexpr bool reads_memory = !std::is_same_v<Score, plain_score> && !std::is_same_v<Score, general_score>;
  if constexpr (Depth > 128)
    return attention_backward_sm90_wide_config{
        .depth_qk = Depth, .depth_v = Depth, .divides_queries = std::is_same_v<Score, plain_score>};
  else
    return attention_backward_sm90_for(Depth, std::is_same_v<Score, plain_score>,
                                       reads_memory && Depth == 128 ? 2 : 1);
}();

template <auto C>
inline constexpr bool is_wide_backward =
    std::is_same_v<std::remove_const_t<decltype(C)>, attention_backward_sm90_wide_config>;
// Whether a block takes one tile of keys after the other.
template <auto C>
constexpr bool has_many_tiles() {
  if constexpr (is_wide_backward<C>)
    return false;
  else
    return C.many_tiles;
}

// The kernel for a configuration of either kind.
template <auto C, scalar T, class Score, class Mask>
constexpr const auto& attention_backward_sm90_kernel_for() {
  if constexpr (is_wide_backward<C>)
    return attention_backward_sm90_wide<C, T, Score, Mask>;
  else
    return attention_backward_sm90<C, T, Score, Mask>;
}

template <auto C, scalar T, class Score, class Mask, class... Extra>
void launch_attention_backward_sm90(const stream& s, const attention_backward_call& call,
                                    const Extra&... extra) {
  const attention_call& forward = call.forward;
  const attention_problem& p = forward.problem;
  const std::uint32_t multiprocessors = s.properties().multiprocessors;
  attention_gradients gradients = gradients_of(call, C.keys, multiprocessors);
  gradients.heads_at_once = backward_heads_at_once<C>(call, s.properties());
  std::uint64_t blocks = call.key_blocks(C.keys) * gradients.query_parts;
  if (has_many_tiles<C>()) blocks = std::min<std::uint64_t>(blocks, multiprocessors);
  gradients.all_resident = blocks <= multiprocessors ? 1 : 0;
  const auto q = attention_map<T>(s, forward.q, p.q, p.qk_size, C.queries);
  const auto k = attention_map<T>(s, forward.k, p.k, p.qk_size, C.keys);
  const auto v = attention_map<T>(s, forward.v, p.v, p.v_size, C.keys);
  const auto dout = attention_map<T>(s, call.dout, gradients.dout, p.v_size, C.queries);
  const auto q_rest = attention_rest_map<T>(s, forward.q, p.q, p.qk_size, C.queries, q);
  const auto k_rest = attention_rest_map<T>(s, forward.k, p.k, p.qk_size, C.keys, k);
  const auto v_rest = attention_rest_map<T>(s, forward.v, p.v, p.v_size, C.keys, v);
  const auto dout_rest = attention_rest_map<T>(s, call.dout, gradients.dout, p.v_size, C.queries, dout);
  with_function_arguments<Score, Mask>(
      forward,
      [&](const auto&... arguments) {
        if (blocks != 0)
          attention_backward_sm90_kernel_for<C, T, Score, Mask>().launch(
              s, grid(blocks).programmatic(), q, k, v, dout, q_rest, k_rest, v_rest, dout_rest,
              problem_of(forward, C.queries, multiprocessors), gradients, arguments...);
      },
      extra...);
}
// Adds up what the kernel left, and leaves flags.
template <class Nothing = void>
void launch_attention_backward_sm90_finish(const stream& s, const attention_backward_call& call) {
  const std::uint32_t multiprocessors = s.properties().multiprocessors;
  const std::uint64_t items = backward_finish_items(call, backward_finish_threads, false);
  if (items != 0)
    attention_backward_sm90_finish<Nothing>.launch(
        s, grid(std::min<std::uint64_t>(items, 4 * multiprocessors)).programmatic(),
        problem_of(call.forward, rows_of_dq_tile, multiprocessors), call.gradients);
}

template <auto C, scalar T, class Score, class Mask>
attention_backward_variant describe_attention_backward_sm90() {
  return {
      .images = {&attention_backward_sm90_kernel_for<C, T, Score, Mask>().image()},
      .type = element_kind_of<T>(),
      .depth_qk = C.depth_qk,
      .depth_v = C.depth_v,
      .plain = std::is_same_v<Score, plain_score>,
      .is_biased = std::is_same_v<Score, biased_score>,
      .copies_tensors = true,
      .workspace_bytes =
          [](const attention_backward_call& call) { return backward_sm90_workspace::of<C>(call).bytes(); },
      .place_workspace = place_attention_backward_sm90<C>};
}

}  // namespace kaio::ops

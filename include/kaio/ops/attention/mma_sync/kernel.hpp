#pragma once
// Attention with the matrix instructions of a warp, for sm_80 and later: O = softmax(mask(score(Q K^T))) V.
//
//             keys                  a block: warps x 16 queries of one head; a warp has 16 of them alone
//           +------+------+
//   queries |  S   |      |         S = Q K^T     in registers, 16 x keys of a warp
//           +------+------+         P = softmax   in the same registers, rounded to T: an operand as it is
//               | P           O += P V            16 x depth of a warp
//
// One tile of K and one of V are in shared memory, and take turns:
//
//   copies   | V(j)     | K(j+1)              | V(j+1)  ...
//   warps    | S = Q K  | softmax, O += P V   | S = ...
//            ^ K(j) is here, V is free        ^ V(j) is here, K is free: a barrier each
//
// Tiles of keys that the mask leaves nothing of are skipped, tiles that it leaves whole do not run it.
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/common/store_rows.hpp>
#include <kaio/ops/attention/mma_sync/rows.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

struct attention_mma_config {
  std::uint32_t depth = 128;   // the most elements of a row of Q, K, V and O
  std::uint32_t keys = 64;     // of a tile
  std::uint32_t warps = 4;     // of 16 queries each
  bool q_in_registers = true;  // Q stays there, else it is read again for every tile
  std::uint32_t min_blocks = 1;

  constexpr std::uint32_t queries() const { return warps * 16; }
  constexpr std::uint32_t threads() const { return warps * 32; }
  constexpr bool valid() const {
    return depth % 64 == 0 && depth <= 256 && keys % 16 == 0 && keys >= threads() / 8 && warps >= 2 &&
           warps % 2 == 0;
  }
};

// Up to 64, 128 and 256 elements a head. Registers of a thread bound the tile: depth / 2 of them hold O, keys
// / 2 hold S, depth / 4 hold Q.
constexpr attention_mma_config attention_mma_for(std::uint32_t depth) {
  return depth <= 64    ? attention_mma_config{.depth = 64, .keys = 64, .min_blocks = 3}
         : depth <= 128 ? attention_mma_config{.depth = 128, .keys = 64, .min_blocks = 2}
                        : attention_mma_config{.depth = 256, .keys = 32, .q_in_registers = false};
}

template <attention_mma_config C, scalar T, class Score, class Mask>
struct attention_mma_body {
  static_assert(C.valid(), "kaio: this tile shape of an attention is none that the kernel can run");
  using mma = mma_m16n8k16<f32, T>;
  using pair = std::conditional_t<std::is_same_v<T, f16>, f16x2, bf16x2>;
  using q_rows = attention_rows<T, C.queries(), C.depth, C.threads()>;
  using kv_rows = attention_rows<T, C.keys, C.depth, C.threads()>;
  using q_tile = typename q_rows::tile;
  using kv_tile = typename kv_rows::tile;
  static constexpr std::uint32_t slices = C.depth / 16, key_parts = C.keys / 8, value_parts = C.depth / 8;

  // score(s, origin, scale), factor(scale), mask(s, origin), keys(block, first query, last query): Score and
  // Mask with their parameters.
  template <class ApplyScore, class Factor, class ApplyMask, class Keys>
  static constexpr void run(thread t, const in<T>& q, const in<T>& k, const in<T>& v, const out<T>& o,
                            const val<attention_problem>& problem, const ApplyScore& score,
                            const Factor& factor_of, const ApplyMask& mask, const Keys& keys_of_tile) {
    const q_tile q_shared(t);   // queries x depth
    const kv_tile k_shared(t);  // keys x depth
    const kv_tile v_shared(t);  // keys x depth
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), C.queries());
    const val queries = block.queries;
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const auto rows_of = [&]<class Rows>(Rows*, const in<T>& memory, auto member, const val<u32>& head,
                                         const val<u32>& first_row, const val<u32>& size) {
      const auto strides = problem[member];
      return Rows(t, memory.from(head_offset(t, strides, block, head, first_row)),
                  t.let(strides[&attention_strides::row]), size, t.let(strides[&attention_strides::by_16]));
    };
    const q_rows of_q = rows_of(static_cast<q_rows*>(nullptr), q, &attention_problem::q, block.head,
                                block.first_q_row, qk_size);
    const kv_rows of_k = rows_of(static_cast<kv_rows*>(nullptr), k, &attention_problem::k, block.group,
                                 block.first_k_row, qk_size);
    const kv_rows of_v = rows_of(static_cast<kv_rows*>(nullptr), v, &attention_problem::v, block.group,
                                 block.first_k_row, v_size);

    const key_range range = keys_of_block(t, block, C.queries(), keys_of_tile);
    const val first_tile = t.let(range.first / C.keys);
    const val last_tile = t.let((range.last + (C.keys - 1)) / C.keys);
    const val limit = range.last;  // keys from here on are read by no query of this tile

    of_q.copy(q_shared, block.first_query, queries);
    of_k.copy(k_shared, t.let(first_tile * C.keys), limit);

    const val lane = t.lane_rank();
    const val warp_row = t.let(t.warp_rank() * 16u);
    using accumulator_layout = typename mma::accumulator::layout;
    const val quad_row = t.let(accumulator_layout::lane_row(lane));
    const val quad_column = t.let(accumulator_layout::lane_column(lane));
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = factor_of(scale);
    const val query = t.let(block.first_query + warp_row + quad_row);
    const auto query_of = array_of<2>([&](u32 r) { return t.let(query + 8 * r); });

    auto o_parts = array_of<value_parts>([&](u32) { return typename mma::accumulator(t, 0.0f); });
    auto q_parts =
        array_of < C.q_in_registers ? slices : 1 > ([&](u32) { return typename mma::a_fragment(t); });
    online_softmax<2> softmax(t);

    if constexpr (C.q_in_registers) {
      cp_async_wait_group<0>(t);
      t.barrier();
      for (std::uint32_t i = 0; i < slices; ++i) load_q(q_parts[i], q_shared, warp_row, i);
    }
    for (auto tile : t.range(first_tile, last_tile).no_unroll()) {
      const val first_key = t.let(tile * C.keys);
      auto s_parts =
          array_of<key_parts>([&](u32) { return typename mma::accumulator(t, 0.0f); });  // 16 x keys
      const mma_scores<T, typename mma::accumulator, key_parts> scores(s_parts);

      cp_async_wait_group<0>(t);
      t.barrier();
      of_v.copy(v_shared, first_key, limit);
      for (std::uint32_t i = 0; i < slices; ++i) {
        auto& a = q_parts[C.q_in_registers ? i : 0];
        if constexpr (!C.q_in_registers) load_q(a, q_shared, warp_row, i);
        for (std::uint32_t j = 0; j < key_parts; j += 2) {
          typename mma::b_fragment b0(t), b1(t);
          ldmatrix(b0, b1, k_shared, 8 * j, 16 * i);
          mma::multiply_add(s_parts[j], a, b0);
          mma::multiply_add(s_parts[j + 1], a, b1);
        }
      }
      cp_async_wait_group<0>(t);
      t.barrier();
      if (auto more = t.when(tile + 1u < last_tile)) of_k.copy(k_shared, t.let(first_key + C.keys), limit);

      const score_origin<2> origin = origin_of<2>(t, block, query_of, t.let(first_key + quad_column));
      score(scores, origin, scale);
      if (auto partial = t.when(any_of(first_key<range.whole_first, first_key + C.keys> range.whole_last)))
        mask(scores, origin);
      const auto correction = softmax.step(scores, factor);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (std::uint32_t e = 0; e < 4; ++e) o_parts[j].registers[e] *= correction[e / 2];

      for (std::uint32_t c = 0; c < C.keys / 16; ++c) {
        typename mma::a_fragment p(t);  // 16 x 16 of P
        for (std::uint32_t r = 0; r < 4; ++r) {
          const auto& from = s_parts[2 * c + r / 2];
          p.registers[r] = pack<pair>(from.registers[r % 2 * 2], from.registers[r % 2 * 2 + 1]);
        }
        for (std::uint32_t j = 0; j < value_parts; j += 2) {
          typename mma::b_fragment b0(t), b1(t);
          ldmatrix_trans(b0, b1, v_shared, 16 * c, 8 * j);
          mma::multiply_add(o_parts[j], p, b0);
          mma::multiply_add(o_parts[j + 1], p, b1);
        }
      }
    }

    const val sink = sink_of(t, problem, block);
    const auto result = array_of<2>([&](u32 r) { return softmax.finish(r, factor, sink); });
    const val leads = t.let(lane % 4u == 0u);
    for (u32 r = 0; r < 2; ++r) store_lse(t, problem, block, query_of[r], leads, result[r].lse);

    // O goes through the warp's own rows of the tile of Q, so that whole lines are written: all columns of T,
    // or of f32 one half of them after the other.
    cp_async_wait_group<0>(t);
    t.barrier();
    const auto strides = problem[&attention_problem::o];
    const val first_row = t.let(block.first_query + warp_row);
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16]);
    const val offset = head_offset(t, strides, block, block.head, block.first_q_row);
    const val is_f32 = t.let(strides[&attention_strides::is_f32] != 0u);
    const out wide = pointer_at<out<f32>>(t, t.let(strides[&attention_strides::address])).from(offset);
    using words = shared_tile<u32, C.queries(), C.depth / 2, swizzled<128>>;
    using halves = shared_tile<f32, C.queries(), C.depth / 2, swizzled<128>>;
    const words staged = words::over(q_shared);
    const halves half = halves::over(q_shared);
    if (auto to_f32 = t.when(is_f32)) {
      for (std::uint32_t first = 0; first < C.depth; first += C.depth / 2) {
        for (std::uint32_t c = 0; c < C.depth / 2; c += 8)
          for (u32 e = 0; e < 4; ++e)
            half[warp_row + quad_row + 8 * (e / 2)][quad_column + (c + e % 2)] =
                o_parts[(first + c) / 8].registers[e] * result[e / 2].inverse;
        sync_warp(t);
        store_rows<f32, 16, C.depth / 2>(t, half, warp_row, wide.from(i64{first}), pitch,
                                         t.let(max(v_size, first) - first), by_16, first_row, queries);
        sync_warp(t);
      }
    }
    if (auto to_tile = t.otherwise()) {
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 r = 0; r < 2; ++r) {
          const auto& from = o_parts[j].registers;
          staged[warp_row + quad_row + 8 * r][quad_column / 2u + 4 * j] =
              bit_cast<u32>(pack<pair>(from[2 * r] * result[r].inverse, from[2 * r + 1] * result[r].inverse));
        }
    }
    sync_warp(t);
    const auto wrong = array_of<2>([&](u32 r) {
      var found(t, isnan(o_parts[0].registers[2 * r]));
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e) found |= isnan(o_parts[j].registers[e]);
      return t.let(all_of(found, !isnan(result[r].inverse), query_of[r] < queries));
    });
    const auto put = [&](const val<u32>& row, const val<u32>& column, const val<f32>& x) {
      if (auto to_f32 = t.when(all_of(is_f32, column < v_size)))
        wide[cast<i64>(first_row + row) * pitch + cast<i64>(column)] = x;
      if (auto to_tile = t.when(!is_f32)) q_shared[warp_row + row][column] = cast<T>(x);
    };
    recompute_rows<T, C.depth>(t, put, first_row, problem, block, range, wrong, result, factor, score, mask);
    if (auto from_tile = t.when(!is_f32))
      store_rows<T, 16, C.depth>(t, q_shared, warp_row, o.from(offset), pitch, v_size, by_16, first_row,
                                 queries);
  }

 private:
  template <class Fragment>
  static constexpr void load_q(Fragment& to, const q_tile& from, const val<u32>& row, std::uint32_t slice) {
    ldmatrix(to, from, row, 16 * slice);
  }
};

template <attention_mma_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_mma_kernel;

template <attention_mma_config C, scalar T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_mma_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                            attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_mma_" + type_name<T> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.queries()> + "x" + decimal<C.keys> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<T> q, in<T> k, in<T> v, out<T> o, val<attention_problem> problem, OfScore... of_score,
         OfMask... of_mask) {
        attention_mma_body<C, T, Score, Mask>::run(
            t, q, k, v, o, problem,
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            [&](const attention_block& block, const val<u32>& first, const val<u32>& last) {
              return keys_of<Mask>(t, first, last, block.keys, block.offset, of_mask...);
            });
      });
};

// Launched with a grid of query_tiles * heads * batches blocks along x, and q, k, v, o, the problem, the
// arguments of the score, those of the mask.
template <attention_mma_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_mma =
    attention_mma_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

#pragma once
// Attention by mma.sync, for sm_75 and later: O = softmax(mask(score(Q K^T))) V.
//
//             keys                  a block: warps x 16 queries of one head; a warp has its own 16 queries
//           +------+------+
//   queries |  S   |      |         S = Q K^T     in registers, 16 x keys per warp
//           +------+------+         P = softmax   in the same registers, rounded to T: already an operand
//               | P           O += P V            16 x depth per warp
//
// Shared memory holds one tile of K and one of V, which take turns:
//
//   copies   | V(j)     | K(j+1)              | V(j+1)  ...
//   warps    | S = Q K  | softmax, O += P V   | S = ...
//            ^ K(j) is here, V is free        ^ V(j) is here, K is free: a barrier each
//
// Without asynchronous copies (sm_75) a warp first loads and stores its share of a tile, then multiplies.
// Other warps and blocks fill the time.
//
// If O has more columns than a warp has registers for (head size 512), two warps share 16 queries. Each has
// half of the columns of O, and sums S over half of Q and K. They exchange these sums through shared memory:
// written before the second barrier, read after it. Both add the same two numbers, so they have the same S
// and softmax:
//
//   warp 0   | S0 = Q K of elements   0 to 255 | S = S0 + S1, softmax, O += P V, columns   0 to 255
//   warp 1   | S1 = Q K of elements 256 to 511 | S = S1 + S0, softmax, O += P V, columns 256 to 511
//
// Tiles of keys that the mask empties are skipped; tiles that it keeps whole do not run it.
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/copy_rows.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/common/store_rows.hpp>
#include <kaio/ops/attention/forward/mma_sync/config.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kaio::ops {

template <attention_mma_config C, class T, class Score, class Mask>
struct attention_mma_body {
  static_assert(C.valid(), "kaio: attention's kernel does not support this tile shape");
  using stored = stored_element<T>;
  using product = attention_product<T, C.sm>;
  using accumulator = typename product::accumulator;
  static constexpr bool asynchronous = C.sm >= 80;
  static constexpr std::uint32_t depth = std::max(C.depth_qk, C.depth_v);  // columns of the tile of Q, then O
  using swizzle = dsl::swizzled<128>;
  using q_rows = attention_rows<stored, C.queries(), C.depth_qk, C.threads(), swizzle, asynchronous>;
  using k_rows = attention_rows<stored, C.keys, C.depth_qk, C.threads(), swizzle, asynchronous>;
  using v_rows =
      attention_rows<stored, C.keys, C.depth_v, C.threads(), typename product::v_layout, asynchronous>;
  using q_tile = typename q_rows::tile;
  using o_tile = shared_tile<stored, C.queries(), C.depth_v, swizzle>;
  using halves = shared_tile<f32, C.queries(), C.depth_v / 2, swizzle>;  // per warp: half of its columns
  // Per warp: slices of Q and K, parts of the keys of S, slices of P, parts of the columns of O.
  static constexpr std::uint32_t slices = C.own_depth_qk() / product::k, key_parts = C.keys / 8,
                                 p_slices = C.keys / product::k, value_parts = C.own_depth_v() / 8;
  static constexpr std::uint32_t together = product::together;
  static_assert(key_parts % together == 0 && value_parts % together == 0);

  // Score and Mask with their parameters: score(s, origin, scale), factor(scale), mask(s, origin), and the
  // walks over keys.
  template <class ApplyScore, class Factor, class ApplyMask, class Walks>
  static constexpr void run(thread t, const in<stored>& q, const in<stored>& k, const in<stored>& v,
                            const out<stored>& o, const val<attention_problem>& problem,
                            const ApplyScore& score, const Factor& factor_of, const ApplyMask& mask,
                            const Walks& walks) {
    const shared_tile<stored, C.queries(), depth, swizzle> q_memory(t);  // queries x depth
    const q_tile q_shared = q_tile::over(q_memory);                      // queries x depth_qk
    const o_tile o_shared = o_tile::over(q_memory);                      // queries x depth_v
    const typename k_rows::tile k_shared(t);                             // keys x depth_qk
    const typename v_rows::tile v_shared(t);                             // keys x depth_v
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), C.queries(), walks);
    const val queries = block.query_limit;
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const auto rows_of = [&]<class Rows>(Rows*, const in<stored>& memory, auto member, const val<u32>& head,
                                         const val<u32>& first_row, const val<u32>& size) {
      const auto strides = problem[member];
      return Rows{t, memory.from(head_offset(t, strides, block, head, first_row)),
                  t.let(strides[&attention_strides::row]), size, t.let(strides[&attention_strides::by_16])};
    };
    const q_rows of_q = rows_of(static_cast<q_rows*>(nullptr), q, &attention_problem::q, block.head,
                                block.first_q_row, qk_size);
    const k_rows of_k = rows_of(static_cast<k_rows*>(nullptr), k, &attention_problem::k, block.group,
                                block.first_k_row, qk_size);
    const v_rows of_v = rows_of(static_cast<v_rows*>(nullptr), v, &attention_problem::v, block.group,
                                block.first_k_row, v_size);

    const auto range = walks.template walk<C.keys>(t, block, C.queries());

    of_q.copy(q_shared, block.first_query, queries);
    const auto first_keys = range.begin(t);
    of_k.copy(k_shared, first_keys.first, first_keys.limit);

    const val lane = t.lane_rank();
    const val warp_row = t.let(t.warp_rank() / C.column_warps * 16u);
    const auto part = part_of(t);  // this warp's part of the columns
    const auto own_q = column_block<C.own_depth_qk()>(q_shared, part);
    const auto own_k = column_block<C.own_depth_qk()>(k_shared, part);
    const auto own_v = own_values(v_shared, part);
    const partial_sums partials(t);
    using accumulator_layout = typename accumulator::layout;
    const val quad_row = t.let(accumulator_layout::lane_row(lane));
    const val quad_column = t.let(accumulator_layout::lane_column(lane));
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = factor_of(scale);
    const val query = t.let(block.first_query + warp_row + quad_row);
    const auto query_of = array_of<2>([&](u32 r) { return t.let(query + 8 * r); });

    auto o_parts = array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); });
    auto q_parts =
        array_of < C.q_in_registers ? slices : 1 > ([&](u32) { return typename product::a_fragment(t); });
    online_softmax<2> softmax(t);

    if constexpr (C.q_in_registers) {
      wait(t);
      for (std::uint32_t i = 0; i < slices; ++i) product::load_queries(q_parts[i], own_q, warp_row, i);
    }
    for (auto tile : t.range(range.first, range.last).no_unroll()) {
      const auto keys = range.tile(t, range.find(t, tile));
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });  // 16 x keys
      const mma_scores<T, accumulator, key_parts> scores(s_parts);

      wait(t);
      of_v.copy(v_shared, keys.first, keys.limit);
      with_product(t, problem, [&]<class Product>(Product) {
        for (std::uint32_t i = 0; i < slices; ++i) {
          auto& a = q_parts[C.q_in_registers ? i : 0];
          if constexpr (!C.q_in_registers) Product::load_queries(a, own_q, warp_row, i);
          for (std::uint32_t j = 0; j < key_parts; j += together) {
            auto b = fragments_of_b(t);
            Product::load_keys(b, own_k, 8 * j, i);
            for (std::uint32_t n = 0; n < together; ++n) Product::multiply_add(s_parts[j + n], a, b[n]);
          }
        }
      });
      partials.put(t, s_parts);
      wait(t);
      if (auto more = t.when(tile + 1u < range.last)) {
        const auto next = range.after(t, tile, keys);
        of_k.copy(k_shared, next.first, next.limit);
      }
      partials.add_others(t, s_parts);

      const score_origin<2> origin =
          origin_of<2>(t, block, query_of, t.let(keys.first + quad_column), keys.end);
      score(scores, origin, scale);
      range.mask(t, keys, scores, origin, mask);
      const auto correction = softmax.step(scores, factor);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (std::uint32_t e = 0; e < 4; ++e) o_parts[j].registers[e] *= correction[e / 2];

      with_product(t, problem, [&]<class Product>(Product) {
        for (std::uint32_t c = 0; c < p_slices; ++c) {
          typename product::a_fragment p(t);  // 16 x k of P
          Product::take_probabilities(p, s_parts, c);
          for (std::uint32_t j = 0; j < value_parts; j += together) {
            auto b = fragments_of_b(t);
            Product::load_values(t, b, own_v, c, 8 * j);
            for (std::uint32_t n = 0; n < together; ++n) Product::multiply_add(o_parts[j + n], p, b[n]);
          }
        }
      });
    }

    // If registers are short, numbers that are only needed here are computed again.
    const attention_block ended = [&] {
      if constexpr (C.finds_block_again())
        return find_block(t, problem, t.let(block_idx_x()), C.queries(), walks);
      else
        return block;
    }();
    const val sink = sink_of(t, problem, ended);
    const auto result = array_of<2>([&](u32 r) { return softmax.finish(r, factor, sink); });
    const val leads = t.let(leads_row(lane, part));
    for (u32 r = 0; r < 2; ++r) store_lse(t, problem, ended, query_of[r], leads, result[r].lse);

    // O passes through the warp's own part of the tile of Q, so that whole lines are written. All columns are
    // written at once as T; an f32 output of 16-bit operands takes two halves of the columns, one after the
    // other.
    wait(t);
    const auto own_o = column_block<C.own_depth_v()>(o_shared, part);
    const auto strides = problem[&attention_problem::o];
    const auto first_column = first_column_of(t, part);
    const val first_row = t.let(ended.first_query + warp_row);
    const val pitch = t.let(strides[&attention_strides::row]);
    const val by_16 = t.let(strides[&attention_strides::by_16]);
    const val columns = columns_from(t, v_size, first_column);
    const val offset = head_offset(t, strides, ended, ended.head, ended.first_q_row);
    const out o_head = from_column(o.from(offset), first_column);
    const out wide = from_column(
        pointer_at<out<f32>>(t, t.let(strides[&attention_strides::address])).from(offset), first_column);
    const val is_wide = t.let(strides[&attention_strides::is_f32] != 0u);
    const val row = t.let(warp_row + quad_row);
    const auto wrong = array_of<2>([&](u32 r) {
      return t.let(
          all_of(is_any_nan(t, o_parts, r), !isnan(result[r].inverse), query_of[r] < ended.query_limit));
    });
    for (std::uint32_t j = 0; j < value_parts; ++j)
      for (u32 e = 0; e < 4; ++e) o_parts[j].registers[e] *= result[e / 2].inverse;
    if (auto to_tile = t.when(!is_wide)) stage(t, own_o, problem, o_parts, row, quad_column);
    if constexpr (sizeof(stored) == 2)
      if (auto to_f32 = t.when(is_wide))
        for (std::uint32_t first = 0; first < C.own_depth_v(); first += C.own_depth_v() / 2) {
          const auto half = column_block<C.own_depth_v() / 2>(halves::over(q_memory), part);
          stage_half(t, half, first, o_parts, row, quad_column);
          sync_warp(t);
          const auto of_half = wide.from(i64{first});
          const val columns_of_half = t.let(max(columns, first) - first);
          store_rows<f32, 16, C.own_depth_v() / 2>(t, half, warp_row, of_half, pitch, columns_of_half, by_16,
                                                   first_row, ended.query_limit);
          sync_warp(t);
        }
    sync_warp(t);
    const auto put = [&](const val<u32>& of_warp, const val<u32>& column, const val<f32>& x) {
      if (auto to_f32 = t.when(all_of(is_wide, column < columns)))
        wide[cast<i64>(first_row + of_warp) * pitch + cast<i64>(column)] = x;
      if (auto to_tile = t.when(!is_wide))
        with_type(t, problem, [&]<class U>(U) {
          own_o[warp_row + of_warp][column] = bit_cast<stored>(t.let(cast<U>(x)));
        });
    };
    recompute_rows<T, C.own_depth_v()>(
        t, first_row, first_column, problem, ended, [&] { return walk_again(t, walks, range, ended); }, wrong,
        result, factor, score, mask, put);
    if (auto from_tile = t.when(!is_wide))
      store_rows<stored, 16, C.own_depth_v()>(t, own_o, warp_row, o_head, pitch, columns, by_16, first_row,
                                              ended.query_limit);
  }

 private:
  static constexpr bool shares = C.column_warps > 1;

  template <class Walks, class Range>
  static constexpr auto walk_again(thread t, const Walks& walks, const Range& range,
                                   const attention_block& block) {
    if constexpr (C.finds_block_again())
      return walks.template walk<C.keys>(t, block, C.queries());
    else
      return range;
  }
  static constexpr auto fragments_of_b(thread t) {
    return array_of<together>([&](u32) { return typename product::b_fragment(t); });
  }
  // f(T{}) for the element type of the operands.
  template <class F>
  static constexpr void with_type(thread t, const val<attention_problem>& problem, const F& f) {
    if constexpr (std::is_same_v<T, any_half>)
      with_half(t, t.let(problem[&attention_problem::element] == static_cast<u32>(element_type::bf16)), f);
    else
      f(T{});
  }
  // f(product{}), with all products of a step in one branch.
  template <class F>
  static constexpr void with_product(thread t, const val<attention_problem>& problem, const F& f) {
    with_attention_product<T, C.sm>(t, t.let(problem[&attention_problem::element]), f);
  }

  // Whether any number of row r is NaN.
  template <class Parts>
  static constexpr val<bool> is_any_nan(thread t, const Parts& parts, u32 r) {
    if constexpr (C.sm >= 80) {
      var any(t, parts[0].registers[2 * r]);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e)
          if (j != 0 || e != 2 * r) any = max_nan(any, parts[j].registers[e]);
      return t.let(isnan(any));
    } else {
      var found(t, isnan(parts[0].registers[2 * r]));
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e) found |= isnan(parts[j].registers[e]);
      return t.let(found);
    }
  }

  // All copies have arrived, and all threads' writes are visible.
  static constexpr void wait(thread t) {
    if constexpr (asynchronous) cp_async_wait_group<0>(t);
    t.barrier();
  }

  // If a warp does not share its queries, these are numbers of the host.
  static constexpr auto part_of(thread t) {
    if constexpr (shares)
      return t.let(t.warp_rank() % C.column_warps);
    else
      return 0u;
  }
  template <class Part>
  static constexpr auto first_column_of(thread t, const Part& part) {
    if constexpr (shares)
      return t.let(part * C.own_depth_v());
    else
      return 0u;
  }
  template <class Part>
  static constexpr auto leads_row(const val<u32>& lane, const Part& part) {
    if constexpr (shares)
      return all_of(lane % 4u == 0u, part == 0u);
    else
      return lane % 4u == 0u;
  }
  template <class Row, class Column>
  static constexpr Row from_column(const Row& row, const Column& column) {
    if constexpr (shares)
      return row.from(cast<i64>(column));
    else
      return row;
  }
  template <class Column>
  static constexpr val<u32> columns_from(thread t, const val<u32>& size, const Column& column) {
    if constexpr (shares)
      return t.let(max(size, column) - column);
    else
      return size;
  }
  template <class Tile, class Part>
  static constexpr auto own_values(const Tile& tile, const Part& part) {
    if constexpr (shares)
      return column_block<C.own_depth_v()>(tile, part);
    else
      return tile;
  }

  // Sums of S of warps that share their queries. Fragment j of a warp is a row with four numbers per lane, so
  // that a warp moves 512 contiguous bytes.
  class exchanged_sums {
    using tile = shared_tile<f32, C.warps * C.column_warps * key_parts, 128, dsl::row_major>;

   public:
    constexpr explicit exchanged_sums(thread t) : sums_(t) {}
    template <class Parts>
    constexpr void put(thread t, const Parts& s) const {
      const val row = t.let(t.warp_rank() * key_parts), column = t.let(t.lane_rank() * 4u);
      for (std::uint32_t j = 0; j < key_parts; ++j) {
        const auto& from = s[j].registers;
        store_vec(sums_[row + j][column], make_vec(from[0], from[1], from[2], from[3]));
      }
    }
    template <class Parts>
    constexpr void add_others(thread t, Parts& s) const {
      const val row = t.let((t.warp_rank() ^ 1u) * key_parts), column = t.let(t.lane_rank() * 4u);
      for (std::uint32_t j = 0; j < key_parts; ++j) {
        const val x = load_vec<4>(sums_[row + j][column]);
        for (std::uint32_t e = 0; e < 4; ++e) s[j].registers[e] += x[e];
      }
    }

   private:
    tile sums_;
  };
  struct no_sums {
    constexpr explicit no_sums(thread) {}
    template <class Parts>
    constexpr void put(thread, const Parts&) const {}
    template <class Parts>
    constexpr void add_others(thread, Parts&) const {}
  };
  using partial_sums = std::conditional_t<shares, exchanged_sums, no_sums>;

  // Stores the warp's O to its part of the tile; `row` and `column` are the lane's.
  template <class Tile, class Parts>
  static constexpr void stage(thread t, const Tile& to, const val<attention_problem>& problem,
                              const Parts& parts, const val<u32>& row, const val<u32>& column) {
    if constexpr (sizeof(stored) == 2) {
      using words = shared_tile<typename product::pair, C.queries(), C.own_depth_v() / 2, swizzle>;
      auto rounded = array_of<2 * value_parts / product::a_fragment::register_count>(
          [&](u32) { return typename product::a_fragment(t); });
      with_product(t, problem, [&]<class Product>(Product) {
        for (std::uint32_t j = 0; j < value_parts; ++j)
          for (u32 r = 0; r < 2; ++r)
            word_of(rounded, j, r) =
                Product::packed(parts[j].registers[2 * r], parts[j].registers[2 * r + 1]);
      });
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 r = 0; r < 2; ++r)
          words::over(to)[row + 8 * r][column / 2u + 4 * j] = word_of(rounded, j, r);
    } else {
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 r = 0; r < 2; ++r) {
          const auto& from = parts[j].registers;
          store_vec(to[row + 8 * r][column + 8 * j], make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
        }
    }
  }
  // The two numbers of row r of part j, rounded.
  template <class Rounded>
  static constexpr auto& word_of(Rounded& rounded, std::uint32_t j, u32 r) {
    constexpr u32 of_fragment = product::a_fragment::register_count;
    const u32 at = 2 * j + r;
    return rounded[at / of_fragment].registers[at % of_fragment];
  }
  // Stores half of the columns, from `first` on, as f32.
  template <class Tile, class Parts>
  static constexpr void stage_half(thread t, const Tile& to, std::uint32_t first, const Parts& parts,
                                   const val<u32>& row, const val<u32>& column) {
    for (std::uint32_t c = 0; c < C.own_depth_v() / 2; c += 8)
      for (u32 r = 0; r < 2; ++r) {
        const auto& from = parts[(first + c) / 8].registers;
        store_vec(to[row + 8 * r][column + c], make_vec(t.let(from[2 * r]), t.let(from[2 * r + 1])));
      }
  }
};

template <attention_mma_config C, class T, class Score, class Mask, class OfScore, class OfMask>
struct attention_mma_kernel;

template <attention_mma_config C, class T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_mma_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                            attention_parameters<OfMask...>> {
  static constexpr auto operand_name() {
    if constexpr (std::is_same_v<T, f32>)
      return fixed_string("tf32");
    else if constexpr (std::is_same_v<T, any_half>)
      return fixed_string("16bit");
    else if constexpr (C.sm < 80)
      return type_name<T> + "_sm" + decimal<C.sm>;
    else
      return type_name<T>;
  }
  static constexpr auto name = "attention_mma_" + operand_name() + "_d" +
                               attention_depth_name<C.depth_qk, C.depth_v> + "_" + decimal<C.queries()> +
                               "x" + decimal<C.keys> + "_" + attention_function_name<Score> + "_" +
                               attention_function_name<Mask>;
  static constexpr kernel_options options{.target = {C.sm}, .large_shared = true, .min_blocks = C.min_blocks};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, in<stored_element<T>> q, in<stored_element<T>> k, in<stored_element<T>> v,
         out<stored_element<T>> o, val<attention_problem> problem, OfScore... of_score, OfMask... of_mask) {
        attention_mma_body<C, T, Score, Mask>::run(
            t, q, k, v, o, problem,
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            walks_of<Mask>(t, of_mask...));
      });
};

// Launched with a grid of query_tiles * heads * batches blocks along x. Arguments: q, k, v, o, the problem,
// then those of the score and of the mask.
template <attention_mma_config C, class T, class Score, class Mask>
inline constexpr auto attention_mma =
    attention_mma_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

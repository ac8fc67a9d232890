#pragma once
// attention_decode with V in the first elements of the rows of K, as in multi-head latent attention. It uses
// the matrix instructions of a warp, for sm_80 and later. Rows of K have up to 576 elements, those of V 512.
//
//             keys                      a block: `rows` rows, which are the queries of all heads that share a
//           +------+------+               KV head, and a split of the keys
//     rows  |  S   |      |             S = Q K^T, P = softmax, O += P V, with V from the tile of K
//           +------+------+
//
// Two warps have the same 16 rows. Each has half of the columns of O, which fills its registers. In tiles of
// 32 keys, each multiplies half of the keys. They exchange S through shared memory, and both compute the same
// softmax:
//
//   warp 0   | S of keys  0 to 15 | S of all 32, softmax, O += P V, columns   0 to 255
//   warp 1   | S of keys 16 to 31 | S of all 32, softmax, O += P V, columns 256 to 511
//
// Sources: DeepSeek-AI, "DeepSeek-V2", 2024; Dao, "FlashAttention-2", 2023.

#include <kaio/dsl/mma.hpp>
#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>
#include <kaio/ops/attention/decode/mla/config.hpp>
#include <kaio/ops/attention/decode/mma_sync/copies.hpp>
#include <kaio/ops/attention/decode/mma_sync/queries.hpp>
#include <kaio/ops/attention/forward/mma_sync/product.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

namespace kaio::ops {

template <attention_mla_config C, class T>
struct attention_mla_body {
  static_assert(C.valid(), "kaio: attention_decode's kernel does not support this tile shape");
  using stored = stored_element<T>;
  using product = attention_product<T, 80>;
  using accumulator = typename product::accumulator;
  using swizzle = dsl::swizzled<128>;
  using copies_type = attention_decode_copies<C, stored>;
  using ring = typename copies_type::ring;
  using q_tile = shared_tile<stored, C.rows, C.depth, swizzle>;
  using v_tile = shared_tile<stored, C.keys, C.depth_v, swizzle>;  // within a tile of K
  static constexpr std::uint32_t own_parts = 2;                    // fragments of S per warp: 16 keys
  static constexpr std::uint32_t panel = 64, panels = C.depth / panel, key_parts = C.keys / 8,
                                 p_slices = C.keys / product::k, value_parts = C.own_depth_v() / 8;
  static constexpr std::uint32_t at_once = product::at_once;
  // A fragment of S of 16 rows is one row here: four numbers per lane.
  using s_tile = shared_tile<f32, C.exchanges ? C.row_warps() * key_parts : 1, 128, dsl::row_major>;

  template <class Functions>
  static constexpr void run(thread t, const val<attention_problem>& problem,
                            const val<attention_cache>& cache, const val<attention_split>& split,
                            const Functions& functions) {
    const q_tile q_shared(t);  // rows x depth
    const ring tiles(t);       // keys x depth each
    const s_tile s_shared(t);
    const decode_block block = find_decode_block(t, problem, cache, split, functions, C.rows, C.keys);

    if (auto works = t.when(has_work(t, split, block)))
      compute(t, problem, cache, split, functions, block, q_shared, tiles, s_shared);
    if (auto idle = t.otherwise()) store_nothing(t, problem, split, block, C.rows);
  }

 private:
  template <class Functions>
  static constexpr void compute(thread t, const val<attention_problem>& problem,
                                const val<attention_cache>& cache, const val<attention_split>& split,
                                const Functions& functions, const decode_block& block, const q_tile& q_shared,
                                const ring& tiles, const s_tile& s_shared) {
    load_decode_queries<stored>(t, q_shared, problem, split, block);
    copies_type copies(t, tiles, problem, cache, block);
    for (std::uint32_t s = 0; s + 1 < C.stages; ++s) copies.copy();

    const val lane = t.lane_rank();
    const val warp = t.let(t.warp_rank());
    const val row_warp = t.let(warp / C.column_warps), half = t.let(warp % C.column_warps);
    const val warp_row = t.let(row_warp * 16u);
    using accumulator_layout = typename accumulator::layout;
    const val quad_row = t.let(accumulator_layout::lane_row(lane));
    const val quad_column = t.let(accumulator_layout::lane_column(lane));
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const auto row_of = [&](u32 r) { return t.let(block.first_row + warp_row + quad_row + 8 * r); };
    // Found at each use: registers are scarce while products run.
    const auto rows_of = [&] {
      return array_of<2>([&](u32 r) { return find_row(t, split, block, row_of(r)); });
    };

    auto o_parts = array_of<value_parts>([&](u32) { return accumulator(t, 0.0f); });
    online_softmax<2> softmax(t);
    var stage(t, 0u);
    for (auto first : t.range(block.first, block.last, C.keys).no_unroll()) {
      cp_async_wait_group<C.stages - 2>(t);
      t.barrier();
      copies.copy();
      const auto keys = tiles[stage];
      auto s_parts = array_of<key_parts>([&](u32) { return accumulator(t, 0.0f); });  // 16 x keys
      if constexpr (C.exchanges) {
        auto own_parts_of_s = array_of<own_parts>([&](u32) { return accumulator(t, 0.0f); });
        with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
          multiply_keys<Product>(t, own_parts_of_s, q_shared, warp_row, keys, t.let(half * 16u));
        });
        exchange(t, s_shared, own_parts_of_s, s_parts, row_warp, half);
      } else {
        with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
          multiply_keys<Product>(t, s_parts, q_shared, warp_row, keys, t.let(half * 0u));
        });
      }

      const mma_scores<T, accumulator, key_parts> scores(s_parts);
      const val key = t.let(first + quad_column);
      const auto of_row = rows_of();
      score_rows(t, scores, block, of_row, key, scale, functions);
      const val is_whole = t.let(all_of(first >= block.whole_first, first + C.keys <= block.whole_last,
                                        first + C.keys <= block.last));
      if (auto partial = t.when(!is_whole)) mask_rows(t, scores, block, of_row, key, functions);
      const auto correction = softmax.step(scores, factor);
      rescale(t, o_parts, correction);

      const auto own_v = column_block<C.own_depth_v()>(v_tile::over(keys), half);  // keys x own_depth_v
      with_attention_product<T>(t, type_of_operands(t, split), [&]<class Product>(Product) {
        for (std::uint32_t c = 0; c < p_slices; ++c) {
          typename product::a_fragment p(t);  // 16 x k of P
          Product::take_probabilities(p, s_parts, c);
          for (std::uint32_t j = 0; j < value_parts; j += at_once) {
            auto b = fragments_of_b(t);
            Product::load_values(t, b, own_v, c, 8 * j);
            for (std::uint32_t n = 0; n < at_once; ++n) Product::multiply_add(o_parts[j + n], p, b[n]);
          }
        }
      });
      stage = copies.following(t.let(stage));
    }

    cp_async_wait_group<0>(t);
    const auto totals = array_of<2>([&](u32 r) { return softmax.total(r, factor); });
    const decode_block ended = find_again(t, problem, block);
    const val rows = rows_of_sequence(t, split, ended);
    const auto exists = array_of<2>([&](u32 r) { return t.let(row_of(r) < rows); });
    const val leads = t.let(all_of(lane % 4u == 0u, half == 0u));
    const auto of_row = rows_of();
    const auto results = array_of<2>(
        [&](u32 r) { return finish_row(t, problem, split, ended, of_row[r], exists[r], leads, totals[r]); });
    const auto wrong = array_of<2>([&](u32 r) {
      var found(t, o_parts[0].registers[2 * r]);
      for (std::uint32_t j = 0; j < value_parts; ++j)
        for (u32 e = 2 * r; e < 2 * r + 2; ++e) found = max_nan(found, o_parts[j].registers[e]);
      return t.let(all_of(isnan(found), !isnan(totals[r].sum), exists[r]));
    });
    const output to(t, problem, split, ended);
    const val first_column = t.let(half * C.own_depth_v());
    for (auto& part : o_parts)
      for (u32 e = 0; e < 4; ++e) part.registers[e] *= results[e / 2].inverse;
    to.store(of_row, exists, t.let(first_column + quad_column), o_parts);
    const auto source_of = [&] {
      return rows_of_part{t,
                          problem,
                          split,
                          ended,
                          warp_row,
                          t.let(problem[&attention_problem::qk_size]),
                          t.let(problem[&attention_problem::v_size]),
                          t.let(problem[&attention_problem::scale]),
                          operands_are_bf16(t, split),
                          cached_places(t, cache, ended.sequence)};
    };
    recompute_rows_of<T, C.own_depth_v()>(
        t, source_of, first_column, wrong, results, factor, functions.score, functions.mask,
        [&](const val<u32>& row, const val<u32>& column, const val<f32>& x) {
          const decode_row at = find_row(t, split, ended, t.let(ended.first_row + warp_row + row));
          to.store_one(at, t.let(first_column + column), x);
        });
  }

  static constexpr auto fragments_of_b(thread t) {
    return array_of<at_once>([&](u32) { return typename product::b_fragment(t); });
  }

  // S += Q K^T of 16 rows and 16 keys.
  template <class Product, class Scores, class Tile>
  static constexpr void multiply_keys(thread t, Scores& s, const q_tile& q_shared, const val<u32>& warp_row,
                                      const Tile& keys, const val<u32>& first_key) {
    static_assert(at_once == own_parts);
    for (auto p : t.range(0u, panels)) {
      const auto of_q = q_shared.panel(p);
      const auto of_k = keys.panel(p);
      for (std::uint32_t column = 0; column < panel; column += product::k) {
        typename product::a_fragment a(t);
        ldmatrix(a, of_q, warp_row, column);
        auto b = fragments_of_b(t);
        ldmatrix(b[0], b[1], of_k, first_key, column);
        for (std::uint32_t n = 0; n < at_once; ++n) Product::multiply_add(s[n], a, b[n]);
      }
    }
  }

  // Collects the scores of both warps with the same rows, in the order of the keys.
  template <class Own, class All>
  static constexpr void exchange(thread t, const s_tile& memory, const Own& own, All& all,
                                 const val<u32>& row_warp, const val<u32>& half) {
    const val first = t.let(row_warp * key_parts), column = t.let(t.lane_rank() * 4u);
    for (std::uint32_t j = 0; j < own_parts; ++j) {
      const auto& from = own[j].registers;
      const val row = t.let(first + half * own_parts + j);
      store_vec(memory[row][column], make_vec(from[0], from[1], from[2], from[3]));
    }
    t.barrier();
    for (std::uint32_t j = 0; j < key_parts; ++j) {
      const val x = load_vec<4>(memory[t.let(first + j)][column]);
      for (std::uint32_t e = 0; e < 4; ++e) all[j].registers[e] = x[e];
    }
  }

  // Writes what a row has besides O. Returns the factor of its sums, and the shift of their exponents.
  struct row_result {
    val<f32> largest, inverse;
  };
  static constexpr row_result finish_row(thread t, const val<attention_problem>& problem,
                                         const val<attention_split>& split, const decode_block& block,
                                         const decode_row& at, const val<bool>& exists,
                                         const val<bool>& leads, const softmax_total& total) {
    constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
    var inverse(t, 1.0f);
    const val writes = t.let(all_of(leads, exists));
    if (auto alone = t.when(splits_of(split) == 1u)) {
      const attention_block as_block = block_of_row(t, block, at);
      const softmax_row result = softmax_result(t, total.largest, total.sum, sink_of(t, problem, as_block));
      store_lse(t, problem, as_block, at.query, writes, result.lse);
      inverse = result.inverse;
    }
    if (auto partial = t.otherwise())
      if (auto own = t.when(writes)) store_total(t, split, partial_row(t, problem, split, block, at), total);
    return {t.let(select(total.largest == nothing, 0.0f, total.largest)), t.let(inverse)};
  }

  // The destination of O: the output if the block had all keys, otherwise the sums in the workspace.
  class output {
   public:
    constexpr output(thread t, const val<attention_problem>& problem, const val<attention_split>& split,
                     const decode_block& block)
        : t_(t),
          problem_(problem),
          split_(split),
          block_(block),
          is_alone_(t.let(splits_of(split) == 1u)),
          is_f32_(
              t.let(any_of(!is_alone_, problem[&attention_problem::o][&attention_strides::is_f32] != 0u))),
          size_(t.let(problem[&attention_problem::v_size])) {}

    // Stores both rows of a thread, in columns column + 8 j and column + 8 j + 1.
    template <class Rows, class Exists, class Parts>
    constexpr void store(const Rows& rows, const Exists& exist, const val<u32>& column,
                         const Parts& parts) const {
      const val left = t_.let(max(size_, column) - column);
      // pair(row, j, r) stores two neighbours, of element type To.
      const auto store_as = [&]<class To>(To, const auto& pair) {
        for (u32 r = 0; r < 2; ++r)
          if (auto is_row = t_.when(exist[r])) {
            const auto row = row_of<To>(rows[r]).from(cast<i64>(column));
            for (std::uint32_t j = 0; j < value_parts; ++j)
              if (auto exists = t_.when(left > 8 * j)) pair(row, j, r);
          }
      };
      if (auto wide = t_.when(is_f32_))
        store_as(f32{}, [&](const auto& row, std::uint32_t j, u32 r) {
          row[8 * j] = parts[j].registers[2 * r];
          row[8 * j + 1] = parts[j].registers[2 * r + 1];
        });
      if (auto narrow = t_.otherwise()) {
        constexpr u32 of_fragment = product::a_fragment::register_count;
        auto rounded =
            array_of<2 * value_parts / of_fragment>([&](u32) { return typename product::a_fragment(t_); });
        const auto word = [&](std::uint32_t j, u32 r) -> auto& {
          return rounded[(2 * j + r) / of_fragment].registers[(2 * j + r) % of_fragment];
        };
        with_attention_product<T>(t_, type_of_operands(t_, split_), [&]<class Product>(Product) {
          for (std::uint32_t j = 0; j < value_parts; ++j)
            for (u32 r = 0; r < 2; ++r)
              word(j, r) = Product::packed(parts[j].registers[2 * r], parts[j].registers[2 * r + 1]);
        });
        store_as(stored{}, [&](const auto& row, std::uint32_t j, u32 r) {
          row[8 * j] = low(word(j, r));
          row[8 * j + 1] = high(word(j, r));
        });
      }
    }
    constexpr void store_one(const decode_row& at, const val<u32>& column, const val<f32>& x) const {
      if (auto exists = t_.when(column < size_)) {
        if (auto wide = t_.when(is_f32_)) row_of<f32>(at)[column] = x;
        if (auto narrow = t_.otherwise()) {
          const auto put = [&]<class U>(U) {
            const val y = t_.let(cast<U>(x));
            row_of<U>(at)[column] = y;
          };
          if constexpr (std::is_same_v<T, any_half>)
            with_half(t_, operands_are_bf16(t_, split_), put);
          else
            put(T{});
        }
      }
    }

   private:
    template <class To>
    constexpr out<To> row_of(const decode_row& at) const {
      const auto strides = problem_[&attention_problem::o];
      const decode_row row = row_of_tensor(t_, block_, at);
      const val of_output = t_.let(cast<i64>(block_.batch) * strides[&attention_strides::batch] +
                                   cast<i64>(row.head) * strides[&attention_strides::head] +
                                   cast<i64>(row.query) * strides[&attention_strides::row]);
      const val of_sums = t_.let(cast<i64>(partial_row(t_, problem_, split_, block_, at) *
                                           cast<u64>(split_[&attention_split::pitch])));
      const val offset = t_.let(select(is_alone_, of_output, of_sums));
      const val address =
          t_.let(select(is_alone_, strides[&attention_strides::address], split_[&attention_split::sums]));
      return pointer_at<out<To>>(t_, address).from(offset);
    }

    thread t_;
    const val<attention_problem>& problem_;
    const val<attention_split>& split_;
    const decode_block& block_;
    val<bool> is_alone_, is_f32_;
    val<u32> size_;
  };

  // The rows of a warp, and all keys of the split.
  using elements = decltype(detail::row_at<T>(std::declval<thread>(), std::declval<val<u64>>(),
                                              std::declval<val<bool>>()));
  struct rows_of_part {
    struct row_of_part {
      thread t;
      const decode_block& block;
      decode_row at;
      elements q;
      constexpr score_origin<1> origin(const val<u32>& key) const { return origin_of_row(t, block, at, key); }
    };
    thread t;
    const val<attention_problem>& problem;
    const val<attention_split>& split;
    const decode_block& block;
    const val<u32>& warp_row;
    val<u32> qk_size, v_size;
    val<f32> scale;
    val<bool> is_bf16;
    cached_places places;

    constexpr row_of_part row(const val<u32>& r) const {
      const decode_row at = find_row(t, split, block, t.let(block.first_row + warp_row + r));
      return {t, block, at, elements_at(&attention_problem::q, offset_of_queries(t, problem, block, at))};
    }
    constexpr elements elements_at(auto member, const val<i64>& offset) const {
      return detail::row_at<T>(t, t.let(problem[member][&attention_strides::address]), is_bf16).from(offset);
    }
    constexpr elements key(const val<u32>& j) const {
      const auto strides = problem[&attention_problem::k];
      var at(t, cast<i64>(block.group) * strides[&attention_strides::head]);
      places.with([&](const auto& find) {
        const auto found = find(j);
        at += offset_of(t, strides, found.page, found.row);
      });
      return elements_at(&attention_problem::k, t.let(at));
    }
    constexpr elements value(const val<u32>& j) const { return key(j); }
    template <class Visit>
    constexpr void each_key(const Visit& visit) const {
      for (auto one : t.range(block.first, block.last).no_unroll())
        visit(t.let(one), [](const auto& f) { f(); });
    }
  };
};

template <attention_mla_config C, class T>
struct attention_mla_kernel {
  static constexpr auto name =
      "attention_mla_mma_" + half_name<T> + "_" + decimal<C.rows> + "x" + decimal<C.keys>;
  static constexpr kernel_options options{.target = {80}, .large_shared = true, .min_blocks = C.min_blocks};
  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads()}, options>(
      [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
         val<attention_terms> terms, val<attention_band> band) {
        // Open bands have no branch here: it would take registers that the kernel does not have.
        const auto keys = [&](const val<u32>& first, const val<u32>& last, const val<u32>& count,
                              const val<i32>& offset) -> key_range {
          return keys_of<band_mask>(t, first, last, count, offset, band);
        };
        const auto of_library = decode_functions_of<general_score, band_mask>::of(t, terms, band);
        attention_mla_body<C, T>::run(t, problem, cache, split, of_library.with_keys(keys));
      });
};

// Launched like attention_decode_mma.
template <attention_mla_config C, class T>
inline constexpr auto attention_mla = attention_mla_kernel<C, T>::kernel;

}  // namespace kaio::ops

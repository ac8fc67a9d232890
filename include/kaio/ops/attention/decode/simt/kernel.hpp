#pragma once
// attention_decode with ordinary multiply-adds, all in f32, for any element type and head size. It serves
// f32, devices before sm_80, and caches whose rows do not begin at multiples of 16 bytes.
//
//             64 keys       a block: 16 x 16 threads, 16 rows: queries of heads that share a KV head
//           +------+          a thread: one row; every 16th key of S, every 16th four neighbours of O;
//   16 rows |  S   |          the 16 threads of a row are neighbours of a warp
//           +------+
//
// The places of key rows are found once per tile. K and V are in shared memory, 64 columns at a time; codes
// of 8 bits are converted on the way. With queries of more than 256 elements, there is room for 32 keys.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/attention/decode/common/codes.hpp>
#include <kaio/ops/attention/decode/common/functions.hpp>
#include <kaio/ops/attention/decode/common/row_scores.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>
#include <kaio/ops/attention/forward/simt/kernel.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

// Depth: the longest row, in elements.
template <std::uint32_t Depth>
struct attention_decode_simt_body {
  static constexpr std::uint32_t depth = Depth, rows = 16, keys = Depth > 256 ? 32 : 64, chunk = 64,
                                 side = 16, threads = side * side;
  static constexpr std::uint32_t columns = keys / side, chunks = depth / chunk;
  using q_tile = shared_tile<f32, rows, depth, dsl::padded<4>>;
  using kv_tile = shared_tile<f32, keys, chunk, dsl::padded<4>>;

  template <class Functions>
  static constexpr void run(thread t, const val<attention_problem>& problem,
                            const val<attention_cache>& cache, const val<attention_split>& split,
                            const Functions& functions, const val<attention_codes>& codes) {
    const q_tile q_shared(t);                                        // rows x depth
    const kv_tile kv_shared(t);                                      // keys x chunk
    const shared_tile<f32, rows, keys, dsl::padded<1>> p_shared(t);  // rows x keys
    const rows_in_memory k_rows(t), v_rows(t);
    const decode_block block = find_decode_block(t, problem, cache, split, functions, rows, keys);
    if (auto works = t.when(has_work(t, split, block)))
      compute(t, problem, cache, split, functions, codes, block, q_shared, kv_shared, p_shared, k_rows,
              v_rows);
    if (auto idle = t.otherwise()) store_nothing(t, problem, split, block, rows);
  }

 private:
  // The places and scales of a tile's keys.
  struct rows_in_memory {
    shared<i64, keys> at;     // offsets; -1: no key
    shared<f32, keys> scale;  // of codes
    constexpr explicit rows_in_memory(thread t) : at(t), scale(t) {}
  };

  template <class Functions>
  static constexpr void compute(thread t, const val<attention_problem>& problem,
                                const val<attention_cache>& cache, const val<attention_split>& split,
                                const Functions& functions, const val<attention_codes>& codes,
                                const decode_block& block, const q_tile& q_shared, const kv_tile& kv_shared,
                                const shared_tile<f32, rows, keys, dsl::padded<1>>& p_shared,
                                const rows_in_memory& k_rows, const rows_in_memory& v_rows) {
    const cached_places places(t, cache, block.sequence);
    const val of_row = t.let(t.thread_rank() / side), of_column = t.let(t.thread_rank() % side);
    const val all_rows = rows_of_sequence(t, split, block);
    const val type = t.let(split[&attention_split::type]);
    const val kept = t.let(codes[&attention_codes::kept]);
    const auto load = [&](auto member, const rows_in_memory& from, const val<u32>& first,
                          const val<u32>& size) {
      const auto strides = problem[member];
      if (auto same = t.when(kept == static_cast<u32>(cache_elements::same)))
        with_any_element(t, type,
                         [&]<class A>(A) { load_rows<A>(t, kv_shared, strides, from, block, first, size); });
      if (auto coded = t.otherwise()) load_codes(t, kv_shared, strides, from, block, kept, first, size);
    };
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = functions.factor(scale);
    const val row = t.let(block.first_row + of_row);
    const auto at =
        array_of<1>([&](u32) { return find_row(t, split, block, t.let(min(row, all_rows - 1u))); });

    auto sums = array_of<chunks * 4>([&](u32) { return var(t, 0.0f); });  // O
    online_softmax<1, side> softmax(t);
    with_any_element(t, type,
                     [&]<class A>(A) { load_queries<A>(t, q_shared, problem, split, block, qk_size); });

    for (auto first : t.range(block.first, block.last, keys).no_unroll()) {
      t.barrier();
      for (auto i : t.block_stride(keys)) {
        var k(t, i64{-1}), v(t, i64{-1});
        var of_k(t, 1.0f), of_v(t, 1.0f);
        if (auto exists = t.when(first + i < block.last))
          places.with([&](const auto& find) {
            const auto found = find(t.let(first + i));
            k = offset_of(t, problem[&attention_problem::k], found.page, found.row);
            v = offset_of(t, problem[&attention_problem::v], found.page, found.row);
            if (auto coded = t.when(kept != static_cast<u32>(cache_elements::same))) {
              of_k = scale_at(t, codes[&attention_codes::k], block.batch, found.page, found.row, block.group);
              of_v = scale_at(t, codes[&attention_codes::v], block.batch, found.page, found.row, block.group);
            }
          });
        k_rows.at[i] = k;
        v_rows.at[i] = v;
        k_rows.scale[i] = of_k;
        v_rows.scale[i] = of_v;
      }
      auto s = array_of<columns>([&](u32) { return var(t, 0.0f); });
      for (auto column : t.range(0u, qk_size, chunk).no_unroll()) {
        t.barrier();
        load(&attention_problem::k, k_rows, t.let(column), qk_size);
        t.barrier();
        for (auto d : t.range(0u, t.let(min(qk_size - column, chunk)), 4u).no_unroll()) {
          const val x = load_vec<4>(q_shared[of_row][column + d]);
          for (u32 c = 0; c < columns; ++c) {
            const val y = load_vec<4>(kv_shared[of_column + side * c][d]);
            for (u32 e = 0; e < 4; ++e) s[c] = fma(x[e], y[e], s[c]);
          }
        }
      }
      const simt_scores<f32, 1, columns> scores{&s};
      const val key = t.let(first + of_column);
      const score_origin<1> origin = origin_of_row(t, block, at[0], key);
      functions.score(scores, origin, scale);
      const val is_whole = t.let(
          all_of(first >= block.whole_first, first + keys <= block.whole_last, first + keys <= block.last));
      if (auto partial = t.when(!is_whole)) functions.mask(scores, origin);
      const auto correction = softmax.step(scores, factor);
      for (auto& sum : sums) sum *= correction[0];
      for (u32 c = 0; c < columns; ++c) p_shared[of_row][of_column + side * c] = s[c];
      for (u32 f = 0; f < chunks; ++f)
        if (auto has = t.when(chunk * f < v_size)) {
          t.barrier();
          load(&attention_problem::v, v_rows, t.let(chunk * f), v_size);
          t.barrier();
          for (auto j : t.range(0u, keys).no_unroll()) {
            const val p = t.let(p_shared[of_row][j]);
            const val x = load_vec<4>(kv_shared[j][of_column * 4u]);
            // A masked key adds nothing, whatever its value is.
            for (u32 e = 0; e < 4; ++e)
              sums[4 * f + e] = select(p == 0.0f, sums[4 * f + e], fma(p, x[e], sums[4 * f + e]));
          }
        }
    }
    store(t, problem, split, block, row, at[0], softmax.total(0, factor), sums);
  }

  template <class A>
  static constexpr void load_queries(thread t, const q_tile& to, const val<attention_problem>& problem,
                                     const val<attention_split>& split, const decode_block& block,
                                     const val<u32>& size) {
    const val all_rows = rows_of_sequence(t, split, block);
    for (auto i : t.block_stride(rows * depth)) {
      const val row = t.let(i / depth), column = t.let(i % depth);
      const val packed = t.let(block.first_row + row);
      var x(t, 0.0f);
      if (auto exists = t.when(all_of(packed < all_rows, column < size)))
        x = A::read(
            queries_of<typename A::stored>(t, problem, block, find_row(t, split, block, packed))[column]);
      to[row][column] = x;
    }
  }

  // Columns `first` to first + chunk of the rows of a tile; what does not exist becomes zero.
  template <class A, class Strides>
  static constexpr void load_rows(thread t, const kv_tile& to, const Strides& strides,
                                  const rows_in_memory& rows_of_tile, const decode_block& block,
                                  const val<u32>& first, const val<u32>& size) {
    const in head = pointer_at<in<typename A::stored>>(t, t.let(strides[&attention_strides::address]))
                        .from(t.let(cast<i64>(block.group) * strides[&attention_strides::head]));
    for (auto i : t.block_stride(keys * chunk)) {
      const val row = t.let(i / chunk), column = t.let(i % chunk);
      const val from = t.let(rows_of_tile.at[row]);
      var x(t, 0.0f);
      if (auto exists = t.when(all_of(from >= i64{0}, first + column < size)))
        x = A::read(head[from + cast<i64>(first + column)]);
      to[row][column] = x;
    }
  }

  // Loads codes, otherwise like load_rows.
  template <class Strides>
  static constexpr void load_codes(thread t, const kv_tile& to, const Strides& strides,
                                   const rows_in_memory& rows_of_tile, const decode_block& block,
                                   const val<u32>& kept, const val<u32>& first, const val<u32>& size) {
    const in head = pointer_at<in<u8>>(t, t.let(strides[&attention_strides::address]))
                        .from(t.let(cast<i64>(block.group) * strides[&attention_strides::head]));
    for (auto i : t.block_stride(keys * chunk)) {
      const val row = t.let(i / chunk), column = t.let(i % chunk);
      const val from = t.let(rows_of_tile.at[row]);
      var x(t, 0.0f);
      if (auto exists = t.when(all_of(from >= i64{0}, first + column < size))) {
        const val code = t.let(cast<u32>(head[from + cast<i64>(first + column)]));
        x = value_of_code(t, kept, code) * rows_of_tile.scale[row];
      }
      to[row][column] = x;
    }
  }

  // Stores the thread's columns of its row: to the output if the block had all keys, otherwise to the
  // workspace.
  template <class Sums>
  static constexpr void store(thread t, const val<attention_problem>& problem,
                              const val<attention_split>& split, const decode_block& block,
                              const val<u32>& row, const decode_row& at, const softmax_total& total,
                              const Sums& sums) {
    const val column = t.let(t.thread_rank() % side * 4u);
    const val size = t.let(problem[&attention_problem::v_size]);
    if (auto exists = t.when(row < rows_of_sequence(t, split, block))) {
      if (auto alone = t.when(splits_of(split) == 1u)) {
        const attention_block as_block = block_of_row(t, block, at);
        const softmax_row result = softmax_result(t, total.largest, total.sum, sink_of(t, problem, as_block));
        store_lse(t, problem, as_block, at.query, t.let(column == 0u), result.lse);
        with_any_element(t, t.let(split[&attention_split::out_type]), [&]<class A>(A) {
          for (u32 f = 0; f < chunks; ++f)
            if (auto has = t.when(column + chunk * f < size)) {
              const auto x = array_of<4>([&](u32 e) { return t.let(sums[4 * f + e] * result.inverse); });
              store_output<A>(t, problem, block.batch, row_of_tensor(t, block, at), t.let(column + chunk * f),
                              size, x);
            }
        });
      }
      if (auto partial = t.otherwise()) {
        const val to = partial_row(t, problem, split, block, at);
        if (auto leads = t.when(column == 0u)) store_total(t, split, to, total);
        const auto memory = pointer_at<out<f32>>(t, t.let(split[&attention_split::sums]))
                                .from(t.let(cast<i64>(to) * cast<i64>(split[&attention_split::pitch])));
        for (u32 f = 0; f < chunks; ++f)
          if (auto has = t.when(column + chunk * f < size))
            store_vec(memory[column + chunk * f], make_vec(t.let(sums[4 * f]), t.let(sums[4 * f + 1]),
                                                           t.let(sums[4 * f + 2]), t.let(sums[4 * f + 3])));
      }
    }
  }
};

template <std::uint32_t Depth>
inline constexpr auto attention_decode_simt_name = [] {
  if constexpr (Depth == 256)
    return fixed_string("attention_decode_simt");
  else
    return "attention_decode_simt_d" + decimal<Depth>;
}();

template <std::uint32_t Depth, class Score, class Mask, class OfScore, class OfMask>
struct attention_decode_simt_kernel;

template <std::uint32_t Depth, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_decode_simt_kernel<Depth, Score, Mask, attention_parameters<OfScore...>,
                                    attention_parameters<OfMask...>> {
  using body = attention_decode_simt_body<Depth>;
  static constexpr auto name = attention_decode_simt_name<Depth> + decode_functions_name<Score, Mask>;
  static constexpr auto kernel =
      kaio::kernel<name, block_size{body::threads},
                   kernel_options{.min_blocks = decode_min_blocks<Score, Mask>(2)}>(
          [](thread t, val<attention_problem> problem, val<attention_cache> cache, val<attention_split> split,
             OfScore... of_score, OfMask... of_mask, val<attention_codes> codes) {
            body::run(t, problem, cache, split,
                      decode_functions_of<Score, Mask>::of(t, of_score..., of_mask...), codes);
          });
};

// Launched like attention_decode_mma, with the codes as the last argument.
template <std::uint32_t Depth, class Score = general_score, class Mask = band_mask>
inline constexpr auto attention_decode_by_simt =
    attention_decode_simt_kernel<Depth, Score, Mask, parameters_of_score<Score>,
                                 parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

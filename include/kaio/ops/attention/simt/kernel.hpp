#pragma once
// Attention with ordinary multiply-adds: O = softmax(mask(score(Q K^T))) V, all of it in f32, also of f16, which
// is converted where it is loaded and rounded where it is stored.
//
//             keys          a block: 16 x 16 threads, a tile of `tile` queries of one head
//           +------+          a thread: tile / 16 queries, of S every 16th key, of O every 16th four of
//   queries |  S   |          neighbours; the 16 threads of a row are neighbours of a warp
//           +------+
//
// For each tile of keys: K to shared memory, S = Q K^T, softmax in registers, P and V to shared memory (V
// where K was), O += P V. A barrier is before each use of what other threads wrote. Of long rows K and V are
// there `chunk` columns at a time; chunks beyond the end of a row are not visited.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/common/softmax.hpp>

#include <cstdint>

namespace kaio::ops {

struct attention_simt_config {
  std::uint32_t depth = 128;  // the most elements of a row of Q, K, V and O
  std::uint32_t tile = 64;    // queries, and keys
  std::uint32_t chunk = 128;  // columns of K and V in shared memory

  static constexpr std::uint32_t side = 16, threads = side * side;
  constexpr bool valid() const {
    return chunk % 64 == 0 && depth % chunk == 0 && depth <= 512 && tile % side == 0 && tile * depth <= 16384;
  }
};

constexpr attention_simt_config attention_simt_for(std::uint32_t depth) {
  if (depth <= 64) return {.depth = 64, .tile = 64, .chunk = 64};
  if (depth <= 128) return {.depth = 128, .tile = 64, .chunk = 128};
  if (depth <= 256) return {.depth = 256, .tile = 32, .chunk = 256};
  return {.depth = 512, .tile = 32, .chunk = 128};
}

// For devices whose blocks have 64 KB of shared memory (sm_75): any head size.
inline constexpr attention_simt_config attention_simt_small{.depth = 512, .tile = 16, .chunk = 256};

// A thread's scores: Rows queries x Columns keys, 16 apart.
template <scalar T, std::uint32_t Rows, std::uint32_t Columns>
struct simt_scores {
  using element = T;
  static constexpr std::uint32_t rows = Rows;
  static constexpr bool exact = true;
  dsl::register_array<var<f32>, Rows * Columns>* sums;
  static constexpr std::uint32_t size() { return Rows * Columns; }
  static constexpr std::uint32_t row(std::uint32_t i) { return i / Columns; }
  static constexpr std::uint32_t column(std::uint32_t i) { return i % Columns * attention_simt_config::side; }
  constexpr var<f32>& operator[](std::uint32_t i) const { return (*sums)[i]; }
};

template <attention_simt_config C, scalar T, class Score, class Mask>
struct attention_simt_body {
  static_assert(C.valid(), "kaio: this tile shape of an attention is none that the kernel can run");
  static constexpr std::uint32_t rows = C.tile / C.side, columns = C.tile / C.side, fours = C.depth / 64;
  static constexpr std::uint32_t chunks = C.depth / C.chunk, fours_of_chunk = C.chunk / 64;
  using q_tile = shared_tile<f32, C.tile, C.depth, dsl::padded<4>>;
  using kv_tile = shared_tile<f32, C.tile, C.chunk, dsl::padded<4>>;

  // The last four are Score and Mask with their parameters.
  template <class ApplyScore, class Factor, class ApplyMask, class Walks>
  static constexpr void run(thread t, const in<T>& q, const in<T>& k, const in<T>& v, const out<T>& o,
                            const val<attention_problem>& problem, const ApplyScore& score,
                            const Factor& factor_of, const ApplyMask& mask, const Walks& walks) {
    const q_tile q_shared(t);                                            // queries x depth
    const kv_tile kv_shared(t);                                          // keys x chunk
    const shared_tile<f32, C.tile, C.tile, dsl::padded<1>> p_shared(t);  // queries x keys
    const attention_block block = find_block(t, problem, t.let(block_idx_x()), C.tile, walks);
    const val queries = block.query_limit;
    const val qk_size = t.let(problem[&attention_problem::qk_size]);
    const val v_size = t.let(problem[&attention_problem::v_size]);
    const val scale = t.let(problem[&attention_problem::scale]);
    const val factor = factor_of(scale);
    const val of_row = t.let(t.thread_rank() / C.side), of_column = t.let(t.thread_rank() % C.side);

    const auto range = walks.template walk<C.tile>(t, block, C.tile);

    const auto query_of =
        array_of<rows>([&](u32 r) { return t.let(block.first_query + of_row + C.side * r); });
    auto sums = array_of<rows * fours * 4>([&](u32) { return var(t, 0.0f); });  // O
    online_softmax<rows, C.side> softmax(t);
    load(t, q_shared, q, problem[&attention_problem::q], block, block.head, block.first_q_row,
         block.first_query, queries, 0u, qk_size);

    for (auto j : t.range(range.first, range.last).no_unroll()) {
      const auto keys = range.tile(t, range.find(t, j));
      auto s = array_of<rows * columns>([&](u32) { return var(t, 0.0f); });
      // S += Q K^T of columns `first` on
      const auto multiply = [&](const auto& first, const val<u32>& count) {
        t.barrier();
        load(t, kv_shared, k, problem[&attention_problem::k], block, block.group, block.first_k_row,
             keys.first, keys.limit, first, qk_size);
        t.barrier();
        for (auto d : t.range(0u, count, 4u).no_unroll()) {  // what is beyond the row is zero
          const auto of_q =
              array_of<rows>([&](u32 r) { return load_vec<4>(q_shared[of_row + C.side * r][first + d]); });
          const auto of_k =
              array_of<columns>([&](u32 c) { return load_vec<4>(kv_shared[of_column + C.side * c][d]); });
          for (u32 i = 0; i < rows * columns; ++i)
            for (u32 e = 0; e < 4; ++e) s[i] = fma(of_q[i / columns][e], of_k[i % columns][e], s[i]);
        }
      };
      if constexpr (chunks == 1) {
        multiply(0u, qk_size);
      } else {
        for (auto first : t.range(0u, qk_size, C.chunk).no_unroll())
          multiply(t.let(first), t.let(min(qk_size - first, C.chunk)));
      }
      const simt_scores<T, rows, columns> scores{&s};
      const score_origin<rows> origin =
          origin_of<rows>(t, block, query_of, t.let(keys.first + of_column), keys.end);
      score(scores, origin, scale);
      range.mask(t, keys, scores, origin, mask);
      const auto correction = softmax.step(scores, factor);
      for (u32 i = 0; i < rows * fours * 4; ++i) sums[i] *= correction[i / (fours * 4)];
      for (u32 i = 0; i < rows * columns; ++i)
        p_shared[of_row + C.side * (i / columns)][of_column + C.side * (i % columns)] = s[i];
      // O += P V, of columns `first` on
      const auto accumulate = [&](std::uint32_t first) {
        t.barrier();
        load(t, kv_shared, v, problem[&attention_problem::v], block, block.group, block.first_k_row,
             keys.first, keys.limit, first, v_size);
        t.barrier();
        for (auto key : t.range(0u, C.tile).no_unroll()) {
          const auto p = array_of<rows>([&](u32 r) { return t.let(p_shared[of_row + C.side * r][key]); });
          for (u32 f = 0; f < fours_of_chunk; ++f) {
            const val x = load_vec<4>(kv_shared[key][of_column * 4u + 64 * f]);
            for (u32 r = 0; r < rows; ++r)
              for (u32 e = 0; e < 4; ++e) {
                auto& sum = sums[(r * fours + first / 64 + f) * 4 + e];
                // A masked key adds nothing, whatever its value is.
                sum = select(p[r] == 0.0f, sum, fma(p[r], x[e], sum));
              }
          }
        }
      };
      accumulate(0);
      for (std::uint32_t first = C.chunk; first < C.depth; first += C.chunk)
        if (auto has = t.when(first < v_size)) accumulate(first);
    }

    const auto strides = problem[&attention_problem::o];
    const out to = o.from(head_offset(t, strides, block, block.head, block.first_q_row));
    const val leads = t.let(of_column == 0u);
    const val sink = sink_of(t, problem, block);
    for (u32 r = 0; r < rows; ++r) {
      const softmax_row result = softmax.finish(r, factor, sink);
      store_lse(t, problem, block, query_of[r], leads, result.lse);
      if (auto exists = t.when(query_of[r] < queries)) {
        const out row = to.from(cast<i64>(query_of[r]) * strides[&attention_strides::row]);
        for (u32 f = 0; f < fours; ++f)
          for (u32 e = 0; e < 4; ++e) {
            const val column = t.let(of_column * 4u + (64 * f + e));
            if (auto has = t.when(column < v_size))
              row[column] = cast<T>(sums[(r * fours + f) * 4 + e] * result.inverse);
          }
      }
    }
  }

 private:
  // Rows `first` on of the sequence that begins at row `origin`, from `first_column` on; those from `limit` on
  // do not exist. What does not exist becomes zero.
  template <class Tile, class Strides, class Column>
  static constexpr void load(thread t, const Tile& to, const in<T>& memory, const Strides& strides,
                             const attention_block& block, const val<u32>& head, const val<u32>& origin,
                             const val<u32>& first, const val<u32>& limit, const Column& first_column,
                             const val<u32>& size) {
    const in from = memory.from(head_offset(t, strides, block, head, origin));
    const val pitch = t.let(strides[&attention_strides::row]);
    for (auto i : t.block_stride(C.tile * Tile::columns)) {
      const val row = t.let(i / Tile::columns), column = t.let(i % Tile::columns);
      const val at = t.let(column + first_column);
      var x(t, 0.0f);
      if (auto exists = t.when(all_of(first + row < limit, at < size)))
        x = cast<f32>(from[cast<i64>(first + row) * pitch + cast<i64>(at)]);
      to[row][column] = x;
    }
  }
};

template <attention_simt_config C, scalar T, class Score, class Mask, class OfScore, class OfMask>
struct attention_simt_kernel;

template <attention_simt_config C, scalar T, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_simt_kernel<C, T, Score, Mask, attention_parameters<OfScore...>,
                             attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_simt_" + type_name<T> + "_d" + decimal<C.depth> + "_" +
                               decimal<C.tile> + "x" + decimal<C.tile> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask>;
  static constexpr kernel_options options{.large_shared = true, .min_blocks = 1};

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, in<T> q, in<T> k, in<T> v, out<T> o, val<attention_problem> problem, OfScore... of_score,
         OfMask... of_mask) {
        attention_simt_body<C, T, Score, Mask>::run(
            t, q, k, v, o, problem,
            [&](const auto& s, const auto& origin, const val<f32>& scale) {
              apply_score<Score>(t, s, origin, scale, of_score...);
            },
            [&](const val<f32>& scale) { return exponent_factor<Score>(t, scale, of_score...); },
            [&](const auto& s, const auto& origin) { apply_mask<Mask>(t, s, origin, of_mask...); },
            walks_of<Mask>(t, of_mask...));
      });
};

// Launched as attention_mma is.
template <attention_simt_config C, scalar T, class Score, class Mask>
inline constexpr auto attention_simt =
    attention_simt_kernel<C, T, Score, Mask, parameters_of_score<Score>, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

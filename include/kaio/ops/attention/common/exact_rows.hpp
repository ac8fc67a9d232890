#pragma once
// Recomputes rows of O that became NaN because of a value that they do not attend to. Matrix instructions
// multiply the values of masked keys by 0, which gives NaN if the value is NaN or infinite. A kernel finds
// such rows by a NaN in O while their sum is not NaN. They are computed again key by key, without masked
// keys. Other inputs pay for the test only.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/softmax.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

namespace detail {

// A probability, rounded as in the products.
template <class T, class Source>
constexpr val<f32> rounded(thread t, const Source& source, const val<f32>& x) {
  if constexpr (std::is_same_v<T, any_half>)
    return t.let(select(source.is_bf16, cast<f32>(cast<bf16>(x)), cast<f32>(cast<f16>(x))));
  else
    return t.let(cast<f32>(cast<T>(x)));
}

// A row of f16 or bf16.
struct row_of_halves {
  thread t;
  in<u16> memory;
  val<bool> is_bf16;

  constexpr val<f32> operator[](const auto& column) const {
    const val bits = t.let(memory[column]);
    return t.let(select(is_bf16, stored_bf16::read(bits), cast<f32>(bit_cast<f16>(bits))));
  }
  constexpr row_of_halves from(const auto& elements) const { return {t, memory.from(elements), is_bf16}; }
};

// The elements from an address on.
template <class T>
constexpr auto row_at(thread t, const val<u64>& address, const val<bool>& is_bf16) {
  if constexpr (std::is_same_v<T, any_half>)
    return row_of_halves{t, pointer_at<in<u16>>(t, address), is_bf16};
  else
    return pointer_at<in<T>>(t, address);
}

}  // namespace detail

// Recomputes rows among a warp's 16, in Depth columns from `first_column` on. `wrong` and `results` (with
// `largest` and `inverse`) of lane l are for rows l / 4 and l / 4 + 8. put(row, column, x) stores a new
// element of a wrong row; columns count from first_column. score(s, origin, scale) and mask(s, origin) are
// the kernel's. source_of() gives the source of the numbers:
//
//   qk_size, v_size, scale
//   row(r)              row r of the warp: q, its elements, and origin(key), the place of a score
//   key(j), value(j)    the elements of a key
//   each_key(visit)     visit(key, where_masked) for each key; where_masked(f) calls f if the mask runs
template <class T, std::uint32_t Depth, class Column, class SourceOf, class Results, class ApplyScore,
          class ApplyMask, class Put>
constexpr void recompute_rows_of(thread t, const SourceOf& source_of, const Column& first_column,
                                 const dsl::register_array<val<bool>, 2>& wrong, const Results& results,
                                 const val<f32>& factor, const ApplyScore& score, const ApplyMask& mask,
                                 const Put& put) {
  const auto lanes = array_of<2>([&](u32 r) { return t.let(ballot(wrong[r])); });
  if (auto any = t.when((lanes[0] | lanes[1]) != 0u)) {
    sync_warp(t);  // other lanes' stores of these rows come first
    const auto source = source_of();
    const val lane = t.lane_rank(), column = t.let(lane + first_column);
    for (auto row : t.range(0u, 16u).no_unroll()) {
      const val first_lane = t.let(row % 8u * 4u);
      const val upper = t.let(row < 8u);
      if (auto flagged = t.when((select(upper, lanes[0], lanes[1]) >> first_lane & 15u) != 0u)) {
        const val shift = shfl_idx(select(upper, results[0].largest, results[1].largest), first_lane);
        const val inverse = shfl_idx(select(upper, results[0].inverse, results[1].inverse), first_lane);
        const auto of_row = source.row(t.let(row));
        auto sums = array_of<Depth / 32>([&](u32) { return var(t, 0.0f); });  // columns lane + 32 * i
        source.each_key([&](const val<u32>& key, const auto& where_masked) {
          const auto of_k = source.key(key);
          var dot(t, 0.0f);
          for (auto d : t.range(lane, source.qk_size, 32u).no_unroll()) {
            const auto element_of_q = of_row.q[d];
            const auto element_of_k = of_k[d];
            dot += cast<f32>(element_of_q) * cast<f32>(element_of_k);
          }
          var x(t, warp_reduce(t, dot, plus{}));
          const single_score<T> one{&x};
          const score_origin<1> origin = of_row.origin(key);
          score(one, origin, source.scale);
          where_masked([&] { mask(one, origin); });
          if (auto kept = t.when(x != -std::numeric_limits<f32>::infinity())) {
            const val p = detail::rounded<T>(t, source, t.let(fast::ftz::exp2(x * factor - shift)));
            const auto of_v = source.value(key);
            for (u32 i = 0; i < Depth / 32; ++i)
              if (auto exists = t.when(column + 32 * i < source.v_size))
                sums[i] += p * cast<f32>(of_v[column + 32 * i]);
          }
        });
        for (u32 i = 0; i < Depth / 32; ++i) {
          const val put_row = t.let(row), put_column = t.let(lane + 32 * i);
          put(put_row, put_column, t.let(sums[i] * inverse));
        }
      }
    }
    sync_warp(t);
  }
}

namespace detail {

// The rows of a tile of queries, from `first_query` on, and the keys that its walk visits.
template <class Row, class Keys>
struct rows_of_block {
  struct row_of_block {
    thread t;
    const attention_block& block;
    val<u32> query;
    Row q;
    constexpr score_origin<1> origin(const val<u32>& key) const {
      return origin_of<1>(t, block, {{query}}, key, block.keys);
    }
  };
  thread t;
  const attention_block& block;
  const val<u32>& first_query;
  val<bool> is_bf16;
  Row q, k, v;
  val<i64> q_row, k_row, v_row;
  val<u32> qk_size, v_size;
  val<f32> scale;
  Keys keys;

  constexpr row_of_block row(const val<u32>& r) const {
    const val query = t.let(first_query + r);
    return {t, block, query, q.from(cast<i64>(query) * q_row)};
  }
  constexpr Row key(const val<u32>& j) const { return k.from(cast<i64>(j) * k_row); }
  constexpr Row value(const val<u32>& j) const { return v.from(cast<i64>(j) * v_row); }
  template <class Visit>
  constexpr void each_key(const Visit& visit) const {
    keys.each_key(t, visit);
  }
};

}  // namespace detail

// Recomputes rows of a tile of queries, from `first_query` on. walk_of() is the kernel's walk over keys.
template <class T, std::uint32_t Depth, class Column, class WalkOf, class Results, class ApplyScore,
          class ApplyMask, class Put>
constexpr void recompute_rows(thread t, const val<u32>& first_query, const Column& first_column,
                              const val<attention_problem>& problem, const attention_block& block,
                              const WalkOf& walk_of, const dsl::register_array<val<bool>, 2>& wrong,
                              const Results& results, const val<f32>& factor, const ApplyScore& score,
                              const ApplyMask& mask, const Put& put) {
  const auto source_of = [&] {
    const val is_bf16 = t.let(problem[&attention_problem::element] == static_cast<u32>(element_type::bf16));
    const auto memory_of_head = [&](auto member, const val<u32>& head, const val<u32>& first_row) {
      const auto strides = problem[member];
      return detail::row_at<T>(t, t.let(strides[&attention_strides::address]), is_bf16)
          .from(head_offset(t, strides, block, head, first_row));
    };
    const auto row_of = [&](auto member) { return t.let(problem[member][&attention_strides::row]); };
    using row = decltype(detail::row_at<T>(t, val<u64>(u64{0}), is_bf16));
    return detail::rows_of_block<row, decltype(walk_of())>{
        t,
        block,
        first_query,
        is_bf16,
        memory_of_head(&attention_problem::q, block.head, block.first_q_row),
        memory_of_head(&attention_problem::k, block.group, block.first_k_row),
        memory_of_head(&attention_problem::v, block.group, block.first_k_row),
        row_of(&attention_problem::q),
        row_of(&attention_problem::k),
        row_of(&attention_problem::v),
        t.let(problem[&attention_problem::qk_size]),
        t.let(problem[&attention_problem::v_size]),
        t.let(problem[&attention_problem::scale]),
        walk_of()};
  };
  recompute_rows_of<T, Depth>(t, source_of, first_column, wrong, results, factor, score, mask, put);
}

}  // namespace kaio::ops

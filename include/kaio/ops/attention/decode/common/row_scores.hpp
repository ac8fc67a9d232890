#pragma once
// The scores of rows that belong to different heads. Functions that depend on the head run row by row.

#include <kaio/ops/attention/common/exact_rows.hpp>
#include <kaio/ops/attention/common/mask.hpp>
#include <kaio/ops/attention/common/score.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The scores of row R of a thread.
template <class Scores, std::uint32_t R>
class scores_of_row {
  static constexpr std::uint32_t index(std::uint32_t n) {
    std::uint32_t i = 0;
    for (;; ++i)
      if (Scores::row(i) == R && n-- == 0) return i;
  }

 public:
  using element = typename Scores::element;
  static constexpr std::uint32_t rows = 1;
  constexpr explicit scores_of_row(const Scores& all) : all_(&all) {}
  static constexpr std::uint32_t size() { return Scores::size() / Scores::rows; }
  static constexpr std::uint32_t row(std::uint32_t) { return 0; }
  static constexpr std::uint32_t column(std::uint32_t i) { return Scores::column(index(i)); }
  constexpr auto& operator[](std::uint32_t i) const { return (*all_)[index(i)]; }

 private:
  const Scores* all_;
};

// Applies the score of `functions` (decode_functions). `key`: the thread's first key.
template <class Scores, class Functions, std::uint32_t Rows, std::uint32_t R = 0>
constexpr void score_rows(thread t, const Scores& s, const decode_block& block,
                          const dsl::register_array<decode_row, Rows>& rows, const val<u32>& key,
                          const val<f32>& scale, const Functions& functions) {
  const score_origin<1> origin = origin_of_row(t, block, rows[R], key);
  const scores_of_row<Scores, R> own(s);
  functions.score(own, origin, scale);
  if constexpr (R + 1 < Rows)
    score_rows<Scores, Functions, Rows, R + 1>(t, s, block, rows, key, scale, functions);
}

// Applies the mask, and the end of the split. A mask that does not depend on the head runs once for all rows.
template <class Scores, class Functions, std::uint32_t Rows, std::uint32_t R = 0>
constexpr void mask_rows(thread t, const Scores& s, const decode_block& block,
                         const dsl::register_array<decode_row, Rows>& rows, const val<u32>& key,
                         const Functions& functions) {
  if constexpr (std::is_same_v<typename Functions::mask_class, band_mask>) {
    const score_origin<1> first = origin_of_row(t, block, rows[0], key);
    const score_origin<Rows> origin{
        first.batch, first.head,       array_of<Rows>([&](u32 r) { return rows[r].query; }),
        key,         first.last_query, first.last_key,
        first.offset};
    functions.mask(s, origin);
  } else {
    const score_origin<1> origin = origin_of_row(t, block, rows[R], key);
    const scores_of_row<Scores, R> own(s);
    functions.mask(own, origin);
    if constexpr (R + 1 < Rows) mask_rows<Scores, Functions, Rows, R + 1>(t, s, block, rows, key, functions);
  }
}

// Multiplies sums by the correction factors of their rows. After the first tiles, which find the largest
// scores, these are nearly always 1.
template <class Sums, class Corrections>
constexpr void rescale(thread t, Sums& sums, const Corrections& correction) {
  const val changes = t.let(any_of(correction[0] != 1.0f, correction[1] != 1.0f));
  if (auto any = t.when(warp_any(changes)))
    for (auto& part : sums)
      for (std::uint32_t e = 0; e < 4; ++e) part.registers[e] *= correction[e / 2];
}

// The offset of a row of Q, in elements from its address.
template <class Block>
constexpr val<i64> offset_of_queries(thread t, const val<attention_problem>& problem, const Block& block,
                                     const decode_row& row) {
  const auto strides = problem[&attention_problem::q];
  return t.let(cast<i64>(block.batch) * strides[&attention_strides::batch] +
               cast<i64>(row.head) * strides[&attention_strides::head] +
               cast<i64>(block.query_row + row.query) * strides[&attention_strides::row]);
}

// The elements of a row of Q.
template <scalar T>
constexpr in<T> queries_of(thread t, const val<attention_problem>& problem, const decode_block& block,
                           const decode_row& row) {
  const auto strides = problem[&attention_problem::q];
  return pointer_at<in<T>>(t, t.let(strides[&attention_strides::address]))
      .from(offset_of_queries(t, problem, block, row));
}
// The element type of any_half operands. It is read at each use, so that it takes no register in between.
constexpr val<u32> type_of_operands(thread t, const val<attention_split>& split) {
  return t.let(split[&attention_split::type]);
}
constexpr val<bool> operands_are_bf16(thread t, const val<attention_split>& split) {
  return t.let(type_of_operands(t, split) == static_cast<u32>(element_type::bf16));
}

}  // namespace kaio::ops

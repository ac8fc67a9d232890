#pragma once
// The rows of heads that the kernels of qkv_project finish: the row of a group of lanes, and its destination.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/cache/append/place.hpp>
#include <kaio/ops/cache/common/sequences.hpp>
#include <kaio/ops/qkv_project/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// A row of a head. All lanes of a warp have one, also if it does not exist.
struct head_row {
  val<bool> exists;
  val<u32> batch, token;
  val<bool> is_q, is_v;
  val<u32> head;
  val<u32> lane, lanes;
};

// Head `index` among the heads of Q, K and V together.
template <class Problem>
constexpr head_row find_head(thread t, const Problem& problem, const val<bool>& exists, const val<u32>& batch,
                             const val<u32>& token, const val<u32>& index, const val<u32>& lane,
                             const val<u32>& lanes) {
  const val of_q = t.let(problem[&qkv_problem::q][&qkv_part::heads]);
  const val before_v = t.let(of_q + problem[&qkv_problem::k][&qkv_part::heads]);
  const val is_q = t.let(index < of_q), is_v = t.let(index >= before_v);
  const val head = t.let(index - select(is_q, 0u, select(is_v, before_v, of_q)));
  return {exists, batch, token, is_q, is_v, head, lane, lanes};
}

// read(split), where split is the row's Q, K or V.
template <class Problem, class Read>
constexpr auto of_split(thread t, const Problem& problem, const head_row& row, const Read& read) {
  const val q = t.let(read(problem[&qkv_problem::q]));
  const val k = t.let(read(problem[&qkv_problem::k]));
  const val v = t.let(read(problem[&qkv_problem::v]));
  return t.let(select(row.is_q, q, select(row.is_v, v, k)));
}

// The destination of a token in the outputs; of its key and value in the cache, if there is one.
struct token_target {
  val<bool> writes;
  val<u32> page, line, position;
};

template <class Problem>
constexpr token_target find_token(thread t, const Problem& problem, const val<bool>& exists,
                                  const val<u32>& batch, const val<u32>& token, const val<bool>& is_q) {
  const auto append = problem[&qkv_problem::append];
  var writes(t, false);
  var page(t, batch), line(t, token), position(t, token);
  if (auto is_there = t.when(exists)) {
    if (auto cached = t.when(problem[&qkv_problem::cached] != 0u)) {
      const append_place of = place_of_token(t, append, batch, token, is_q);
      writes = select(is_q, of.exists, of.has_place);
      page = select(is_q, batch, of.page);
      line = select(is_q, token, of.row);
      position = of.position;
    }
    if (auto of_tensors = t.otherwise()) {
      writes = true;
      var sequence(t, batch);
      const val cu = t.let(append[&append_problem::cu]);
      if (auto packed = t.when(cu != 0u)) {
        const token_place of = find_sequence(t, cu, t.let(append[&append_problem::sequences]), token);
        writes = of.found;
        sequence = select(of.found, of.sequence, 0u);
        position = token - of.first;
      }
      const val offsets = t.let(problem[&qkv_problem::offsets]);
      if (auto shifted = t.when(all_of(offsets != 0u, writes)))
        position += cast<u32>(pointer_at<in<i32>>(t, offsets)[t.let(sequence)]);
      const auto positions = append[&append_problem::positions];
      if (auto given = t.when(positions[&token_numbers::address] != 0u))
        position = as_index(t, number_of_token(t, positions, batch, token));
    }
  }
  return {t.let(writes), t.let(page), t.let(line), t.let(position)};
}

// The destination of a row: the address of its elements, and its page and line, which place its scale too.
struct head_target {
  val<bool> writes;
  val<u64> to;
  val<u32> page, line, position;
};

// The destinations of all rows of a head: the first address, and strides in elements of 1 << shift bytes.
struct head_memory {
  val<u64> first;
  val<i64> page, line;
  val<u32> shift;
};
template <class Problem>
constexpr head_memory memory_of(thread t, const Problem& problem, const head_row& row) {
  const auto stride = [&](auto member) {
    return of_split(t, problem, row,
                    [&](const auto& split) { return split[&qkv_part::to][&cache_rows::at][member]; });
  };
  const val of_page = stride(&page_strides::page);
  const val of_line = stride(&page_strides::row);
  const val of_head = stride(&page_strides::head);
  const val kept =
      of_split(t, problem, row, [](const auto& split) { return split[&qkv_part::to][&cache_rows::kept]; });
  const val shift = t.let(select(kept == static_cast<u32>(kept_type::same), 1u, 0u));
  const val base = stride(&page_strides::address);
  return {t.let(base + (cast<u64>(cast<i64>(row.head) * of_head) << shift)), of_page, of_line, shift};
}

// The destination of a token's row in that memory.
constexpr head_target target_of(thread t, const head_memory& memory, const token_target& token) {
  const val at = t.let(cast<u64>(cast<i64>(token.page) * memory.page + cast<i64>(token.line) * memory.line));
  return {token.writes, t.let(memory.first + (at << memory.shift)), token.page, token.line, token.position};
}

template <class Problem>
constexpr head_target find_target(thread t, const Problem& problem, const head_row& row) {
  const token_target token = find_token(t, problem, row.exists, row.batch, row.token, row.is_q);
  return target_of(t, memory_of(t, problem, row), token);
}

}  // namespace kaio::ops

#pragma once
// The gradient of a weight: each row of the vocabulary adds the rows of dout of its tokens, in increasing order of
// tokens, in f32.
//
//   counts     tokens of each row, by atomics                        embedding_token_lists
//   starts     exclusive scan of counts                              scan
//   list       the tokens of each row, in any order, by atomics      embedding_token_lists
//   rows       a block has some rows and up to 1024 columns          embedding_gradient
//
// A block sorts up to 2048 tokens of its row by counting the smaller ones. For a row with more it searches all
// tokens in order. So nothing depends on the order of atomics.

#include <kaio/ops/embedding/common/problem.hpp>
#include <kaio/ops/shared/element_run.hpp>
#include <kaio/ops/shared/row_elements.hpp>

namespace kaio::ops {

inline constexpr u32 gradient_threads = 128;
inline constexpr u32 gradient_columns = gradient_threads * run_size;
inline constexpr u32 gradient_tokens = 2048;  // that a block sorts, or searches at once

// Launched with over(tokens): first to count, then to write the list.
template <class = void>
inline constexpr auto embedding_token_lists =
    kaio::kernel<"embedding_token_lists", 256, kernel_options{.target = {70}}>(
        [](thread t, val<embedding_lists> lists) {
          const auto of = lists[&embedding_lists::of];
          const val i = t.global_id();
          if (auto exists = t.when(i < of[&embedding_tokens::tokens])) {
            const embedding_token token = token_of(t, of, i);
            if (auto has = t.when(all_of(token.known, token.index != lists[&embedding_lists::padding]))) {
              const auto counts = pointer_at<inout<u32>>(t, t.let(lists[&embedding_lists::counts]));
              if (auto counting = t.when(lists[&embedding_lists::places] == 0u))
                atomic_add(counts[token.index], 1u);
              if (auto writing = t.otherwise()) {
                const val left = atomic_sub(counts[token.index], 1u);
                const val start = pointer_at<in<u32>>(t, t.let(lists[&embedding_lists::starts]))[token.index];
                pointer_at<out<u32>>(t, t.let(lists[&embedding_lists::list]))[start + left - 1u] = i;
              }
            }
          }
        });

template <dsl::scalar T>
struct embedding_gradient_body {
  using elements = row_elements<T, 70>;
  static constexpr u32 batch = 32 / elements::words;  // tokens whose runs a thread has in flight

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem) {
    shared<u32, gradient_tokens> unsorted(t);
    shared<u64, gradient_tokens> rows(t);  // bytes from dout, in the order of tokens
    const auto lists = problem[&embedding_gradient_problem::lists];
    const auto of = lists[&embedding_lists::of];
    const val rank = t.let(t.thread_rank());
    const val blocks = t.let(problem[&embedding_gradient_problem::column_blocks]);
    const val first_word = t.let(block_idx_x() / blocks);
    const val step = t.let(problem[&embedding_gradient_problem::word_blocks]);
    const val vocabulary = t.let(cast<u32>(of[&embedding_tokens::vocabulary]));
    const val first = t.let((block_idx_x() % blocks) * gradient_columns + rank * run_size);
    const auto starts = pointer_at<in<u32>>(t, t.let(lists[&embedding_lists::starts]));
    const val size = t.let(problem[&embedding_gradient_problem::size]);
    const val accumulate = t.let(problem[&embedding_gradient_problem::accumulate] != 0u);
    const auto row_of_token = [&](const val<u32>& token) {
      const kept_offsets offsets = offsets_of(t, token, of[&embedding_tokens::kept]);
      return t.let(cast<u64>(offsets.to) * u64{sizeof(T)});
    };

    // Words that are far apart: neighbours are often used by many tokens, or by none.
    // The bounds of the next list arrive while this one is added.
    var next_start(t, starts[first_word]);
    var next_end(t, starts[first_word + 1u]);
    for (auto word : t.range(first_word, vocabulary, step).no_unroll()) {
      const val start = t.let(next_start);
      const val count = t.let(next_end - start);
      if (auto more = t.when(vocabulary - word > step)) {
        next_start = starts[word + step];
        next_end = starts[word + step + 1u];
      }
      auto sums = array_of<run_size>([&](u32) { return var(t, 0.0f); });
      const val is_few = t.let(count <= gradient_tokens);
      const val searched = t.let(select(is_few, min(count, 1u), of[&embedding_tokens::tokens]));
      for (auto tile : t.range(0u, searched, gradient_tokens).no_unroll()) {
        var found(t, count);
        if (auto few = t.when(is_few)) {
          const auto list = pointer_at<in<u32>>(t, t.let(lists[&embedding_lists::list])).from(start);
          for (auto i : t.block_stride(count)) unsorted[i] = list[i];
          t.barrier();
          for (auto i : t.block_stride(count)) {
            const val own = t.let(unsorted[i]);
            var place(t, 0u);
            for (auto k : t.range(0u, count).template unroll<4>()) place += select(unsorted[k] < own, 1u, 0u);
            const val row = row_of_token(own);
            rows[t.let(place)] = row;
          }
        }
        if (auto many = t.otherwise()) {
          const u32 of_thread = gradient_tokens / gradient_threads;
          const val mine = t.let(tile + rank * of_thread);
          const val end = t.let(min(mine + of_thread, of[&embedding_tokens::tokens]));
          const auto each_own = [&](const auto& f) {
            for (auto i : t.range(mine, end).no_unroll()) {
              const embedding_token token = token_of(t, of, i);
              if (auto own = t.when(token.index == cast<i64>(word))) f(token);
            }
          };
          var own(t, 0u);
          each_own([&](const embedding_token&) { own += 1u; });
          const val of_this = t.let(own);
          const val before = block_exclusive_scan(t, of_this, plus{}, 0u);
          found = block_reduce(t, of_this, plus{});
          var place(t, before);
          each_own([&](const embedding_token& token) {
            rows[t.let(place)] = t.let(cast<u64>(token.row) * u64{sizeof(T)});
            place += 1u;
          });
        }
        t.barrier();
        add_rows(t, problem, rows, first, size, t.let(found), sums);
        t.barrier();
      }

      if (auto writes = t.when(all_of(first < size, any_of(count != 0u, !accumulate)))) {
        const val type = t.let(problem[&embedding_gradient_problem::dweight_type]);
        const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
        const val row =
            t.let(problem[&embedding_gradient_problem::dweight] +
                  (cast<u64>(cast<i64>(word) * problem[&embedding_gradient_problem::dweight_row]) << shift));
        const element_run to = run_of(t, row, shift, first, size,
                                      t.let(problem[&embedding_gradient_problem::dweight_aligned] != 0u));
        if (auto adds = t.when(accumulate)) {
          auto before = array_of<run_size>([&](u32) { return var(t, 0.0f); });
          load_run(t, type, to, before, 0);
          for (u32 i = 0; i < run_size; ++i) sums[i] += before[i];
        }
        store_run(t, type, to, sums, 0);
      }
    }
  }

 private:
  template <class Problem, class Rows>
  static constexpr void add_rows(thread t, const Problem& problem, const Rows& rows, const val<u32>& first,
                                 const val<u32>& size, const val<u32>& count, auto& sums) {
    const val from = t.let(problem[&embedding_gradient_problem::dout] + cast<u64>(first) * u64{sizeof(T)});
    const val is_whole = t.let(all_of(problem[&embedding_gradient_problem::dout_aligned] != 0u, first < size,
                                      size - first >= run_size));
    const auto add = [&](const auto& words, u32 at) {
      for (u32 i = 0; i < run_size; ++i) {
        const val one = elements::value(t, words, at, i);
        sums[i] += one;
      }
    };
    if (auto whole = t.when(is_whole)) {
      const val batches = t.let(count / batch);
      for (auto b : t.range(0u, batches).no_unroll()) {
        auto words = array_of<batch * elements::words>([&](u32) { return var(t, 0u); });
        for (u32 i = 0; i < batch; ++i) {
          const val at = t.let(from + rows[b * batch + i]);
          elements::load_words(t, at, words, i * elements::words);
        }
        for (u32 i = 0; i < batch; ++i) add(words, i * elements::words);
      }
      for (auto k : t.range(t.let(batches * batch), count).no_unroll()) {
        auto words = array_of<elements::words>([&](u32) { return var(t, 0u); });
        const val at = t.let(from + rows[k]);
        elements::load_words(t, at, words, 0);
        add(words, 0);
      }
    }
    if (auto part = t.when(all_of(!is_whole, first < size)))
      for (auto k : t.range(0u, count).no_unroll()) {
        const val at = t.let(from + rows[k]);
        const auto memory = pointer_at<in<typename elements::element>>(t, at);
        for (u32 i = 0; i < run_size; ++i)
          if (auto inside = t.when(size - first > i)) sums[i] += elements::stored::read(memory[i]);
      }
  }
};

// Launched with grid(word_blocks * column_blocks).
template <dsl::scalar T>
inline constexpr auto embedding_gradient =
    kaio::kernel<"embedding_gradient_" + type_name<T>, gradient_threads,
                 kernel_options{.target = {70}, .min_blocks = 8}>(
        [](thread t, val<embedding_gradient_problem> problem) {
          embedding_gradient_body<T>::run(t, problem);
        });

}  // namespace kaio::ops

#pragma once
// The end of the f32 matmul kernels: a thread's sums pass through the epilogue to C, a row of four columns at a
// time. If the steps of K are divided, the sums of the groups of warps and of the blocks of a cluster are added
// first (shared_sums.hpp).

#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/simt/config.hpp>
#include <kaio/ops/matmul/simt/rows.hpp>
#include <kaio/ops/matmul/simt/shared_sums.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// A thread's place in C.
struct simt_output {
  val<u32> batch, first_row, first_column;
  val<bool> is_f32;  // whether the elements of C are f32
  val<i64> offset;   // of the batch, in elements
};

// memory(f) calls f with C as out<T>, T its element type.
template <simt_config C, class Epilogue, class Memory>
class simt_store {
  using rows_of_a = simt_rows<C.a, simt_config::lanes_m>;
  using rows_of_b = simt_rows<C.b, simt_config::lanes_n>;

 public:
  constexpr simt_store(thread t, const simt_output& to, const Memory& memory,
                       const val<simt_problem>& problem)
      : t_(t),
        to_(to),
        memory_(memory),
        m_(t.let(problem[&simt_problem::m])),
        n_(t.let(problem[&simt_problem::n])),
        exchanged_(t.let(problem[&simt_problem::exchanged] != 0)),
        vectors_(t.let(problem[&simt_problem::vector_stores] != 0)),
        ldc_(t.let(problem[&simt_problem::ldc])),
        last_(t.let(n_ - 1u)),
        first_offset_(t.let(to.offset + cast<i64>(to.first_column))),
        column_(
            array_of<C.thread_n>([&](std::uint32_t i) { return t.let(to.first_column + rows_of_b::of(i)); })),
        exists_(array_of<C.thread_n>([&](std::uint32_t i) { return t.let(column_[i] < n_); })),
        whole_(array_of<C.thread_n / 4>(
            [&](std::uint32_t four) { return t.let(all_of(vectors_, exists_[4 * four + 3])); })) {}

  // sums: thread_m x thread_n
  template <class Sums, class... Extra>
  constexpr void run(const Sums& sums, const Extra&... extra) const {
    if constexpr (C.clusters) {
      // Read here from special registers, so that they take no registers during the loop.
      const val blocks = cluster_size(t_);
      const val alone = t_.let(blocks == 1u);
      const simt_shared_sums<C> shared_sums(t_, blocks);
      if constexpr (C.groups == 1)
        store_own(shared_sums, alone, sums, extra...);
      else
        store_own(shared_sums, alone, shared_sums.add_groups(sums), extra...);
    } else if constexpr (works_in_registers<Epilogue>) {
      for (std::uint32_t r = 0; r < C.thread_m; ++r)
        store_row(t_.let(to_.first_row + rows_of_a::of(r)), sums[r], extra...);
    } else {
      store_selected(sums, extra...);
    }
  }

 private:
  // Emits the epilogue for one row only. Registers have constant numbers, so selects pick the row.
  template <class Sums, class... Extra>
  constexpr void store_selected(const Sums& sums, const Extra&... extra) const {
    for (auto r : t_.range(0u, C.thread_m).no_unroll()) {
      auto x = array_of<C.thread_n>([&](std::uint32_t i) { return var(t_, sums[0][i]); });
      var row(t_, to_.first_row + rows_of_a::of(0));
      for (std::uint32_t known = 1; known < C.thread_m; ++known)
        if (auto chosen = t_.when(r == known)) {
          row = to_.first_row + rows_of_a::of(known);
          for (std::uint32_t i = 0; i < C.thread_n; ++i) x[i] = sums[known][i];
        }
      store_row(t_.let(row), x, extra...);
    }
  }

  // Stores the rows that the thread and its block have after add_groups. alone: the cluster has one block.
  template <class Own, class... Extra>
  constexpr void store_own(const simt_shared_sums<C>& shared_sums, const val<bool>& alone, const Own& own,
                           const Extra&... extra) const {
    if constexpr (works_in_registers<Epilogue>) {
      if (auto one = t_.when(alone))
        for (std::uint32_t r = 0; r < shared_sums.own_rows; ++r)
          store_row(row_of(shared_sums, r), own[r], extra...);
      if (auto many = t_.otherwise()) store_of_cluster(shared_sums, own, extra...);
    } else if constexpr (std::is_same_v<Epilogue, general>) {
      store_by_terms(shared_sums, alone, own, extra...);
    } else {
      store_of_cluster(shared_sums, own, extra...);
    }
  }
  // The terms say whether alpha is all that the epilogue does.
  template <class Own>
  constexpr void store_by_terms(const simt_shared_sums<C>& shared_sums, const val<bool>& alone,
                                const Own& own, const val<matmul_terms>& terms) const {
    const val plain = t_.let(all_of(alone, to_.is_f32, terms[&matmul_terms::plain] != 0u));
    if (auto direct = t_.when(plain)) store_scaled(shared_sums, own, t_.let(terms[&matmul_terms::alpha]));
    if (auto others = t_.otherwise()) store_of_cluster(shared_sums, own, terms);
  }
  // For one block: alpha times its sums as f32, straight from registers. The rows do not wait for each other.
  template <class Own>
  constexpr void store_scaled(const simt_shared_sums<C>& shared_sums, const Own& own,
                              const val<f32>& alpha) const {
    memory_([&]<class Out>(const out<Out>& c) {
      if constexpr (std::is_same_v<Out, f32>)
        for (std::uint32_t r = 0; r < shared_sums.own_rows; ++r) {
          const val row = row_of(shared_sums, r);
          const out line = c.from(first_offset_ + cast<i64>(row) * ldc_);
          const auto y = array_of<C.thread_n>([&](std::uint32_t i) { return t_.let(own[r][i] * alpha); });
          if (auto in_rows = t_.when(row < m_))
            for (std::uint32_t i = 0; i < C.thread_n; i += 4)
              store_four(line, i, array_of<4>([&](std::uint32_t j) { return y[i + j]; }));
        }
    });
  }
  // Emits the epilogue for one row only.
  template <class Own, class... Extra>
  constexpr void store_of_cluster(const simt_shared_sums<C>& shared_sums, const Own& own,
                                  const Extra&... extra) const {
    shared_sums.stage(own);
    shared_sums.meet();
    shared_sums.template for_each_row<!works_in_registers<Epilogue>>(
        cluster_rank(t_), [&](const val<u32>& r, const auto& x) {
          store_row(t_.let(to_.first_row + rows_of_a::of(t_, r)), x, extra...);
        });
    shared_sums.meet();
  }
  // The row of own row `r`.
  constexpr auto row_of(const simt_shared_sums<C>& shared_sums, std::uint32_t r) const {
    if constexpr (C.groups == 1)
      return t_.let(to_.first_row + rows_of_a::of(r));
    else
      return t_.let(to_.first_row + rows_of_a::of(t_, shared_sums.row(r)));
  }

  // Stores one row of the thread, four columns at a time. `x`: its thread_n sums.
  template <class X, class... Extra>
  constexpr void store_row(const val<u32>& row, const X& x, const Extra&... extra) const {
    if (auto in_rows = t_.when(row < m_)) {
      const val row_offset = t_.let(first_offset_ + cast<i64>(row) * ldc_);
      for (std::uint32_t i = 0; i < C.thread_n; i += 4) {
        if (auto in_columns = t_.when(exists_[i])) {
          const auto places = array_of<4>([&](std::uint32_t j) { return place_of(row, i, i + j); });
          const auto four = array_of<4>([&](std::uint32_t j) { return val<f32>(t_.let(x[i + j])); });
          const auto y = finished<Epilogue>(t_, four, places, extra...);
          memory_([&]<class Out>(const out<Out>& c) {
            const out line = c.from(row_offset);
            store_four(line, i, array_of<4>([&](std::uint32_t j) { return t_.let(cast<Out>(y[j])); }));
          });
        }
      }
    }
  }
  // The place of column i. If it is beyond C, another column of this thread takes its place.
  constexpr place place_of(const val<u32>& row, std::uint32_t first, std::uint32_t i) const {
    if constexpr (works_in_registers<Epilogue>) {
      return place{to_.batch, row, column_[i]};
    } else {
      const val inside = t_.let(select(exists_[i], column_[i], C.b == major::mn ? last_ : column_[first]));
      return place{to_.batch, t_.let(select(exchanged_, inside, row)),
                   t_.let(select(exchanged_, row, inside))};
    }
  }
  // Stores four columns of a row from `i` on; drops those beyond C.
  template <class Line, class Z>
  constexpr void store_four(const Line& line, std::uint32_t i, const Z& z) const {
    if constexpr (C.b == major::mn) {
      if (auto at_once = t_.when(whole_[i / 4]))
        store_vec(line[rows_of_b::of(i)], make_vec(z[0], z[1], z[2], z[3]));
      if (auto apart = t_.otherwise()) store_each(line, i, z);
    } else {
      store_each(line, i, z);
    }
  }
  template <class Line, class Z>
  constexpr void store_each(const Line& line, std::uint32_t i, const Z& z) const {
    for (std::uint32_t j = 0; j < 4; ++j)
      if (auto there = t_.when(exists_[i + j])) line[rows_of_b::of(i + j)] = z[j];
  }

  thread t_;
  const simt_output& to_;
  const Memory& memory_;
  val<u32> m_, n_;
  val<bool> exchanged_, vectors_;
  val<i64> ldc_;
  val<u32> last_;
  val<i64> first_offset_;                                 // of column 0 of row 0
  dsl::register_array<val<u32>, C.thread_n> column_;      // of the thread's sums
  dsl::register_array<val<bool>, C.thread_n> exists_;     // whether C has the column
  dsl::register_array<val<bool>, C.thread_n / 4> whole_;  // whether a store takes all four columns
};

// Stores the sums of a thread; extra: the parameters of the epilogue.
template <simt_config C, class Epilogue, class Memory, class Sums, class... Extra>
constexpr void store_simt_sums(thread t, const simt_output& to, const Memory& memory,
                               const val<simt_problem>& problem, const Sums& sums, const Extra&... extra) {
  simt_store<C, Epilogue, Memory>(t, to, memory, problem).run(sums, extra...);
}

}  // namespace kaio::ops

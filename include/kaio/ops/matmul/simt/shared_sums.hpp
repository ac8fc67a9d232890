#pragma once
// The sums of a tile whose steps of K are divided among groups of warps of a block and among the blocks of a
// cluster. They meet in shared memory and are added in the order of K, each row by one thread.
//
//   per thread   thread_m x thread_n sums; groups * blocks threads hold parts of the same sums
//   per group    after add_groups: thread_m / groups rows, which are whole sums of the block
//   per block    every blocks-th of these rows, which for_each_row adds up over the cluster

#include <kaio/dsl/cluster.hpp>
#include <kaio/ops/matmul/simt/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <simt_config C>
class simt_shared_sums {
 public:
  static constexpr std::uint32_t own_rows = C.thread_m / C.groups;

  // `blocks`: blocks of the cluster.
  constexpr simt_shared_sums(thread t, const val<u32>& blocks)
      : t_(t),
        staged_(t, std::uint64_t{C.threads()} * C.thread_m * C.thread_n),
        in_group_(C.groups == 1 ? t.thread_rank() : t.let(t.thread_rank() % C.group_threads())),
        first_own_(C.groups == 1 ? t.let(0u) : t.let(t.thread_rank() / C.group_threads() * own_rows)),
        blocks_(blocks) {}

  // The number of own row `r` among the thread's rows.
  constexpr val<u32> row(std::uint32_t r) const { return t_.let(first_own_ + r); }

  // Adds the groups' sums for the thread's own rows, from the first group on.
  template <class Sums>
  constexpr auto add_groups(const Sums& sums) const {
    for (std::uint32_t r = 0; r < C.thread_m; ++r)
      for (std::uint32_t i = 0; i < C.thread_n; i += 4)
        store_vec(cell(r, i, t_.thread_rank()), four_of(sums[r], i));
    t_.barrier();
    return array_of<own_rows>([&](std::uint32_t r) {
      auto x = array_of<C.thread_n>([&](std::uint32_t) { return var(t_, 0.0f); });
      for (std::uint32_t i = 0; i < C.thread_n; i += 4)
        for (std::uint32_t group = 0; group < C.groups; ++group) {
          const val four = load_vec<4>(cell(row(r), i, t_.let(in_group_ + group * C.group_threads())));
          for (std::uint32_t j = 0; j < 4; ++j) x[i + j] += four[j];
        }
      return x;
    });
  }

  // Stores own rows where the cluster finds them. Only this thread reads these cells before.
  template <class Own>
  constexpr void stage(const Own& own) const {
    for (std::uint32_t r = 0; r < own_rows; ++r)
      for (std::uint32_t i = 0; i < C.thread_n; i += 4)
        store_vec(cell(row(r), i, in_group_), four_of(own[r], i));
  }
  // Called before other blocks' sums are read, and after.
  constexpr void meet() const {
    if (auto others = t_.when(blocks_ != 1u)) cluster_barrier(t_);
  }
  // Calls f(row, x) for the rows that this block stores, x their sums over the cluster. MayBeOne: the
  // cluster may have one block.
  template <bool MayBeOne, class F>
  constexpr void for_each_row(const val<u32>& rank, const F& f) const {
    for (auto r : t_.range(first_own_ + rank, first_own_ + own_rows, blocks_).no_unroll()) {
      auto x = array_of<C.thread_n>([&](std::uint32_t) { return var(t_, 0.0f); });
      for (std::uint32_t i = 0; i < C.thread_n; i += 4) add_blocks<MayBeOne>(t_.let(r), i, x);
      f(t_.let(r), x);
    }
  }

 private:
  static constexpr std::uint32_t at_once = 8;

  // Four sums of a row, as the thread `rank` of the block holds them.
  template <class Row>
  constexpr auto cell(const Row& r, std::uint32_t i, const val<u32>& rank) const {
    return staged_[(r * (C.thread_n / 4) + i / 4) * (4 * C.threads()) + rank * 4u];
  }
  template <class X>
  static constexpr auto four_of(const X& x, std::uint32_t i) {
    return make_vec(x[i], x[i + 1], x[i + 2], x[i + 3]);
  }
  // Loads the sums of eight blocks before it adds the first.
  template <bool MayBeOne, class X>
  constexpr void add_blocks(const val<u32>& r, std::uint32_t i, X& x) const {
    const auto mine = cell(r, i, in_group_);
    const auto several = [&] {
      for (auto first : t_.range(0u, blocks_, at_once).no_unroll()) {
        auto parts = array_of<at_once>(
            [&](std::uint32_t) { return array_of<4>([&](std::uint32_t) { return var(t_, 0.0f); }); });
        for (std::uint32_t s = 0; s < at_once; ++s)
          if (auto present = t_.when(first + s < blocks_)) {
            const val four = load_vec<4>(remote(mine, t_.let(first + s)));
            for (std::uint32_t j = 0; j < 4; ++j) parts[s][j] = four[j];
          }
        for (std::uint32_t s = 0; s < at_once; ++s)
          for (std::uint32_t j = 0; j < 4; ++j) x[i + j] += parts[s][j];
      }
    };
    if constexpr (!MayBeOne) {
      several();
    } else {
      if (auto one = t_.when(blocks_ == 1u)) {
        const val four = load_vec<4>(mine);
        for (std::uint32_t j = 0; j < 4; ++j) x[i + j] = four[j];
      }
      if (auto many = t_.otherwise()) several();
    }
  }

  thread t_;
  shared_array<f32> staged_;
  val<u32> in_group_, first_own_, blocks_;
};

}  // namespace kaio::ops

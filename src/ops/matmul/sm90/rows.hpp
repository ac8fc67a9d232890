#pragma once
// The table rows of the kernels for sm_90a, by configuration.

#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/sm90/table_row.hpp>

#include <cstdint>
#include <type_traits>

#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

// Calls add(cluster) for each shape and each number of columns that a configuration leaves to the launch.
template <sm90_config C, class Add>
void for_each_cluster(const Add& add) {
  for (std::uint32_t i = 0; i < C.widths; ++i) {
    const std::uint32_t columns = i == 0 ? 0 : C.width(i);
    if constexpr (C.by_launch()) {
      for (const sm90_cluster cluster : {sm90_cluster{1, 1}, {2, 1}, {1, 2}, {2, 2}})
        if (cluster.n <= C.most_cluster_n()) add(sm90_cluster{cluster.m, cluster.n, columns});
    } else {
      add(sm90_cluster{C.cluster_m, C.cluster_n, columns});
    }
  }
}

// C is stored by tensor copies: with alpha alone, or, in the 16 bits of the operands, with what tile_terms
// add.
template <sm90_config C, class T, class Out>
void add_sm90_copied(variant_list& list) {
  constexpr bool adds = std::is_same_v<T, Out> && sizeof(Out) == 2;
  for_each_cluster<C>([&](sm90_cluster cluster) {
    matmul_variant row = describe_sm90<C, T, Out, std::conditional_t<adds, with_terms<Out>, scaled>>(cluster);
    row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
      const sm90_cluster of_call{v.cluster_m, v.cluster_n, v.is_narrow ? v.n : 0};
      if constexpr (std::is_same_v<T, Out> && sizeof(Out) == 2)
        launch_call_terms<C, T>(s, call, of_call);
      else
        launch_call_clusters<C, T, Out, scaled>(s, call, of_call, call.terms.alpha);
    };
    list.push_back(row);
  });
}

// All epilogue arguments. One kernel serves every element type of C: its store ends with a branch that is
// uniform across threads.
template <sm90_config C, class T>
void add_sm90_general(variant_list& list) {
  for_each_cluster<C>([&](sm90_cluster cluster) {
    matmul_variant row = describe_sm90<C, T, any_output, general>(cluster);
    row.run = [](const stream& s, const matmul_call& call, const matmul_variant& v) {
      launch_call_clusters<C, T, any_output, general>(s, call, {v.cluster_m, v.cluster_n}, call.terms);
    };
    add_for_each_output(list, row);
  });
}

// The blocks of a portable cluster.
inline constexpr std::uint32_t most_cluster = 8;

template <sm90_split_config C, class T>
void add_sm90_split(variant_list& list) {
  const auto add = [&](sm90_parts parts) {
    matmul_variant row = describe_split<C, T, any_output, general>(parts);
    row.run = [](const stream& s, const matmul_call& whole, const matmul_variant& v) {
      for_batches(whole, most_grid_z / v.cluster_splits, [&](const matmul_call& call) {
        launch_call_splits<C, T, any_output, general>(s, call, {v.cluster_splits, {v.cluster_m, v.cluster_n}},
                                                      call.terms);
      });
    };
    add_for_each_output(list, row);
  };
  if constexpr (C.by_launch()) {
    if (C.any_lines() || C.min_blocks != 1) add(1);
    for (const std::uint32_t splits : {2u, 4u, 8u}) {
      if constexpr (C.shares) {
        for_each_cluster<C.loop()>([&](sm90_cluster sharing) {
          if (splits * sharing.blocks() <= most_cluster) add({splits, sharing});
        });
      } else {
        add(splits);
      }
    }
  } else {
    add(C.splits);
  }
}

// Elements of 16 bits in all layouts, by one kernel. A B across K is in panels of 64, so narrower tiles take
// it along K only.
template <sm90_config C, class T, class Out>
void add_sm90_copied_layouts(variant_list& list) {
  if constexpr (C.n % 64 == 0) {
    add_sm90_copied<with_lines_by_launch<C>(major::k, major::k), T, Out>(list);
    add_sm90_copied<with_lines_by_launch<C>(major::mn, major::k), T, Out>(list);
    add_sm90_copied<with_lines_by_launch<C>(major::k, major::mn), T, Out>(list);
    add_sm90_copied<with_lines_by_launch<C>(major::mn, major::mn), T, Out>(list);
  } else {
    add_sm90_copied<with_lines_of_a_by_launch<C>(major::k, major::k), T, Out>(list);
    add_sm90_copied<with_lines_of_a_by_launch<C>(major::mn, major::k), T, Out>(list);
  }
}
template <sm90_config C, class T>
void add_sm90_general_layouts(variant_list& list) {
  static_assert(C.n % 64 == 0);
  add_sm90_general<with_lines_by_launch<C>(major::k, major::k), T>(list);
  add_sm90_general<with_lines_by_launch<C>(major::mn, major::k), T>(list);
  add_sm90_general<with_lines_by_launch<C>(major::k, major::mn), T>(list);
  add_sm90_general<with_lines_by_launch<C>(major::mn, major::mn), T>(list);
}

// The kernel's B is k-major, as the few rows of a skinny problem are; tiles of fewer than 64 along N can read
// no other.
template <sm90_split_config C, class T>
void add_sm90_split_along_k(variant_list& list) {
  if constexpr (sizeof(T) == 2) {
    add_sm90_split<with_lines_of_a_by_launch<C>(major::k, major::k), T>(list);
    add_sm90_split<with_lines_of_a_by_launch<C>(major::mn, major::k), T>(list);
  } else {
    add_sm90_split<with_lines<C>(major::k, major::k), T>(list);
    add_sm90_split<with_lines<C>(major::mn, major::k), T>(list);
  }
}
template <sm90_split_config C, class T>
void add_sm90_split_layouts(variant_list& list) {
  add_sm90_split<with_lines_by_launch<C>(major::k, major::k), T>(list);
  add_sm90_split<with_lines_by_launch<C>(major::mn, major::k), T>(list);
  add_sm90_split<with_lines_by_launch<C>(major::k, major::mn), T>(list);
  add_sm90_split<with_lines_by_launch<C>(major::mn, major::mn), T>(list);
}

}  // namespace kaio::ops

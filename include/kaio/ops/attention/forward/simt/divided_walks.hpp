#pragma once
// The walks over keys of a block whose number of queries depends on `groups`, the warps that share rows.
// Tiles of keys are those of one warp.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>

#include <cstdint>

namespace kaio::ops {

template <attention_simt_config C, class Walks>
struct divided_walks {
  Walks walks;
  val<u32> groups;

  constexpr val<u32> queries(thread t) const { return t.let(C.warps * C.warp_rows() / groups); }
  constexpr val<u32> first_query(thread t, const var<u32>& tile, std::uint32_t) const {
    return either(t, [&](std::uint32_t size) { return walks.first_query(t, tile, size); });
  }
  constexpr val<u32> query_limit(thread t, const var<u32>& tile, const val<u32>& all, std::uint32_t) const {
    return either(t, [&](std::uint32_t size) { return walks.query_limit(t, tile, all, size); });
  }
  constexpr auto walk(thread t, const attention_block& block) const {
    const val last = t.let(min(block.queries, block.first_query + queries(t)));
    const attention_block own{
        block.batch, block.head,         block.group,       block.first_query, block.query_limit, last,
        block.keys,  block.tensor_batch, block.first_q_row, block.first_k_row, block.offset};
    return walks.template walk<C.tile_keys>(t, own, most_queries);
  }

 private:
  static constexpr std::uint32_t most_queries = C.queries(C.least_groups);

  template <class Of>
  constexpr val<u32> either(thread t, const Of& of) const {
    var<u32> result(t, of(most_queries));
    if constexpr (C.least_groups != C.most_groups)
      if (auto few = t.when(groups != C.least_groups)) result = of(C.queries(C.most_groups));
    return t.let(result);
  }
};

}  // namespace kaio::ops

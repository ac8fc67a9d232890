#pragma once
// The shared memory of a block of attention by multiply-adds, and the numbers that its threads' shapes give.

#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/forward/simt/config.hpp>
#include <kaio/ops/attention/forward/simt/loads.hpp>
#include <kaio/ops/attention/forward/simt/totals.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// A thread has `rows` rows x `columns` keys of S, and `rows` rows x `fours` times four columns of O.
template <attention_simt_config C>
struct attention_simt_shape {
  static constexpr std::uint32_t rows = C.rows, lanes = C.column_lanes(), columns = C.tile_keys / lanes,
                                 fours = C.depth / (4 * lanes);
  static constexpr std::uint32_t value_keys = C.value_keys();
  static constexpr std::uint32_t step_keys = std::min(value_keys, 4u);  // keys of P per load
  static constexpr std::uint32_t most_queries = C.queries(C.least_groups);
};

// K and V take turns in their memory.
template <attention_simt_config C>
struct attention_simt_shared {
  using shape = attention_simt_shape<C>;
  template <std::uint32_t Rows, std::uint32_t Columns>
  using tile = shared_tile<f32, Rows, Columns, dsl::padded<C.padding>>;
  using kv_memory = shared_tile<f32, 1, C.kv_floats(), dsl::row_major>;
  using k_tile = tile<C.keys(C.most_groups), C.chunk>;
  using v_tile = tile<C.most_groups * shape::value_keys, C.depth>;

  tile<shape::most_queries, C.depth> q;  // queries x depth; at the end O
  kv_memory kv;
  k_tile k;                                      // keys of all groups x chunk
  v_tile v;                                      // value_keys of each group x depth
  tile<C.warps * C.warp_rows(), C.tile_keys> p;  // rows of all warps x keys of one
  simt::key_tiles<C> tiles;
  simt::row_totals<C> totals;

  constexpr explicit attention_simt_shared(thread t)
      : q(t), kv(t), k(k_tile::over(kv)), v(v_tile::over(kv)), p(t), tiles(t), totals(t) {}
};

}  // namespace kaio::ops

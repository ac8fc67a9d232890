#pragma once
// The copies of a warp's keys and values from a cache to its own tiles in shared memory. They are
// asynchronous, of 16 bytes, through the page numbers. A warp waits only for its own copies. The pages of a
// tile's rows are read one tile ahead. Strides from page to page and from row to row are below 2^32 elements.
// A tile has elements of T; each holds `Codes` elements of the cache.
//
// The first tile is copied when the previous kernel has ended, or earlier if that kernel writes none of its
// keys.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Addresses in K and V of the lane's first 16 bytes of the first row of a KV head. They follow from the
// launch alone.
struct decode_columns {
  val<u64> k, v;
};

// Nothing is copied along with a key.
struct keys_alone {};

// Entry stage * key_warps + warp of the ring has own_keys x depth elements of K, and then of V. Together they
// have the bytes of own_keys x depth / Codes f32. Eight lanes copy a row, 128 neighbouring bytes at a time;
// if it has 64 bytes, four lanes do. WithKeys: with_keys(stage, key of the tile, page, row, exists, lane
// within those that copy the row) begins to copy what belongs to a key.
template <auto C, scalar T, std::uint32_t Codes = 1, class WithKeys = keys_alone>
class attention_decode_warp_copies {
  static constexpr std::uint32_t row_size = C.depth / Codes,  // in T
      panel_bytes = row_size * sizeof(T) < 128 ? row_size * sizeof(T) : 128, piece = 16 / sizeof(T),
                                 lanes = panel_bytes / 16, across = lanes * piece, apart = 32 / lanes,
                                 rows = C.own_keys() / apart, later = C.stages - 2,
                                 of_later = later == 0 ? 1 : later * rows,
                                 places = 8 / apart;  // swizzled rows repeat after eight
  static constexpr u64 element_bytes = sizeof(T) / Codes;
  static_assert(C.own_keys() % apart == 0 && row_size % across == 0);

 public:
  using tile = shared_tile<T, C.own_keys(), row_size, dsl::swizzled<panel_bytes>>;
  using ring = shared_tiles<f32, C.own_keys() / Codes, C.depth, dsl::swizzled<128>, C.stages * C.key_warps>;
  static_assert(ring::tile_type::bytes == 2 * tile::bytes);

  static constexpr tile keys_of(const typename ring::tile_type& entry) { return tile::over(entry); }
  static constexpr tile values_of(const typename ring::tile_type& entry) {
    return tile::over(entry, tile::bytes);
  }

  static constexpr decode_columns columns_of(thread t, const val<attention_problem>& problem,
                                             const val<u32>& head) {
    const val column = column_of(t);
    const auto address = [&](auto member) {
      const auto strides = problem[member];
      const val offset =
          t.let(cast<i64>(head) * strides[&attention_strides::head] + cast<i64>(elements(column)));
      return t.let(strides[&attention_strides::address] + cast<u64>(offset) * element_bytes);
    };
    return {address(&attention_problem::k), address(&attention_problem::v)};
  }

  // Begins to copy the first tile. On return, the previous kernel has ended. settled: keys before this one
  // were in memory when this kernel began.
  constexpr attention_decode_warp_copies(thread t, const ring& to, const val<attention_problem>& problem,
                                         const val<attention_cache>& cache, const decode_columns& columns,
                                         const decode_block& block, const val<u32>& settled,
                                         const val<u32>& warp, const WithKeys& with_keys = {})
      : t_(t),
        ring_(to),
        problem_(problem),
        columns_(columns),
        places_(t, cache, block.sequence),
        first_(t, block.first + warp * C.own_keys()),
        end_(block.last),
        tiles_end_(t.let(block.last + warp * C.own_keys())),
        last_(t.let(block.last - 1u)),
        line_(t.let(t.lane_rank() / lanes)),
        column_(column_of(t)),
        warp_(warp),
        with_keys_(with_keys),
        has_all_columns_(t.let(all_of(problem[&attention_problem::qk_size] == C.depth,
                                      problem[&attention_problem::v_size] == C.depth))),
        lane_(array_of<places>(
            [&](u32 i) { return keys_of(to[0]).lane(t.let(line_ + i * apart), column_, across); })),
        page_(array_of<rows>([&](u32) { return var(t, 0u); })),
        row_(array_of<rows>([&](u32) { return var(t, 0u); })),
        later_page_(array_of<of_later>([&](u32) { return var(t, 0u); })),
        later_row_(array_of<of_later>([&](u32) { return var(t, 0u); })) {
    places_.with([&](const auto& find) { find_tile(find, 0, page_, row_, 0); });
    const val is_late = t.let(min(first_ + C.own_keys(), end_) > settled);
    if (auto late = t.when(is_late)) grid_dependency_wait(t);
    put(
        t.let(0u), [&](std::uint32_t i) { return page_[i]; }, [&](std::uint32_t i) { return row_[i]; });
    cp_async_commit_group(t);
    places_.with([&](const auto& find) {
      for (std::uint32_t s = 0; s < later; ++s) find_tile(find, s, later_page_, later_row_, s * rows);
      find_tile(find, later, page_, row_, 0);
    });
    if (auto early = t.when(!is_late)) grid_dependency_wait(t);
  }

  // Copies further tiles until all stages but one are filled: one group each.
  constexpr void copy_further() {
    for (std::uint32_t s = 0; s < later; ++s) {
      if (auto exists = t_.when(first_ < tiles_end_))
        put(
            t_.let(u32{s + 1}), [&](std::uint32_t i) { return later_page_[s * rows + i]; },
            [&](std::uint32_t i) { return later_row_[s * rows + i]; });
      cp_async_commit_group(t_);
    }
  }

  // Copies the next tile, if there is one, into a stage. Commits a group of copies.
  constexpr void copy(const val<u32>& stage) {
    if (auto exists = t_.when(first_ < tiles_end_)) {
      put(
          stage, [&](std::uint32_t i) { return page_[i]; }, [&](std::uint32_t i) { return row_[i]; });
      places_.with([&](const auto& find) { find_tile(find, 0, page_, row_, 0); });
    }
    cp_async_commit_group(t_);
  }

  // Calls f(stage, first key) for one tile of the block after the other, when the warp's keys of the tile
  // have arrived. Copies go on meanwhile.
  template <class F>
  constexpr void each_tile(const decode_block& block, const F& f) {
    var stage(t_, 0u), filled(t_, u32{C.stages - 1});
    for (auto first : t_.range(block.first, block.last, C.keys).no_unroll()) {
      cp_async_wait_group<C.stages - 2>(t_);
      sync_warp(t_);
      copy(t_.let(filled));
      f(stage, first);
      filled = stage;
      stage = t_.let(select(stage == C.stages - 1, 0u, stage + 1u));
    }
    cp_async_wait_group<0>(t_);
  }

 private:
  static constexpr auto elements(const auto& column) {
    if constexpr (Codes == 1)
      return column;
    else
      return column * Codes;
  }
  static constexpr val<u32> column_of(thread t) { return t.let(t.lane_rank() % lanes * piece); }

  // Finds the lane's rows of the tile that is `further` tiles after the next one to copy. Rows beyond the
  // last key get its place, and are not copied.
  template <class Find, class Places>
  constexpr void find_tile(const Find& find, std::uint32_t further, Places& page, Places& row,
                           std::uint32_t into) {
    for (std::uint32_t i = 0; i < rows; ++i) {
      const auto found = find(t_.let(min(first_ + (line_ + (further * C.keys + i * apart)), last_)));
      page[into + i] = found.page;
      row[into + i] = found.row;
    }
  }

  // Rows beyond the last key become zeros, and so do elements beyond the head size.
  template <class Page, class Row>
  constexpr void put(const val<u32>& stage, const Page& page, const Row& row) {
    const auto entry = ring_[t_.let(stage * C.key_warps + warp_)];
    const auto addresses = [&](auto member, const val<u64>& column) {
      const auto strides = problem_[member];
      return array_of<rows>([&](u32 i) {
        const auto of_page = page(i), of_row = row(i);
        const val offset = t_.let(mul_wide(of_page, cast<u32>(strides[&attention_strides::batch])) +
                                  mul_wide(of_row, cast<u32>(strides[&attention_strides::row])));
        return t_.let(column + offset * element_bytes);
      });
    };
    const auto of_k = addresses(&attention_problem::k, columns_.k);
    const auto of_v = addresses(&attention_problem::v, columns_.v);
    const auto each = [&](const auto& copy) {
      for (std::uint32_t v = 0; v < 2; ++v) {
        const tile to = v == 0 ? keys_of(entry) : values_of(entry);
        for (std::uint32_t i = 0; i < rows; ++i) {
          const in from = pointer_at<in<T>>(t_, v == 0 ? of_k[i] : of_v[i]);
          for (std::uint32_t c = 0; c < row_size; c += across) {
            const auto cell = to.at(lane_[i % places].further(i / places * 8, c));
            const in piece_of_row = from.from(i64{c});
            copy(cell, piece_of_row[0], v, i, c);
          }
        }
      }
    };
    if (auto whole = t_.when(all_of(has_all_columns_, first_ + C.own_keys() <= end_)))
      each([](const auto& to, const auto& from, std::uint32_t, std::uint32_t, std::uint32_t) {
        cp_async<16>(to, from);
      });
    if (auto partial = t_.otherwise()) {
      const val k_size = t_.let(problem_[&attention_problem::qk_size]);
      const val v_size = t_.let(problem_[&attention_problem::v_size]);
      each([&](const auto& to, const auto& from, std::uint32_t v, std::uint32_t i, std::uint32_t c) {
        cp_async<16>(
            to, from,
            all_of(first_ + (line_ + i * apart) < end_, elements(column_ + c) < (v == 0 ? k_size : v_size)));
      });
    }
    if constexpr (!std::is_same_v<WithKeys, keys_alone>)
      for (std::uint32_t i = 0; i < rows; ++i) {
        const val key = t_.let(warp_ * C.own_keys() + line_ + i * apart);
        const val exists = t_.let(first_ + (line_ + i * apart) < end_);
        const val of_page = t_.let(page(i)), of_row = t_.let(row(i)), piece_of_row = t_.let(column_ / piece);
        with_keys_(stage, key, of_page, of_row, exists, piece_of_row);
      }
    first_ += C.keys;
  }

  thread t_;
  ring ring_;
  const val<attention_problem>& problem_;
  decode_columns columns_;
  cached_places places_;
  var<u32> first_;            // first key of the warp's next tile to copy
  val<u32> end_, tiles_end_;  // the split's end; a tile exists if first_ is below tiles_end_
  val<u32> last_, line_, column_, warp_;
  WithKeys with_keys_;
  val<bool> has_all_columns_;
  dsl::register_array<typename tile::lane_type, places> lane_;
  dsl::register_array<var<u32>, rows> page_, row_;                  // of the next tile's rows;
  dsl::register_array<var<u32>, of_later> later_page_, later_row_;  // of further tiles at the start
};

}  // namespace kaio::ops

#pragma once
// The copies of keys and values from a cache to a ring of tiles in shared memory. They are asynchronous, of
// 16 bytes, through the page numbers. The page of a row is read one tile ahead, so that a copy need not wait
// for it. A tile has elements of T; each holds `Codes` elements of the cache.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/decode/common/block.hpp>
#include <kaio/ops/attention/decode/mma_sync/config.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// Each warp that shares rows has its own tiles: entry (operands * stage + is_v) * key_warps + warp of the
// ring. A row of a tile consists of panels of 128 bytes, or of one panel of 64. A thread copies 16 bytes of a
// row in each panel. C: attention_decode_config, or attention_mla_config, where V is in the rows of K.
template <auto C, scalar T, std::uint32_t Codes = 1>
class attention_decode_copies {
 public:
  static constexpr std::uint32_t columns = C.depth / Codes,
                                 panel_bytes = columns * sizeof(T) < 128 ? columns * sizeof(T) : 128;
  using swizzle = dsl::swizzled<panel_bytes>;
  using ring = shared_tiles<T, C.own_keys(), columns, swizzle, C.stages * C.operands * C.key_warps>;
  static constexpr std::uint32_t panel = panel_bytes / sizeof(T), piece = 16 / sizeof(T),
                                 pieces = panel / piece;
  static constexpr std::uint32_t apart = C.threads() / pieces;  // distance between the rows of a thread
  static constexpr std::uint32_t rows = C.keys / apart;         // per thread
  static_assert(C.keys % apart == 0 && C.own_keys() % apart == 0 && apart % 8 == 0);

  constexpr attention_decode_copies(thread t, const ring& to, const val<attention_problem>& problem,
                                    const val<attention_cache>& cache, const decode_block& block)
      : t_(t),
        ring_(to),
        problem_(problem),
        places_(t, cache, block.sequence),
        first_(t, block.first),
        last_(block.last),
        line_(t.let(t.thread_rank() / pieces)),
        column_(t.let(t.thread_rank() % pieces * piece)),
        k_(own_column(&attention_problem::k, block.group)),
        v_(own_column(&attention_problem::v, block.group)),
        lane_(to[0].panel(0).lane(line_, column_)),
        fill_(t, 0u),
        page_(array_of<rows>([&](u32) { return var(t, 0u); })),
        row_(array_of<rows>([&](u32) { return var(t, 0u); })) {
    look_up();
  }

  // Copies the next tile, if there is one, into the next stage. Commits a group of copies. more(stage, key of
  // the tile, page, row, exists, piece) copies what else belongs to a key, once for each piece of a panel.
  constexpr void copy() { copy(nothing{}, nothing{}); }
  // has_more: whether anything else belongs to keys.
  template <class HasMore, class More>
  constexpr void copy(const HasMore& has_more, const More& more) {
    if (auto exists = t_.when(first_ < last_)) {
      const val stage = fill_;
      put(&attention_problem::k, k_, t_.let(problem_[&attention_problem::qk_size]), stage, 0);
      if constexpr (C.operands == 2)
        put(&attention_problem::v, v_, t_.let(problem_[&attention_problem::v_size]), stage, 1);
      if constexpr (!std::is_same_v<More, nothing>)
        if (auto comes_along = t_.when(has_more))
          for (std::uint32_t i = 0; i < rows; ++i) {
            const val key = t_.let(line_ + apart * i), page = t_.let(page_[i]), row = t_.let(row_[i]);
            const val is_key = t_.let(first_ + key < last_);
            const val piece_of_row = t_.let(column_ / piece);
            more(stage, key, page, row, is_key, piece_of_row);
          }
      fill_ = following(stage);
    }
    cp_async_commit_group(t_);
    first_ += C.keys;
    look_up();
  }

  constexpr val<u32> following(const val<u32>& stage) const {
    return t_.let(select(stage == C.stages - 1, 0u, stage + 1u));
  }

 private:
  struct nothing {};

  // Offsets are in elements of the cache, addresses in bytes.
  static_assert(Codes == 1 || Codes == 2);
  static constexpr u64 element_bytes = sizeof(T) / Codes;

  // The address of the thread's column of a row at offset 0.
  constexpr val<u64> own_column(auto member, const val<u32>& head) const {
    const auto strides = problem_[member];
    const val offset =
        t_.let(cast<i64>(head) * strides[&attention_strides::head] + cast<i64>(column_ * Codes));
    return t_.let(strides[&attention_strides::address] + cast<u64>(offset) * element_bytes);
  }

  // Finds the thread's rows of the next tile. Rows beyond the last key get its place, and are not copied.
  constexpr void look_up() {
    if (auto exists = t_.when(first_ < last_))
      places_.with([&](const auto& find) {
        const auto found =
            array_of<rows>([&](u32 i) { return find(t_.let(min(first_ + line_ + apart * i, last_ - 1u))); });
        for (std::uint32_t i = 0; i < rows; ++i) {
          page_[i] = found[i].page;
          row_[i] = found[i].row;
        }
      });
  }

  constexpr void put(auto member, const val<u64>& column, const val<u32>& size, const val<u32>& stage,
                     std::uint32_t is_v) const {
    const auto strides = problem_[member];
    for (std::uint32_t i = 0; i < rows; ++i) {
      const val exists = t_.let(first_ + line_ + apart * i < last_);
      const val offset = offset_of(t_, strides, page_[i], row_[i]);
      const in from = pointer_at<in<T>>(t_, t_.let(column + cast<u64>(offset) * element_bytes));
      const std::uint32_t warp = apart * i / C.own_keys(), row = apart * i % C.own_keys();
      const auto tile = ring_[t_.let((stage * C.operands + is_v) * C.key_warps + warp)];
      for (std::uint32_t p = 0; p < columns / panel; ++p)
        if constexpr (Codes == 1)
          cp_async<16>(tile.panel(p).at(lane_, row), from.from(i64{p * panel})[0],
                       all_of(exists, column_ + p * panel < size));
        else
          cp_async<16>(tile.panel(p).at(lane_, row), from.from(i64{p * panel})[0],
                       all_of(exists, (column_ + p * panel) * Codes < size));
    }
  }

  thread t_;
  ring ring_;
  const val<attention_problem>& problem_;
  cached_places places_;
  var<u32> first_;  // of the tile that is copied next
  val<u32> last_, line_, column_;
  val<u64> k_, v_;  // addresses of the thread's column
  typename shared_tile<T, C.own_keys(), panel, swizzle>::lane_type lane_;
  var<u32> fill_;
  dsl::register_array<var<u32>, rows> page_, row_;
};

}  // namespace kaio::ops

#pragma once
// The tensor copies of rows of Q, K, V and dO in the backward kernels for sm_90a.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>

#include <cstdint>

namespace kaio::ops {

// Rows of an operand, of `size` elements, which one thread copies into tiles (load_rows). All threads clear
// the columns of a tile that rows do not have, once; they are never copied. The forward leaves these zeros to
// its first copies, of whole boxes. With clearing code, its largest kernels would exceed what clang evaluates
// without flags.
template <scalar T>
class copied_rows {
  static constexpr std::uint32_t panel = attention_sm90_config::panel;

 public:
  constexpr copied_rows(thread t, const tensor_map<T, 4>& whole, const tensor_map<T, 4>& rest,
                        const val<u32>& size)
      : t_(t), whole_(whole), rest_(rest), size_(size) {}

  // Copies rows from `row` on of a head; `arrived` counts their bytes.
  template <class Tile>
  constexpr void copy(const Tile& to, const val<u32>& row, const val<u32>& head, const val<u32>& batch,
                      const mbarrier& arrived) const {
    arrived.arrive_expect_tx(t_.let(size_ * u32{Tile::rows * sizeof(T)}));
    load_rows<T>(t_, to, whole_, rest_, size_, row, head, batch, arrived);
  }

  // Clears the columns of a tile, or of a ring of tiles, that rows do not have, with all `threads` of the
  // block. Columns next to them in the same panel are cleared too. A barrier has to precede the first copies.
  template <class Tile>
  constexpr void clear_missing_columns(const Tile& tile, std::uint32_t threads) const {
    if (auto shorter = t_.when(size_ < Tile::columns)) {
      if constexpr (requires { Tile::count; })
        for (auto stage : t_.range(0u, Tile::count).no_unroll()) clear(tile[t_.let(stage)], threads);
      else
        clear(tile, threads);
      fence_proxy_async(t_);
    }
  }
  constexpr void prefetch_maps() const {
    prefetch(whole_);
    prefetch(rest_);
  }

 private:
  template <class Tile>
  constexpr void clear(const Tile& tile, std::uint32_t threads) const {
    constexpr std::uint32_t pieces = panel / 8, all = Tile::rows * pieces;  // 16-byte pieces per row; panel
    const val zero = t_.let(0u);
    const val first = t_.let(size_ / panel * all + t_.thread_rank());
    for (auto i : t_.range(first, Tile::columns / panel * all, threads).no_unroll()) {
      const auto cell = tile.panel(t_.let(i / all))[t_.let(i % all / pieces)][t_.let(i % pieces * 8u)];
      dsl::place_of<ptx::access::inout, u32x4>(cell.location()) = make_vec(zero, zero, zero, zero);
    }
  }

  thread t_;
  tensor_map<T, 4> whole_, rest_;
  val<u32> size_;
};

}  // namespace kaio::ops

#pragma once
// How the backward kernels for sm_90a get at rows of Q, K, V and dO.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/forward/sm90/config.hpp>
#include <kaio/ops/attention/forward/sm90/operands.hpp>

#include <cstdint>

namespace kaio::ops {

// The rows of an operand, of `size` elements, as one thread copies them into tiles (load_rows). Columns of a tile that rows
// do not have are cleared once, by all threads, and never copied. The forward leaves these zeros to its first copies, of
// whole boxes: its largest kernels would be more than clang evaluates without flags.
template <scalar T>
class copied_rows {
  static constexpr std::uint32_t panel = attention_sm90_config::panel;

 public:
  constexpr copied_rows(thread t, const tensor_map<T, 4>& whole, const tensor_map<T, 4>& rest,
                        const val<u32>& size)
      : t_(t), whole_(whole), rest_(rest), size_(size) {}

  // Rows `row` on of a head, which `arrived` counts the bytes of.
  template <class Tile>
  constexpr void copy(const Tile& to, const val<u32>& row, const val<u32>& head, const val<u32>& batch,
                      const mbarrier& arrived) const {
    arrived.arrive_expect_tx(t_.let(size_ * u32{Tile::rows * sizeof(T)}));
    load_rows<T>(t_, to, whole_, rest_, size_, row, head, batch, arrived);
  }

  // Zeros for the columns of a tile, or a ring of tiles, that rows do not have, and for those next to them in a panel, by
  // all `threads` of the block. The first copies follow a barrier.
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
    constexpr std::uint32_t pieces = panel / 8, all = Tile::rows * pieces;  // of 16 bytes, of a panel
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

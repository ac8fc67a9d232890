#pragma once
// Copies rows of Q, K and V from memory to tiles: by 16 bytes if rows begin at multiples of 16 bytes
// (asynchronously from sm_80 on), else element by element. Elements outside of the tensor become zero.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/dsl/tile.hpp>
#include <kaio/ops/attention/common/place.hpp>
#include <kaio/ops/attention/common/problem.hpp>

#include <cstdint>

namespace kaio::ops {

// Copies Rows x Columns into a tile by Threads threads. A row of the tile is split into panels of 128 bytes;
// eight threads copy a row of one panel. If Asynchronous, the reader calls cp_async_wait_group before the
// barrier.
template <scalar T, std::uint32_t Rows, std::uint32_t Columns, std::uint32_t Threads,
          class Layout = dsl::swizzled<128>, bool Asynchronous = true>
class attention_rows {
 public:
  static constexpr std::uint32_t panel = 128 / sizeof(T), piece = 16 / sizeof(T), pieces = panel / piece;
  using tile = shared_tile<T, Rows, Columns, Layout>;
  static constexpr std::uint32_t apart = Threads / pieces;  // distance between a thread's rows
  static_assert(Columns % panel == 0 && Rows % apart == 0 && apart % 8 == 0);

  // `size`: existing elements of a row; `pitch`: elements from row to row.
  constexpr attention_rows(thread t, const in<T>& memory, const val<i64>& pitch, const val<u32>& size,
                           const val<u32>& by_16)
      : t_(t),
        memory_(memory),
        pitch_(pitch),
        size_(size),
        by_16_(by_16),
        line_(t.let(t.thread_rank() / pieces)),
        column_(t.let(t.thread_rank() % pieces * piece)) {}

  // Copies rows first to first + Rows of memory; rows from `limit` on do not exist. Commits a group of
  // copies.
  constexpr void copy(const tile& to, const val<u32>& first, const val<u32>& limit) const {
    if (auto fast = t_.when(by_16_ != 0u)) {
      const val row = t_.let(first + line_);
      const in from = memory_.from(cast<i64>(row) * pitch_ + cast<i64>(column_));
      for (std::uint32_t p = 0; p < Columns / panel; ++p) {
        const val has_columns = t_.let(column_ + p * panel < size_);
        const auto from_piece = [&](std::uint32_t i) {
          return from.from(pitch_ * i64{i * apart} + i64{p * panel});
        };
        const auto exists = [&](std::uint32_t i) {
          return t_.let(all_of(has_columns, row + i * apart < limit));
        };
        if constexpr (Asynchronous)
          each_piece(to, p, [&](const auto& cell, std::uint32_t i) {
            const in piece_of_row = from_piece(i);
            cp_async<16>(cell, piece_of_row[0], exists(i));
          });
        else
          copy_by_registers(to, p, from_piece, exists);
      }
    }
    if (auto slow = t_.otherwise()) {
      for (auto i : t_.block_stride(Rows * Columns)) {
        const val row = t_.let(i / Columns), column = t_.let(i % Columns);
        var x(t_, cast<T>(t_.let(0.0f)));
        if (auto exists = t_.when(all_of(first + row < limit, column < size_)))
          x = memory_[cast<i64>(first + row) * pitch_ + cast<i64>(column)];
        to[row][column] = x;
      }
    }
    if constexpr (Asynchronous) cp_async_commit_group(t_);
  }

 private:
  // f(cell, i) for each of the thread's pieces of a panel.
  template <class F>
  constexpr void each_piece(const tile& to, std::uint32_t p, const F& f) const {
    if constexpr (tile::layout::is_swizzled) {
      const auto place = to.panel(p).lane(line_, column_);
      for (std::uint32_t i = 0; i < Rows / apart; ++i) f(to.panel(p).at(place, i * apart), i);
    } else {
      const auto place = to.lane(line_, column_);
      for (std::uint32_t i = 0; i < Rows / apart; ++i) f(to.at(place, i * apart, p * panel), i);
    }
  }

  // All loads of a panel are in flight before the first store.
  template <class From, class Exists>
  constexpr void copy_by_registers(const tile& to, std::uint32_t p, const From& from,
                                   const Exists& exists) const {
    auto words = array_of<Rows / apart * 4>([&](u32) { return var(t_, 0u); });
    for (std::uint32_t i = 0; i < Rows / apart; ++i)
      if (auto whole = t_.when(exists(i))) {
        const in<T> x = from(i);
        const val four = load(in<u32x4>{{x.trace, x.base, x.scope, x.offset}}[0]);
        for (std::uint32_t w = 0; w < 4; ++w) words[4 * i + w] = four[w];
      }
    each_piece(to, p, [&](const auto& cell, std::uint32_t i) {
      dsl::place_of<ptx::access::inout, u32x4>(cell.location()) =
          make_vec(words[4 * i], words[4 * i + 1], words[4 * i + 2], words[4 * i + 3]);
    });
  }

  thread t_;
  in<T> memory_;
  val<i64> pitch_;
  val<u32> size_, by_16_, line_, column_;
};

}  // namespace kaio::ops

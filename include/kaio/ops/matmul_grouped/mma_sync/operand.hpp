#pragma once
// Operands of a grouped product for sm_80 whose lines are anywhere: gathered rows of A, and tiles of B whose halves are
// of two matrices. A thread keeps the address of each of its pieces of 16 bytes, and moves all along K.
//
// A source X gives a line (along K) or the columns from `of_tile` on (across K) of the tile that begins at `across`:
//   X::piece(thread t, val<u32> across, val<u32> of_tile) -> placed_piece

#include <kaio/ops/matmul/mma_sync/kernel.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>

#include <cstdint>

namespace kaio::ops {

struct placed_piece {
  val<u64> address;   // at k = 0; some address of the operand if there is no element
  val<u32> elements;  // that exist across K from here on
};

// The source of an operand with such pieces.
template <scalar T>
struct placed {
  using element_type = T;
  static constexpr bool is_function = false;
};

template <mma_sync_config C, matrix_role Role, class Product, scalar T>
class mma_sync_operand<C, Role, Product, placed<T>> {
  static constexpr bool is_a = Role == matrix_role::a;
  static constexpr major tile_major = is_a ? C.a : C.b;
  static constexpr bool along_k = tile_major == major::k;

 public:
  static constexpr bool is_async = true, is_shifted = false;
  using ring = mma_sync_ring<Role, Product, T, is_a ? C.m : C.n, is_a ? C.warp_m : C.warp_n, C.k, C.stages,
                             tile_major>;

 private:
  using pieces = tile_pieces<ring, T, C.threads()>;
  static constexpr u32 count = pieces::count;

 public:
  template <class X>
  constexpr mma_sync_operand(thread t, const val<u32>& warp, const X& x, const val<i64>& leading,
                             const val<u32>& across, const val<u32>& along, const val<u32>&)
      : t_(t),
        ring_(t, warp),
        pieces_(t, ring_),
        tile_step_(t.let(cast<u64>(leading) * u64{ring::lines * sizeof(T)})),
        addresses_(array_of<count>([&](u32) { return var(t, u64{0}); })),
        elements_(array_of<count>([&](u32) { return var(t, 0u); })) {
    for (u32 j = 0; j < count; ++j) {
      const val line = t.let(pieces_.line + j * pieces::lines_apart);
      if (along_k || j == 0) {
        const placed_piece own = x.piece(t, across, along_k ? line : pieces_.column);
        addresses_[j] = own.address;
        elements_[j] = own.elements;
      } else {
        addresses_[j] = addresses_[j - 1] + cast<u64>(leading) * u64{pieces::lines_apart * sizeof(T)};
      }
      if (along_k)
        addresses_[j] += mul_wide(t.let(along + pieces_.column), u32{sizeof(T)});
      else if (j == 0)
        addresses_[j] += cast<u64>(cast<i64>(along + pieces_.line) * leading) * u64{sizeof(T)};
    }
  }

  constexpr const ring& tiles() const { return ring_; }
  constexpr val<u32> left_across() const { return t_.let(0u); }

  template <bool Ragged>
  constexpr void copy(const val<u32>& stage, const val<u32>& left) {
    constexpr u32 most = pieces::elements;
    const val across = t_.let(min(elements_[0], most));
    const val along = t_.let(min(left - min(left, pieces_.column), most));
    for (u32 j = 0; j < count; ++j) {
      const val line = t_.let(pieces_.line + j * pieces::lines_apart);
      const val exists = along_k ? val<bool>(t_.let(elements_[j] != 0u)) : val<bool>(t_.let(line < left));
      const val numbers = t_.let(select(exists, along_k ? along : across, 0u));
      const val bytes = t_.let(numbers * sizeof(T));
      const auto from = pointer_at<in<T>>(t_, t_.let(addresses_[j]));
      cp_async<16>(pieces_.place(ring_.memory()[stage], j), from[0], bytes);
    }
  }
  constexpr void advance() {
    for (auto& address : addresses_)
      address += along_k ? val<u64>(t_.let(u64{ring::width * sizeof(T)})) : tile_step_;
  }
  template <bool Ragged, class X>
  constexpr void fetch(const X&, const val<u32>&, const val<u32>&) {}
  template <class X>
  constexpr void fetch_elements(const X&, const val<u32>&, const val<u32>&) {}
  constexpr void put(const val<u32>&) const {}

 private:
  thread t_;
  ring ring_;
  pieces pieces_;
  val<u64> tile_step_;
  dsl::register_array<var<u64>, count> addresses_;
  dsl::register_array<var<u32>, count> elements_;
};

// Rows of A, before `end`.
template <class Gather>
struct gathered_rows {
  val<u64> address;
  val<i64> row_bytes;
  val<u32> end;
  Gather gather;
  constexpr placed_piece piece(thread t, const val<u32>& across, const val<u32>& of_tile) const {
    var place(t, address);
    var elements(t, 0u);
    const val row = t.let(across + of_tile);
    if (auto inside = t.when(row < end)) {
      const val source = grouped_gather::source(t, gather, row);
      if (auto exists = t.when(source < gather[&grouped_gather::count])) {
        place = address + cast<u64>(cast<i64>(source) * row_bytes);
        elements = 1u;
      }
    }
    return {t.let(place), t.let(elements)};
  }
};

// Columns of B, before `columns`: the first `Half` of a tile are of one matrix, the others of another one.
template <u32 Half>
struct paired_columns {
  val<u64> first, second;
  val<u64> column_bytes;
  val<u32> columns;
  constexpr placed_piece piece(thread t, const val<u32>& across, const val<u32>& of_tile) const {
    const val column = t.let(across + of_tile % Half);
    const val base = t.let(select(of_tile < Half, first, second));
    const val exists = t.let(column < columns);
    const val place = t.let(base + cast<u64>(select(exists, column, 0u)) * column_bytes);
    return {place, t.let(select(exists, columns - column, 0u))};
  }
};

}  // namespace kaio::ops

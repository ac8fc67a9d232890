#pragma once
// Where the elements of a tile are in shared memory: layouts, and their arithmetic on the host. A layout is a
// type: its demands on a tile are checked while the kernel is compiled. Its properties (each byte used once,
// no bank conflicts) are tested without a GPU; `kaio layout NAME` draws one.
//
//   using tile = tile_layout<f16, 128, 64, swizzled<128>>;
//   static_assert(tile::bytes == 16384 && tile::offset_bytes(1, 0) == 128 + 16);

#include <kaio/dsl/number/diagnostic.hpp>

#include <cstdint>

namespace kaio::dsl {

// Row after row without gaps.
struct row_major {};

// Column after column without gaps.
struct column_major {};

// Row after row, with `Elements` unused elements after each. If the row size is an odd multiple of 16 bytes,
// eight rows of ldmatrix are in different banks. So are eight rows of a column of 4-byte elements.
template <std::uint32_t Elements>
struct padded {
  static_assert(Elements > 0, "kaio: padded<0> pads nothing; write row_major");
};

// Rows of `Bytes` bytes, whose 16-byte pieces are permuted: eight rows of a column are in different banks.
// Tensor copies write and wgmma reads this layout. It XORs address bits:
//   128: bits 4 to 6 with 7 to 9;  64: bits 4 and 5 with 7 and 8;  32: bit 4 with 7
// A tile with longer rows is made of panels: tiles of that width side by side, one after the other in memory.
// Source: PTX ISA, "Swizzling Modes"; CUDA driver API, cuTensorMapEncodeTiled.
template <std::uint32_t Bytes>
struct swizzled {
  static_assert(Bytes == 128 || Bytes == 64 || Bytes == 32,
                "kaio: a swizzle is of 128, 64 or 32 bytes; write swizzled<128>");
};

// A place in a tile is row_step * row + column_step * column bytes from its beginning. With a swizzle of
// `swizzle` bytes, the steps are those within a panel.
struct tile_steps {
  std::uint32_t element = 0;      // bytes
  std::uint32_t row_step = 0;     // bytes
  std::uint32_t column_step = 0;  // bytes
  std::uint32_t swizzle = 0;      // bytes; 0: none
  std::uint32_t panel = 0;        // bytes from one panel to the next
  bool panels = false;            // more than one

  // The bits that a row XORs onto the bytes of its columns. All swizzles repeat after eight rows.
  constexpr std::uint32_t pattern(std::uint32_t row) const {
    return swizzle == 0 ? 0 : (row * swizzle >> 3) & (swizzle - 16);
  }
  static constexpr std::uint32_t pattern_rows = 8;

  constexpr std::uint32_t offset(std::uint32_t row, std::uint32_t column) const {
    const std::uint32_t across = column * column_step;
    if (swizzle == 0) return row * row_step + across;
    return across / swizzle * panel + row * row_step + (across % swizzle ^ pattern(row));
  }
};

namespace detail {

template <class Layout>
struct layout_facts {
  static constexpr bool known = false;
  static constexpr std::uint32_t padding = 0;
  static constexpr std::uint32_t swizzle = 0;
  static constexpr bool by_columns = false;
};
template <>
struct layout_facts<row_major> : layout_facts<void> {
  static constexpr bool known = true;
};
template <>
struct layout_facts<column_major> : layout_facts<void> {
  static constexpr bool known = true;
  static constexpr bool by_columns = true;
};
template <std::uint32_t Elements>
struct layout_facts<padded<Elements>> : layout_facts<void> {
  static constexpr bool known = true;
  static constexpr std::uint32_t padding = Elements;
};
template <std::uint32_t Bytes>
struct layout_facts<swizzled<Bytes>> : layout_facts<void> {
  static constexpr bool known = true;
  static constexpr std::uint32_t swizzle = Bytes;
};

}  // namespace detail

template <class L>
concept layout = detail::layout_facts<L>::known;

// A tile of Rows x Columns elements of type T in shared memory.
template <class T, std::uint32_t Rows, std::uint32_t Columns, class Layout = row_major>
struct tile_layout {
  using facts = detail::layout_facts<Layout>;
  static_assert(facts::known,
                "kaio: the layout of a tile is row_major, column_major, padded<elements> or swizzled<128>");
  static_assert(Rows > 0 && Columns > 0, "kaio: a tile has one row and one column or more");
  static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0,
                "kaio: the elements of a tile have 1, 2, 4, 8 or 16 bytes");
  static_assert(std::uint64_t{Rows} * (Columns + facts::padding) * sizeof(T) <= 232448,
                "kaio: the tile is larger than the shared memory of a block, 232448 bytes (227 KB)");

  using element_type = T;
  using layout_type = Layout;
  static constexpr std::uint32_t rows = Rows;
  static constexpr std::uint32_t columns = Columns;
  static constexpr std::uint32_t element_bytes = sizeof(T);
  static constexpr std::uint32_t swizzle = facts::swizzle;  // bytes; 0: none
  static constexpr bool is_swizzled = swizzle != 0;
  static constexpr bool by_columns = facts::by_columns;  // the elements of a column are neighbours

  static_assert(
      !is_swizzled || Columns * sizeof(T) % (is_swizzled ? swizzle : 1) == 0,
      "kaio: a row of a swizzled tile has a multiple of the bytes of the swizzle; take a narrower swizzle, or more columns");

  // Panels of a swizzled tile; any other tile is one panel.
  static constexpr std::uint32_t panel_columns = is_swizzled ? swizzle / element_bytes : Columns;
  static constexpr std::uint32_t panels = Columns / panel_columns;
  static_assert(
      panels == 1 || Rows % tile_steps::pattern_rows == 0,
      "kaio: a swizzled tile of several panels has a multiple of 8 rows, so that each panel begins where the swizzle does");

  // Bytes from one row to the next in a panel; in a tile by columns, from one column to the next.
  static constexpr std::uint32_t pitch =
      by_columns ? Rows * element_bytes : (panel_columns + facts::padding) * element_bytes;
  static constexpr std::uint32_t panel_bytes = by_columns ? Columns * pitch : Rows * pitch;
  static constexpr std::uint32_t bytes = panels * panel_bytes;

  // The alignment of the tile's first byte, for the swizzle, or else for tensor copies and descriptors.
  static constexpr std::uint32_t alignment = is_swizzled ? 8 * swizzle : 128;

  static constexpr tile_steps steps{element_bytes,
                                    by_columns ? element_bytes : pitch,
                                    by_columns ? pitch : element_bytes,
                                    swizzle,
                                    panel_bytes,
                                    panels > 1};

  // Bytes from the beginning of the tile to an element.
  static constexpr std::uint32_t offset_bytes(std::uint32_t row, std::uint32_t column) {
    if (row >= Rows || column >= Columns)
      kernel_error("kaio: an element is outside its tile; rows go from 0 to Rows - 1, columns likewise");
    return steps.offset(row, column);
  }

  // The bank of shared memory, one of 32 with 4 bytes each, where an element begins.
  static constexpr std::uint32_t bank(std::uint32_t row, std::uint32_t column) {
    return offset_bytes(row, column) / 4 % 32;
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::column_major;
using dsl::padded;
using dsl::row_major;
using dsl::swizzled;
using dsl::tile_layout;
}  // namespace kaio

#pragma once
// Where the tiles of the kernels for sm_90a are in C. A tensor copy takes several times as long for rows and columns that
// its operand does not have, and a loop along K would wait for them in each of its steps. A tile that C ends in is
// therefore moved, in parts: a part of which not all exists begins so much earlier that all of it does.
//
//   C with 150 rows, parts of 64:    0 .. 63    64 .. 127    86 .. 149, of which 128 .. 149 are its own
//
// What two parts have in common is computed twice, to the same bits. An epilogue that reads memory sees each place once.
// Of a C that is smaller than a part the main loop copies what exists.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/common/strip.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Where a tile would begin in a C without end, which product of the batch it belongs to, where the last parts of C begin,
// the rows and columns of the tile that no later one has, and the masks of its parts (mask_of_part).
struct tile_origin {
  val<u32> batch, row, column;
  val<u32> last_row, last_column;
  val<u32> rows, columns;
  val<u32> row_parts, column_parts;
};

// The bits of a line's number that say in which part of a tile it is.
constexpr u32 mask_of_part(u32 part, u32 tile) { return part == tile ? 0u : ~(part - 1u); }

// Line `of_tile` of a tile that begins at `first`, in parts of `Part`: rows, or columns.
struct tile_line {
  val<u32> at;     // in C
  val<u32> begin;  // of its part, in a C without end: what is before it belongs to another part
  val<u32> of_tile;
};
template <std::uint32_t Part, class Line>
constexpr tile_line line_of(thread t, const val<u32>& first, const val<u32>& last, const Line& of_tile) {
  const val line = t.let(of_tile);
  const val begin = t.let(first + of_tile / Part * Part);
  return {t.let(min(begin, last) + of_tile % Part), begin, line};
}
// As above, in the parts of a mask.
template <class Line>
constexpr tile_line line_in_parts(thread t, const val<u32>& first, const val<u32>& last,
                                  const val<u32>& parts, const Line& of_tile) {
  const val line = t.let(of_tile);
  const val of_part = t.let(line & parts);
  const val begin = t.let(first + of_part);
  return {t.let(min(begin, last) + (line - of_part)), begin, line};
}

// The parts of a main loop's tile, whose M is along the columns of C where it is transposed. Moves: else they stay, and
// copies reach outside, as where sums of groups leave no registers.
template <class Mainloop, bool Transposed, bool Moves>
struct sm90_place {
  static constexpr std::uint32_t part_rows = Transposed ? Mainloop::part_n : Mainloop::part_m,
                                 part_columns = Transposed ? Mainloop::part_m : Mainloop::part_n;

  // M and N of a tile that begins at `m` and `n`. Columns of C are stored by vectors.
  static constexpr tile_origin origin(thread t, const Mainloop& loop, const val<output_lines>& lines,
                                      const val<u32>& batch, const val<u32>& m, const val<u32>& n) {
    constexpr std::uint32_t vector = 8;
    const val part_m = loop.lines_of_part_m(), part_n = loop.lines_of_part_n();
    const auto aligned_m = loop.alignment_of_m(), aligned_n = loop.alignment_of_n();
    const val rows = t.let(lines[&output_lines::rows]);
    const val of_rows = last(t, rows, Transposed ? part_n : part_m, Transposed ? aligned_n : aligned_m);
    const val columns = t.let(lines[&output_lines::columns]);
    const val aligned = t.let(max(Transposed ? aligned_m : aligned_n, vector));
    const val of_columns = last(t, columns, Transposed ? part_m : part_n, aligned);
    const val parts_m = loop.parts_of_m(), parts_n = loop.parts_of_n();
    if constexpr (Transposed)
      return {batch, m, n, of_columns, of_rows, loop.tile_m(), loop.tile_n(), parts_m, parts_n};
    else
      return {batch, m, n, of_rows, of_columns, loop.tile_m(), loop.tile_n(), parts_m, parts_n};
  }

  // A row and a column of a tile of C.
  tile_line row, column;
  val<u32> rows, columns;  // of the tile
  template <class Row, class Column>
  constexpr sm90_place(thread t, const tile_origin& tile, const Row& of_rows, const Column& of_columns)
      : row(line_in_parts(t, Transposed ? tile.column : tile.row,
                          Transposed ? tile.last_column : tile.last_row,
                          Transposed ? tile.column_parts : tile.row_parts, of_rows)),
        column(line_in_parts(t, Transposed ? tile.row : tile.column,
                             Transposed ? tile.last_row : tile.last_column,
                             Transposed ? tile.row_parts : tile.column_parts, of_columns)),
        rows(Transposed ? tile.columns : tile.rows),
        columns(Transposed ? tile.rows : tile.columns) {}

  // No other part or tile has it, nor any of so many rows and columns from here on, which are within a part.
  constexpr auto is_own(std::uint32_t r = 1, std::uint32_t c = 1) const {
    return all_of(row.at >= row.begin, column.at >= column.begin, row.of_tile + r <= rows,
                  column.of_tile + c <= columns);
  }

  // Whether it has any of so many columns from here on, which are within a part.
  constexpr auto has_columns(const val<output_lines>& lines, std::uint32_t count) const {
    return all_of(column.at + count > column.begin, column.at < lines[&output_lines::columns],
                  column.of_tile < columns);
  }

  // What the tile has of its own among `most` rows from here on, which are within a part: the rows from `before` to
  // `rows`, and of them `columns`.
  struct own_part {
    val<u32> before, rows, columns;
  };
  constexpr own_part own(thread t, const val<output_lines>& lines, const val<u32>& most) const {
    const val of_c = t.let(lines[&output_lines::rows]), columns_of_c = t.let(lines[&output_lines::columns]);
    const val is_own = t.let(all_of(column.at >= column.begin, column.of_tile < columns));
    return {t.let(max(row.begin, row.at) - row.at),
            t.let(min(most, min(of_c - min(row.at, of_c), rows - min(row.of_tile, rows)))),
            t.let(select(is_own, columns_of_c - min(column.at, columns_of_c), 0u))};
  }

  // Four columns of a few of these rows, from row `below` on.
  template <std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes>
  constexpr strip<Rows, Apart, Lanes> strip_of(thread t, const val<u32>& batch, const own_part& own,
                                               const val<u32>& below) const {
    return strip<Rows, Apart, Lanes>::within(t, {batch, t.let(row.at + below), column.at}, below, own.before,
                                             own.rows, own.columns);
  }

 private:
  // Where the last part of an extent begins, at a multiple of `alignment`, a power of two.
  static constexpr val<u32> last(thread t, const val<u32>& extent, const val<u32>& part,
                                 const val<u32>& alignment) {
    if constexpr (Moves)
      return t.let(max(extent, part) - part + (alignment - 1u) & ~(alignment - 1u));
    else
      return t.let(~0u);
  }
};

}  // namespace kaio::ops

#pragma once
// The places of tiles in C, for the kernels for sm_90a. A tensor copy takes several times as long for rows
// and columns outside its operand, and a loop along K would wait for them in each step. A tile at the end of
// C is therefore moved, in parts: a part that would reach past the end begins earlier, so that all of it is
// inside.
//
//   C with 150 rows, parts of 64:    0 .. 63    64 .. 127    86 .. 149 (its own rows: 128 .. 149)
//
// The places that two parts share are computed twice, to the same bits. An epilogue that reads memory sees
// each place once. If C is smaller than a part, the main loop copies what exists.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/finish.hpp>
#include <kaio/ops/matmul/common/strip.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// A tile and its parts.
//
//   batch                      the product of the batch
//   row, column                where the tile would begin in a C without end
//   last_row, last_column      where the last parts of C begin
//   rows, columns              the tile's rows and columns that no later tile has
//   row_parts, column_parts    the masks of its parts (mask_of_part)
struct tile_origin {
  val<u32> batch, row, column;
  val<u32> last_row, last_column;
  val<u32> rows, columns;
  val<u32> row_parts, column_parts;
};

// A tile, or a half of one: 64 of 128 rows, which the first consumer computes alone.
struct tile_part {
  tile_origin origin;
  val<bool> is_whole;
};

// The bits of a line's number that select its part of a tile.
constexpr u32 mask_of_part(u32 part, u32 tile) { return part == tile ? 0u : ~(part - 1u); }

// Line `of_tile` of a tile that begins at `first`, in parts of `Part` lines: a row or a column.
struct tile_line {
  val<u32> at;     // line of C
  val<u32> begin;  // start of its part, in a C without end: lines before it belong to another part
  val<u32> of_tile;
};
template <std::uint32_t Part, class Line>
constexpr tile_line line_of(thread t, const val<u32>& first, const val<u32>& last, const Line& of_tile) {
  const val line = t.let(of_tile);
  const val begin = t.let(first + of_tile / Part * Part);
  return {t.let(min(begin, last) + of_tile % Part), begin, line};
}
// As above, with the parts of a mask.
template <class Line>
constexpr tile_line line_in_parts(thread t, const val<u32>& first, const val<u32>& last,
                                  const val<u32>& parts, const Line& of_tile) {
  const val line = t.let(of_tile);
  const val of_part = t.let(line & parts);
  const val begin = t.let(first + of_part);
  return {t.let(min(begin, last) + (line - of_part)), begin, line};
}

// A place of C in the parts of a main loop's tile. Transposed: the tile's M is along the columns of C. Moves:
// parts move; otherwise they stay and copies reach outside, for kernels whose group sums leave no registers.
template <class Mainloop, bool Transposed, bool Moves>
struct sm90_place {
  static constexpr bool moves = Moves;
  static constexpr std::uint32_t part_rows = Transposed ? Mainloop::part_n : Mainloop::part_m,
                                 part_columns = Transposed ? Mainloop::part_m : Mainloop::part_n;

  // The origin of the tile that begins at `m` and `n`. Parts of columns begin at multiples of a vector, for
  // the stores.
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
      return {batch,   m,      n, of_rows, of_columns, loop.tile_m(), loop.columns_at(n, of_columns),
              parts_m, parts_n};
  }

  // A row and a column of a tile of C.
  tile_line row, column;
  val<u32> rows, columns;  // those of the tile that no later one has
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

  // Whether no other part or tile has the `r` rows and `c` columns from this place on, which are within a
  // part.
  constexpr auto is_own(std::uint32_t r = 1, std::uint32_t c = 1) const {
    return all_of(row.at >= row.begin, column.at >= column.begin, row.of_tile + r <= rows,
                  column.of_tile + c <= columns);
  }

  // Whether the tile owns any of the `count` columns from here on, which are within a part.
  constexpr auto has_columns(const val<output_lines>& lines, std::uint32_t count) const {
    return all_of(column.at + count > column.begin, column.at < lines[&output_lines::columns],
                  column.of_tile < columns);
  }

  // The tile's own places among `most` rows from here on, which are within a part: rows from `before` to
  // `rows`, in each `columns` columns.
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

  // A strip: four columns of a few of these rows, from row `below` on.
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

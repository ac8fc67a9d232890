#pragma once
// Tiles in the shared memory of a block, which carry their layout: the type turns an element's row and column
// into an address. Contents are undefined until written.
//
//   shared_tile<f16, 128, 64, swizzled<128>> a(t);
//   a[row][column] = x;                                      // any element, in any layout
//   store_vec(a[row][8 * chunk], eight);                     // 16 bytes: one piece of a swizzled row
//   shared_tiles<f16, 128, 64, swizzled<128>, 4> ring(t);    // four of them; ring[stage] is one
//   const auto lane = ring.lane(warp_row, 8 * half, 16);     // computed once, a place in every tile
//   val where = shared_address(ring[stage].at(lane, 0, 16 * k));

#include <kaio/dsl/memory/shared.hpp>
#include <kaio/dsl/tile/place.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// A host index, checked to be below N, becomes a constant of type u32.
template <std::uint32_t N, index_operand I>
constexpr auto tile_index_node([[maybe_unused]] tracer& t, const I& i) {
  if constexpr (device<I>) {
    static_assert(integer<element<I>>, "kaio: the row and column of a tile are integers; write cast<u32>(x)");
    return i.node();
  } else if constexpr (std::is_integral_v<I>) {
    require_below<N>(t, i);
    return make_literal<u32>(static_cast<std::uint32_t>(i));
  } else {
    return tile_index_node<N>(t, I::value);
  }
}

// New shared memory, aligned for its contents.
constexpr tile_memory new_tile_memory(tracer& t, std::uint32_t bytes, std::uint32_t alignment,
                                      std::uint32_t line, const char* file) {
  t.declare(line, file);
  tile_memory result{&t};
  result.array = t.probing() ? t.new_identity() : t.new_shared(bytes, alignment);
  result.scope = 0;
  return result;
}

// The memory `index` strides further on. The index is a host number below N, or a device value.
template <std::uint32_t N, class I>
constexpr tile_memory moved(const tile_memory& m, const I& i, std::uint32_t stride) {
  const auto node = tile_index_node<N>(*m.trace, i);
  m.require_open();
  if (m.trace->probing()) {
    tile_memory named = m;
    m.trace->see(m.hash() * hash_factor + node.hash());
    named.array = m.trace->identity();
    return named;
  }
  return m.moved(as_u32(*m.trace, node), stride);
}

}  // namespace detail

template <class T, std::uint32_t Rows, std::uint32_t Columns, class Layout = row_major>
class shared_tile;

// A place in every tile of one layout: computed once, then a constant away from its neighbours.
template <class Tile>
class tile_lane {
 public:
  constexpr tile_lane(tracer& t, const tile_offset& offset, std::uint32_t span)
      : trace_(&t), offset_(offset), scope_(t.scope()), span_(span) {}

  // The place `rows` below and `columns` to the right. In a swizzled tile, rows is a multiple of 8, columns
  // of the lane's span. Then the swizzle of the sum is the sum of the swizzles.
  constexpr tile_lane further(std::uint32_t rows, std::uint32_t columns) const {
    if (Tile::is_swizzled && rows % tile_steps::pattern_rows != 0)
      trace_->fail_next("kaio: a place in a swizzled tile moves by multiples of 8 rows");
    if (Tile::is_swizzled && (span_ == 0 ? columns != 0 : columns % span_ != 0))
      trace_->fail_next(
          "kaio: a place in a swizzled tile moves by multiples of its span of columns; give lane(row, column, span) a power of two above its columns");
    if (rows >= Tile::rows || columns >= Tile::columns)
      trace_->fail_next("kaio: a place in a tile was moved outside the tile");
    tile_lane result = *this;
    result.offset_ = offset_.further(Tile::steps, rows, columns);
    return result;
  }

  constexpr const tile_offset& offset() const {
    if (!trace_->is_open(scope_))
      trace_->fail_next("kaio: a place in a tile was used outside the guarded body or loop that made it");
    return offset_;
  }

 private:
  tracer* trace_;
  tile_offset offset_;
  std::uint32_t scope_;
  std::uint32_t span_;
};

// A row of a tile: indexed by the column.
template <class Tile, class Row>
class tile_row {
 public:
  constexpr tile_row(const tile_memory& memory, const Row& row) : memory_(memory), row_(row) {}

  template <index_operand I>
  constexpr auto operator[](const I& column) const {
    using T = typename Tile::element_type;
    static_assert(memory_element<T>, "kaio: the elements of this tile are no numbers of the language");
    const auto node = detail::tile_index_node<Tile::columns>(*memory_.trace, column);
    using Location = detail::tile_location<Tile, Row, std::remove_const_t<decltype(node)>>;
    return place_of<ptx::access::inout, T>(Location{memory_.trace, memory_, row_, node});
  }
  template <class E>
  constexpr void operator=(const E&) const {
    static_assert(never<E>, "kaio: a row of a tile is written element by element: tile[row][column] = value");
  }

 private:
  tile_memory memory_;
  Row row_;
};

// A tile of Rows x Columns elements of type T. The object is a name of the memory: copying it copies nothing.
template <class T, std::uint32_t Rows, std::uint32_t Columns, class Layout>
class shared_tile {
 public:
  using layout = tile_layout<T, Rows, Columns, Layout>;
  using element_type = T;
  using layout_type = Layout;
  using lane_type = tile_lane<layout>;
  static constexpr std::uint32_t rows = Rows;
  static constexpr std::uint32_t columns = Columns;
  static constexpr std::uint32_t bytes = layout::bytes;
  static constexpr std::uint32_t alignment = layout::alignment;

  // New memory, aligned for the layout.
  template <is_thread Thread>
  constexpr explicit shared_tile(const Thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE())
      : memory_(detail::new_tile_memory(t.trace(), bytes, alignment, line, file)) {}

  constexpr explicit shared_tile(const tile_memory& memory) : memory_(memory) {}

  template <class V = T>
  constexpr shared_tile() {
    static_assert(never<V>,
                  "kaio: a tile needs its thread; write shared_tile<f16, 64, 64, swizzled<128>> name(t)");
  }

  // Another tile, or a ring of tiles, seen as this tile from `first_byte` on. Data written by one name is
  // undefined by the other, and a barrier must separate their uses.
  template <class Memory>
  static constexpr shared_tile over(const Memory& other, std::uint32_t first_byte = 0,
                                    std::uint32_t line = __builtin_LINE(),
                                    const char* file = __builtin_FILE()) {
    other.memory().trace->declare(line, file);
    static_assert(Memory::bytes >= bytes, "kaio: a tile is over memory that is smaller than the tile");
    static_assert(Memory::alignment % alignment == 0,
                  "kaio: a tile is over memory that is aligned for less than the tile's layout needs");
    if (first_byte % alignment != 0 || first_byte > Memory::bytes - bytes)
      other.memory().trace->fail(
          "kaio: a tile is over memory that ends before the tile does, or begins where its layout is not aligned; change the first byte");
    tile_memory memory = other.memory();
    memory.offset += first_byte;
    return shared_tile(memory);
  }

  // tile[row][column]: the cell of an element. Row and column are numbers of the host, which are checked, or
  // integers of the device.
  template <index_operand I>
  constexpr auto operator[](const I& row) const {
    const auto node = detail::tile_index_node<Rows>(*memory_.trace, row);
    return tile_row<layout, std::remove_const_t<decltype(node)>>(memory_, node);
  }

  // The address of the tile's first byte, in the shared state space.
  constexpr val<u32> address(std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    tracer& t = *memory_.trace;
    t.statement(line, file);
    memory_.require_open();
    if (t.probing()) {
      t.see(memory_.hash());
      return val<u32>(t, t.identity());
    }
    return val<u32>(t, detail::address_value(t, detail::address_of(memory_, {})));
  }

  // The address of an element, in the shared state space, with its swizzle.
  template <index_operand R, index_operand C>
  constexpr val<u32> row_address(const R& row, const C& column, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) const {
    return shared_address((*this)[row][column], line, file);
  }

  // The place of an element in every tile of this layout. It is computed here, outside of the loop that uses
  // it. `column_span`: a power of two above the column; a swizzled place can move on by multiples of it.
  template <index_operand R, index_operand C>
  constexpr lane_type lane(const R& row, const C& column, std::uint32_t column_span = 0,
                           std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    memory_.trace->declare(line, file);
    if ((column_span & (column_span - 1)) != 0 || column_span * sizeof(T) > 128)
      memory_.trace->fail("kaio: the span of a lane's columns is a power of two, of at most 128 bytes");
    const auto r = detail::tile_index_node<Rows>(*memory_.trace, row);
    const auto c = detail::tile_index_node<Columns>(*memory_.trace, column);
    tracer& t = *memory_.trace;
    t.statement(line, file);
    if (t.probing()) {
      see_operands(t, r, c);
      return lane_type(t, {t.identity()}, column_span);
    }
    const value row_value = detail::as_u32(t, r);
    const value column_value = detail::as_u32(t, c);
    return lane_type(t, detail::offset_in_tile(t, layout::steps, row_value, column_value), column_span);
  }

  // The cell at a lane's place, or `rows` below and `columns` to the right of it. Both are constants: they
  // cost no instruction, or in a swizzled layout one XOR for each column offset.
  constexpr auto at(const lane_type& lane, std::uint32_t rows_below = 0,
                    std::uint32_t columns_right = 0) const {
    static_assert(memory_element<T>, "kaio: the elements of this tile are no numbers of the language");
    tracer& t = *memory_.trace;
    memory_.require_open();
    const tile_offset place = lane.further(rows_below, columns_right).offset();
    return place_of<ptx::access::inout, T>(detail::found_location{&t, memory_, place, t.scope()});
  }

  // A panel of a swizzled tile: the columns from panel * layout::panel_columns on.
  template <index_operand I>
  constexpr auto panel(const I& panel) const {
    using Panel = shared_tile<T, Rows, layout::panel_columns, Layout>;
    return Panel(detail::moved<layout::panels>(memory_, panel, layout::panel_bytes));
  }

  constexpr const tile_memory& memory() const { return memory_; }

 private:
  tile_memory memory_;
};

// The rows of a tile from `first` on, as a tile of their own. In a swizzled tile, `first` is a multiple of 8.
template <std::uint32_t Rows, class T, std::uint32_t All, std::uint32_t Columns, class Layout,
          index_operand I>
constexpr auto row_block(const shared_tile<T, All, Columns, Layout>& tile, const I& first) {
  using layout = tile_layout<T, All, Columns, Layout>;
  static_assert(Rows <= All, "kaio: a block of rows has at most the rows of its tile");
  static_assert(
      !layout::by_columns && layout::panels == 1,
      "kaio: rows are taken from a tile whose rows follow each other: not from column_major, and of a swizzled tile from one panel: row_block<64>(tile.panel(p), first)");
  if constexpr (!device<I>) {
    if (static_cast<std::uint64_t>(first) > All - Rows)
      tile.memory().trace->fail_next(
          "kaio: a block of rows ends after its tile; first is at most the rows left out");
    if (layout::is_swizzled && static_cast<std::uint64_t>(first) % tile_steps::pattern_rows != 0)
      tile.memory().trace->fail_next(
          "kaio: a block of rows of a swizzled tile begins at a multiple of 8 rows");
  }
  return shared_tile<T, Rows, Columns, Layout>(detail::moved<All>(tile.memory(), first, layout::pitch));
}

// The columns of a swizzled tile from block * Columns on, as a tile of their own: whole panels.
template <std::uint32_t Columns, class T, std::uint32_t Rows, std::uint32_t All, class Layout,
          index_operand I>
constexpr auto column_block(const shared_tile<T, Rows, All, Layout>& tile, const I& block) {
  using layout = tile_layout<T, Rows, All, Layout>;
  static_assert(layout::is_swizzled && Columns % layout::panel_columns == 0,
                "kaio: columns are taken from a swizzled tile, and are a multiple of its panel's");
  static_assert(All % Columns == 0, "kaio: the columns of a tile are a multiple of a block's columns");
  constexpr std::uint32_t bytes = Columns / layout::panel_columns * layout::panel_bytes;
  return shared_tile<T, Rows, Columns, Layout>(detail::moved<All / Columns>(tile.memory(), block, bytes));
}

// Count tiles of one layout, one after the other; ring[stage] is one of them.
template <class T, std::uint32_t Rows, std::uint32_t Columns, class Layout, std::uint32_t Count>
class shared_tiles {
 public:
  using tile_type = shared_tile<T, Rows, Columns, Layout>;
  using layout = tile_layout<T, Rows, Columns, Layout>;
  using element_type = T;
  using layout_type = Layout;
  using lane_type = tile_lane<layout>;
  static_assert(Count > 0, "kaio: a ring has one tile or more");
  static constexpr std::uint32_t rows = Rows;
  static constexpr std::uint32_t columns = Columns;
  static constexpr std::uint32_t count = Count;
  static constexpr std::uint32_t alignment = layout::alignment;
  static constexpr std::uint32_t stage_bytes = ptx::aligned(layout::bytes, alignment);  // from tile to tile
  static_assert(
      std::uint64_t{Count} * stage_bytes <= tracer::max_large_shared,
      "kaio: the tiles are larger together than the shared memory of a block, 232448 bytes (227 KB)");
  static constexpr std::uint32_t bytes = Count * stage_bytes;

  template <is_thread Thread>
  constexpr explicit shared_tiles(const Thread& t, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE())
      : memory_(detail::new_tile_memory(t.trace(), bytes, alignment, line, file)) {}

  template <class V = T>
  constexpr shared_tiles() {
    static_assert(never<V>,
                  "kaio: tiles need their thread; write shared_tiles<T, 64, 64, row_major, 2> name(t)");
  }

  // A tile. The stage is a number of the host, which is checked, or an integer of the device.
  template <index_operand I>
  constexpr tile_type operator[](const I& stage) const {
    return tile_type(detail::moved<Count>(memory_, stage, stage_bytes));
  }

  // Like shared_tile::lane; the place is good for each tile of the ring.
  template <index_operand R, index_operand C>
  constexpr lane_type lane(const R& row, const C& column, std::uint32_t column_span = 0,
                           std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    return tile_type(memory_).lane(row, column, column_span, line, file);
  }

  constexpr const tile_memory& memory() const { return memory_; }

 private:
  tile_memory memory_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::column_block;
using dsl::row_block;
using dsl::shared_tile;
using dsl::shared_tiles;
using dsl::tile_lane;
}  // namespace kaio

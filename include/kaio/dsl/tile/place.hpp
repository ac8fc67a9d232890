#pragma once
// How a kernel finds an element of a tile. The part of a place that the host knows becomes constants: bytes
// in the address of an instruction, and bits that a swizzle XORs. The rest is computed once for each row, and
// all places of the row share it. `shared_address` gives the address of a cell in shared memory as a number.
//
//   const tracer::address at = find(t, memory, steps, row, column);
//   val where = shared_address(tile[row][column]);       // val<u32>, an operand of ldmatrix and of copies

#include <kaio/dsl/memory/access.hpp>
#include <kaio/dsl/tile/layout.hpp>

#include <cstdint>

namespace kaio::dsl {

// Where a tile begins: `offset` bytes after an array of the kernel, or after an address in a register.
struct tile_memory {
  tracer* trace = nullptr;
  std::uint32_t array = 0;
  value base = 0;  // 0: the array itself
  std::uint32_t offset = 0;
  std::uint32_t scope = 0;  // the scope that made base

  constexpr auto require_open() const {
    if (!trace->is_open(scope))
      trace->fail_next(
          "kaio: a tile was used outside the guarded body or loop that made it; name it again there");
  }
  constexpr std::uint64_t hash() const {
    return (std::uint64_t{array} * hash_factor + base) * hash_factor + offset;
  }

  // index * stride bytes further.
  constexpr tile_memory moved(value index, std::uint32_t stride) const {
    tracer& t = *trace;
    tile_memory result = *this;
    if (t.is_constant(index)) {
      result.offset += static_cast<std::uint32_t>(t.bits_of(index)) * stride;
      return result;
    }
    result.base = t.multiply_add(ptx::type::u32, index, t.constant(ptx::type::u32, stride),
                                 base != 0 ? base : t.array_address(array));
    result.scope = t.scope();
    return result;
  }
};

// Where an element is in its tile: ((beginning of the tile + moving) ^ flip) + bytes.
struct tile_offset {
  value moving = 0;  // the computed part; 0: none
  std::uint32_t flip = 0;
  std::uint32_t bytes = 0;

  constexpr std::uint64_t hash() const {
    return std::uint64_t{moving} * hash_factor + (std::uint64_t{flip} << 32 | bytes);
  }

  // Moves by rows and columns. The bits that the columns XOR must not be set by another column.
  constexpr tile_offset further(const tile_steps& s, std::uint32_t rows, std::uint32_t columns) const {
    tile_offset result = *this;
    result.bytes += rows * s.row_step;
    const std::uint32_t across = columns * s.column_step;
    if (s.swizzle == 0) {
      result.bytes += across;
    } else {
      result.bytes += across / s.swizzle * s.panel;
      result.flip ^= across % s.swizzle & ~15u;
      result.bytes += across % 16;  // a piece of 16 bytes stays whole
    }
    return result;
  }
};

namespace detail {

// Row and column have type u32. If the swizzle stays the same, a constant summand of the row is split off.
constexpr tile_offset offset_in_tile(tracer& t, const tile_steps& s, value row, value column) {
  using enum ptx::type;
  constexpr std::uint32_t period = tile_steps::pattern_rows;
  const auto number = [&](std::uint32_t n) { return t.constant(u32, n); };
  const auto plus = [&](value a, value b) {
    return a == 0 ? b : b == 0 ? a : t.binary(operation::add, u32, a, b);
  };
  tile_offset result;

  std::int64_t rows = 0;
  value moving_row = t.without_summand(row, rows);
  if (moving_row != 0 && s.swizzle != 0 && rows % period != 0) {
    moving_row = row;
    rows = 0;
  }
  const auto known_rows = static_cast<std::uint32_t>(rows);
  result.bytes = known_rows * s.row_step;
  if (moving_row != 0) {
    result.moving = t.binary(operation::mul, u32, moving_row, number(s.row_step));
    if (s.swizzle != 0) {
      const value turned = t.binary(operation::shr, u32, result.moving, number(3));
      result.moving = plus(result.moving, t.binary(operation::and_, u32, turned, number(s.swizzle - 16)));
    }
  } else {
    result.flip = s.pattern(known_rows);
  }

  if (s.swizzle == 0) {
    std::int64_t columns = 0;
    const value moving_column = t.without_summand(column, columns);
    result.bytes += static_cast<std::uint32_t>(columns) * s.column_step;
    if (moving_column == 0) return result;
    const value step = number(s.column_step);
    result.moving = result.moving == 0 ? t.binary(operation::mul, u32, moving_column, step)
                                       : t.multiply_add(u32, moving_column, step, result.moving);
    return result;
  }
  if (t.is_constant(column)) return result.further(s, 0, static_cast<std::uint32_t>(t.bits_of(column)));
  const value across = t.binary(operation::mul, u32, column, number(s.column_step));
  const value within = s.panels ? t.binary(operation::and_, u32, across, number(s.swizzle - 1)) : across;
  const value before =
      s.panels ? t.binary(operation::mul, u32, t.binary(operation::div, u32, across, number(s.swizzle)),
                          number(s.panel))
               : 0;
  const value swizzled_row =
      result.moving == 0 ? within : t.binary(operation::xor_, u32, result.moving, within);
  result.moving = plus(swizzled_row, before);
  return result;
}

// Without a moving part, the bits that the flip changes are zero, since the tile is aligned for its swizzle.
constexpr tracer::address address_of(const tile_memory& m, const tile_offset& o) {
  tracer& t = *m.trace;
  if (o.moving == 0) return {m.base, static_cast<std::int64_t>(m.offset) + o.bytes + o.flip, m.array};
  value at =
      t.binary(operation::add, ptx::type::u32, o.moving, m.base != 0 ? m.base : t.array_address(m.array));
  if (o.flip != 0) at = t.binary(operation::xor_, ptx::type::u32, at, t.constant(ptx::type::u32, o.flip));
  return {at, static_cast<std::int64_t>(m.offset) + static_cast<std::int32_t>(o.bytes), m.array};
}

constexpr value address_value(tracer& t, const tracer::address& at) {
  const value base = at.base != 0 ? at.base : t.array_address(at.array);
  const auto offset = static_cast<std::uint32_t>(at.offset);
  return offset == 0 ? base
                     : t.binary(operation::add, ptx::type::u32, base, t.constant(ptx::type::u32, offset));
}

// A row or column, of the host or the device, as a value of type u32.
template <class Node>
constexpr value as_u32(tracer& t, const Node& node) {
  return t.cast(ptx::type::u32, ptx_type<element<Node>>, lower(t, node));
}

template <class Row, class Column>
struct tile_index {
  static constexpr bool reads_memory = Row::reads_memory || Column::reads_memory;
  static constexpr unsigned loads = Row::loads + Column::loads;
};

// An element of a tile, named by its row and column.
template <class Tile, class Row, class Column>
struct tile_location {
  using index_type = tile_index<Row, Column>;
  static constexpr modifier space = modifier::shared;
  tracer* trace;
  tile_memory memory;
  Row row;
  Column column;
  std::int64_t offset = 0;

  constexpr std::uint64_t hash() const {
    const std::uint64_t place = row.hash() * hash_factor + column.hash();
    return (place * hash_factor + memory.hash()) * hash_factor + static_cast<std::uint64_t>(offset);
  }
  constexpr void see() const { trace->see(hash()); }
  constexpr value seen_value() const {
    see();
    return trace->identity();
  }
  constexpr tracer::address find() const {
    tracer& t = *trace;
    memory.require_open();
    const value r = as_u32(t, row);
    const value c = as_u32(t, column);
    return tracer::further(address_of(memory, offset_in_tile(t, Tile::steps, r, c)), offset);
  }
};

// A place in a tile whose offset is known already. Its address is computed where the cell is used, because
// compilers disagree on which side of an assignment comes first.
struct found_location {
  using index_type = tile_index<literal<u32>, literal<u32>>;
  static constexpr modifier space = modifier::shared;
  tracer* trace;
  tile_memory memory;
  tile_offset place;
  std::uint32_t scope;
  std::int64_t offset = 0;

  constexpr std::uint64_t hash() const {
    return (place.hash() * hash_factor + memory.hash()) * hash_factor + static_cast<std::uint64_t>(offset);
  }
  constexpr void see() const { trace->see(hash()); }
  constexpr value seen_value() const {
    see();
    return trace->identity();
  }
  constexpr tracer::address find() const {
    if (!trace->is_open(scope))
      trace->fail_next("kaio: a place in a tile was used outside the guarded body or loop that made it");
    memory.require_open();
    return tracer::further(address_of(memory, place), offset);
  }
};

}  // namespace detail

// The address of a cell in shared memory, in the shared state space.
template <class C>
constexpr val<u32> shared_address(const C& cell, std::uint32_t line = __builtin_LINE(),
                                  const char* file = __builtin_FILE()) {
  static_assert(memory_cell<C>, "kaio: this is no cell of memory; name one by indexing: tile[row][column]");
  const auto& at = cell.location();
  static_assert(std::remove_cvref_t<decltype(at)>::space == modifier::shared,
                "kaio: shared_address is for cells in shared memory");
  tracer& t = *at.trace;
  t.statement(line, file);
  if (t.probing()) return val<u32>(t, at.seen_value());
  return val<u32>(t, detail::address_value(t, at.find()));
}

}  // namespace kaio::dsl

#pragma once
// Memory: addresses with their constant parts kept apart, loads, stores and atomics of every type.

#include <kaio/dsl/trace/arithmetic.hpp>
#include <kaio/dsl/trace/scratch.hpp>

#include <cstdint>

namespace kaio::dsl {

// base + index * size + offset, with the constant part of the index kept apart. A u32 index may wrap, so
// `i + 1` is not split there. Signed overflow is undefined as in C++; 64 bits wrap exactly as addresses do.
constexpr tracer::address tracer::global_place(value base, type index_type, value index, std::uint32_t size,
                                               std::int64_t offset) {
  if (index_type != type::u32) peel(index, size, offset);
  if (is_constant(index)) {
    const std::int64_t whole = static_cast<std::int64_t>(bits_of(index)) * size + offset;
    if (fits_offset(whole)) return {base, whole, 0};
    return {binary(operation::add, type::s64, base, constant(type::s64, static_cast<std::uint64_t>(whole))),
            0, 0};
  }
  return {wide_address(base, index_type, index, size), offset, 0};
}

// A place in an array of the kernel. Shared memory has addresses of 32 bits, which wrap as u32 indices do;
// local and constant memory have 64.
constexpr tracer::address tracer::array_place(std::uint32_t array, bool is_shared, type index_type,
                                              value index, std::uint32_t size, std::int64_t offset) {
  if (!is_shared) {
    if (index_type != type::u32) peel(index, size, offset);
    if (is_constant(index)) return {0, static_cast<std::int64_t>(bits_of(index)) * size + offset, array};
    return {wide_address(array_address(array, type::u64), index_type, index, size), offset, array};
  }
  if (ptx::size_of(index_type) == 8) {
    index = cast(type::u32, index_type, index);
    index_type = type::u32;
  }
  peel(index, size, offset);
  if (is_constant(index)) return {0, static_cast<std::int64_t>(bits_of(index)) * size + offset, array};
  const value bits = ptx::is_signed(index_type) ? cast(type::u32, index_type, index) : index;
  const form lo{opcode::mad, in_order(modifier::lo), type::u32, type::none, type::u32};
  return {pure(lo, bits, constant(type::u32, size), array_address(array)), offset, array};
}

// A u32 value without its constant summand, which is added to `summand`; 0 if nothing else remains.
constexpr value tracer::without_summand(value v, std::int64_t& summand) {
  if (is_constant(v)) {
    summand += static_cast<std::int64_t>(bits_of(v));
    return 0;
  }
  summand += take_constant(v, 4);
  return without_constant_;
}

// The place `bytes` further on.
constexpr tracer::address tracer::further(address at, std::int64_t bytes) {
  at.offset += bytes;
  return at;
}

constexpr void tracer::wait_for_grids() {
  begin(opcode::griddepcontrol, in_order(modifier::wait), type::none);
  ++waits_for_grids_;
}

// ptxas may move .nc loads above griddepcontrol.wait, since nothing may write their memory while the kernel
// runs. A grid that this one depends on may still write it before the wait, so loads after a wait are plain.
constexpr tracer::access tracer::after_waits(const access& how) const {
  if (how.op != opcode::ld_nc || waits_for_grids_ == 0) return how;
  modifier_list plain = in_order(modifier::global);
  for (modifier_list list = how.modifiers; list != 0; list >>= 8)
    if (const auto m = static_cast<modifier>(list & 0xff); m != modifier::nc) plain = append(plain, m);
  return {opcode::ld, plain};
}

// A load that may be shared: nothing writes its memory while the kernel runs, or after its last wait for
// other grids.
constexpr value tracer::load_read_only(const access& how, type t, const address& at) {
  const key k = read_only_key(after_waits(how), t, at);
  if (const value known = find(k); known != 0) return from_memory(t, known);
  const value v = start(k);
  add_address(at);
  return from_memory(t, v);
}

constexpr value tracer::load(const access& how, type t, const address& at) {
  begin(how.op, how.modifiers, memory_type(t));
  const value v = define(loaded_type(t));
  add_address(at);
  return from_memory(t, v);
}

constexpr void tracer::store(const access& how, type t, const address& at, value v) {
  const value stored = to_memory(t, v);
  begin(how.op, how.modifiers, memory_type(t));
  add_address(at);
  use(stored);
}

// The elements of a vector (2 or 4) are consecutive values; returns the first.
constexpr value tracer::load_vector(const access& how, type t, std::uint32_t count, const address& at) {
  begin(how.op, append(how.modifiers, vector_of(count)), memory_type(t));
  const value first = define_pack(loaded_type(t), count);
  add_address(at);
  return first;
}

constexpr value tracer::load_vector_read_only(const access& how, type t, std::uint32_t count,
                                              const address& at) {
  const access plain = after_waits(how);
  const key k = read_only_key({plain.op, append(plain.modifiers, vector_of(count))}, t, at);
  if (const value known = find(k); known != 0) return known;
  begin(k.f.op, k.f.modifiers, k.f.t0);
  const value first = define_pack(k.f.result, count);
  number(first, k);
  add_address(at);
  return first;
}

constexpr void tracer::store_vector(const access& how, type t, std::uint32_t count, const address& at,
                                    const value* elements) {
  value stored[4] = {};
  for (std::uint32_t i = 0; i < count; ++i) stored[i] = to_memory(t, elements[i]);
  begin(how.op, append(how.modifiers, vector_of(count)), memory_type(t));
  add_address(at);
  add({operand_kind::pack, type::none, count, 0});
  for (std::uint32_t i = 0; i < count; ++i) use(stored[i]);
}

// The address itself, as a value of the global state space.
constexpr value tracer::address_value(const address& at) {
  if (at.offset == 0) return at.base;
  return pure({opcode::add, 0, type::s64, type::none, type::u64}, at.base,
              constant(type::s64, static_cast<std::uint64_t>(at.offset)));
}

// A part of a struct parameter. It never changes, so it is loaded once in the scopes that need it.
constexpr value tracer::parameter_member(type t, std::uint32_t parameter, std::uint32_t offset) {
  const key k{form{opcode::ld_param, 0, memory_type(t), type::none, loaded_type(t)}, no_value - parameter,
              offset + 1, 0, 0};
  if (const value known = find(k); known != 0) return from_memory(t, known);
  const value v = start(k);
  add({operand_kind::parameter, memory_type(t), parameter, offset});
  return from_memory(t, v);
}

constexpr void tracer::prefetch(modifier level, const address& at) {
  begin(opcode::prefetch, in_order(modifier::global, level), type::none);
  add_address(at);
}

constexpr void tracer::fence(modifier order, modifier scope) {
  begin(opcode::fence, in_order(order, scope), type::none);
}

// Replaces the value in memory by a function of it and a (and b); returns the old value, as `result`.
constexpr value tracer::atomic(modifier_list modifiers, type t, type result, const address& at, value a,
                               value b) {
  a = to_memory(type_of(a), a);
  if (b != 0) b = to_memory(type_of(b), b);
  begin(opcode::atom, modifiers, t);
  const value old = define(result);
  add_address(at);
  use(a);
  if (b != 0) use(b);
  return old;
}

// An atomic operation on each element of a vector; returns the first of the consecutive results.
constexpr value tracer::atomic_vector(modifier_list modifiers, type t, std::uint32_t count, const address& at,
                                      const value* elements) {
  value operands[8] = {};
  for (std::uint32_t i = 0; i < count; ++i) operands[i] = in_register(elements[i]);
  begin(opcode::atom, append(modifiers, vector_of(count)), t);
  const value first = define_pack(t, count);
  add_address(at);
  add({operand_kind::pack, type::none, count, 0});
  for (std::uint32_t i = 0; i < count; ++i) use(operands[i]);
  return first;
}

// Repeats compare and swap until no other thread comes between. A value `seen` of type t becomes `operand`
// (exchange), or `seen op operand`. `bits`: u32, u64, or f16 for 16 bits; also the result's type.
constexpr value tracer::atomic_loop(const access& load_first, modifier_list swap, type bits, type t,
                                    const address& at, bool exchange, operation op, value operand) {
  const std::uint32_t variable = new_variable(bits);
  const std::uint32_t before = position();
  assign(variable, load(load_first, bits, at), before);
  const std::uint32_t head = new_label();
  enter_loop();
  place(head);
  const value seen = snapshot(variable);
  const value next = exchange ? operand : binary(op, t, reinterpret(t, seen), operand);
  const value found = atomic(swap, ptx::bits_of(bits), bits, at, seen, reinterpret(bits, next));
  const bool is_word = ptx::size_of(bits) != 2;
  const value now = is_word ? found : reinterpret(type::u16, found);
  const value before_swap = is_word ? seen : reinterpret(type::u16, seen);
  const value changed = compare(operation::ne, is_word ? bits : type::u32, now, before_swap);
  assign(variable, found, position());
  leave_loop();
  branch_if(changed, false, head);
  return snapshot(variable);
}

// An address as an operand of the instruction that is being written.
constexpr void tracer::add_address(const address& at) {
  if (at.base != 0) return use_address(at.base, at.offset);
  add({operand_kind::symbol_address, type::u32, at.array, static_cast<std::uint64_t>(at.offset)});
}

// The name of a type in ld and st: bool is a byte, floats of 16 bits are bits.
constexpr type tracer::memory_type(type t) {
  return t == type::pred ? type::u8 : ptx::is_half(t) ? ptx::bits_of(t) : t;
}

// --- threads
// A special register that changes while the thread runs.
constexpr value tracer::read_special(special_register r, type t) {
  begin(opcode::mov_volatile, 0, t);
  const value v = define(t);
  add({operand_kind::special, t, static_cast<std::uint32_t>(r), 0});
  return v;
}

constexpr void tracer::barrier() {
  begin(opcode::bar_sync, 0, type::none);
  add({operand_kind::immediate, type::u32, 0, 0});
  barrier_passed(loop_depth());
}

constexpr bool tracer::fits_offset(std::int64_t bytes) { return bytes >= -2147483647 && bytes <= 2147483647; }

// Moves the constant summands of an index into the offset.
constexpr void tracer::peel(value& index, std::uint32_t size, std::int64_t& offset) {
  const std::int64_t distance = take_constant(index, 4);
  const std::int64_t moved = offset + distance * static_cast<std::int64_t>(size);
  if (distance == 0 || !fits_offset(moved)) return;
  offset = moved;
  index = without_constant_;
}

// The constant part of an index that is a sum, up to `depth` instructions deep; `without_constant_` is the
// rest. (i + 1) * 17 + j has 17.
constexpr std::int64_t tracer::take_constant(value index, unsigned depth) {
  without_constant_ = index;
  if (depth == 0 || is_constant(index)) return 0;
  const key made = made_of(index);
  if (made.a == 0) return 0;
  const opcode op = made.f.op;
  const type t = type_of(index);
  const value a = made.a;
  const value b = made.b;
  if (op == opcode::add && is_constant(b)) {
    const std::int64_t own = distance_of(t, b);
    if (own < -max_distance || own > max_distance) return 0;
    return own + take_constant(a, depth - 1);
  }
  if (op == opcode::add) {
    const std::int64_t first = take_constant(a, depth - 1);
    const value x = without_constant_;
    const std::int64_t second = take_constant(b, depth - 1);
    const value y = without_constant_;
    without_constant_ = index;
    if (first + second == 0) return 0;
    without_constant_ = binary(operation::add, t, x, y);
    return first + second;
  }
  const bool is_product =
      (op == opcode::mul || op == opcode::mad) && contains(made.f.modifiers, modifier::lo) && is_constant(b);
  if (!is_product && (op != opcode::shl || !is_constant(b))) return 0;
  const std::int64_t scale = is_product ? distance_of(t, b) : std::int64_t{1} << (bits_of(b) & 31);
  const std::int64_t first = take_constant(a, depth - 1);
  const value x = without_constant_;
  std::int64_t second = 0;
  value y = 0;
  if (op == opcode::mad) {
    second = take_constant(made.c, depth - 1);
    y = without_constant_;
  }
  without_constant_ = index;
  const bool little =
      first > -max_distance && first < max_distance && scale > -max_distance && scale < max_distance;
  const std::int64_t whole = little ? first * scale + second : 0;
  if (whole == 0 || whole < -max_distance || whole > max_distance) return 0;
  if (op == opcode::mad)
    without_constant_ = multiply_add(t, x, b, y);
  else
    without_constant_ = binary(is_product ? operation::mul : operation::shl, t, x, b);
  return whole;
}

// A constant summand. Sums of unsigned types wrap, so it counts as signed in its width.
constexpr std::int64_t tracer::distance_of(type t, value v) const {
  const std::uint64_t bits = bits_of(v);
  return t == type::u32
             ? static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)))
             : static_cast<std::int64_t>(bits);
}

// The distance is a value of its own: pointers with the same index share it, and ptxas joins it with the sum.
constexpr value tracer::wide_address(value base, type index_type, value index, std::uint32_t size) {
  value distance = 0;
  if (ptx::size_of(index_type) != 8) {
    const type t = register_type(index_type);
    distance =
        pure({opcode::mul, in_order(modifier::wide), t, type::none, type::u64}, index, constant(t, size));
  } else {
    distance = binary(operation::mul, index_type, index, constant(index_type, size));
  }
  return pure({opcode::add, 0, type::s64, type::none, type::u64}, base, distance);
}

constexpr modifier tracer::vector_of(std::uint32_t count) {
  return count == 2 ? modifier::v2 : count == 4 ? modifier::v4 : modifier::v8;
}

constexpr tracer::key tracer::read_only_key(const access& how, type t, const address& at) const {
  return {form{how.op, how.modifiers, memory_type(t), type::none, loaded_type(t)}, at.base,
          static_cast<value>(at.offset), at.base == 0 ? at.array + 1 : 0,
          how.op == opcode::ld ? waits_for_grids_ : 0};
}

constexpr type tracer::loaded_type(type t) { return t == type::pred ? type::u32 : t; }

constexpr value tracer::from_memory(type t, value v) {
  return t == type::pred ? compare(operation::ne, type::u32, v, constant(type::u32, 0)) : v;
}

constexpr value tracer::to_memory(type t, value v) {
  if (t == type::pred) return cast(type::u32, type::pred, v);
  return ptx::is_half(t) ? in_register(v) : v;
}

}  // namespace kaio::dsl

#pragma once
// The tracer: gives the operations of the language their instructions. Pure operations are folded on
// constants, brought to one form, and value-numbered: within the scopes that it dominates, a result is
// computed once. A trace is an ordinary constant evaluation, and nothing here is a template, so the cost of a
// kernel is its own types alone.

#include <kaio/dsl/trace/fold.hpp>
#include <kaio/dsl/trace/recorder.hpp>

#include <cstdint>

namespace kaio::dsl {

using ptx::special_register;

class tracer : public recorder {
 public:
  // a*b+c becomes one fma where the product stands in the sum's own expression.
  bool contract = true;

  constexpr std::uint32_t loop_depth() const { return loop_depth_; }

  // --- leaves
  constexpr value constant(type t, std::uint64_t bits) {
    std::uint32_t slot = hash(static_cast<std::uint32_t>(t), bits, bits >> 32, 0);
    for (; table_[slot] != 0; slot = next(slot)) {
      const operand& o = values_[table_[slot]].source;
      if (o.kind == operand_kind::immediate && o.bits == bits && o.type == t) return table_[slot];
    }
    const value v = new_register(t);
    values_[v].source = {operand_kind::immediate, t, 0, bits};
    remember(v, slot);
    return v;
  }

  constexpr value special(special_register r) {
    const auto index = static_cast<std::uint32_t>(r);
    const key k{form{opcode::mov, modifier::none, type::u32, type::none, type::u32}, no_value - index, 0, 0};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value v = start(k, slot);
    add({operand_kind::special, type::u32, index, 0});
    return v;
  }

  constexpr value parameter(type t, type memory, std::uint32_t index) {
    begin(opcode::ld_param, modifier::none, memory, type::none);
    const value v = define(t);
    add({operand_kind::parameter, memory, index, 0});
    return v;
  }

  constexpr value global_pointer(std::uint32_t parameter_index) {
    const value generic = parameter(type::u64, type::u64, parameter_index);
    return pure({opcode::cvta_to_global, modifier::none, type::u64, type::none, type::u64}, generic);
  }

  // --- arithmetic
  constexpr value unary(operation op, type t, value a) {
    if (is_constant(a))
      if (const folded f = fold(op, t, bits_of(a), 0); f.known) return constant(t, f.bits);
    switch (op) {
      case operation::not_: return pure({opcode::not_, modifier::none, move_type(t), type::none, t}, a);
      case operation::neg: return pure({opcode::neg, modifier::none, signed_form(t), type::none, t}, a);
      case operation::abs: return pure({opcode::abs, modifier::none, t, type::none, t}, a);
      default: return pure({opcode::sqrt, modifier::rn, t, type::none, t}, a);
    }
  }

  constexpr value binary(operation op, type t, value a, value b) {
    if (is_constant(a)) {
      if (is_constant(b))
        if (const folded f = fold(op, t, bits_of(a), bits_of(b)); f.known) return constant(t, f.bits);
      if (commutes(op)) {  // constants stand on the right
        const value left = a;
        a = b;
        b = left;
      }
    }
    if (is_constant(b))
      if (const value simple = simplified(op, t, a, b); simple != 0) return simple;
    const bool is_float = ptx::is_floating(t);
    const modifier rounding = is_float ? modifier::rn : modifier::none;
    switch (op) {
      case operation::add: return pure({opcode::add, rounding, t, type::none, t}, a, b);
      case operation::sub:
        if (!is_float && is_constant(b))
          return binary(operation::add, t, a, constant(t, canonical(t, std::uint64_t{0} - bits_of(b))));
        return pure({opcode::sub, rounding, t, type::none, t}, a, b);
      case operation::mul:
        return pure({is_float ? opcode::mul : opcode::mul_lo, rounding, t, type::none, t}, a, b);
      case operation::div: return pure({opcode::div, rounding, t, type::none, t}, a, b);
      case operation::rem: return pure({opcode::rem, modifier::none, t, type::none, t}, a, b);
      case operation::min: return pure({opcode::min, modifier::none, t, type::none, t}, a, b);
      case operation::max: return pure({opcode::max, modifier::none, t, type::none, t}, a, b);
      case operation::and_: return pure({opcode::and_, modifier::none, move_type(t), type::none, t}, a, b);
      case operation::or_: return pure({opcode::or_, modifier::none, move_type(t), type::none, t}, a, b);
      case operation::xor_: return pure({opcode::xor_, modifier::none, move_type(t), type::none, t}, a, b);
      case operation::shl: return pure({opcode::shl, modifier::none, move_type(t), type::none, t}, a, b);
      default: return pure({opcode::shr, modifier::none, t, type::none, t}, a, b);
    }
  }

  // eq to ge on operands of type t. C++'s meaning on NaN: every comparison is false, but != is true.
  constexpr value compare(operation op, type t, value a, value b) {
    if (t == type::pred) {
      const value differ = binary(operation::xor_, t, a, b);
      return op == operation::ne ? differ : unary(operation::not_, t, differ);
    }
    if (is_constant(a) && is_constant(b))
      if (const folded f = fold(op, t, bits_of(a), bits_of(b)); f.known) return constant(type::pred, f.bits);
    return pure({opcode::setp, comparison(op, t), t, type::none, type::pred}, a, b);
  }

  constexpr value select(type t, value condition, value a, value b) {
    if (is_constant(condition)) return bits_of(condition) != 0 ? a : b;
    if (a == b) return a;
    if (t == type::pred) {
      const value first = binary(operation::and_, t, condition, a);
      const value second = binary(operation::and_, t, unary(operation::not_, t, condition), b);
      return binary(operation::or_, t, first, second);
    }
    return pure({opcode::selp, modifier::none, move_type(t), type::none, t}, a, b, condition);
  }

  // a * b + c with one rounding (floats), or modulo 2^n (integers).
  constexpr value multiply_add(type t, value a, value b, value c) {
    if (ptx::is_floating(t)) return pure({opcode::fma, modifier::rn, t, type::none, t}, a, b, c);
    if (is_constant(a)) {
      const value left = a;
      a = b;
      b = left;
    }
    if (is_constant(a) || (is_constant(c) && bits_of(c) == 0) || power_of_two(t, b) != not_a_power)
      return binary(operation::add, t, binary(operation::mul, t, a, b), c);
    return pure({opcode::mad_lo, modifier::none, t, type::none, t}, a, b, c);
  }

  constexpr value approximate(opcode op, value a) {
    return pure({op, modifier::none, type::f32, type::none, type::f32}, a);
  }

  // --- conversions
  // C++'s conversion; floats out of an integer's range do what cvt.rzi does.
  constexpr value cast(type to, type from, value a) {
    if (to == from) return a;
    if (to == type::pred) return compare(operation::ne, from, a, constant(from, 0));
    if (from == type::pred) return select(to, a, one(to), constant(to, 0));
    const bool to_float = ptx::is_floating(to);
    const bool from_float = ptx::is_floating(from);
    if (!to_float && !from_float) {
      if (is_constant(a)) return constant(to, canonical(to, bits_of(a)));
      if (ptx::size_of(to) == ptx::size_of(from)) return reinterpret(to, a);
      return pure({opcode::cvt, modifier::none, to, from, to}, a);
    }
    if (to_float && from_float)
      return pure({opcode::cvt, to == type::f32 ? modifier::rn : modifier::none, to, from, to}, a);
    if (to == type::f32 && is_constant(a) && small(from, bits_of(a)))
      return constant(to, detail::bits_of_f32(static_cast<float>(static_cast<std::int64_t>(bits_of(a)))));
    return pure({opcode::cvt, to_float ? modifier::rn : modifier::rzi, to, from, to}, a);
  }

  // The same bits as another type of the same width.
  constexpr value reinterpret(type to, value a) {
    if (type_of(a) == to) return a;
    if (is_constant(a)) return constant(to, canonical(to, bits_of(a)));
    return pure({opcode::mov, modifier::none, ptx::bits_of(to), type::none, to}, a);
  }

  // --- memory
  struct address {
    value base = 0;           // a 64-bit global or 32-bit shared address; 0: `array` itself
    std::int64_t offset = 0;  // bytes
    std::uint32_t array = 0;
  };

  // base + index * size, the constant part of the index kept apart. A u32 index may wrap, so `i + 1` is not
  // split there; signed overflow is as undefined as in C++, and 64 bits wrap exactly as addresses do.
  constexpr address global_place(value base, type index_type, value index, std::uint32_t size) {
    std::int64_t offset = 0;
    if (index_type != type::u32) peel(index, size, offset);
    if (is_constant(index)) {
      const std::int64_t whole = static_cast<std::int64_t>(bits_of(index)) * size + offset;
      if (fits_offset(whole)) return {base, whole, 0};
      return {binary(operation::add, type::s64, base, constant(type::s64, static_cast<std::uint64_t>(whole))),
              0, 0};
    }
    if (ptx::size_of(index_type) == 4) {
      const form wide{opcode::mad_wide, modifier::none, index_type, type::none, type::u64};
      return {pure(wide, index, constant(index_type, size), base), offset, 0};
    }
    const value scaled = binary(operation::mul, index_type, index, constant(index_type, size));
    return {pure({opcode::add, modifier::none, type::s64, type::none, type::u64}, base, scaled), offset, 0};
  }

  // The same in a shared array, whose addresses have 32 bits and wrap as u32 indices do.
  constexpr address shared_place(std::uint32_t array, type index_type, value index, std::uint32_t size) {
    if (ptx::size_of(index_type) == 8) {
      index = cast(type::u32, index_type, index);
      index_type = type::u32;
    }
    std::int64_t offset = 0;
    peel(index, size, offset);
    if (is_constant(index)) return {0, static_cast<std::int64_t>(bits_of(index)) * size + offset, array};
    const form lo{opcode::mad_lo, modifier::none, type::u32, type::none, type::u32};
    const value bits = reinterpret_index(index_type, index);
    return {pure(lo, bits, constant(type::u32, size), shared_base(array)), offset, array};
  }

  // A load that may be shared and removed: nothing writes what it reads while the kernel runs.
  constexpr value load_read_only(type t, const address& at) {
    const type memory = memory_type(t);
    const type result = t == type::pred ? type::u32 : t;
    const key k{form{opcode::ld_global_nc, modifier::none, memory, type::none, result}, at.base,
                static_cast<value>(at.offset), 0};
    std::uint32_t slot = find(k);
    if (table_[slot] != 0) return from_memory(t, table_[slot]);
    const value v = start(k, slot);
    use_address(at.base, at.offset);
    return from_memory(t, v);
  }

  constexpr value load(opcode op, type t, const address& at) {
    begin(op, modifier::none, memory_type(t), type::none);
    const value v = define(t == type::pred ? type::u32 : t);
    add_address(at);
    return from_memory(t, v);
  }

  constexpr void store(opcode op, type t, const address& at, value v) {
    const value stored = t == type::pred ? cast(type::u32, type::pred, v) : v;
    begin(op, modifier::none, memory_type(t), type::none);
    add_address(at);
    use(stored);
  }

  // --- threads
  constexpr void barrier() {
    begin(opcode::bar_sync, modifier::none, type::none, type::none);
    add({operand_kind::immediate, type::u32, 0, 0});
  }

  constexpr value shuffle(modifier mode, value v, value lane, value clamp_and_segment, value members) {
    const type t = type_of(v);
    begin(opcode::shfl_sync, mode, type::b32, type::none);
    const value result = define(t);
    use(v);
    use(lane);
    use(clamp_and_segment);
    use(members);
    return result;
  }

  // The halves of a 64-bit value, and back.
  struct halves {
    value low, high;
  };
  constexpr halves split(value v) {
    begin(opcode::mov, modifier::none, type::b64, type::none);
    add({operand_kind::pack, type::none, 2, 0});
    const halves parts{define(type::u32), define(type::u32)};
    values_[parts.low].definition = values_[parts.high].definition = 0;
    use(v);
    return parts;
  }

  constexpr value join(type t, value low, value high) {
    begin(opcode::mov, modifier::none, type::b64, type::none);
    const value whole = define(t);
    add({operand_kind::pack, type::none, 2, 0});
    use(low);
    use(high);
    return whole;
  }

  // --- control
  // A predicate in a register, for what cannot take a constant.
  constexpr value in_register(value v) {
    if (!is_constant(v)) return v;
    const type t = type_of(v);
    if (t == type::pred)
      return pure({opcode::setp, modifier::ne, type::u32, type::none, type::pred},
                  constant(type::u32, bits_of(v)), constant(type::u32, 0));
    return pure({opcode::mov, modifier::none, move_type(t), type::none, t}, v);
  }

  // The label at the end of a when() body, as long as nothing follows it: otherwise() goes there.
  constexpr void when_ended() { end_of_when_ = position(); }
  constexpr bool follows_when() const { return end_of_when_ != 0 && end_of_when_ == position(); }

  constexpr void enter_scope() { open_scope(); }
  constexpr void leave_scope() { close_scope(); }
  constexpr void enter_loop() {
    ++loop_depth_;
    forget_variables();
    open_scope();
  }
  constexpr void leave_loop() {
    close_scope();
    --loop_depth_;
  }

 private:
  struct form {
    opcode op;
    modifier mod;
    type t0;
    type t1;
    type result;
  };
  struct key {
    form f;
    value a, b, c;
  };
  static constexpr value no_value = 0xffffffffu;
  static constexpr unsigned not_a_power = 64;

  static constexpr std::uint32_t hash(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
    const std::uint64_t h = (a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu) ^
                            (c * 0x165667b19e3779f9u) ^ (d * 0x27d4eb2f165667c5u);
    return static_cast<std::uint32_t>((h ^ (h >> 29)) * 0x94d049bb133111ebu >> 40) % table_size;
  }
  static constexpr std::uint32_t next(std::uint32_t slot) { return (slot + 1) % table_size; }

  constexpr void remember(value v, std::uint32_t slot) {
    table_[slot] = v;
    numbered_[numbered_count_++] = {v, slot};
  }

  // The slot of the value with this key, or the free one where it belongs.
  constexpr std::uint32_t find(const key& k) const {
    const form& f = k.f;
    const std::uint64_t head = static_cast<std::uint64_t>(f.op) << 24 |
                               static_cast<std::uint64_t>(f.mod) << 16 |
                               static_cast<std::uint64_t>(f.t0) << 8 | static_cast<std::uint64_t>(f.t1);
    std::uint32_t slot = hash(head, k.a, k.b, k.c);
    for (; table_[slot] != 0; slot = next(slot)) {
      const value_record& v = values_[table_[slot]];
      if (v.a != k.a || v.b != k.b || v.c != k.c || v.definition == 0) continue;
      const ptx::instruction& i = program_.instructions[v.definition - 1];
      if (i.op == f.op && i.mod == f.mod && i.type0 == f.t0 && i.type1 == f.t1 && v.source.type == f.result)
        return slot;
    }
    return slot;
  }

  constexpr value start(const key& k, std::uint32_t slot) {
    begin(k.f.op, k.f.mod, k.f.t0, k.f.t1);
    const value v = define(k.f.result);
    values_[v].a = k.a;
    values_[v].b = k.b;
    values_[v].c = k.c;
    remember(v, slot);
    return v;
  }

  constexpr value pure(const form& f, value a, value b = 0, value c = 0) {
    const key k{f, a, b, c};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value v = start(k, slot);
    use(a);
    if (b != 0) use(b);
    if (c != 0) use(c);
    return v;
  }

  static constexpr bool commutes(operation op) {
    return op == operation::add || op == operation::mul || op == operation::min || op == operation::max ||
           op == operation::and_ || op == operation::or_ || op == operation::xor_;
  }

  // neg takes signed types; the bits of a negated unsigned number are the same.
  static constexpr type signed_form(type t) {
    return t == type::u32 ? type::s32 : t == type::u64 ? type::s64 : t;
  }

  static constexpr modifier comparison(operation op, type t) {
    switch (op) {
      case operation::eq: return modifier::eq;
      case operation::ne: return ptx::is_floating(t) ? modifier::neu : modifier::ne;
      case operation::lt: return modifier::lt;
      case operation::le: return modifier::le;
      case operation::gt: return modifier::gt;
      default: return modifier::ge;
    }
  }

  constexpr unsigned power_of_two(type t, value v) const {
    if (!is_constant(v) || !ptx::is_integer(t)) return not_a_power;
    const std::uint64_t bits = bits_of(v);
    if (static_cast<std::int64_t>(bits) <= 0 || (bits & (bits - 1)) != 0) return not_a_power;
    unsigned n = 0;
    while (bits >> n != 1) ++n;
    return n;
  }

  constexpr value one(type t) {
    if (t == type::f32) return constant(t, 0x3f800000u);
    return constant(t, t == type::f64 ? 0x3ff0000000000000u : 1);
  }

  // Integers that f32 holds exactly.
  static constexpr bool small(type from, std::uint64_t bits) {
    const auto v = static_cast<std::int64_t>(bits);
    return (from != type::u64 || v >= 0) && v <= 16777216 && v >= -16777216;
  }

  // What a op b is when b is a constant that makes it simpler, or 0.
  constexpr value simplified(operation op, type t, value a, value b) {
    const std::uint64_t bits = bits_of(b);
    if (t == type::pred) {
      if (op == operation::and_) return bits != 0 ? a : b;
      if (op == operation::or_) return bits != 0 ? b : a;
      if (op == operation::xor_) return bits != 0 ? unary(operation::not_, t, a) : a;
      return 0;
    }
    if (ptx::is_floating(t))
      return (op == operation::mul || op == operation::div) && bits == bits_of(one(t)) ? a : 0;
    const std::uint64_t all = canonical(t, ~std::uint64_t{0});
    switch (op) {
      case operation::add:
      case operation::sub:
      case operation::xor_:
      case operation::shl:
      case operation::shr: return bits == 0 ? a : 0;
      case operation::or_: return bits == 0 ? a : bits == all ? b : 0;
      case operation::and_: return bits == 0 ? b : bits == all ? a : 0;
      case operation::mul: {
        if (bits == 0 || bits == 1) return bits == 0 ? b : a;
        const unsigned n = power_of_two(t, b);
        return n == not_a_power ? 0 : binary(operation::shl, t, a, constant(type::u32, n));
      }
      case operation::div: {
        if (bits == 1) return a;
        const unsigned n = ptx::is_unsigned(t) ? power_of_two(t, b) : not_a_power;
        return n == not_a_power ? 0 : binary(operation::shr, t, a, constant(type::u32, n));
      }
      case operation::rem: {
        const unsigned n = ptx::is_unsigned(t) ? power_of_two(t, b) : not_a_power;
        return n == not_a_power ? 0 : binary(operation::and_, t, a, constant(t, bits - 1));
      }
      default: return 0;
    }
  }

  static constexpr bool fits_offset(std::int64_t bytes) {
    return bytes >= -2147483647 && bytes <= 2147483647;
  }

  // Moves the constant summands of an index into the offset.
  constexpr void peel(value& index, std::uint32_t size, std::int64_t& offset) const {
    while (const ptx::instruction* made = definition(index)) {
      if (made->op != opcode::add || !is_constant(values_[index].b)) return;
      const std::uint64_t bits = bits_of(values_[index].b);
      // A negative constant of an unsigned type: the sum wraps, so the sign of its width is the distance.
      const auto distance =
          type_of(index) == type::u32
              ? static_cast<std::int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(bits)))
              : static_cast<std::int64_t>(bits);
      if (distance < -0x10000000 || distance > 0x10000000) return;
      const std::int64_t moved = offset + distance * static_cast<std::int64_t>(size);
      if (!fits_offset(moved)) return;
      offset = moved;
      index = values_[index].a;
    }
  }

  constexpr value shared_base(std::uint32_t array) {
    const key k{form{opcode::mov, modifier::none, type::u32, type::none, type::u32}, no_value - 64 - array, 0,
                0};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value v = start(k, slot);
    add({operand_kind::shared_symbol, type::u32, array, 0});
    return v;
  }

  constexpr value reinterpret_index(type index_type, value index) {
    return index_type == type::u32 ? index : reinterpret(type::u32, index);
  }

  constexpr void add_address(const address& at) {
    if (at.base != 0) return use_address(at.base, at.offset);
    add({operand_kind::shared_address, type::u32, at.array, static_cast<std::uint64_t>(at.offset)});
  }

  // A bool has a byte in memory.
  static constexpr type memory_type(type t) { return t == type::pred ? type::u8 : t; }
  constexpr value from_memory(type t, value v) {
    return t == type::pred ? compare(operation::ne, type::u32, v, constant(type::u32, 0)) : v;
  }

  std::uint32_t loop_depth_ = 0;
  std::uint32_t end_of_when_ = 0;
};

}  // namespace kaio::dsl

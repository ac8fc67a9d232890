#pragma once
// Value numbering: a pure instruction with the same operands is recorded once in the scopes that it
// dominates. A form is an instruction without its operands; pure() gives the value of a form on operands,
// recorded or found.
//
//   const value n = t.pure({opcode::popc, 0, type::b32, type::none, type::u32}, x);

#include <kaio/dsl/trace/fold.hpp>
#include <kaio/dsl/trace/recorder.hpp>

#include <cstdint>

namespace kaio::dsl {

using ptx::in_order;
using ptx::special_register;

// An instruction apart from its operands: what the text carries, and the type of the result.
struct form {
  opcode op;
  modifier_list modifiers;
  type t0;
  type t1;
  type result;
};

class value_numbering : public recorder {
 public:
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

  // A special register that never changes while the thread runs.
  constexpr value special(special_register r, type t = type::u32) {
    const auto index = static_cast<std::uint32_t>(r);
    return leaf(t, index, {operand_kind::special, t, index, 0});
  }

  // The address of an array, in its own state space; 64 bits where the space has 64-bit addresses. ptxas computes
  // one again in each block of code that asks for it, so it is asked for once, in the prologue.
  constexpr value array_address(std::uint32_t array, type t = type::u32) {
    const operand symbol{operand_kind::symbol, t, array, 0};
    value& known = array_addresses_[array];
    if (known == 0) known = read_in_prologue(t, symbol);
    if (known != 0 && type_of(known) == t) return known;
    return leaf(t, first_array_leaf + array, symbol);
  }

  constexpr value parameter(type t, type memory, std::uint32_t index, std::uint32_t offset = 0) {
    begin(opcode::ld_param, 0, memory);
    const value v = define(t);
    add({operand_kind::parameter, memory, index, offset});
    return v;
  }

  constexpr value global_pointer(std::uint32_t parameter_index) {
    const value generic = parameter(type::u64, type::u64, parameter_index);
    return pure({opcode::cvta_to, in_order(modifier::global), type::u64, type::none, type::u64}, generic);
  }

  // The generic address of a parameter that is a struct.
  constexpr value parameter_address(std::uint32_t parameter_index) {
    begin(opcode::mov, 0, type::b64);
    const value v = define(type::u64);
    add({operand_kind::parameter_symbol, type::u64, parameter_index, 0});
    return pure({opcode::cvta_param, 0, type::u64, type::none, type::u64}, v);
  }

  // The value of a pure instruction; missing operands are 0. Constants of 16-bit and packed floating types,
  // which PTX has no immediates for, come from registers.
  constexpr value pure(const form& f, value a, value b = 0, value c = 0, value d = 0) {
    a = operand_for(a);
    if (b != 0) b = operand_for(b);
    if (c != 0) c = operand_for(c);
    const key k{f, a, b, c, d};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value v = start(k, slot);
    use(a);
    if (b != 0) use(b);
    if (c != 0) use(c);
    if (d != 0) use(d);
    return v;
  }

  // A value in a register, for what cannot take a constant.
  constexpr value in_register(value v) {
    if (!is_constant(v)) return v;
    const type t = type_of(v);
    if (t == type::pred)
      return pure({opcode::setp, in_order(modifier::ne), type::u32, type::none, type::pred},
                  constant(type::u32, bits_of(v)), constant(type::u32, 0));
    const key k{{opcode::mov, 0, move_type(t), type::none, t}, v, 0, 0, 0};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value moved = start(k, slot);
    use(v);
    return moved;
  }

 protected:
  struct key {
    form f;
    value a, b, c, d;
  };
  static constexpr value no_value = 0xffffffffu;

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
    const std::uint64_t head = f.modifiers ^ static_cast<std::uint64_t>(f.op) << 56 ^
                               static_cast<std::uint64_t>(f.t0) << 48 ^
                               static_cast<std::uint64_t>(f.t1) << 40;
    std::uint32_t slot = hash(head, k.a, k.b, k.c + (static_cast<std::uint64_t>(k.d) << 32));
    for (; table_[slot] != 0; slot = next(slot)) {
      const value_record& v = values_[table_[slot]];
      if (v.a != k.a || v.b != k.b || v.c != k.c || v.d != k.d || v.definition == 0) continue;
      const ptx::instruction& i = program_.instructions[v.definition - 1];
      if (i.op == f.op && i.modifiers == f.modifiers && i.type0 == f.t0 && i.type1 == f.t1 &&
          v.source.type == f.result)
        return slot;
    }
    return slot;
  }

  constexpr value start(const key& k, std::uint32_t slot) {
    begin(k.f.op, k.f.modifiers, k.f.t0, k.f.t1);
    const value v = define(k.f.result);
    number(v, k, slot);
    return v;
  }

  // Makes a value known under its key.
  constexpr void number(value v, const key& k, std::uint32_t slot) {
    values_[v].a = k.a;
    values_[v].b = k.b;
    values_[v].c = k.c;
    values_[v].d = k.d;
    remember(v, slot);
  }

 private:
  constexpr value operand_for(value v) {
    return is_constant(v) && ptx::is_half(type_of(v)) ? in_register(v) : v;
  }

  // A mov of what never changes while the thread runs; `identity` tells such things apart.
  constexpr value leaf(type t, std::uint32_t identity, const operand& source) {
    const key k{{opcode::mov, 0, t, type::none, t}, no_value - identity, 0, 0, 0};
    const std::uint32_t slot = find(k);
    if (table_[slot] != 0) return table_[slot];
    const value v = start(k, slot);
    add(source);
    return v;
  }

  static constexpr std::uint32_t first_array_leaf = 64;  // behind the special registers
  value array_addresses_[ptx::program::max_arrays] = {};
};

}  // namespace kaio::dsl

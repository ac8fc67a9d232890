#pragma once
// Value numbering: a pure instruction with the same operands is recorded once in the scopes that it
// dominates. A form is an instruction without its operands. pure() gives the value of a form on operands,
// recorded or found.
//
//   const value n = t.pure({opcode::popc, 0, type::b32, type::none, type::u32}, x);

#include <kaio/dsl/trace/recording.hpp>

#include <cstdint>

namespace kaio::dsl {

// --- leaves

constexpr value tracer::constant(type t, std::uint64_t bits) {
  const std::uint64_t bucket = bits % constant_buckets;
  for (std::uint32_t n = constant_bucket_[bucket]; n != 0;) {
    const constant_record known = constants_[n];
    if (known.bits == bits && known.type == t) return known.id;
    n = known.next;
  }
  if (constant_count_ == max_constants) {
    fail("kaio: the kernel has too many different constants (8192); split it into several kernels");
    make_room();
  }
  const std::uint32_t n = ++constant_count_;
  const value id = ptx::is_half(t) ? n | constant_flag | half_flag : n | constant_flag;
  constants_[n] = {t, bits, id, constant_bucket_[bucket]};
  constant_bucket_[bucket] = n;
  return id;
}

constexpr value tracer::special(special_register r, type t) {
  const auto index = static_cast<std::uint32_t>(r);
  return leaf(t, index, {operand_kind::special, t, index, 0});
}

constexpr value tracer::array_address(std::uint32_t array, type t) {
  const operand symbol{operand_kind::symbol, t, array, 0};
  value& known = array_addresses_[array];
  if (known == 0) known = read_in_prologue(t, symbol);
  if (known != 0 && type_of(known) == t) return known;
  return leaf(t, first_array_leaf + array, symbol);
}

constexpr value tracer::parameter(type t, type memory, std::uint32_t index, std::uint32_t offset) {
  begin(opcode::ld_param, 0, memory);
  const value v = define(t);
  add({operand_kind::parameter, memory, index, offset});
  return v;
}

constexpr value tracer::global_pointer(std::uint32_t parameter_index) {
  const value generic = parameter(type::u64, type::u64, parameter_index);
  return pure({opcode::cvta_to, in_order(modifier::global), type::u64, type::none, type::u64}, generic);
}

constexpr value tracer::parameter_address(std::uint32_t parameter_index) {
  begin(opcode::mov, 0, type::b64);
  const value v = define(type::u64);
  add({operand_kind::parameter_symbol, type::u64, parameter_index, 0});
  return pure({opcode::cvta_param, 0, type::u64, type::none, type::u64}, v);
}

constexpr value tracer::leaf(type t, std::uint32_t identity, const operand& source) {
  const key k{{opcode::mov, 0, t, type::none, t}, no_value - identity, 0, 0, 0};
  if (const value known = find(k); known != 0) return known;
  const value v = start(k);
  add(source);
  return v;
}

constexpr value tracer::read_in_prologue(type t, const operand& source) {
  if (prologue_used_ == prologue_size) return 0;
  const std::uint32_t first = 2 * prologue_used_;
  const value v = new_register(t);
  program_.operands[first] = values_[v].source;
  program_.operands[first + 1] = source;
  program_.instructions[prologue_used_] = {opcode::mov, 0,     t,          type::none, 2,
                                           false,       false, statement_, first,      {}};
  values_[v].definition = ++prologue_used_;
  return v;
}

// --- pure instructions

// Most instructions of a kernel are recorded here, so the steps of find(), start() and use() are written out.
// A call costs a compiler as much as several of these lines.
constexpr value tracer::pure(const form& f, value a, value b, value c, value d) {
  if (((a | b | c) & half_flag) != 0) {
    if ((a & half_flag) != 0) a = in_register(a);
    if ((b & half_flag) != 0) b = in_register(b);
    if ((c & half_flag) != 0) c = in_register(c);
  }
  const opcode op = f.op;
  const std::uint32_t bucket = bucket_of(op, a, b, c);
  for (std::uint32_t n = bucket_[bucket]; n != 0; n = numbered_[n].next) {
    const key known = numbered_[n].made_of;
    if (known.a == a && known.b == b && known.c == c && known.d == d && is_same(known.f, f))
      return numbered_[n].result;
  }
  require_room(position_ + 1, operand_count_, value_count_ + 1);
  const std::uint32_t position = position_ + 1;
  const std::uint32_t first = operand_count_;
  const value v = value_count_ + 1;
  const operand result{operand_kind::reg, f.result, v, 0};
  program_.instructions[position - 1] = {op, f.modifiers, f.t0, f.t1, 0, false, false, statement_, first, {}};
  program_.operands[first] = result;
  position_ = position;
  operand_count_ = first + 1;
  value_count_ = v;
  const std::uint32_t n = numbered_count_ + 1;
  numbered_[n] = {{f, a, b, c, d}, v, bucket, bucket_[bucket], newest_numbered_};
  values_[v] = {result, position, 0, 0, n};
  numbered_count_ = n;
  newest_numbered_ = n;
  bucket_[bucket] = n;
  use(a);
  if (b != 0) use(b);
  if (c != 0) use(c);
  if (d != 0) use(d);
  return v;
}

constexpr value tracer::in_register(value v) {
  if (!is_constant(v)) return v;
  const type t = type_of(v);
  if (t == type::pred)
    return pure({opcode::setp, in_order(modifier::ne), type::u32, type::none, type::pred},
                constant(type::u32, bits_of(v)), constant(type::u32, 0));
  const key k{{opcode::mov, 0, move_type(t), type::none, t}, v, 0, 0, 0};
  if (const value known = find(k); known != 0) return known;
  const value moved = start(k);
  use(v);
  return moved;
}

constexpr bool tracer::is_same(const form& x, const form& y) {
  return x.op == y.op && x.modifiers == y.modifiers && x.t0 == y.t0 && x.t1 == y.t1 && x.result == y.result;
}

constexpr std::uint32_t tracer::bucket_of(opcode op, value a, value b, value c) {
  return (a * 31 + b * 17 + c * 7 + static_cast<std::uint32_t>(op) * 5) % buckets;
}

constexpr value tracer::find(const key& k) const {
  for (std::uint32_t n = bucket_[bucket_of(k.f.op, k.a, k.b, k.c)]; n != 0; n = numbered_[n].next) {
    const key known = numbered_[n].made_of;
    if (known.a == k.a && known.b == k.b && known.c == k.c && known.d == k.d && is_same(known.f, k.f))
      return numbered_[n].result;
  }
  return 0;
}

constexpr value tracer::start(const key& k) {
  begin(k.f.op, k.f.modifiers, k.f.t0, k.f.t1);
  const value v = define(k.f.result);
  number(v, k);
  return v;
}

constexpr void tracer::number(value v, const key& k) {
  const std::uint32_t bucket = bucket_of(k.f.op, k.a, k.b, k.c);
  const std::uint32_t n = ++numbered_count_;
  numbered_[n] = {k, v, bucket, bucket_[bucket], newest_numbered_};
  bucket_[bucket] = n;
  newest_numbered_ = n;
  values_[v].numbered = n;
}

}  // namespace kaio::dsl

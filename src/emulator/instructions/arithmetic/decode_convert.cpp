// Decodes moves (with special registers, symbols, packing and unpacking) and conversions.

#include "emulator/decode/decode_special.hpp"
#include "emulator/instructions/arithmetic/decode_half.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kaio::emulator {
namespace convert_decoding {
namespace {

using enum ptx::type;

// The register rows of a vector operand, all of one width that divides the type's.
unsigned vector_width(instruction_decoder& f, const syntax::operand& o) {
  const std::size_t n = o.elements.size();
  if (n != 2 && n != 4)
    f.fail(o.at, fmt::format("a vector of '{}' has 2 or 4 elements, not {}", f.name(), n));
  const unsigned total = ptx::size_of(f.type(0));
  if (total < n) f.fail(o.at, fmt::format("'{}' has too many elements", f.name()));
  return total / static_cast<unsigned>(n);
}

ptx::type bits_type(unsigned bytes) {
  return bytes == 1 ? b8 : bytes == 2 ? b16 : bytes == 4 ? b32 : bytes == 8 ? b64 : b128;
}

bool one_in_braces(const syntax::operand& o) {
  return o.kind == syntax::operand_kind::vector && o.elements.size() == 1;
}

// A vector of one element, to or from the whole number: a plain move.
void move_one(instruction_decoder& f) {
  f.allow(f.type(0), {b16, b32, b64, b128});
  const auto inside = [&](std::size_t k) -> const syntax::operand& {
    const syntax::operand& o = f.operand(k);
    return one_in_braces(o) ? o.elements[0] : o;
  };
  f.out.to[0] = f.destination_row(inside(0), f.type(0), false, &f.out.to_bytes);
  f.out.from[0] = f.source_row(inside(1), f.type(0), false, &f.out.from_bytes);
  f.emit(operation::mov);
}

void move_vector(instruction_decoder& f, bool pack) {
  f.allow(f.type(0), {b16, b32, b64, b128});
  const syntax::operand& vector = f.operand(pack ? 1 : 0);
  const ptx::type element = bits_type(vector_width(f, vector));
  f.out.count = static_cast<std::uint8_t>(vector.elements.size());
  f.out.source_type = element;
  for (std::size_t i = 0; i < vector.elements.size(); ++i) {
    const syntax::operand& e = vector.elements[i];
    if (pack)
      f.out.from[i] = f.source_row(e, element, false, nullptr);
    else if (e.kind == syntax::operand_kind::sink)
      f.out.to[i] = f.function.trash_row();
    else
      f.out.to[i] = f.destination_row(e, element, false, nullptr);
  }
  bool all_sinks = true;
  for (const syntax::operand& e : vector.elements)
    all_sinks = all_sinks && e.kind == syntax::operand_kind::sink;
  if (all_sinks) f.fail(vector.at, fmt::format("'{}' writes nothing", f.name()));
  if (pack)
    f.destination(0, 0, f.type(0));
  else
    f.source(0, 1, f.type(0));
  f.emit(pack ? operation::pack : operation::unpack);
}

// mov.v2 and mov.v4: a vector of registers, or a special register, to a vector of registers. All elements are
// read before one is written: they pass through unnamed rows.
void move_elements(instruction_decoder& f, std::size_t count) {
  f.allow(f.type(0), {b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64});
  const unsigned bytes = ptx::size_of(f.type(0));
  f.arity(2);
  if (bytes * count > 16) f.fail(fmt::format("'{}' moves more than 16 bytes", f.name()));
  const syntax::operand& to = f.operand(0);
  const syntax::operand& from = f.operand(1);
  const auto good = [count](const syntax::operand& o) {
    return o.kind == syntax::operand_kind::vector && o.elements.size() == count;
  };
  if (!good(to)) f.fail(to.at, fmt::format("'{}' takes {} registers in braces here", f.name(), count));
  instruction gather;
  if (const auto special = count == 4 ? special_operand(f, from) : std::nullopt) {
    const std::array<std::uint32_t, 4> rows = special_elements(f, *special, bytes);
    std::copy(rows.begin(), rows.end(), gather.from.begin());
  } else {
    if (!good(from)) f.fail(from.at, fmt::format("'{}' takes {} registers in braces here", f.name(), count));
    for (std::size_t i = 0; i < count; ++i)
      gather.from[i] = f.source_row(from.elements[i], f.type(0), false, nullptr);
  }
  for (std::size_t i = 0; i < count; ++i)
    f.out.to[i] = to.elements[i].kind == syntax::operand_kind::sink
                      ? f.function.trash_row()
                      : f.destination_row(to.elements[i], f.type(0), false, nullptr);
  f.finish_modifiers();
  f.out.type = bits_type(static_cast<unsigned>(bytes * count));
  f.out.source_type = bits_type(bytes);
  f.out.count = static_cast<std::uint8_t>(count);
  gather.op = operation::pack;
  gather.type = f.out.type;
  gather.source_type = f.out.source_type;
  gather.count = f.out.count;
  gather.to[0] = f.out.from[0] = f.function.trash_row();
  gather.line = f.out.line;
  gather.guard = f.out.guard;
  gather.guard_inverted = f.out.guard_inverted;
  f.function.note_uses(gather, {}, {});
  f.function.result().code.push_back(gather);
  f.emit(operation::unpack);
}

// The address of a variable as a value.
void move_symbol(instruction_decoder& f, const syntax::operand& o, const symbol& s) {
  const unsigned width = ptx::size_of(f.type(0));
  if (ptx::is_floating(f.type(0)) || width < 4)
    f.fail(o.at, fmt::format("'{}' does not hold an address", f.name()));
  if (s.kind == symbol_kind::variable && width != 8 &&
      f.function.module().decoded->variables[s.value].space == state_space::global)
    f.fail(o.at, fmt::format("the address of '{}' has 64 bits", o.name));
  if (s.kind == symbol_kind::call_param && s.role != parameter_role::input)
    f.fail(o.at, fmt::format("the parameter '{}' has no address", o.name));
  if (s.kind == symbol_kind::function && o.has_offset)
    f.fail(o.at, fmt::format("the address of the function '{}' takes no offset", o.name));
  f.out.from[0] = f.function.symbol_row(s, o.offset, width);
  f.emit(operation::mov);
}

void decode_mov(instruction_decoder& f) {
  const int vector = f.accept_one({".v2", ".v4"});
  f.types(1);
  if (vector >= 0) return move_elements(f, vector == 0 ? 2 : 4);
  f.allow(f.type(0), {pred, b16, b32, b64, b128, u16, u32, u64, s16, s32, s64, f32, f64});
  f.arity(2);
  const syntax::operand& to = f.operand(0);
  const syntax::operand& from = f.operand(1);
  if (one_in_braces(to) != one_in_braces(from)) return move_one(f);
  if (to.kind == syntax::operand_kind::vector) return move_vector(f, false);
  if (from.kind == syntax::operand_kind::vector) return move_vector(f, true);
  if (const auto special = special_operand(f, from)) return move_special(f, *special);
  if (f.type(0) == pred) {
    bool negated = false;
    f.out.to[0] = f.predicate_row(to, false);
    f.out.from[0] = f.condition_row(from, negated);
    f.emit(negated ? operation::not_ : operation::mov);
    return;
  }
  f.destination(0, 0, f.type(0));
  if (from.kind == syntax::operand_kind::name && from.member.empty() && !from.negated) {
    const symbol* s = f.function.find(from.name);
    if (s != nullptr && s->kind != symbol_kind::reg && s->kind != symbol_kind::vector_reg)
      return move_symbol(f, from, *s);
  }
  f.source(0, 1, f.type(0));
  f.emit(operation::mov);
}

void conversion_rounding(instruction_decoder& f, ptx::type to, ptx::type from) {
  constexpr rounding modes[] = {rounding::rn,  rounding::rz,  rounding::rm,  rounding::rp,
                                rounding::rni, rounding::rzi, rounding::rmi, rounding::rpi};
  const int i = f.accept_one({".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"});
  if (i >= 0) f.out.round = modes[i];
  const bool to_float = ptx::is_floating(to), from_float = ptx::is_floating(from);
  const bool real_mode = i >= 0 && i < 4, integer_mode = i >= 4;
  if (to_float && !from_float) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", f.name()));
    if (!real_mode)
      f.fail(fmt::format("'{}': a conversion to floating point rounds with .rn, .rz, .rm or .rp", f.name()));
  } else if (!to_float && from_float) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rni, .rzi, .rmi, .rpi", f.name()));
    if (!integer_mode)
      f.fail(fmt::format("'{}': a conversion to an integer rounds with .rni, .rzi, .rmi or .rpi", f.name()));
  } else if (to == f32 && from == f64) {
    if (i < 0) f.fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", f.name()));
    if (!real_mode) f.fail(fmt::format("'{}': this conversion rounds with .rn, .rz, .rm or .rp", f.name()));
  } else if (to == from && to_float) {
    if (real_mode)
      f.fail(fmt::format("'{}': to an integral value one rounds with .rni, .rzi, .rmi or .rpi", f.name()));
  } else if (i >= 0) {
    f.fail(fmt::format("'{}' is exact and takes no rounding modifier", f.name()));
  }
}

// True if every value of `from` is one of `to`, so nothing saturates.
bool holds_all_of(ptx::type to, ptx::type from) {
  const unsigned wide = ptx::size_of(to), narrow = ptx::size_of(from);
  return ptx::is_signed(to) == ptx::is_signed(from) ? wide >= narrow : ptx::is_signed(to) && wide > narrow;
}

void decode_cvt(instruction_decoder& f) {
  if (decode_special_conversion(f)) return;
  f.types(2);
  if (ptx::is_half(f.type(0)) || ptx::is_half(f.type(1))) return decode_half_conversion(f);
  for (std::size_t i = 0; i < 2; ++i) f.allow(f.type(i), {u8, u16, u32, u64, s8, s16, s32, s64, f32, f64});
  const ptx::type to = f.type(0), from = f.type(1);
  conversion_rounding(f, to, from);
  if (f.accept(".ftz")) {
    if (to != f32 && from != f32) f.fail(fmt::format("'{}': .ftz is for .f32 only", f.name()));
    f.out.flags.ftz = true;
  }
  f.sat_modifier();
  if (f.out.flags.sat && ptx::is_integer(to) && ptx::is_integer(from) && holds_all_of(to, from))
    f.fail(fmt::format("'{}': .sat has nothing to do; {} holds every {}", f.name(), ptx::suffix(to),
                       ptx::suffix(from)));
  f.arity(2);
  f.out.to[0] = f.destination_row(f.operand(0), to, true, &f.out.to_bytes);
  if (const auto special = special_operand(f, f.operand(1))) {
    const syntax::operand& o = f.operand(1);
    if (ptx::is_floating(to) || ptx::is_floating(from) || special->whole ||
        special->bytes < ptx::size_of(from))
      f.fail(o.at, fmt::format("'{}' does not read '{}': move it to a register first", f.name(), o.name));
    f.out.from[0] = special_source(f, *special);
    f.out.from_bytes = static_cast<std::uint8_t>(special->bytes);
  } else {
    f.out.from[0] = f.source_row(f.operand(1), from, true, &f.out.from_bytes);
  }
  f.emit(operation::cvt);
}

constexpr opcode_row rows[] = {{"mov", decode_mov}, {"cvt", decode_cvt}};

}  // namespace
}  // namespace convert_decoding

std::span<const opcode_row> convert_opcodes() { return convert_decoding::rows; }

}  // namespace kaio::emulator

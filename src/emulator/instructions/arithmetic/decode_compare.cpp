// Decodes comparisons and selections.

#include "emulator/instructions/arithmetic/decode_half.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace compare_decoding {
namespace {

using enum ptx::type;

// The comparison, its combination with a predicate, and .ftz. `compared`: the type of the sources.
void comparison_modifiers(instruction_decoder& f, ptx::type compared) {
  const int i = f.need_one({".eq", ".ne", ".lt", ".le", ".gt", ".ge", ".lo", ".ls", ".hi", ".hs", ".equ",
                            ".neu", ".ltu", ".leu", ".gtu", ".geu", ".num", ".nan"},
                           "a comparison");
  f.out.compare = static_cast<comparison>(i);
  const bool unsigned_only = f.out.compare >= comparison::lo && f.out.compare <= comparison::hs;
  const bool float_only = f.out.compare >= comparison::equ;
  const bool bits = compared >= b16 && compared <= b64;
  if ((unsigned_only && !ptx::is_unsigned(compared)) || (float_only && !ptx::is_floating(compared)) ||
      (bits && f.out.compare > comparison::ne))
    f.fail(fmt::format("'{}': this comparison is not for {}", f.name(), ptx::suffix(compared)));
  f.out.combine = static_cast<combination>(f.accept_one({".and", ".or", ".xor"}) + 1);
  f.ftz_modifier(compared);
  if (f.out.combine != combination::none) {
    bool negated = false;
    f.arity(4);
    if (is_brain(compared) && f.operand(3).kind == syntax::operand_kind::integer)
      f.fail(f.operand(3).at, fmt::format("'{}' takes a predicate register here", f.name()));
    f.out.from[2] = f.condition_row(f.operand(3), negated);
    f.out.flags.negated = negated;
  } else {
    f.arity(3);
  }
}

void decode_setp(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b16, b32, b64, u16, u32, u64, s16, s32, s64, f16, f16x2, bf16, bf16x2, f32, f64});
  if (ptx::is_half(f.type(0))) f.require(is_brain(f.type(0)) ? "add.bf16" : "add.f16", f.name());
  comparison_modifiers(f, f.type(0));
  const syntax::operand& to = f.operand(0);
  if (to.kind == syntax::operand_kind::pair) {
    const bool second = to.elements[1].kind != syntax::operand_kind::sink;
    if (second && (f.type(0) == f16 || f.type(0) == bf16))
      f.fail(to.at, fmt::format("'{}' has one destination", f.name()));
    if (!second && to.elements[0].kind == syntax::operand_kind::sink)
      f.fail(to.at, fmt::format("'{}' writes nothing", f.name()));
    f.out.to[0] = f.predicate_row(to.elements[0]);
    f.out.to[1] = f.predicate_row(to.elements[1]);
    f.out.flags.has_second = true;
  } else {
    f.out.to[0] = f.predicate_row(to);
  }
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
  f.emit(operation::setp);
}

// The destination type of set, which depends on the compared type.
void set_types(instruction_decoder& f) {
  const ptx::type to = f.type(0), compared = f.type(1);
  f.allow(compared, {b16, b32, b64, u16, u32, u64, s16, s32, s64, f16, f16x2, bf16, bf16x2, f32, f64});
  switch (compared) {
    case f16: f.allow(to, {u16, s16, u32, s32, f16, bf16}); break;
    case bf16: f.allow(to, {u16, s16, u32, s32, bf16}); break;
    case f16x2:
    case bf16x2: f.allow(to, {u32, s32, compared}); break;
    default: f.allow(to, {u32, s32, f32, f16, bf16}); break;
  }
  if (is_brain(to) || is_brain(compared))
    f.require("add.bf16", f.name());
  else if (ptx::is_half(compared) && !ptx::is_half(to))
    f.require("set.u16.f16", f.name());
  else if (ptx::is_half(to))
    f.require("add.f16", f.name());
}

void decode_set(instruction_decoder& f) {
  f.types(2);
  set_types(f);
  comparison_modifiers(f, f.type(1));
  if (f.out.flags.ftz && is_brain(f.type(0))) f.fail(fmt::format("'{}': .ftz is not for .bf16", f.name()));
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(1));
  f.source(1, 2, f.type(1));
  f.emit(operation::set);
}

void decode_selp(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64});
  f.arity(4);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
  bool negated = false;
  f.out.from[2] = f.condition_row(f.operand(3), negated);
  f.out.flags.negated = negated;
  f.emit(operation::selp);
}

void decode_slct(instruction_decoder& f) {
  f.types(2);
  f.allow(f.type(0), {b16, b32, b64, u16, u32, u64, s16, s32, s64, f32, f64});
  f.allow(f.type(1), {s32, f32});
  f.ftz_modifier(f.type(1));
  f.arity(4);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
  f.source(2, 3, f.type(1));
  f.emit(operation::slct);
}

constexpr opcode_row rows[] = {
    {"setp", decode_setp}, {"set", decode_set}, {"selp", decode_selp}, {"slct", decode_slct}};

}  // namespace
}  // namespace compare_decoding

std::span<const opcode_row> compare_opcodes() { return compare_decoding::rows; }

}  // namespace kaio::emulator

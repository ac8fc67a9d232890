// Decodes integer arithmetic, and the arithmetic instructions that integers and floating point share.

#include "emulator/instructions/arithmetic/decode_half.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace arithmetic_decoding {
namespace {

using enum ptx::type;

bool is_float(ptx::type t) { return t == f32 || t == f64; }

ptx::type twice(ptx::type t) {
  switch (t) {
    case u16: return u32;
    case s16: return s32;
    case u32: return u64;
    default: return s64;
  }
}

void binary(instruction_decoder& f) {
  f.arity(3);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
}

void ternary(instruction_decoder& f) {
  f.arity(4);
  f.destination(0, 0, f.type(0));
  for (std::size_t i = 0; i < 3; ++i) f.source(i, i + 1, f.type(0));
}

void rounded(instruction_decoder& f, bool required) {
  f.rounding_modifier(required);
  f.ftz_modifier(f.type(0));
  f.sat_modifier();
  if (f.out.flags.sat && f.type(0) != f32) f.fail(fmt::format("'{}': .sat is for .f32 only", f.name()));
  if (f.out.round == rounding::none) f.out.round = rounding::rn;
}

void carry(instruction_decoder& f, bool in) {
  f.out.flags.carry_in = in;
  f.out.flags.carry_out = f.accept(".cc");
  if (!in && !f.out.flags.carry_out) return;
  f.out.immediate = f.function.result().carry;
  f.allow(f.type(0), {u32, s32, u64, s64});
}

void add_or_sub(instruction_decoder& f, operation op) {
  if (op == operation::add && decode_integer_twins(f, op)) return;
  reject_mixed_precision(f);
  f.types(1);
  if (ptx::is_half(f.type(0))) return decode_half_arithmetic(f, op);
  if (is_float(f.type(0))) {
    rounded(f, false);
  } else {
    f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
    carry(f, false);
    f.sat_modifier();
    if (f.out.flags.sat && f.type(0) == u32 && !f.out.flags.carry_out)
      f.fail_newer(f.text.at, f.name(), {107, true});
    if (f.out.flags.sat && (f.type(0) != s32 || f.out.flags.carry_out))
      f.fail(fmt::format("'{}': .sat is for .s32 without .cc", f.name()));
  }
  binary(f);
  f.emit(op);
}

void add_or_sub_with_carry(instruction_decoder& f, operation op) {
  f.types(1);
  carry(f, true);
  binary(f);
  f.emit(op);
}

void decode_add(instruction_decoder& f) { add_or_sub(f, operation::add); }
void decode_sub(instruction_decoder& f) { add_or_sub(f, operation::sub); }
void decode_addc(instruction_decoder& f) { add_or_sub_with_carry(f, operation::add); }
void decode_subc(instruction_decoder& f) { add_or_sub_with_carry(f, operation::sub); }

void decode_mul(instruction_decoder& f) {
  reject_mixed_precision(f);
  f.types(1);
  if (ptx::is_half(f.type(0))) return decode_half_arithmetic(f, operation::mul);
  if (is_float(f.type(0))) {
    rounded(f, false);
    binary(f);
    f.emit(operation::mul);
    return;
  }
  f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
  const int half = f.need_first({".lo", ".hi", ".wide"}, "the part of the product");
  if (half == 2) {
    f.allow(f.type(0), {u16, u32, s16, s32});
    f.arity(3);
    f.destination(0, 0, twice(f.type(0)));
    f.source(0, 1, f.type(0));
    f.source(1, 2, f.type(0));
    f.emit(operation::mul_wide);
    return;
  }
  binary(f);
  f.emit(half == 0 ? operation::mul_lo : operation::mul_hi);
}

void multiply_add(instruction_decoder& f, bool carry_in) {
  f.types(1);
  if (!carry_in && is_float(f.type(0))) {  // sm_20 and later: the same as fma
    // As in ptxas 13, old texts need no rounding modifier.
    rounded(f, f.type(0) != f32 || !(f.function.module().text.version < ptx::isa_version{4, 0}));
    ternary(f);
    f.emit(operation::fma);
    return;
  }
  f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
  const int half = carry_in ? f.need_first({".lo", ".hi"}, "the part of the product")
                            : f.need_first({".lo", ".hi", ".wide"}, "the part of the product");
  if (half == 2) {
    f.allow(f.type(0), {u16, u32, s16, s32});
    f.arity(4);
    f.destination(0, 0, twice(f.type(0)));
    f.source(0, 1, f.type(0));
    f.source(1, 2, f.type(0));
    f.source(2, 3, twice(f.type(0)));
    f.emit(operation::mad_wide);
    return;
  }
  carry(f, carry_in);
  f.sat_modifier();
  if (f.out.flags.sat && (half != 1 || f.type(0) != s32 || f.out.flags.carry_in || f.out.flags.carry_out))
    f.fail(fmt::format("'{}': .sat is for mad.hi.s32 only", f.name()));
  ternary(f);
  f.emit(half == 0 ? operation::mad_lo : operation::mad_hi);
}

void decode_mad(instruction_decoder& f) { multiply_add(f, false); }
void decode_madc(instruction_decoder& f) { multiply_add(f, true); }

void decode_mul24(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u32, s32});
  const int half = f.need_first({".lo", ".hi"}, "the part of the product");
  binary(f);
  f.emit(half == 0 ? operation::mul24_lo : operation::mul24_hi);
}

void decode_mad24(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u32, s32});
  const int half = f.need_first({".lo", ".hi"}, "the part of the product");
  f.sat_modifier();
  if (f.out.flags.sat && (half != 1 || f.type(0) != s32))
    f.fail(fmt::format("'{}': .sat is for mad24.hi.s32 only", f.name()));
  ternary(f);
  f.emit(half == 0 ? operation::mad24_lo : operation::mad24_hi);
}

void decode_div(instruction_decoder& f) {
  f.types(1);
  if (is_float(f.type(0))) {
    f.out.flags.approx = f.accept(".approx");
    f.out.flags.full = f.accept(".full");
    f.rounding_modifier(false);
    f.ftz_modifier(f.type(0));
    const int ways =
        (f.out.flags.approx ? 1 : 0) + (f.out.flags.full ? 1 : 0) + (f.out.round != rounding::none ? 1 : 0);
    if (ways != 1) f.fail(fmt::format("'{}' needs one of .approx, .full, .rn, .rz, .rm, .rp", f.name()));
    if (f.type(0) == f64 && f.out.round == rounding::none)
      f.fail(fmt::format("'{}' needs a rounding modifier: one of .rn, .rz, .rm, .rp", f.name()));
  } else {
    f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
  }
  binary(f);
  f.emit(operation::div);
}

void decode_rem(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
  binary(f);
  f.emit(operation::rem);
}

void unary(instruction_decoder& f, operation op) {
  f.types(1);
  if (ptx::is_half(f.type(0))) return decode_half_sign(f, op);
  f.allow(f.type(0), {s16, s32, s64, f32, f64});
  f.ftz_modifier(f.type(0));
  f.arity(2);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.emit(op);
}

void decode_abs(instruction_decoder& f) { unary(f, operation::abs); }
void decode_neg(instruction_decoder& f) { unary(f, operation::neg); }

void min_or_max(instruction_decoder& f, operation op) {
  if (decode_integer_twins(f, op)) return;
  f.types(1);
  if (ptx::is_half(f.type(0))) return decode_half_extreme(f, op);
  f.allow(f.type(0), {u16, u32, u64, s16, s32, s64, f32, f64});
  f.ftz_modifier(f.type(0));
  f.out.flags.nan = f.accept(".NaN");
  if (f.accept(".xorsign")) {
    f.out.flags.xorsign = true;
    if (!f.accept(".abs")) f.fail(fmt::format("'{}': .xorsign is followed by .abs", f.name()));
  }
  if ((f.out.flags.nan || f.out.flags.xorsign) && f.type(0) != f32)
    f.fail(fmt::format("'{}': .NaN and .xorsign.abs are for .f32 only", f.name()));
  if (f.out.flags.nan) f.require("min.nan", "min.NaN");
  if (f.out.flags.xorsign) f.require("min.xorsign", "min.xorsign.abs");
  if (f.type(0) == f32 && f.operands() == 4) {
    f.require("min.f32 of three", fmt::format("{} of three values", f.name()));
    f.fail(fmt::format("'{}' of three values is not supported by the emulator", f.name()));
  }
  if (f.type(0) == s32) f.out.flags.relu = f.accept(".relu");
  if (f.out.flags.relu) f.require("add.u16x2", f.name());
  binary(f);
  f.emit(op);
}

void decode_min(instruction_decoder& f) { min_or_max(f, operation::min); }
void decode_max(instruction_decoder& f) { min_or_max(f, operation::max); }

void decode_sad(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u16, u32, u64, s16, s32, s64});
  ternary(f);
  f.emit(operation::sad);
}

constexpr opcode_row rows[] = {
    {"add", decode_add},     {"addc", decode_addc}, {"sub", decode_sub},   {"subc", decode_subc},
    {"mul", decode_mul},     {"mad", decode_mad},   {"madc", decode_madc}, {"mul24", decode_mul24},
    {"mad24", decode_mad24}, {"div", decode_div},   {"rem", decode_rem},   {"abs", decode_abs},
    {"neg", decode_neg},     {"min", decode_min},   {"max", decode_max},   {"sad", decode_sad},
};

}  // namespace
}  // namespace arithmetic_decoding

std::span<const opcode_row> arithmetic_opcodes() { return arithmetic_decoding::rows; }

}  // namespace kaio::emulator

// Decodes the instructions that only floating-point types have.

#include "emulator/instructions/arithmetic/decode_half.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace floating_decoding {
namespace {

using enum ptx::type;

void decode_fma(instruction_decoder& f) {
  reject_mixed_precision(f);
  f.types(1);
  if (ptx::is_half(f.type(0))) return decode_half_fma(f);
  f.allow(f.type(0), {f32, f64});
  f.rounding_modifier(true);
  f.ftz_modifier(f.type(0));
  f.sat_modifier();
  if (f.out.flags.sat && f.type(0) != f32) f.fail(fmt::format("'{}': .sat is for .f32 only", f.name()));
  f.arity(4);
  f.destination(0, 0, f.type(0));
  for (std::size_t i = 0; i < 3; ++i) f.source(i, i + 1, f.type(0));
  f.emit(operation::fma);
}

void operands(instruction_decoder& f, operation op) {
  f.arity(2);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.emit(op);
}

// sqrt and rcp: .approx on .f32, or a rounding modifier. `gross`: rcp.approx.ftz.f64 exists.
void root_or_reciprocal(instruction_decoder& f, operation op, bool gross) {
  f.types(1);
  f.allow(f.type(0), {f32, f64});
  f.out.flags.approx = f.accept(".approx");
  f.rounding_modifier(false);
  if (f.out.flags.approx == (f.out.round != rounding::none))
    f.fail(fmt::format("'{}' needs either .approx or a rounding modifier", f.name()));
  if (f.type(0) == f64 && f.out.flags.approx) {
    if (!gross) f.fail(fmt::format("'{}': .approx is for .f32 only", f.name()));
    if (!f.accept(".ftz")) f.fail(fmt::format("'{}' needs .ftz", f.name()));
    f.out.flags.ftz = true;
  } else {
    f.ftz_modifier(f.type(0));
  }
  operands(f, op);
}

void decode_sqrt(instruction_decoder& f) { root_or_reciprocal(f, operation::sqrt, false); }
void decode_rcp(instruction_decoder& f) { root_or_reciprocal(f, operation::rcp, true); }

void approximate(instruction_decoder& f) {
  f.out.flags.approx = f.accept(".approx");
  if (!f.out.flags.approx) f.fail(fmt::format("'{}' needs .approx", f.name()));
}

void decode_rsqrt(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {f32, f64});
  approximate(f);
  f.out.flags.ftz = f.accept(".ftz");
  operands(f, operation::rsqrt);
}

void single_approximation(instruction_decoder& f, operation op, bool ftz) {
  f.allow(f.type(0), {f32});
  approximate(f);
  if (ftz) f.ftz_modifier(f.type(0));
  operands(f, op);
}

void decode_ex2(instruction_decoder& f) {
  f.types(1);
  if (ptx::is_half(f.type(0))) {
    approximate(f);
    return decode_half_ex2(f);
  }
  single_approximation(f, operation::ex2, true);
}

void decode_lg2(instruction_decoder& f) {
  f.types(1);
  single_approximation(f, operation::lg2, true);
}
void decode_sin(instruction_decoder& f) {
  f.types(1);
  single_approximation(f, operation::sin, true);
}
void decode_cos(instruction_decoder& f) {
  f.types(1);
  single_approximation(f, operation::cos, true);
}

void decode_tanh(instruction_decoder& f) {
  f.types(1);
  if (ptx::is_half(f.type(0))) {
    approximate(f);
    return decode_half_tanh(f);
  }
  f.require("tanh");
  single_approximation(f, operation::tanh, false);
}

void decode_copysign(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {f32, f64});
  f.arity(3);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
  f.emit(operation::copysign);
}

void decode_testp(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {f32, f64});
  f.out.form = static_cast<std::uint8_t>(
      f.need_one({".finite", ".infinite", ".number", ".notanumber", ".normal", ".subnormal"}, "a property"));
  f.arity(2);
  f.out.to[0] = f.predicate_row(f.operand(0), false);
  f.source(0, 1, f.type(0));
  f.emit(operation::testp);
}

constexpr opcode_row rows[] = {
    {"fma", decode_fma},   {"sqrt", decode_sqrt},         {"rcp", decode_rcp},     {"rsqrt", decode_rsqrt},
    {"ex2", decode_ex2},   {"lg2", decode_lg2},           {"sin", decode_sin},     {"cos", decode_cos},
    {"tanh", decode_tanh}, {"copysign", decode_copysign}, {"testp", decode_testp},
};

}  // namespace
}  // namespace floating_decoding

std::span<const opcode_row> floating_opcodes() { return floating_decoding::rows; }

}  // namespace kaio::emulator

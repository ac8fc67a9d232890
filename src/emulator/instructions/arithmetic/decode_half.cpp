// Decodes arithmetic of f16 and bf16, and of pairs of 16-bit integers. Source: PTX ISA, "Half Precision
// Floating-Point Instructions" and the integer instructions of the same names.

#include "emulator/instructions/arithmetic/decode_half.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kaio::emulator {
namespace {

void operands(instruction_decoder& f, std::size_t sources) {
  f.arity(sources + 1);
  f.destination(0, 0, f.type(0));
  for (std::size_t i = 0; i < sources; ++i) f.source(i, i + 1, f.type(0));
}

void saturation(instruction_decoder& f) {
  f.sat_modifier();
  if (f.out.flags.sat && is_brain(f.type(0)))
    f.fail(fmt::format("'{}': .sat is not for {}", f.name(), ptx::suffix(f.type(0))));
}

void feature(instruction_decoder& f, std::string_view of_f16, std::string_view of_bf16) {
  f.require(is_brain(f.type(0)) ? of_bf16 : of_f16, f.name());
}

}  // namespace

void decode_half_arithmetic(instruction_decoder& f, operation op) {
  feature(f, "add.f16", "add.bf16");
  f.accept(".rn");
  f.out.round = rounding::rn;
  f.ftz_modifier(f.type(0));
  saturation(f);
  operands(f, 2);
  f.emit(op);
}

void decode_half_fma(instruction_decoder& f) {
  feature(f, "add.f16", "fma.bf16");
  if (f.accept(".oob"))
    f.fail(fmt::format(
        "'{}': .oob is not supported by the emulator; PTX does not define the value that marks an element out of bounds",
        f.name()));
  f.rounding_modifier(true);
  if (f.out.round != rounding::rn && !is_brain(f.type(0)))
    f.fail(fmt::format("'{}': {} is rounded with .rn", f.name(), ptx::suffix(f.type(0))));
  f.ftz_modifier(f.type(0));
  saturation(f);
  f.out.flags.relu = f.accept(".relu");
  if (f.out.flags.relu && f.out.flags.sat)
    f.fail(fmt::format("'{}': .sat and .relu exclude each other", f.name()));
  if (f.out.flags.relu) f.require("fma.relu", f.name());
  operands(f, 3);
  f.emit(operation::fma);
}

void decode_half_sign(instruction_decoder& f, operation op) {
  feature(f, op == operation::abs ? "abs.f16" : "neg.f16", "neg.bf16");
  f.ftz_modifier(f.type(0));
  operands(f, 1);
  f.emit(op);
}

void decode_half_extreme(instruction_decoder& f, operation op) {
  f.require("min.f16", f.name());
  f.ftz_modifier(f.type(0));
  f.out.flags.nan = f.accept(".NaN");
  f.out.flags.xorsign = f.accept(".xorsign");
  if (f.out.flags.xorsign) {
    if (!f.accept(".abs")) f.fail(fmt::format("'{}': .xorsign is followed by .abs", f.name()));
    f.require("min.xorsign", f.name());
  }
  operands(f, 2);
  f.emit(op);
}

void decode_half_ex2(instruction_decoder& f) {
  feature(f, "ex2.f16", "ex2.bf16");
  f.out.flags.ftz = f.accept(".ftz");
  if (f.out.flags.ftz != is_brain(f.type(0)))
    f.fail(fmt::format("'{}' {} .ftz", f.name(), f.out.flags.ftz ? "does not take" : "needs"));
  operands(f, 1);
  f.emit(operation::ex2);
}

void decode_half_tanh(instruction_decoder& f) {
  feature(f, "ex2.f16", "ex2.bf16");
  operands(f, 1);
  f.emit(operation::tanh);
}

void reject_mixed_precision(const instruction_decoder& f) {
  const auto has = [&](std::string_view modifier) {
    return std::any_of(f.text.modifiers.begin(), f.text.modifiers.end(),
                       [&](const syntax::modifier& m) { return m.text == modifier; });
  };
  if (!has(".f32x2") && (!has(".f32") || (!has(".f16") && !has(".bf16")))) return;
  f.function.require("add.f32.f16", f.name(), f.text.at);
  f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
}

bool decode_integer_twins(instruction_decoder& f, operation op) {
  using enum ptx::type;
  const int i = f.accept_one({".u16x2", ".s16x2"});
  if (i < 0) return false;
  f.require("add.u16x2", f.name());
  f.types(0);
  f.out.type = i == 0 ? u16 : s16;
  f.out.count = 2;
  if (op != operation::add && i == 1) f.out.flags.relu = f.accept(".relu");
  f.arity(3);
  f.bits_destination(0, 0, b32);
  f.bits_source(0, 1, b32);
  f.bits_source(1, 2, b32);
  f.emit(op);
  return true;
}

}  // namespace kaio::emulator

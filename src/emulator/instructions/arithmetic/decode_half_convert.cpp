// Decodes the conversions from and to f16, bf16, tf32 and the packed formats, and cvt.pack. Source: PTX ISA,
// "cvt" and "cvt.pack".

#include "emulator/instructions/arithmetic/decode_half.hpp"
#include "emulator/parse/parser_state.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kaio::emulator {
namespace {

using enum ptx::type;

constexpr rounding modes[] = {rounding::rn,  rounding::rz,  rounding::rm,  rounding::rp, rounding::rni,
                              rounding::rzi, rounding::rmi, rounding::rpi, rounding::rna};

// The required rounding modifier: one of the real modes, one of the integer modes, optional, or none.
enum class wanted { real, integral, real_or_none, integral_or_none, none };

void rounding_of(instruction_decoder& f, wanted w) {
  const int i = f.accept_one({".rn", ".rz", ".rm", ".rp", ".rni", ".rzi", ".rmi", ".rpi"});
  const bool real = w == wanted::real || w == wanted::real_or_none;
  const bool integral = w == wanted::integral || w == wanted::integral_or_none;
  const char* const list = real ? ".rn, .rz, .rm, .rp" : ".rni, .rzi, .rmi, .rpi";
  if (i < 0) {
    if (w == wanted::real || w == wanted::integral)
      f.fail(fmt::format("'{}' needs a rounding modifier: one of {}", f.name(), list));
    return;
  }
  if (!real && !integral) f.fail(fmt::format("'{}' is exact and takes no rounding modifier", f.name()));
  if (real != (i < 4)) f.fail(fmt::format("'{}': this conversion rounds with one of {}", f.name(), list));
  f.out.round = modes[i];
}

wanted rounding_between(ptx::type to, ptx::type from) {
  if (!ptx::is_floating(to)) return wanted::integral;
  if (!ptx::is_floating(from)) return wanted::real;
  if (to == from) return wanted::integral_or_none;
  if (!ptx::is_half(from)) return wanted::real;
  return is_brain(from) || is_brain(to) ? wanted::real_or_none : wanted::none;
}

// .relu and .satfinite in a conversion from f32 to a half, with .rn or .rz.
void ends(instruction_decoder& f) {
  f.out.flags.relu = f.accept(".relu");
  f.out.flags.satfinite = f.accept(".satfinite");
  if (!f.out.flags.relu && !f.out.flags.satfinite) return;
  if (f.out.round != rounding::rn && f.out.round != rounding::rz)
    f.fail(fmt::format("'{}': .relu and .satfinite go with .rn or .rz", f.name()));
  if (f.out.flags.sat || f.out.flags.ftz)
    f.fail(fmt::format("'{}': .relu and .satfinite exclude .sat and .ftz", f.name()));
  if (f.out.flags.relu) f.require("fma.relu", f.name());
  if (f.out.flags.satfinite) f.require("cvt.satfinite", f.name());
}

// f16x2 and bf16x2 from two f32.
void twin_of_singles(instruction_decoder& f) {
  f.allow(f.type(1), {f32});
  f.require("min.f16", f.name());
  f.out.round = modes[f.need_one({".rn", ".rz"}, "a rounding modifier")];
  ends(f);
  f.arity(3);
  const bool wider = f.type(0) == f16x2;
  std::uint8_t bytes = 0;
  if (wider)
    f.out.to[0] = f.destination_row(f.operand(0), f16x2, true, &f.out.to_bytes);
  else
    f.bits_destination(0, 0, b32);
  f.out.from[0] = f.source_row(f.operand(1), f32, wider, &f.out.from_bytes);
  f.out.from[1] = f.source_row(f.operand(2), f32, wider, &bytes);
  f.out.immediate = bytes;
  f.emit(operation::cvt_twin);
}

void tf32_of_single(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {f32});
  if (f.text.modifiers.back().text == ".tf32")
    f.fail(fmt::format("'{}': there is no conversion from .tf32", f.name()));
  const int i = f.need_one({".rn", ".rz", ".rna"}, "a rounding modifier");
  f.out.round = i == 2 ? rounding::rna : modes[i];
  f.out.flags.relu = i != 2 && f.accept(".relu");
  f.out.flags.satfinite = f.accept(".satfinite");
  if (f.out.flags.satfinite && i != 2) f.require("cvt.rn.satfinite.tf32", f.name());
  f.require(i == 2 ? "min.f16" : "add.bf16", f.name());
  if (f.out.flags.satfinite) f.require("cvt.satfinite", f.name());
  f.arity(2);
  f.bits_destination(0, 0, b32);
  f.source(0, 1, f32);
  f.emit(operation::cvt_tf32);
}

// e4m3x2 and e5m2x2 from two f32 or from f16x2; f16x2 from e4m3x2 and e5m2x2.
void eighths(instruction_decoder& f, int which) {
  f.types(1);
  f.allow(f.type(0), {f32, f16x2});
  f.require("cvt.e4m3x2", f.name());
  if (f.function.module().text.target.sm < 90) f.require("cvt.e4m3x2 on sm_89", f.name());
  f.out.form = static_cast<std::uint8_t>(which == 0 ? twin_form::e4m3x2 : twin_form::e5m2x2);
  f.need_one({".rn"}, "a rounding modifier");
  f.out.round = rounding::rn;
  f.out.flags.relu = f.accept(".relu");
  // The first type is the destination.
  const auto packed = std::find_if(
      f.text.modifiers.begin(), f.text.modifiers.end(),
      [](const syntax::modifier& m) { return m.text.ends_with("m3x2") || m.text.ends_with("m2x2"); });
  const auto scalar =
      std::find_if(f.text.modifiers.begin(), f.text.modifiers.end(),
                   [](const syntax::modifier& m) { return scalar_type(m.text) != ptx::type::none; });
  if (packed > scalar) {
    if (f.type(0) != f16x2) f.fail(fmt::format("'{}': this format becomes .f16x2 only", f.name()));
    f.arity(2);
    f.bits_destination(0, 0, b32, f16x2);
    f.bits_source(0, 1, b16);
  } else {
    f.out.flags.satfinite = f.accept(".satfinite");
    if (!f.out.flags.satfinite) f.fail(fmt::format("'{}' needs .satfinite", f.name()));
    f.out.source_type = f.type(0);
    f.out.type = b16;
    const bool singles = f.type(0) == f32;
    f.arity(singles ? 3 : 2);
    f.bits_destination(0, 0, b16);
    if (singles) {
      f.source(0, 1, f32);
      f.source(1, 2, f32);
    } else {
      f.bits_source(0, 1, b32, f16x2);
    }
  }
  f.emit(operation::cvt_twin);
}

void pack(instruction_decoder& f) {
  const int i = f.accept_one({".u2", ".s2", ".u4", ".s4"});
  f.types(i < 0 ? 2 : 1, 3);
  const std::size_t first = i < 0 ? 1 : 0;  // the type of a and b
  if (i < 0) f.allow(f.type(0), {u16, s16, u8, s8});
  const bool halves = i < 0 && ptx::size_of(f.type(0)) == 2;
  const bool is_signed = i < 0 ? ptx::is_signed(f.type(0)) : (i & 1) != 0;
  f.out.count = static_cast<std::uint8_t>(i >= 0 ? (i < 2 ? 2 : 4) : ptx::size_of(f.type(0)) * 8);
  f.require(i >= 0 ? "cvt.pack.u4" : "cvt.pack", f.name());
  f.sat_modifier();
  if (!f.out.flags.sat) f.fail(fmt::format("'{}' needs .sat", f.name()));
  f.allow(f.type(first), {s32});
  if (f.type_count() != first + (halves ? 1 : 2) || (!halves && f.type(first + 1) != b32))
    f.fail(fmt::format("'{}' has the types {}", f.name(), halves ? ".s32" : ".s32.b32"));
  f.out.type = is_signed ? s32 : u32;
  f.arity(halves ? 3 : 4);
  f.word_destination(0, 0, b32);
  f.source(0, 1, s32);
  f.source(1, 2, s32);
  if (halves)
    f.out.from[2] = f.function.constant_row(4, 0);
  else
    f.source(2, 3, b32);
  f.emit(operation::cvt_pack);
}

}  // namespace

void decode_half_conversion(instruction_decoder& f) {
  using enum ptx::type;
  const ptx::type to = f.type(0), from = f.type(1);
  if (ptx::is_packed(to)) return twin_of_singles(f);
  for (const ptx::type t : {to, from})
    f.allow(t, {u8, u16, u32, u64, s8, s16, s32, s64, f16, bf16, f32, f64});
  const bool brain = is_brain(to) || is_brain(from), single = to == f32 || from == f32;
  rounding_of(f, rounding_between(to, from));
  f.out.flags.ftz = f.accept(".ftz");
  if (f.out.flags.ftz && !single) f.fail(fmt::format("'{}': .ftz goes with .f32 only", f.name()));
  f.sat_modifier();
  if (brain && f.out.flags.sat) f.fail(fmt::format("'{}': .sat is not for .bf16", f.name()));
  if (ptx::is_half(to) && from == f32) ends(f);
  if (brain) {
    if (!single || (to == f32 && f.out.flags.ftz))
      f.require("add.bf16", f.name());
    else
      f.require(to == f32 ? "cvt.f32.bf16" : "fma.bf16", f.name());
  }
  f.arity(2);
  // .bf16 has .b16 registers; the other type's registers have its own width.
  const auto row = [&](std::size_t index, ptx::type type) {
    const syntax::operand& o = f.operand(index);
    if (ptx::is_half(type) && index == 1 && o.kind != syntax::operand_kind::name)
      f.fail(o.at, fmt::format("'{}' takes a register here", f.name()));
    if (type == bf16) return index == 0 ? f.bits_destination(0, 0, b16) : f.bits_source(0, 1, b16);
    if (index == 0)
      f.out.to[0] = f.destination_row(o, type, !brain, &f.out.to_bytes);
    else
      f.out.from[0] = f.source_row(o, type, !brain, &f.out.from_bytes);
  };
  row(0, to);
  row(1, from);
  f.emit(operation::cvt);
}

bool decode_special_conversion(instruction_decoder& f) {
  if (f.accept(".rs")) {
    f.require("cvt.rs", f.name());
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  }
  if (f.accept(".pack")) {
    if (f.text.modifiers.front().text != ".pack")
      f.fail(fmt::format("'{}': '.pack' must directly follow 'cvt'", f.name()));
    pack(f);
    return true;
  }
  if (f.accept(".tf32")) {
    tf32_of_single(f);
    return true;
  }
  if (f.accept_one({".e2m1x2", ".e2m3x2", ".e3m2x2", ".ue8m0x2"}) >= 0) {
    f.require("cvt.e2m1x2", f.name());
    f.fail(fmt::format("'{}' is not supported by the emulator", f.name()));
  }
  const int eighth = f.accept_one({".e4m3x2", ".e5m2x2"});
  if (eighth < 0) return false;
  eighths(f, eighth);
  return true;
}

}  // namespace kaio::emulator

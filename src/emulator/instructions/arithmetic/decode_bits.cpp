// Decodes the instructions on bits: logic, shifts, counts, fields, permutations and packed dot products.

#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace bits_decoding {
namespace {

using enum ptx::type;

void logic(instruction_decoder& f, operation op) {
  f.types(1);
  f.allow(f.type(0), {pred, b16, b32, b64});
  f.arity(3);
  if (f.type(0) == pred) {
    bool first = false, second = false;
    f.out.to[0] = f.predicate_row(f.operand(0), false);
    f.out.from[0] = f.condition_row(f.operand(1), first);
    f.out.from[1] = f.condition_row(f.operand(2), second);
    f.out.immediate = (first ? 1 : 0) | (second ? 2 : 0);  // which sources are negated
  } else {
    f.destination(0, 0, f.type(0));
    f.source(0, 1, f.type(0));
    f.source(1, 2, f.type(0));
  }
  f.emit(op);
}

void decode_and(instruction_decoder& f) { logic(f, operation::and_); }
void decode_or(instruction_decoder& f) { logic(f, operation::or_); }
void decode_xor(instruction_decoder& f) { logic(f, operation::xor_); }

void decode_not(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {pred, b16, b32, b64});
  f.arity(2);
  if (f.type(0) == pred) {
    bool negated = false;
    f.out.to[0] = f.predicate_row(f.operand(0), false);
    f.out.from[0] = f.condition_row(f.operand(1), negated);
    f.out.flags.negated = negated;
  } else {
    f.destination(0, 0, f.type(0));
    f.source(0, 1, f.type(0));
  }
  f.emit(operation::not_);
}

void decode_cnot(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b16, b32, b64});
  f.arity(2);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.emit(operation::cnot);
}

void shift(instruction_decoder& f, operation op, std::initializer_list<ptx::type> allowed) {
  f.types(1);
  f.allow(f.type(0), allowed);
  f.arity(3);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.word_source(1, 2, u32);
  f.emit(op);
}

void decode_shl(instruction_decoder& f) { shift(f, operation::shl, {b16, b32, b64}); }
void decode_shr(instruction_decoder& f) {
  shift(f, operation::shr, {b16, b32, b64, u16, u32, u64, s16, s32, s64});
}

void decode_shf(instruction_decoder& f) {
  f.require("shf");
  f.types(1);
  f.allow(f.type(0), {b32});
  const int direction = f.need_first({".l", ".r"}, "a direction");
  f.out.flags.clamp = f.need_one({".clamp", ".wrap"}, "a mode") == 0;
  f.arity(4);
  f.destination(0, 0, b32);
  f.source(0, 1, b32);
  f.source(1, 2, b32);
  f.word_source(2, 3, u32);
  f.emit(direction == 0 ? operation::shf_l : operation::shf_r);
}

void count(instruction_decoder& f, operation op, std::initializer_list<ptx::type> allowed) {
  f.types(1);
  f.allow(f.type(0), allowed);
  f.arity(2);
  f.word_destination(0, 0, u32);
  f.source(0, 1, f.type(0));
  f.emit(op);
}

void decode_popc(instruction_decoder& f) { count(f, operation::popc, {b32, b64}); }
void decode_clz(instruction_decoder& f) { count(f, operation::clz, {b32, b64}); }

void decode_bfind(instruction_decoder& f) {
  f.out.flags.shiftamt = f.accept(".shiftamt");
  count(f, operation::bfind, {u32, u64, s32, s64});
}

void decode_brev(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b32, b64});
  f.arity(2);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.emit(operation::brev);
}

void decode_bfe(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {u32, u64, s32, s64});
  f.arity(4);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.bit_position(1, 2);
  f.bit_position(2, 3);
  f.emit(operation::bfe);
}

void decode_bfi(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b32, b64});
  f.arity(5);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.source(1, 2, f.type(0));
  f.bit_position(2, 3);
  f.bit_position(3, 4);
  f.emit(operation::bfi);
}

void decode_bmsk(instruction_decoder& f) {
  f.require("bmsk");
  f.types(1);
  f.allow(f.type(0), {b32});
  f.out.flags.clamp = f.need_one({".clamp", ".wrap"}, "a mode") == 0;
  f.arity(3);
  f.word_destination(0, 0, b32);
  f.word_source(0, 1, b32);
  f.word_source(1, 2, b32);
  f.emit(operation::bmsk);
}

void decode_szext(instruction_decoder& f) {
  f.require("szext");
  f.types(1);
  f.allow(f.type(0), {u32, s32});
  f.out.flags.clamp = f.need_one({".clamp", ".wrap"}, "a mode") == 0;
  f.arity(3);
  f.destination(0, 0, f.type(0));
  f.source(0, 1, f.type(0));
  f.word_source(1, 2, u32);
  f.emit(operation::szext);
}

void decode_fns(instruction_decoder& f) {
  f.require("fns");
  f.types(1);
  f.allow(f.type(0), {b32});
  f.arity(4);
  f.destination(0, 0, b32);
  for (std::size_t i = 0; i < 3; ++i) f.source(i, i + 1, b32);
  f.emit(operation::fns);
}

void decode_prmt(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {b32});
  f.out.form = static_cast<std::uint8_t>(f.accept_one({".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"}) + 1);
  f.arity(4);
  f.destination(0, 0, b32);
  for (std::size_t i = 0; i < 3; ++i) f.source(i, i + 1, b32);
  f.emit(operation::prmt);
}

void decode_lop3(instruction_decoder& f) {
  f.require("lop3");
  f.types(1);
  f.allow(f.type(0), {b32});
  const int combine = f.accept_one({".or", ".and"});
  f.arity(combine >= 0 ? 6 : 5);
  const syntax::operand& table = f.operand(4);
  if (table.kind != syntax::operand_kind::integer)
    f.fail(table.at, "the lookup table of 'lop3' is a constant");
  f.out.immediate = static_cast<std::int64_t>(table.bits & 0xff);
  for (std::size_t i = 0; i < 3; ++i) f.source(i, i + 1, b32);
  if (combine >= 0) {
    f.require("lop3.bool", "lop3.or");
    const syntax::operand& to = f.operand(0);
    if (to.kind != syntax::operand_kind::pair)
      f.fail(to.at, fmt::format("'{}' has the destination d|p", f.name()));
    const bool sink = to.elements[0].kind == syntax::operand_kind::sink;
    f.out.to[0] = sink ? f.function.trash_row() : f.destination_row(to.elements[0], b32, false, nullptr);
    f.out.to[1] = f.predicate_row(to.elements[1], false);
    bool negated = false;
    f.out.from[3] = f.condition_row(f.operand(5), negated);
    f.out.flags.negated = negated;
    f.out.flags.has_second = true;
    f.out.combine = combine == 0 ? combination::or_ : combination::and_;
  } else if (f.operand(0).kind == syntax::operand_kind::sink) {
    f.out.to[0] = f.function.trash_row();
  } else {
    f.destination(0, 0, b32);
  }
  f.emit(operation::lop3);
}

void dot_product(instruction_decoder& f, operation op) {
  f.types(2);
  for (std::size_t i = 0; i < 2; ++i) f.allow(f.type(i), {u32, s32});
  const bool is_signed = f.type(0) == s32 || f.type(1) == s32;
  f.arity(4);
  f.word_destination(0, 0, is_signed ? s32 : u32);
  f.word_source(0, 1, b32);
  f.word_source(1, 2, b32);
  f.word_source(2, 3, is_signed ? s32 : u32);
  f.emit(op);
}

void decode_dp4a(instruction_decoder& f) {
  f.require("dp4a");
  dot_product(f, operation::dp4a);
}

void decode_dp2a(instruction_decoder& f) {
  f.require("dp2a");
  const int half = f.need_first({".lo", ".hi"}, "the half of the second operand");
  dot_product(f, half == 0 ? operation::dp2a_lo : operation::dp2a_hi);
}

constexpr opcode_row rows[] = {
    {"and", decode_and},   {"or", decode_or},     {"xor", decode_xor},     {"not", decode_not},
    {"cnot", decode_cnot}, {"shl", decode_shl},   {"shr", decode_shr},     {"shf", decode_shf},
    {"popc", decode_popc}, {"clz", decode_clz},   {"bfind", decode_bfind}, {"brev", decode_brev},
    {"bfe", decode_bfe},   {"bfi", decode_bfi},   {"bmsk", decode_bmsk},   {"szext", decode_szext},
    {"prmt", decode_prmt}, {"lop3", decode_lop3}, {"dp4a", decode_dp4a},   {"dp2a", decode_dp2a},
    {"fns", decode_fns},
};

}  // namespace
}  // namespace bits_decoding

std::span<const opcode_row> bit_opcodes() { return bits_decoding::rows; }

}  // namespace kaio::emulator

// Decodes the instructions with which the lanes of a warp work together. Each has its member mask in from[4].

#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

namespace kaio::emulator {
namespace warp_decoding {
namespace {

using enum ptx::type;

void synchronous(instruction_decoder& f, std::string_view feature) {
  if (!f.accept(".sync")) f.fail(fmt::format("'{}' needs .sync", f.name()));
  f.require(feature);
}

// shfl and vote without .sync: the lanes that execute them together take part. True if .sync is missing.
bool is_unsynchronised(instruction_decoder& f, std::string_view feature) {
  for (const syntax::modifier& m : f.text.modifiers)
    if (m.text == ".sync") {
      synchronous(f, feature);
      return false;
    }
  const syntax::module& module = f.function.module().text;
  if (module.target.sm >= 70 && !(module.version < ptx::isa_version{6, 4}))
    f.fail(fmt::format("'{}' without .sync does not exist from sm_70 and PTX ISA 6.4 on", f.name()));
  f.out.flags.unsynchronised = true;
  f.out.from[4] = f.function.constant_row(4, all_lanes);
  return true;
}

// d, or d|p with a predicate p; d is an integer.
void count_and_predicate(instruction_decoder& f, bool sink) {
  const syntax::operand& to = f.operand(0);
  f.out.to[1] = f.function.trash_row();
  if (to.kind != syntax::operand_kind::pair) {
    f.word_destination(0, 0, b32);
    return;
  }
  f.out.flags.has_second = true;
  const syntax::operand& d = to.elements[0];
  f.out.to[0] = d.kind == syntax::operand_kind::sink ? f.function.trash_row()
                                                     : f.destination_row(d, b32, false, nullptr);
  f.out.to[1] = f.predicate_row(to.elements[1], sink);
}

// d, or d|p with a predicate p.
void destination_and_predicate(instruction_decoder& f, ptx::type type) {
  const syntax::operand& to = f.operand(0);
  f.out.to[1] = f.function.trash_row();
  if (to.kind != syntax::operand_kind::pair) {
    f.destination(0, 0, type);
    return;
  }
  f.out.flags.has_second = true;
  const bool sink = to.elements[0].kind == syntax::operand_kind::sink;
  f.out.to[0] = sink ? f.function.trash_row() : f.destination_row(to.elements[0], type, false, nullptr);
  f.out.to[1] = f.predicate_row(to.elements[1]);
}

void decode_shfl(instruction_decoder& f) {
  const bool together = is_unsynchronised(f, "shfl.sync");
  f.types(1);
  f.allow(f.type(0), {b32});
  f.out.form = static_cast<std::uint8_t>(f.need_one({".up", ".down", ".bfly", ".idx"}, "a mode"));
  f.arity(together ? 4 : 5);
  const syntax::operand& to = f.operand(0);
  if (to.kind == syntax::operand_kind::pair && to.elements[0].kind == syntax::operand_kind::sink)
    f.fail(to.at, "'shfl.sync' has no form without the shuffled value");
  destination_and_predicate(f, b32);
  f.source(0, 1, b32);
  f.source(1, 2, b32);
  f.source(2, 3, b32);
  if (!together) f.word_source(4, 4, b32);
  f.emit(operation::shfl);
}

void decode_vote(instruction_decoder& f) {
  const bool together = is_unsynchronised(f, "vote.sync");
  const int mode = f.need_one({".all", ".any", ".uni", ".ballot"}, "a mode");
  f.types(1);
  f.allow(f.type(0), {mode == 3 ? b32 : pred});
  f.out.form = static_cast<std::uint8_t>(mode);
  f.arity(together ? 2 : 3);
  if (mode == 3)
    f.destination(0, 0, b32);
  else
    f.out.to[0] = f.predicate_row(f.operand(0), false);
  bool negated = false;
  f.out.from[0] = f.condition_row(f.operand(1), negated);
  f.out.flags.negated = negated;
  if (!together) f.word_source(4, 2, b32);
  f.emit(operation::vote);
}

void decode_match(instruction_decoder& f) {
  synchronous(f, "match.sync");
  const int mode = f.need_one({".any", ".all"}, "a mode");
  f.types(1);
  f.allow(f.type(0), {b32, b64});
  f.out.form = static_cast<std::uint8_t>(mode);
  f.arity(3);
  if (mode == 0 && f.operand(0).kind == syntax::operand_kind::pair)
    f.fail(f.operand(0).at, "match.any has no second destination");
  count_and_predicate(f, true);
  f.source(0, 1, f.type(0));
  f.word_source(4, 2, b32);
  f.emit(operation::match);
}

void decode_activemask(instruction_decoder& f) {
  f.require("activemask");
  f.types(1);
  f.allow(f.type(0), {b32});
  f.arity(1);
  f.destination(0, 0, b32);
  f.emit(operation::activemask);
}

void decode_redux(instruction_decoder& f) {
  synchronous(f, "redux.sync");
  const int op = f.need_one({".add", ".min", ".max", ".and", ".or", ".xor"}, "an operation");
  f.types(1);
  if (op < 3) {
    if (f.type(0) == f32) f.fail_newer(f.text.at, f.name(), {100, true});
    f.allow(f.type(0), {u32, s32});
  } else {
    f.allow(f.type(0), {b32});
  }
  f.out.form = static_cast<std::uint8_t>(op);
  f.arity(3);
  f.word_destination(0, 0, f.type(0));
  f.word_source(0, 1, f.type(0));
  f.word_source(4, 2, b32);
  f.emit(operation::redux);
}

void decode_elect(instruction_decoder& f) {
  synchronous(f, "elect.sync");
  f.arity(2);
  if (f.operand(0).kind != syntax::operand_kind::pair)
    f.fail(f.operand(0).at, "'elect.sync' has the destination d|p");
  count_and_predicate(f, false);
  f.word_source(4, 1, b32);
  f.emit(operation::elect);
}

constexpr opcode_row rows[] = {
    {"shfl", decode_shfl},   {"vote", decode_vote},
    {"match", decode_match}, {"activemask", decode_activemask},
    {"redux", decode_redux}, {"elect", decode_elect},
};

}  // namespace
}  // namespace warp_decoding

std::span<const opcode_row> warp_opcodes() { return warp_decoding::rows; }

}  // namespace kaio::emulator

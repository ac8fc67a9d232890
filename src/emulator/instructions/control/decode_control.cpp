// Decodes branches, the end of threads, and the barriers of a block.

#include "emulator/decode/instruction_decoder.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

namespace kaio::emulator {
namespace control_decoding {
namespace {

using enum ptx::type;

void decode_bra(instruction_decoder& f) {
  f.accept(".uni");
  f.arity(1);
  const syntax::operand& to = f.operand(0);
  if (to.kind != syntax::operand_kind::name || to.has_offset || to.negated || !to.member.empty())
    f.fail(to.at, "'bra' takes a label");
  f.out.immediate = f.function.label(to.name, to.at);
  f.emit(operation::bra);
}

// Returns from a function to its caller; at the top of a kernel it ends the thread.
void decode_ret(instruction_decoder& f) {
  f.accept(".uni");
  f.arity(0);
  if (f.function.is_root()) return f.emit(operation::exit);
  f.out.detail = f.function.index();
  f.emit(operation::ret);
  std::vector<std::uint32_t> reads;
  for (const transfer& t : f.function.result().functions[f.function.index()].results) reads.push_back(t.row);
  f.function.note_uses(f.function.result().code.back(), reads, {});
}

void decode_brx(instruction_decoder& f) {
  f.require("brx.idx");
  if (!f.accept(".idx")) f.fail(fmt::format("'{}' needs .idx", f.name()));
  f.accept(".uni");
  f.arity(2);
  f.source(0, 0, u32);
  const syntax::operand& name = f.operand(1);
  const syntax::targets* const list =
      name.kind == syntax::operand_kind::name ? f.function.targets(name.name) : nullptr;
  if (list == nullptr || list->kind != syntax::targets_kind::branch)
    f.fail(name.at, "'brx.idx' takes the label of a list of .branchtargets declared before");
  f.out.detail = f.function.branch_targets(*list, f.out.rows);
  f.emit(operation::brx);
}

void bare(instruction_decoder& f, operation op) {
  f.arity(0);
  f.emit(op);
}

void decode_exit(instruction_decoder& f) { bare(f, operation::exit); }
void decode_trap(instruction_decoder& f) { bare(f, operation::trap); }
void decode_brkpt(instruction_decoder& f) { bare(f, operation::brkpt); }

void decode_nanosleep(instruction_decoder& f) {
  f.require("nanosleep");
  f.types(1);
  f.allow(f.type(0), {u32});
  f.arity(1);
  f.word_source(0, 0, u32);
  f.emit(operation::nanosleep);
}

// The barrier's number and thread count, from operand `first` on.
void barrier_operands(instruction_decoder& f, std::size_t first, bool counted) {
  const syntax::operand& number = f.operand(first);
  if (number.kind == syntax::operand_kind::integer && number.bits > 15)
    f.fail(number.at, fmt::format("barrier {} does not exist; a block has barriers 0 to 15",
                                  static_cast<std::int64_t>(number.bits)));
  f.out.from[0] = f.source_row(number, u32, false, nullptr);
  f.out.flags.counted = counted;
  if (!counted) return;
  const syntax::operand& count = f.operand(first + 1);
  if (count.kind == syntax::operand_kind::integer && (count.bits % 32 != 0 || count.bits > 1024))
    f.fail(count.at, fmt::format("a barrier's thread count is a multiple of 32 up to 1024, not {}",
                                 static_cast<std::int64_t>(count.bits)));
  f.out.from[1] = f.source_row(count, u32, false, nullptr);
}

void warp_barrier(instruction_decoder& f) {
  f.accept(".warp");
  f.require("bar.warp.sync");
  if (!f.accept(".sync")) f.fail(fmt::format("'{}' needs .sync", f.name()));
  f.arity(1);
  f.word_source(0, 0, b32);
  f.out.from[4] = f.out.from[0];  // the member mask of every .sync instruction
  f.emit(operation::warp_sync);
}

// bar and barrier. Without .aligned the lanes of a warp may arrive one by one; the emulator always lets them.
void decode_barrier(instruction_decoder& f) {
  const bool short_form = f.text.opcode == "bar";
  for (const syntax::modifier& m : f.text.modifiers) {
    if (m.text == ".warp" && short_form) return warp_barrier(f);
    if (m.text == ".cluster") {
      if (short_form) f.fail(m.at, "'bar' does not take the modifier '.cluster'; write barrier.cluster");
      return decode_cluster_barrier(f);
    }
  }
  if (!short_form) f.require("barrier");
  f.accept(".cta");
  f.out.flags.aligned = short_form || f.accept(".aligned");
  const int form = f.need_one({".sync", ".arrive", ".red"}, "an operation");
  if (form == 0) {
    f.arity(1, 2);
    barrier_operands(f, 0, f.operands() == 2);
    f.emit(operation::bar_sync);
    return;
  }
  if (form == 1) {
    f.arity(2);
    if (f.operand(1).kind == syntax::operand_kind::integer && f.operand(1).bits == 0)
      f.fail(f.operand(1).at, fmt::format("'{}' needs a thread count above 0", f.name()));
    barrier_operands(f, 0, true);
    f.emit(operation::bar_arrive);
    return;
  }
  const int reduce = f.need_one({".popc", ".and", ".or"}, "a reduction");
  f.types(1);
  f.allow(f.type(0), {reduce == 0 ? u32 : pred});
  f.out.form = static_cast<std::uint8_t>(reduce == 0   ? reduce_form::popc
                                         : reduce == 1 ? reduce_form::and_
                                                       : reduce_form::or_);
  f.arity(3, 4);
  if (reduce == 0)
    f.destination(0, 0, u32);
  else
    f.out.to[0] = f.predicate_row(f.operand(0), false);
  barrier_operands(f, 1, f.operands() == 4);
  bool negated = false;
  f.out.from[2] = f.condition_row(f.operand(f.operands() - 1), negated);
  f.out.flags.negated = negated;
  f.emit(operation::bar_red);
}

constexpr opcode_row rows[] = {
    {"brx", decode_brx},     {"bra", decode_bra},         {"ret", decode_ret},
    {"exit", decode_exit},   {"trap", decode_trap},       {"brkpt", decode_brkpt},
    {"bar", decode_barrier}, {"barrier", decode_barrier}, {"nanosleep", decode_nanosleep},
};

}  // namespace
}  // namespace control_decoding

std::span<const opcode_row> control_opcodes() { return control_decoding::rows; }

}  // namespace kaio::emulator

// Decodes ldmatrix, stmatrix and movmatrix (PTX ISA, "Warp-level matrix load, store and transpose
// instructions"); wmma has a file of its own.

#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/instructions/matrix/wmma.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kaio::emulator {
namespace matrix_decoding {
namespace {

using enum ptx::type;

void aligned(instruction_decoder& f, std::string_view feature) {
  f.require(feature);
  if (!f.accept(".sync")) f.fail(fmt::format("'{}' needs .sync", f.name()));
  if (!f.accept(".aligned")) f.fail(fmt::format("'{}' needs .aligned", f.name()));
}

// .m8n8 with elements of 16 bits; other shapes came with sm_100.
void shape_and_type(instruction_decoder& f, std::initializer_list<std::string_view> newer_shapes) {
  if (f.accept_one(newer_shapes) >= 0) f.fail_newer(f.text.at, f.name(), {100, true});
  if (!f.accept(".m8n8")) f.fail(fmt::format("'{}' needs the shape .m8n8", f.name()));
  f.types(1);
  f.allow(f.type(0), {b16});
}

void shared_space(instruction_decoder& f) {
  if (std::any_of(f.text.modifiers.begin(), f.text.modifiers.end(),
                  [](const syntax::modifier& t) { return t.text == ".shared::cta"; }))
    f.require("shared::cta", ".shared::cta");
  f.out.space = f.space_modifier();
  if (f.out.flags.cluster || (f.out.space != state_space::generic && f.out.space != state_space::shared))
    f.fail(fmt::format("'{}' accesses shared memory of its own block", f.name()));
}

// Fills to[0 ...] with the registers, one per matrix.
void registers(instruction_decoder& f, std::size_t operand_index, bool written) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::vector || o.elements.size() != f.out.count)
    f.fail(o.at, fmt::format("'{}' takes a vector of {} register{} here", f.name(), f.out.count,
                             f.out.count == 1 ? "" : "s"));
  for (std::size_t k = 0; k < f.out.count; ++k) {
    const syntax::operand& e = o.elements[k];
    if (!written)
      f.out.to[k] = f.source_row(e, b32, false, nullptr);
    else if (e.kind == syntax::operand_kind::sink)
      f.out.to[k] = f.function.trash_row();
    else
      f.out.to[k] = f.destination_row(e, b32, false, nullptr);
  }
}

void decode_access(instruction_decoder& f, bool loads) {
  aligned(f, loads ? "ldmatrix" : "stmatrix");
  const int count = f.need_one({".x1", ".x2", ".x4"}, "a number of matrices");
  f.out.count = static_cast<std::uint8_t>(1 << count);
  f.out.form = f.accept(".trans") ? 1 : 0;
  if (loads)
    shape_and_type(f, {".m16n16", ".m8n16"});
  else
    shape_and_type(f, {".m16n8"});
  shared_space(f);
  f.arity(2);
  f.address(loads ? 1 : 0);
  registers(f, loads ? 0 : 1, loads);
  f.emit(loads ? operation::ldmatrix : operation::stmatrix);
}

void decode_ldmatrix(instruction_decoder& f) { decode_access(f, true); }
void decode_stmatrix(instruction_decoder& f) { decode_access(f, false); }

void decode_movmatrix(instruction_decoder& f) {
  aligned(f, "movmatrix");
  if (!f.accept(".trans")) f.fail(fmt::format("'{}' needs .trans", f.name()));
  shape_and_type(f, {});
  f.arity(2);
  f.destination(0, 0, b32);
  if (f.operand(1).kind != syntax::operand_kind::name)
    f.fail(f.operand(1).at, fmt::format("'{}' takes a register here", f.name()));
  f.source(0, 1, b32);
  f.emit(operation::movmatrix);
}

constexpr opcode_row rows[] = {
    {"ldmatrix", decode_ldmatrix},
    {"stmatrix", decode_stmatrix},
    {"movmatrix", decode_movmatrix},
    {"wmma", decode_wmma},
};

}  // namespace
}  // namespace matrix_decoding

std::span<const opcode_row> matrix_opcodes() { return matrix_decoding::rows; }

}  // namespace kaio::emulator

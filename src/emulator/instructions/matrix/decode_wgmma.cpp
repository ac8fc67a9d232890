// Decodes the matrix multiplications of a warpgroup (PTX ISA, "Asynchronous Warpgroup Level Matrix
// Instructions").

#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/instructions/matrix/wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>

namespace kaio::emulator {
namespace wgmma_decoding {
namespace {

using enum wgmma_element;

constexpr std::string_view element_names[] = {".f16", ".bf16", ".tf32", ".e4m3", ".e5m2",
                                              ".s8",  ".u8",   ".b1",   ".f32",  ".s32"};

bool is_byte_float(wgmma_element e) { return e == e4m3 || e == e5m2; }
bool is_byte_integer(wgmma_element e) { return e == s8_ || e == u8_; }
bool is_half(wgmma_element e) { return e == f16 || e == bf16; }

void synchronous(instruction_decoder& f) {
  const syntax::module& m = f.function.module().text;
  if (m.target.sm != 90 || !m.target.arch_specific)
    f.fail(fmt::format("'{}' needs .target sm_90a; the module is for sm_{}{}", f.name(), m.target.sm,
                       m.target.arch_specific ? "a" : ""));
  f.require("wgmma");
  if (!f.accept(".sync")) f.fail(fmt::format("'{}' needs .sync", f.name()));
  if (!f.accept(".aligned")) f.fail(fmt::format("'{}' needs .aligned", f.name()));
}

struct shape {
  u32 columns = 0, depth = 0;
};

// .m64nNkK
shape take_shape(instruction_decoder& f) {
  for (const syntax::modifier& m : f.text.modifiers) {
    if (!m.text.starts_with(".m64n")) continue;
    shape s;
    const char* const end = m.text.data() + m.text.size();
    const auto n = std::from_chars(m.text.data() + 5, end, s.columns);
    if (n.ec != std::errc{} || n.ptr == end || *n.ptr != 'k') continue;
    const auto k = std::from_chars(n.ptr + 1, end, s.depth);
    if (k.ec != std::errc{} || k.ptr != end) continue;
    f.accept(m.text);
    return s;
  }
  f.fail(fmt::format("'{}' needs a shape .m64nNkK", f.name()));
}

void take_types(instruction_decoder& f, wgmma_form& w) {
  const auto names =
      f.accept_all({".f16", ".bf16", ".tf32", ".e4m3", ".e5m2", ".s8", ".u8", ".b1", ".f32", ".s32"});
  if (names.size() != 3) f.fail(fmt::format("'{}' needs the types of D, A and B", f.name()));
  const auto element = [](std::string_view name) {
    return static_cast<wgmma_element>(std::find(std::begin(element_names), std::end(element_names), name) -
                                      std::begin(element_names));
  };
  w.d = element(names[0]);
  w.a = element(names[1]);
  w.b = element(names[2]);
  const bool exists = is_byte_float(w.a)     ? is_byte_float(w.b) && (w.d == f16 || w.d == f32_)
                      : is_byte_integer(w.a) ? is_byte_integer(w.b) && w.d == s32_
                                             : w.a == w.b && ((w.a == f16 && (w.d == f16 || w.d == f32_)) ||
                                                              ((w.a == bf16 || w.a == tf32) && w.d == f32_) ||
                                                              (w.a == b1 && w.d == s32_));
  if (!exists) f.fail(fmt::format("'{}' has no form with these types", f.name()));
  if (is_byte_integer(w.a) && w.a != w.b) f.require("wgmma.mixed", f.name());
}

void check_shape(instruction_decoder& f, wgmma_form& w, shape s) {
  const bool is_sparse = w.has(wgmma_form::sparse);
  const u32 depth = row_bytes_of_a * 8 / bits_of(w.a) * (is_sparse ? 2 : 1);
  if (s.depth != depth || (is_sparse && w.a == b1))
    f.fail(fmt::format("'{}' has no form with K = {} and these types", f.name(), s.depth));
  if (s.columns == 0 || s.columns % 8 != 0 || s.columns > 256)
    f.fail(fmt::format("'{}': N is a multiple of 8 up to 256", f.name()));
  if (w.d == s32_ && s.columns > 32 && s.columns % 16 != 0)
    f.fail(fmt::format("'{}': N of integers is 8, 16, 24 or a multiple of 16 up to 256", f.name()));
  w.columns = static_cast<std::uint16_t>(s.columns);
}

const syntax::operand& vector_of(instruction_decoder& f, std::size_t operand_index, u32 count) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::vector || o.elements.size() != count)
    f.fail(o.at, fmt::format("'{}' takes a vector of {} registers here", f.name(), count));
  return o;
}

bool take_immediate(instruction_decoder& f, std::size_t operand_index, s64 normal, s64 other,
                    std::string_view name) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind == syntax::operand_kind::integer) {
    const auto value = static_cast<s64>(o.bits);
    if (value == normal || value == other) return value == other;
  }
  f.fail(o.at, fmt::format("'{}': {} is {} or {}", f.name(), name, normal, other));
}

// Metadata and selector of a sparse A.
void take_metadata(instruction_decoder& f, std::size_t& next, wgmma_form& w) {
  if (f.operand(next).kind != syntax::operand_kind::name)
    f.fail(f.operand(next).at, fmt::format("'{}': the metadata is a register", f.name()));
  f.out.from[3] = f.source_row(f.operand(next++), ptx::type::b32, false, nullptr);
  const syntax::operand& o = f.operand(next++);
  const u64 most = bits_of(w.a) == 8 ? 0 : 1;
  if (o.kind != syntax::operand_kind::integer || o.bits > most)
    f.fail(o.at, fmt::format("'{}': the sparsity selector is {}", f.name(), most == 0 ? "0" : "0 or 1"));
  w.selector = static_cast<std::uint8_t>(o.bits);
}

void decode_mma(instruction_decoder& f) {
  wgmma_form w;
  if (f.accept(".sp")) w.flags |= wgmma_form::sparse;
  synchronous(f);
  if (w.has(wgmma_form::sparse)) f.require("wgmma.sp", f.name());
  const shape s = take_shape(f);
  take_types(f, w);
  check_shape(f, w, s);
  if (w.a == b1) {
    f.need_one({".and"}, "an operation");
    if (!f.accept(".popc")) f.fail(fmt::format("'{}' needs .popc", f.name()));
  }
  if (is_byte_integer(w.a)) f.out.flags.satfinite = f.accept(".satfinite");

  f.arity(4, 11);
  const bool in_registers = f.operand(1).kind == syntax::operand_kind::vector;
  if (in_registers) w.flags |= wgmma_form::a_registers;
  const bool scales = w.d != s32_;
  const std::size_t transposes = !is_half(w.a) ? 0 : in_registers ? 1 : 2;
  f.arity(4 + (w.has(wgmma_form::sparse) ? 2 : 0) + (scales ? 2 : 0) + transposes);

  const ptx::type d_type = w.d == f32_ ? ptx::type::f32 : ptx::type::u32;
  for (const syntax::operand& e : vector_of(f, 0, w.registers()).elements)
    f.list_row(f.destination_row(e, d_type, false, nullptr));
  if (in_registers) {
    // As in ptxas, registers of floating-point types are accepted for integers only.
    const ptx::type a_type = scales ? ptx::type::u32 : ptx::type::b32;
    for (const syntax::operand& e : vector_of(f, 1, 4).elements)
      f.list_row(f.source_row(e, a_type, false, nullptr));
  } else {
    f.out.from[0] = f.source_row(f.operand(1), ptx::type::u64, false, nullptr);
  }
  f.out.from[1] = f.source_row(f.operand(2), ptx::type::u64, false, nullptr);
  std::size_t next = 3;
  if (w.has(wgmma_form::sparse)) take_metadata(f, next, w);
  bool negated = false;
  f.out.from[2] = f.condition_row(f.operand(next++), negated);
  f.out.flags.negated = negated;
  if (scales) {
    if (take_immediate(f, next++, 1, -1, "imm-scale-a")) w.flags |= wgmma_form::negate_a;
    if (take_immediate(f, next++, 1, -1, "imm-scale-b")) w.flags |= wgmma_form::negate_b;
  }
  if (transposes == 2 && take_immediate(f, next++, 0, 1, "imm-trans-a")) w.flags |= wgmma_form::trans_a;
  if (transposes != 0 && take_immediate(f, next, 0, 1, "imm-trans-b")) w.flags |= wgmma_form::trans_b;
  f.out.immediate = std::bit_cast<s64>(w);
  f.emit(operation::wgmma_mma);
}

void decode_wait(instruction_decoder& f) {
  synchronous(f);
  f.arity(1);
  const syntax::operand& o = f.operand(0);
  if (o.kind != syntax::operand_kind::integer || static_cast<s64>(o.bits) < 0)
    f.fail(o.at, fmt::format("'{}' takes a number of groups, which is a constant", f.name()));
  f.out.immediate = static_cast<s64>(o.bits);
  f.emit(operation::wgmma_wait);
}

void decode_wgmma(instruction_decoder& f) {
  switch (f.need_one({".mma_async", ".fence", ".commit_group", ".wait_group"}, "an operation")) {
    case 0: decode_mma(f); break;
    case 3: decode_wait(f); break;
    case 1:
      synchronous(f);
      f.arity(0);
      f.emit(operation::wgmma_fence);
      break;
    default:
      synchronous(f);
      f.arity(0);
      f.emit(operation::wgmma_commit);
      break;
  }
}

constexpr opcode_row rows[] = {{"wgmma", decode_wgmma}};

}  // namespace
}  // namespace wgmma_decoding

std::span<const opcode_row> wgmma_opcodes() { return wgmma_decoding::rows; }

}  // namespace kaio::emulator

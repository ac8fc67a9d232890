// Decodes wmma.load, wmma.store and wmma.mma (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions").

#include "emulator/decode/instruction_decoder.hpp"
#include "emulator/instructions/matrix/wmma.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

namespace kaio::emulator {
namespace {

using enum wmma_element;

constexpr std::string_view shape_names[] = {".m16n16k16", ".m8n32k16", ".m32n8k16", ".m16n16k8",
                                            ".m8n8k4",    ".m8n8k32",  ".m8n8k128"};
constexpr std::string_view element_names[] = {".f16", ".bf16", ".tf32", ".f64", ".s8", ".u8",
                                              ".s4",  ".u4",   ".b1",   ".f32", ".s32"};

std::string_view name_of(wmma_element e) { return element_names[static_cast<unsigned>(e)]; }
std::string_view name_of(wmma_shape s) { return shape_names[static_cast<unsigned>(s)]; }

bool is_large(wmma_shape s) {
  return s == wmma_shape::m16n16k16 || s == wmma_shape::m8n32k16 || s == wmma_shape::m32n8k16;
}

// True if A and B of this shape have elements of this type.
bool is_factor(wmma_shape s, wmma_element e) {
  switch (e) {
    case f16:
    case bf16:
    case s8_:
    case u8_: return is_large(s);
    case tf32: return s == wmma_shape::m16n16k8;
    case f64_: return s == wmma_shape::m8n8k4;
    case s4:
    case u4: return s == wmma_shape::m8n8k32;
    case b1: return s == wmma_shape::m8n8k128;
    default: return false;
  }
}

bool is_accumulator(wmma_shape s, wmma_element e) {
  switch (e) {
    case f16: return is_large(s);
    case f32_: return is_large(s) || s == wmma_shape::m16n16k8;
    case s32_: return is_large(s) || s == wmma_shape::m8n8k32 || s == wmma_shape::m8n8k128;
    case f64_: return s == wmma_shape::m8n8k4;
    default: return false;
  }
}

// True if A and B with `factor` elements have this accumulator.
bool accumulates(wmma_element factor, wmma_element accumulator) {
  switch (factor) {
    case f16: return accumulator == f16 || accumulator == f32_;
    case bf16:
    case tf32: return accumulator == f32_;
    case f64_: return accumulator == f64_;
    default: return accumulator == s32_;
  }
}

void require_form(instruction_decoder& f, wmma_shape shape, wmma_element element) {
  f.require("wmma");
  if (is_large(shape) && shape != wmma_shape::m16n16k16) f.require("wmma.m8n32k16", name_of(shape));
  switch (element) {
    case s8_:
    case u8_: f.require("wmma.s8", f.name()); break;
    case s4:
    case u4:
    case b1: f.require("wmma.s4", f.name()); break;
    case bf16:
    case tf32:
    case f64_: f.require("wmma.bf16", f.name()); break;
    case s32_: f.require(is_large(shape) ? "wmma.s8" : "wmma.s4", f.name()); break;
    case f32_:
      if (!is_large(shape)) f.require("wmma.bf16", f.name());
      break;
    case f16: break;
  }
}

// wmma is .aligned from PTX ISA 6.3 on.
void synchronous(instruction_decoder& f) {
  if (!f.accept(".sync")) f.fail(fmt::format("'{}' needs .sync", f.name()));
  const bool has = !(f.function.module().text.version < ptx::isa_version{6, 3});
  if (f.accept(".aligned") == has) return;
  f.fail(has ? fmt::format("'{}' needs .aligned", f.name())
             : fmt::format("'{}': .aligned needs PTX ISA 6.3", f.name()));
}

wmma_shape shape(instruction_decoder& f) {
  return static_cast<wmma_shape>(f.need_one({shape_names[0], shape_names[1], shape_names[2], shape_names[3],
                                             shape_names[4], shape_names[5], shape_names[6]},
                                            "a shape"));
}

std::vector<wmma_element> elements(instruction_decoder& f) {
  std::vector<wmma_element> found;
  for (const std::string_view name :
       f.accept_all({".f16", ".bf16", ".tf32", ".f64", ".s8", ".u8", ".s4", ".u4", ".b1", ".f32", ".s32"}))
    found.push_back(static_cast<wmma_element>(
        std::find(std::begin(element_names), std::end(element_names), name) - std::begin(element_names)));
  return found;
}

ptx::type register_type(wmma_form m) {
  switch (m.element) {
    case f64_: return ptx::type::f64;
    case f32_: return ptx::type::f32;
    case s4:
    case u4:
    case b1: return ptx::type::b32;
    default: return ptx::type::u32;
  }
}

void fragment(instruction_decoder& f, std::size_t operand_index, wmma_form m, bool written) {
  const syntax::operand& o = f.operand(operand_index);
  const u32 count = registers_of(m);
  if (o.kind != syntax::operand_kind::vector || o.elements.size() != count)
    f.fail(o.at,
           fmt::format("'{}' takes a vector of {} register{} here", f.name(), count, count == 1 ? "" : "s"));
  for (const syntax::operand& e : o.elements) {
    if (!written)
      f.list_row(f.source_row(e, register_type(m), false, nullptr));
    else if (e.kind == syntax::operand_kind::sink)
      f.list_row(f.function.trash_row());
    else
      f.list_row(f.destination_row(e, register_type(m), false, nullptr));
  }
}

void decode_access(instruction_decoder& f, wmma_matrix matrix, bool loads) {
  synchronous(f);
  wmma_form m{};
  m.matrix = matrix;
  m.column_major = f.need_one({".row", ".col"}, "a layout") == 1;
  m.shape = shape(f);
  const std::vector<wmma_element> types = elements(f);
  if (types.size() != 1) f.fail(fmt::format("'{}' needs one type", f.name()));
  m.element = types[0];
  const bool exists =
      matrix == wmma_matrix::accumulator ? is_accumulator(m.shape, m.element) : is_factor(m.shape, m.element);
  if (!exists)
    f.fail(fmt::format("'{}': a matrix {} of shape {} has no elements of type {}", f.name(),
                       matrix == wmma_matrix::a   ? "A"
                       : matrix == wmma_matrix::b ? "B"
                       : loads                    ? "C"
                                                  : "D",
                       name_of(m.shape), name_of(m.element)));
  require_form(f, m.shape, m.element);
  if (bits_of(m.element) < 8 && m.column_major != (matrix == wmma_matrix::b))
    f.fail(
        fmt::format("'{}': with elements of type {}, A is .row and B is .col", f.name(), name_of(m.element)));
  if (std::any_of(f.text.modifiers.begin(), f.text.modifiers.end(),
                  [](const syntax::modifier& t) { return t.text == ".shared::cta"; }))
    f.require("shared::cta", ".shared::cta");
  f.out.space = f.space_modifier();
  if (f.out.flags.cluster || (f.out.space != state_space::generic && f.out.space != state_space::global &&
                              f.out.space != state_space::shared))
    f.fail(fmt::format("'{}' accesses .global and .shared memory", f.name()));
  f.arity(2, 3);
  f.address(loads ? 1 : 0);
  fragment(f, loads ? 0 : 1, m, loads);
  const matrix_extent e = extent_of(m.shape);
  const u32 rows = matrix == wmma_matrix::b ? e.k : e.m, columns = matrix == wmma_matrix::a ? e.k : e.n;
  f.out.from[1] = f.operands() == 3 ? f.source_row(f.operand(2), ptx::type::u32, false, nullptr)
                                    : f.function.constant_row(4, m.column_major ? rows : columns);
  f.out.detail = std::bit_cast<u32>(m);
  f.out.count = static_cast<u8>(registers_of(m));
  f.emit(loads ? operation::wmma_load : operation::wmma_store);
}

void decode_mma(instruction_decoder& f) {
  synchronous(f);
  const std::vector<std::string_view> layouts = f.accept_all({".row", ".col"});
  if (layouts.size() != 2) f.fail(fmt::format("'{}' needs the layouts of A and B, as in .row.col", f.name()));
  wmma_product p{};
  p.shape = shape(f);
  const std::vector<wmma_element> types = elements(f);
  if (types.size() != 2 && types.size() != 4)
    f.fail(fmt::format("'{}' needs the types of D and C, or those of D, A, B and C", f.name()));
  p.d = types[0];
  p.c = types.back();
  p.element = types.size() == 2 ? f16 : types[1];
  const bool same = types.size() == 2 || (types[1] == types[2] && p.element != f16 && p.c == p.d);
  if (!same || !is_factor(p.shape, p.element) || !accumulates(p.element, p.c) || !accumulates(p.element, p.d))
    f.fail(fmt::format("'wmma.mma' has no form of shape {} with these types", name_of(p.shape)));
  require_form(f, p.shape, p.element);
  if (bits_of(p.element) < 8 && (layouts[0] != ".row" || layouts[1] != ".col"))
    f.fail(
        fmt::format("'{}': with elements of type {}, A is .row and B is .col", f.name(), name_of(p.element)));
  if (p.element == b1) {
    f.out.form = static_cast<u8>(f.need_one({".xor", ".and"}, "an operation"));
    if (!f.accept(".popc")) f.fail(fmt::format("'{}' needs .popc", f.name()));
    if (f.out.form == 1) f.require("wmma.and", ".and.popc");
  }
  if (p.element == f64_) {
    f.rounding_modifier(false);
    if (f.out.round == rounding::none) f.out.round = rounding::rn;
  }
  if (f.accept(".satfinite")) {
    f.out.flags.satfinite = true;
    const bool once = p.element == f16 && f.function.module().text.version < ptx::isa_version{6, 5};
    if (p.c != s32_ && !once)
      f.fail(fmt::format("'{}': .satfinite is for integers{}", f.name(),
                         p.element == f16 ? "; for .f16 it ended with PTX ISA 6.5" : ""));
    if (p.element == b1) f.fail(fmt::format("'{}': .satfinite is not for .b1", f.name()));
  }
  f.arity(4);
  fragment(f, 0, {p.shape, wmma_matrix::accumulator, p.d, false}, true);
  fragment(f, 1, {p.shape, wmma_matrix::a, p.element, false}, false);
  fragment(f, 2, {p.shape, wmma_matrix::b, p.element, false}, false);
  fragment(f, 3, {p.shape, wmma_matrix::accumulator, p.c, false}, false);
  f.out.detail = std::bit_cast<u32>(p);
  f.emit(operation::wmma_mma);
}

}  // namespace

void decode_wmma(instruction_decoder& f) {
  switch (f.need_one({".load", ".store", ".mma"}, "an operation")) {
    case 0: {
      const int matrix = f.need_one({".a", ".b", ".c"}, "a matrix");
      decode_access(f, static_cast<wmma_matrix>(matrix), true);
      break;
    }
    case 1:
      if (!f.accept(".d")) f.fail(fmt::format("'{}' stores the matrix .d", f.name()));
      decode_access(f, wmma_matrix::accumulator, false);
      break;
    default: decode_mma(f); break;
  }
}

}  // namespace kaio::emulator

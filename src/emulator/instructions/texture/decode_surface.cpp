// Decodes suld, sust and sured (PTX ISA, "Surface Instructions").

#include "emulator/instructions/texture/decode_image.hpp"

#include <fmt/format.h>

#include <array>

namespace kaio::emulator {
namespace surface_decoding {
namespace {

using ptx::type;

// .b, unformatted bytes, directly follows the opcode. .p converts to the surface's format.
void unformatted(instruction_decoder& f) {
  if (f.accept(".p"))
    f.fail(fmt::format("'{}': formatted accesses (.p) are not supported by the emulator", f.name()));
  f.need_first({".b"}, "a kind of access");
}

void bounds_modifier(instruction_decoder& f, image_operands& access) {
  access.bounds =
      static_cast<surface_bounds>(f.need_one({".trap", ".clamp", ".zero"}, "what to do outside the surface"));
}

void element_type(instruction_decoder& f) {
  f.types(1);
  f.allow(f.type(0), {type::b8, type::b16, type::b32, type::b64});
  const int vector = f.accept_one({".v2", ".v4"});
  f.out.count = static_cast<u8>(vector < 0 ? 1 : 2 << vector);
  if (f.out.count * ptx::size_of(f.type(0)) > 16)
    f.fail(fmt::format("'{}' moves more than 16 bytes", f.name()));
}

// Element k of a value. A value is one register, or a vector of registers in braces.
const syntax::operand& element(instruction_decoder& f, const syntax::operand& o, std::size_t k) {
  if (o.kind != syntax::operand_kind::vector && f.out.count == 1) return o;
  if (o.kind != syntax::operand_kind::vector || o.elements.size() != f.out.count)
    f.fail(o.at,
           fmt::format("'{}' takes {} element{} here", f.name(), f.out.count, f.out.count == 1 ? "" : "s"));
  return o.elements[k];
}

void same_width(instruction_decoder& f, const syntax::operand& e, u8 width) {
  if (f.out.to_bytes != 0 && f.out.to_bytes != width)
    f.fail(e.at, fmt::format("the registers of '{}' differ in width", f.name()));
  f.out.to_bytes = width;
}

void decode_suld(instruction_decoder& f) {
  image_operands access;
  unformatted(f);
  geometry_modifier(f);
  element_type(f);
  bounds_modifier(f, access);
  f.accept_one({".ca", ".cg", ".cs", ".cv"});
  f.arity(2);
  object_and_coordinates(f, 1, type::b32, access);
  for (std::size_t k = 0; k < f.out.count; ++k) {
    const syntax::operand& e = element(f, f.operand(0), k);
    u8 width = 0;
    if (e.kind == syntax::operand_kind::sink) {
      f.out.to[k] = f.function.trash_row();
      continue;
    }
    f.out.to[k] = f.destination_row(e, f.type(0), true, &width);
    same_width(f, e, width);
  }
  if (f.out.to_bytes == 0) f.fail(f.operand(0).at, fmt::format("'{}' loads nothing", f.name()));
  emit_image_access(f, operation::suld, access);
}

// Returns the row of an element. A constant takes the width of its type, or of the registers in the same list.
u32 value_row(instruction_decoder& f, const syntax::operand& e) {
  u8 width = 0;
  const u32 row = f.source_row(e, f.type(0), true, &width);
  if (e.kind == syntax::operand_kind::name) same_width(f, e, width);
  return row;
}

void decode_sust(instruction_decoder& f) {
  image_operands access;
  unformatted(f);
  geometry_modifier(f);
  element_type(f);
  bounds_modifier(f, access);
  f.accept_one({".wb", ".cg", ".cs", ".wt"});
  f.arity(2);
  object_and_coordinates(f, 0, type::b32, access);
  for (std::size_t k = 0; k < f.out.count; ++k) f.out.to[k] = value_row(f, element(f, f.operand(1), k));
  const u8 own = static_cast<u8>(ptx::size_of(f.type(0)));
  if (f.out.to_bytes == 0) f.out.to_bytes = own;
  for (std::size_t k = 0; k < f.out.count && f.out.to_bytes != own; ++k) {
    const syntax::operand& e = element(f, f.operand(1), k);
    if (e.kind == syntax::operand_kind::integer)
      f.out.to[k] = f.function.constant_row(f.out.to_bytes, e.bits);
    if (e.kind == syntax::operand_kind::real)
      f.fail(e.at, fmt::format("a floating-point constant among wider registers in '{}'", f.name()));
  }
  emit_image_access(f, operation::sust, access);
}

struct reduction_row {
  std::string_view modifier;
  atomic_form form;
  std::array<ptx::type, 4> types;
};

constexpr reduction_row reductions[] = {
    {".add", atomic_form::add, {type::u32, type::s32, type::u64, type::u64}},
    {".min", atomic_form::min, {type::u32, type::s32, type::u64, type::s64}},
    {".max", atomic_form::max, {type::u32, type::s32, type::u64, type::s64}},
    {".and", atomic_form::and_, {type::b32, type::b32, type::b32, type::b32}},
    {".or", atomic_form::or_, {type::b32, type::b32, type::b32, type::b32}},
};

void decode_sured(instruction_decoder& f) {
  image_operands access;
  unformatted(f);
  const int op = f.need_one({".add", ".min", ".max", ".and", ".or"}, "an operation");
  const reduction_row& row = reductions[op];
  access.reduction = row.form;
  if (is_layered(geometry_modifier(f)))
    f.fail(fmt::format("'{}': sured has the geometries .1d, .2d and .3d", f.name()));
  f.types(1);
  f.allow(f.type(0), {row.types[0], row.types[1], row.types[2], row.types[3]});
  bounds_modifier(f, access);
  f.arity(2);
  object_and_coordinates(f, 0, type::b32, access);
  f.source(1, 1, f.type(0));
  f.out.order = memory_order::relaxed;
  f.out.scope = memory_scope::gpu;
  f.function.note_reduction(static_cast<u32>(row.form));
  emit_image_access(f, operation::sured, access);
}

constexpr opcode_row rows[] = {{"suld", decode_suld}, {"sust", decode_sust}, {"sured", decode_sured}};

}  // namespace
}  // namespace surface_decoding

std::span<const opcode_row> surface_opcodes() { return surface_decoding::rows; }

}  // namespace kaio::emulator

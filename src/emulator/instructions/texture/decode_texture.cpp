// Decodes tex, tld4 and txq (PTX ISA, "Texture Instructions") in the unified mode: the sampler is a part of the
// texture object.

#include "emulator/instructions/texture/decode_image.hpp"

#include <fmt/format.h>

#include <string_view>

namespace kaio::emulator {
namespace texture_decoding {
namespace {

using ptx::type;

// Takes a modifier that directly follows the opcode. Returns its index, or -1.
int leading_modifier(instruction_decoder& f, std::initializer_list<std::string_view> from) {
  const int index = f.accept_one(from);
  if (index >= 0 && f.text.modifiers.front().text != *(from.begin() + index))
    f.fail(fmt::format("'{}': '{}' must directly follow '{}'", f.name(), *(from.begin() + index),
                       f.text.opcode));
  return index;
}

// {d0, d1, d2, d3}, or {d0, d1} for pairs of halves; then |p, which is true if the texels are in memory.
void destinations(instruction_decoder& f, image_operands& access) {
  const unsigned count = f.type(0) == type::f16x2 ? 2 : 4;
  if (!f.accept(count == 2 ? ".v2" : ".v4")) f.fail(fmt::format("'{}' needs .v{}", f.name(), count));
  f.out.count = static_cast<u8>(count);
  f.out.to_bytes = static_cast<u8>(ptx::size_of(f.type(0)));
  const syntax::operand* to = &f.operand(0);
  if (to->kind == syntax::operand_kind::pair) {
    f.require("tex.predicate", f.name());
    access.resident = f.predicate_row(to->elements[1]);
    f.out.flags.has_second = true;
    to = &to->elements[0];
  }
  if (to->kind != syntax::operand_kind::vector || to->elements.size() != count)
    f.fail(to->at, fmt::format("'{}' has {} destinations in braces", f.name(), count));
  for (unsigned k = 0; k < count; ++k) {
    const syntax::operand& e = to->elements[k];
    f.out.to[k] = e.kind == syntax::operand_kind::sink ? f.function.trash_row()
                                                       : f.destination_row(e, f.type(0), false, nullptr);
  }
}

void no_more_operands(instruction_decoder& f, std::size_t most) {
  if (f.operands() > most)
    f.fail(f.operand(most).at,
           fmt::format("'{}': offsets and depth comparison are not supported by the emulator", f.name()));
}

// One level or two gradients. A texture object has one level, so they only have to be well-formed.
void level_operands(instruction_decoder& f, int mode) {
  if (mode == 1) {
    const syntax::operand& o = f.operand(2);
    const bool braces = o.kind == syntax::operand_kind::vector && o.elements.size() == 1;
    f.source_row(braces ? o.elements[0] : o, f.type(1), false, nullptr);
  }
  if (mode != 2) return;
  const u32 dimensions = dimensions_of(static_cast<image_geometry>(f.out.form));
  const std::size_t elements = dimensions == 3 ? 4 : dimensions;
  for (std::size_t k = 2; k < 4; ++k) {
    const syntax::operand& o = f.operand(k);
    if (o.kind != syntax::operand_kind::vector || o.elements.size() != elements)
      f.fail(o.at, fmt::format("'{}' takes gradients of {} element{} in braces", f.name(), elements,
                               elements == 1 ? "" : "s"));
    for (const syntax::operand& e : o.elements) f.source_row(e, type::f32, false, nullptr);
  }
}

void decode_tex(instruction_decoder& f) {
  const int mode = leading_modifier(f, {".base", ".level", ".grad"});
  geometry_modifier(f);
  f.types(2);
  f.allow(f.type(0), {type::u32, type::s32, type::f16, type::f16x2, type::f32});
  f.allow(f.type(1), {type::s32, type::f32});
  const std::size_t operands = mode == 1 ? 3 : mode == 2 ? 4 : 2;
  if (f.operands() < operands) f.arity(operands);
  no_more_operands(f, operands);
  image_operands access;
  destinations(f, access);
  object_and_coordinates(f, 1, f.type(1), access);
  level_operands(f, mode);
  f.out.flags.read_only = true;
  emit_image_access(f, operation::tex, access);
}

void decode_tld4(instruction_decoder& f) {
  image_operands access;
  access.component = static_cast<u8>(f.need_one({".r", ".g", ".b", ".a"}, "a component"));
  const image_geometry geometry = geometry_modifier(f);
  if (dimensions_of(geometry) != 2)
    f.fail(fmt::format("'{}': tld4 reads images of two dimensions", f.name()));
  f.types(2);
  f.allow(f.type(0), {type::u32, type::s32, type::f32});
  f.allow(f.type(1), {type::f32});
  if (f.operands() < 2) f.arity(2);
  no_more_operands(f, 2);
  destinations(f, access);
  object_and_coordinates(f, 1, f.type(1), access);
  f.out.flags.read_only = true;
  emit_image_access(f, operation::tld4, access);
}

struct query_row {
  std::string_view modifier;
  image_query query;
};

void query(instruction_decoder& f, std::initializer_list<query_row> known,
           std::initializer_list<std::string_view> refused, bool of_surface, bool level) {
  image_operands access;
  access.of_surface = of_surface;
  bool found = false;
  for (const query_row& row : known) {
    if (!f.accept(row.modifier)) continue;
    if (found) f.fail(fmt::format("'{}' asks for two properties", f.name()));
    access.query = row.query;
    found = true;
  }
  if (f.accept_one(refused) >= 0)
    f.fail(fmt::format("'{}': this property is not supported by the emulator", f.name()));
  if (!found) f.fail(fmt::format("'{}' needs the property that it asks for", f.name()));
  if (level && access.query > image_query::depth)
    f.fail(fmt::format("'{}': a level has a width, a height and a depth", f.name()));
  f.types(1);
  f.allow(f.type(0), {type::b32});
  f.arity(level ? 3 : 2);
  f.destination(0, 0, type::b32);
  object_operand(f, 1);
  if (level) f.source_row(f.operand(2), type::b32, false, nullptr);
  emit_image_access(f, operation::txq, access);
}

void decode_txq(instruction_decoder& f) {
  const bool level = leading_modifier(f, {".level"}) >= 0;
  query(f,
        {{".width", image_query::width},
         {".height", image_query::height},
         {".depth", image_query::depth},
         {".array_size", image_query::array_size},
         {".channel_data_type", image_query::channel_data_type},
         {".normalized_coords", image_query::normalized_coords},
         {".num_mipmap_levels", image_query::mipmap_levels},
         {".num_samples", image_query::samples}},
        {".channel_order", ".force_unnormalized_coords", ".filter_mode", ".addr_mode_0", ".addr_mode_1",
         ".addr_mode_2"},
        false, level);
}

void decode_suq(instruction_decoder& f) {
  query(f,
        {{".width", image_query::width},
         {".height", image_query::height},
         {".depth", image_query::depth},
         {".array_size", image_query::array_size},
         {".channel_data_type", image_query::channel_data_type}},
        {".channel_order", ".memory_layout"}, true, false);
}

constexpr opcode_row rows[] = {
    {"tex", decode_tex}, {"tld4", decode_tld4}, {"txq", decode_txq}, {"suq", decode_suq}};

}  // namespace
}  // namespace texture_decoding

std::span<const opcode_row> texture_opcodes() { return texture_decoding::rows; }

}  // namespace kaio::emulator

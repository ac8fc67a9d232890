#include "emulator/instructions/texture/decode_image.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

namespace kaio::emulator {
namespace image_decoding {
namespace {

// A handle is a 64-bit register. The variables of .texref and .surfref modules are refused where they are declared.
void object(instruction_decoder& f, const syntax::operand& address, const syntax::operand& base) {
  if (address.has_offset)
    f.fail(address.at, fmt::format("'{}': a texture or surface has no offset", f.name()));
  if (base.kind != syntax::operand_kind::name)
    f.fail(base.at, fmt::format("'{}' takes a register with a texture or surface object here", f.name()));
  f.out.from[0] = f.source_row(base, ptx::type::u64, false, &f.out.from_bytes);
}

}  // namespace
}  // namespace image_decoding

image_geometry geometry_modifier(instruction_decoder& f) {
  const int index =
      f.need_one({".1d", ".2d", ".3d", ".a1d", ".a2d", ".cube", ".acube", ".2dms", ".a2dms"}, "a geometry");
  if (index > 4)
    f.fail(fmt::format("'{}': {} are not supported by the emulator", f.name(),
                       index < 7 ? "cube maps" : "images with several samples"));
  f.out.form = static_cast<u8>(index);
  return static_cast<image_geometry>(index);
}

u32 dimensions_of(image_geometry geometry) {
  switch (geometry) {
    case image_geometry::one:
    case image_geometry::array_one: return 1;
    case image_geometry::two:
    case image_geometry::array_two: return 2;
    case image_geometry::three: return 3;
  }
  return 0;
}

bool is_layered(image_geometry geometry) {
  return geometry == image_geometry::array_one || geometry == image_geometry::array_two;
}

void object_operand(instruction_decoder& f, std::size_t operand_index) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::address || o.elements.size() != 1)
    f.fail(o.at, fmt::format("'{}' takes a texture or surface object in brackets here", f.name()));
  image_decoding::object(f, o, o.elements[0]);
}

void object_and_coordinates(instruction_decoder& f, std::size_t operand_index, ptx::type coordinate,
                            image_operands& access) {
  const syntax::operand& o = f.operand(operand_index);
  if (o.kind != syntax::operand_kind::address || o.elements.size() < 2)
    f.fail(o.at, fmt::format("'{}' takes an object and coordinates here: [object, {{x, ...}}]", f.name()));
  if (o.elements.size() > 2)
    f.fail(o.elements[1].at,
           fmt::format("'{}': independent samplers are not supported by the emulator", f.name()));
  image_decoding::object(f, o, o.elements[0]);
  const auto geometry = static_cast<image_geometry>(f.out.form);
  const u32 used = dimensions_of(geometry) + (is_layered(geometry) ? 1 : 0);
  const syntax::operand& place = o.elements[1];
  const bool single = used == 1 && place.kind != syntax::operand_kind::vector;
  const std::size_t have = single ? 1 : place.elements.size();
  const std::size_t wanted = used == 3 ? 4 : used;
  if (have != wanted)
    f.fail(place.at,
           fmt::format("'{}' takes {} coordinate{}, not {}", f.name(), wanted, wanted == 1 ? "" : "s", have));
  for (std::size_t k = 0; k < have; ++k) {
    const bool layer = k == 0 && is_layered(geometry);
    const u32 row =
        f.source_row(single ? place : place.elements[k], layer ? ptx::type::u32 : coordinate, false, nullptr);
    if (k < used) f.list_row(row);
  }
  access.coordinates = used;
}

void emit_image_access(instruction_decoder& f, operation op, const image_operands& access) {
  std::vector<image_operands>& all = f.function.result().image_accesses;
  f.out.detail = static_cast<u32>(all.size());
  all.push_back(access);
  f.out.site = f.function.result().sites++;
  f.out.space = state_space::global;
  f.emit(op);
}

}  // namespace kaio::emulator

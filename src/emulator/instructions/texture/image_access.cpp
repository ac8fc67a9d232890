#include "emulator/instructions/texture/image_access.hpp"

#include "emulator/machine/block.hpp"
#include "emulator/machine/raise_fault.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <variant>

namespace kaio::emulator {
namespace image_accesses {
namespace {

std::string_view name_of(image_shape shape) {
  switch (shape) {
    case image_shape::linear: return "linear memory";
    case image_shape::one: return "one dimension";
    case image_shape::two: return "two dimensions";
    case image_shape::three: return "three dimensions";
    case image_shape::layered_one: return "layers of one dimension";
    case image_shape::layered_two: return "layers of two dimensions";
  }
  return "";
}

bool suits(image_geometry geometry, image_shape shape) {
  switch (geometry) {
    case image_geometry::one: return shape == image_shape::one || shape == image_shape::linear;
    case image_geometry::two: return shape == image_shape::two;
    case image_geometry::three: return shape == image_shape::three;
    case image_geometry::array_one: return shape == image_shape::layered_one;
    case image_geometry::array_two: return shape == image_shape::layered_two;
  }
  return false;
}

}  // namespace
}  // namespace image_accesses

void refuse_image(const warp& w, const instruction& i, unsigned lane, std::string detail) {
  fault_report report;
  report.kind = fault_kind::image;
  report.detail = std::move(detail);
  raise_fault(w, i, lane, std::move(report));
}

const image_operands& image_operands_of(const warp& w, const instruction& i) {
  return w.owner->launched.kernel.image_accesses[i.detail];
}

std::shared_ptr<const image_objects::object> object_of(const warp& w, const instruction& i, unsigned lane,
                                                       u64 handle, bool surface) {
  const image_objects& all = w.owner->launched.global.images();
  const std::string_view wanted = surface ? "surface object" : "texture object";
  auto found = all.find(handle);
  if (found == nullptr)
    refuse_image(
        w, i, lane,
        all.was_removed(handle)
            ? fmt::format("a thread uses the object {:#x}, which was destroyed", handle)
            : fmt::format("a thread uses {:#x} as a {}; there is none with this handle", handle, wanted));
  if (std::holds_alternative<emulator::surface>(*found) != surface)
    refuse_image(w, i, lane,
                 fmt::format("a thread uses {:#x} as a {}; it is a {}", handle, wanted,
                             surface ? "texture object" : "surface object"));
  return found;
}

void check_geometry(const warp& w, const instruction& i, unsigned lane, const image& texels) {
  if (image_accesses::suits(static_cast<image_geometry>(i.form), texels.shape)) return;
  constexpr std::string_view geometries[] = {".1d", ".2d", ".3d", ".a1d", ".a2d"};
  refuse_image(w, i, lane,
               fmt::format("a thread reads or writes an image of {} by the geometry {}",
                           image_accesses::name_of(texels.shape), geometries[i.form]));
}

}  // namespace kaio::emulator

#pragma once
// Shared by the instructions on images: finds the objects that the lanes name, and raises their faults.

#include "emulator/machine/lanes.hpp"
#include "emulator/memory/image.hpp"
#include "emulator/program/program.hpp"

#include <bit>
#include <memory>
#include <string>

namespace kaio::emulator {

[[noreturn]] void refuse_image(const warp& w, const instruction& i, unsigned lane, std::string detail);

const image_operands& image_operands_of(const warp& w, const instruction& i);

// The object with this handle. Throws fault: there is none, it was destroyed, or it is one of the other kind.
std::shared_ptr<const image_objects::object> object_of(const warp& w, const instruction& i, unsigned lane,
                                                       u64 handle, bool surface);

// Throws fault if the image does not have the instruction's geometry.
void check_geometry(const warp& w, const instruction& i, unsigned lane, const image& texels);

// Calls function(handle, lanes) for each object that the lanes of the mask name.
template <class Function>
void for_objects(const warp& w, const instruction& i, u32 mask, Function&& function) {
  const std::byte* const row = w.file + i.from[0];
  while (mask != 0) {
    const u64 handle = get<u64>(row, static_cast<unsigned>(std::countr_zero(mask)));
    u32 lanes = 0;
    for_lanes(mask, [&](unsigned lane) { lanes |= get<u64>(row, lane) == handle ? 1u << lane : 0; });
    mask &= ~lanes;
    function(handle, lanes);
  }
}

}  // namespace kaio::emulator

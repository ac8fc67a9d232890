#pragma once
// Shared by the decoders of texture and surface instructions: the geometry, and the operand [object, {coordinates}].

#include "emulator/decode/instruction_decoder.hpp"

namespace kaio::emulator {

// Takes one modifier from .1d to .a2d. Cube maps and images with several samples are refused by name.
image_geometry geometry_modifier(instruction_decoder& f);

// Coordinates without the layer.
u32 dimensions_of(image_geometry geometry);
bool is_layered(image_geometry geometry);

// [object, {coordinates}]: the handle becomes from[0], and the rows of the layer and the coordinates the instruction's
// list. Three dimensions and layers of two are written with four elements, of which the last is ignored.
void object_and_coordinates(instruction_decoder& f, std::size_t operand_index, ptx::type coordinate,
                            image_operands& access);

// [object]
void object_operand(instruction_decoder& f, std::size_t operand_index);

// Adds `access` to the kernel's table and emits the instruction.
void emit_image_access(instruction_decoder& f, operation op, const image_operands& access);

}  // namespace kaio::emulator

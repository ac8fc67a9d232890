#pragma once
// The text and statements of a kernel in one compressed piece, a sixth of their size. A program that has machine
// code for its device never unpacks it.
//
//   const std::string piece = pack(image);          // in the program of a family
//   unpack(image, use, context);                    // image.packed is such a piece
//
// Layout: two words of 32 bits, the bytes of the content and those stored (fewer, if compressed), then the
// content. Its numbers have seven bits a byte; lines and statements are differences to the one before.
//
//   segments, the size of each, their characters
//   files, the name of each with an ending zero
//   statements, the file and the line of each
//   lines, of each 0, or 1 + its statement

#include <kaio/ptx/kernel_image.hpp>

#include <string>

#include "images/linked_image.hpp"

namespace kaio::images {

// The image must not be packed.
std::string pack(const ptx::kernel_image& image);

}  // namespace kaio::images

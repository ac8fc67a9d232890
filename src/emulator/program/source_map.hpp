#pragma once
// Maps each line of a module's text to its C++ statement: from the kernel's image, or from the text's .loc
// directives, which nvcc -lineinfo and Triton write.

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/kernel_image.hpp>

#include <string>
#include <vector>

namespace kaio::emulator {

class module;

// A C++ statement, or the place that a .loc directive names.
struct source_place {
  std::string file;  // empty: not known
  u32 line = 0;
  friend bool operator==(const source_place&, const source_place&) = default;
};

// Indexed by the line of the text, from 0. `image` may be nullptr.
std::vector<source_place> statements(const module& program, const ptx::kernel_image* image);

// The lines of a source file; empty if it cannot be read.
std::vector<std::string> lines_of_file(const std::string& path);

}  // namespace kaio::emulator

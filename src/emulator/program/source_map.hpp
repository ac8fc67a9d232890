#pragma once
// Which C++ statement each line of a module's text came from: from the kernel's image, or from the .loc
// directives in the text do, which nvcc -lineinfo and Triton write.

#include "emulator/program/scalar.hpp"

#include <kaio/ptx/kernel_image.hpp>

#include <string>
#include <vector>

namespace kaio::emulator {

class module;

// A C++ statement, or what a .loc directive of the text names.
struct source_place {
  std::string file;  // empty: not known
  u32 line = 0;
  friend bool operator==(const source_place&, const source_place&) = default;
};

// By the line of the text, from 0. `image` may be nullptr.
std::vector<source_place> statements(const module& program, const ptx::kernel_image* image);

// The lines of a source file; empty if it cannot be read.
std::vector<std::string> lines_of_file(const std::string& path);

}  // namespace kaio::emulator

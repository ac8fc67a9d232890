#pragma once
// Writes the images of a family's kernels for the library. A C++ source has the definitions of
// images::linked_image, and includes the file of packed texts.
//
//   write_images("w4", kernels, "/build/images/w4");   // w4.cpp and w4.packed

#include <kaio/ptx/kernel_image.hpp>

#include <filesystem>
#include <string_view>
#include <vector>

namespace kaio::images {

// `prefix` is the absolute path of both files without their extensions. Throws std::runtime_error if a file cannot be
// written, or if two kernels have one name.
void write_images(std::string_view family, const std::vector<const ptx::kernel_image*>& kernels,
                  const std::filesystem::path& prefix);

}  // namespace kaio::images

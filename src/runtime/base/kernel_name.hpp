#pragma once
// The name of a kernel in errors. If this program used kernels of that name from different places, the C++ file and
// line of its first statement are added.
//
//   note_kernel(kernel);                                         // when it is first used
//   throw invalid_argument(text("kaio: kernel ", display_name(kernel), " ..."));   // scale, or scale (rope.hpp:31)

#include <kaio/ptx/kernel_image.hpp>

#include <string>

namespace kaio::runtime {

// Remembers the kernel for the life of the program.
void note_kernel(const ptx::kernel_image& kernel);
std::string display_name(const ptx::kernel_image& kernel);
// "rope.hpp:31"; empty where no other kernel has its name, or its C++ lines are not known.
std::string origin_of(const ptx::kernel_image& kernel);

}  // namespace kaio::runtime

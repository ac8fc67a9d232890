#pragma once
// What the text of a kernel declares, compared with what its image says: its parameters, since arguments are
// packed by the image and read by the text, and the threads of its block. Every device refuses a kernel whose
// two halves differ, with the same error, before anything of it is compiled. The emulator knows the
// parameters from its parser; for a GPU they are read from the text's header, since only drivers from CUDA
// 12.4 on can be asked.
//
//   if (const auto declared = entry_parameters(text, kernel.name))
//     check_parameters(kernel, *declared, text, description);

#include <kaio/ptx/kernel_image.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::runtime {

struct entry_parameter {
  std::string name;
  std::uint64_t bytes = 0;  // 0: not known
};

// In order. nullopt where the text has no such `.entry`, or its header is cut off: then the driver says more.
std::optional<std::vector<entry_parameter>> entry_parameters(std::string_view text, std::string_view kernel);

// Throws jit_error.
void check_parameters(const ptx::kernel_image& kernel, const std::vector<entry_parameter>& declared,
                      std::string_view text, std::string_view device);
// `most` threads are what the text allows, and on a GPU its registers. Throws launch_error.
void check_block(const ptx::kernel_image& kernel, std::uint64_t most, std::string_view device);

}  // namespace kaio::runtime

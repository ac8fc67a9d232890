#pragma once
// Compares the text of a kernel with its image. Arguments are packed by the image and read by the text, so their
// parameters must agree; the block must keep the text's limit of threads. Every device refuses a mismatch with the
// same error. The emulator gets the parameters from its parser. For a GPU they are read from the text's header,
// before it is compiled: only drivers from CUDA 12.4 on can be asked.
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

// Returns the parameters in order. nullopt: no such `.entry`, or its header is cut off; then the driver says more.
std::optional<std::vector<entry_parameter>> entry_parameters(std::string_view text, std::string_view kernel);

// Throws jit_error.
void check_parameters(const ptx::kernel_image& kernel, const std::vector<entry_parameter>& declared,
                      std::string_view text, std::string_view device);
// `most` is the number of threads that the text, and on a GPU its registers, allow. Throws launch_error.
void check_block(const ptx::kernel_image& kernel, std::uint64_t most, std::string_view device);

}  // namespace kaio::runtime

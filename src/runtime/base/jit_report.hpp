#pragma once
// Turns a refusal of a kernel's text into a jit_error. It has the compiler's log, the lines of PTX around each error,
// and their C++ lines. If KAIO_KEEP_PTX names a folder, the text is kept in a file there.

#include <kaio/ptx/kernel_image.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::runtime {

// The pieces of a kernel's text, joined.
std::string joined_text(const ptx::kernel_image& kernel);

struct jit_failure {
  const ptx::kernel_image& kernel;
  std::string_view text;    // the text that was compiled
  std::string_view log;     // the compiler's words
  std::string_view device;  // its description
  std::string_view
      cause;  // "the driver's compiler refused the text (CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx)"
  std::string_view what_to_do;  // may be empty
};

[[noreturn]] void throw_jit_error(const jit_failure& failure);

// The line numbers in a log of ptxas or of the emulator's parser, from 1, each once, in order.
std::vector<std::size_t> lines_of_log(std::string_view log);

// The lines of `text` around each of `lines`, with the C++ lines that they came from.
std::string excerpt_of(const ptx::kernel_image& kernel, std::string_view text,
                       const std::vector<std::size_t>& lines);

}  // namespace kaio::runtime

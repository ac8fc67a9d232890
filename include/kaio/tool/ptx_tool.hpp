#pragma once
// A program that lists, prints, verifies, profiles and checks kernels by their names. CMake's kaio_add_ptx_tool writes
// one for the kernels of a project. If it has several lists of kernels, write one source file for each list:
//
//   const kaio::tool::family filters("filters", [] { return kaio::tool::images(blur, sharpen<f32>); });
//
// `app_kernels --help` prints its commands.

#include <kaio/ptx/kernel_image.hpp>

#include <string_view>
#include <vector>

namespace kaio::tool {

using image_list = std::vector<const ptx::kernel_image*>;

// The images of some kernels.
template <class... Kernels>
image_list images(const Kernels&... kernels) {
  return {&kernels.image()...};
}

// Adds a list of kernels to the program that it is part of. One for each source file, at namespace scope.
struct family {
  family(std::string_view name, image_list (*kernels)());
};

// The kernels of all lists of the program in the order of their names, each once. Called by main() or later.
image_list all_images();

// The programs that three commands start. Without a verifier, verify fails.
struct programs {
  std::string_view kaio;          // profile and check: the program `kaio`; if it does not exist, that of PATH
  std::string_view verifier;      // verify: the Python script that runs ptxas
  std::string_view kaio_command;  // the shell command that builds `kaio`, for the message if there is none
};

// The program: what main() returns. Errors are printed, none is thrown. Called once, by main() itself.
int run(int argc, char** argv, const programs& paths);

}  // namespace kaio::tool

#pragma once
// The images that programs hand to the driver as code: PTX text, and the containers in which nvcc wraps it. An
// emulator cannot run machine code of a GPU.
//
// The origin of an image decides what is trusted. The contents of a file, and bytes that are passed with their
// length, are read within that length, and never as a pointer. A bare pointer is the program's own memory: a
// text ends in a zero, and a fat binary's header states its length. A wrapper, which nvcc links into programs,
// holds the address of a fat binary. A text or a fat binary has at most 1 GiB.

#include "driver_emulator/module/fat_binary.hpp"

#include <string>

namespace kaio::driver_emulator {

// Returns the PTX text of an image. From a fat binary it takes the newest architecture that the device runs.
// Throws failure: CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU.
std::string ptx_of_image(image_bytes image, unsigned newest_sm);
// Reads an image in the memory of the program. Throws failure.
std::string ptx_of_memory(const void* image, unsigned newest_sm);
// Reads an image in the memory of the program. Throws failure only for a malformed one: `refusal` says why the emulator has no
// PTX of a fat binary that nvcc linked into the program.
struct linked_image {
  std::string ptx, refusal;
};
linked_image ptx_of_linked_image(const void* image, unsigned newest_sm);
// Reads an image in a file. Throws failure: CUDA_ERROR_FILE_NOT_FOUND too.
std::string ptx_of_file(const char* path, unsigned newest_sm);

// The contents of a file. Throws failure: CUDA_ERROR_FILE_NOT_FOUND; CUDA_ERROR_INVALID_IMAGE if it is empty,
// or larger than an image may be.
std::string read_image(const char* path);

}  // namespace kaio::driver_emulator

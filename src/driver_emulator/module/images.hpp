#pragma once
// What programs hand to the driver as code: PTX text, and the containers that nvcc wraps it in. Machine code
// for a GPU is none that an emulator can run.
//
// Where an image comes from decides what is believed. The contents of a file, and bytes that are passed with
// their length, are read within that length, and never as a pointer. A bare pointer is the program's own
// memory: a text ends in a zero, a fat binary is as long as its header states, and a wrapper, which is what
// nvcc links into programs, holds the address of a fat binary. Either may have 1 GiB.

#include "driver_emulator/module/fat_binary.hpp"

#include <string>

namespace kaio::driver_emulator {

// The PTX text of an image: itself, or of the newest architecture that the device runs among those that a fat
// binary holds. Throws failure: CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU.
std::string ptx_of_image(image_bytes image, unsigned newest_sm);
// Of an image in the memory of the program. Throws failure.
std::string ptx_of_memory(const void* image, unsigned newest_sm);
// Of a file. Throws failure: CUDA_ERROR_FILE_NOT_FOUND too.
std::string ptx_of_file(const char* path, unsigned newest_sm);

// The contents of a file. Throws failure: CUDA_ERROR_FILE_NOT_FOUND; CUDA_ERROR_INVALID_IMAGE where there are
// none, or more than an image may have.
std::string read_image(const char* path);

}  // namespace kaio::driver_emulator

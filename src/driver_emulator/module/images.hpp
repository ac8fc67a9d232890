#pragma once
// What programs hand to the driver as code: PTX text, and the containers that nvcc wraps it in. Machine code
// for a GPU is none that an emulator can run.

#include <optional>
#include <string>

namespace kaio::driver_emulator {

// The PTX text of an image: itself, or of the newest architecture that the device runs among those that a fat
// binary holds. Throws failure: CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU.
std::string ptx_of_image(const void* image, unsigned newest_sm);
// The contents of a file, with a zero after them. Throws failure.
std::string read_image(const char* file);

}  // namespace kaio::driver_emulator

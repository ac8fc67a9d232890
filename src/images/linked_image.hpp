#pragma once
// The images of the libraries' kernels, by name. A definition is a line of a file that write_images wrote. If no such
// file has the kernel, the linker reports an error.
//
//   template <>
//   const ptx::kernel_image linked_image<"transpose_f32">::value = ...;

#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/ptx/kernel_image.hpp>

namespace kaio::images {

template <dsl::fixed_string Name>
struct linked_image {
  static const ptx::kernel_image value;
};

// Unpacks a packed image: packed_text.hpp.
void unpack(const ptx::kernel_image& image, void (*use)(void* context, const ptx::kernel_image& whole),
            void* context);

}  // namespace kaio::images

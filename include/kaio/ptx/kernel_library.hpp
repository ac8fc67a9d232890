#pragma once
// A kernel library: a shared object with kernels that a program loads by name, for instance one in Python or Rust. It
// exports one C function, kaio_kernel_library, which returns the table below. KAIO_KERNEL_LIBRARY
// (kaio/tool/kernel_library.hpp) writes that function; kaio_kernel_library_open of C loads the object.
//
// The program and the object may be built with different versions of kaio. Who loads one reads `format` first, then
// `layout`: tables with another layout have images that cannot be read.

#include <kaio/ptx/kernel_image.hpp>
#include <kaio/ptx/type.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// The version of these headers. CMake's project and libkaio.so have the same.
inline constexpr char library_version[] = "0.1.0";

// The kinds of a parameter's type. ptx::type has one type for all floats of 8 bits, and none for structs.
enum class type_kind : std::uint8_t {
  structure,
  boolean,
  signed_integer,
  unsigned_integer,
  floating,
  bfloat,
  e4m3,
  e5m2,
  tensor_map,
};

// The type of a scalar parameter, or of the elements that a pointer parameter points to.
struct parameter_type {
  type_kind kind = type_kind::structure;
  std::uint8_t bits = 0;        // of one number; 0: a struct
  std::uint16_t lanes = 1;      // vec<f32, 4> has 4, f16x2 has 2
  std::uint32_t bytes = 0;      // of all lanes
  std::uint32_t alignment = 0;  // of all lanes
};

// One kernel of a library. `types` has an entry for each parameter of the image.
struct library_kernel {
  const kernel_image* image = nullptr;
  const parameter_type* types = nullptr;
};

inline constexpr std::uint32_t kernel_library_format = 1;

// What kaio_kernel_library returns. Later formats keep the first three members.
struct kernel_library {
  std::uint32_t format = kernel_library_format;
  std::uint32_t count = 0;        // of kernels
  const char* version = nullptr;  // library_version of its headers
  std::uint64_t layout = 0;       // image_layout() of its headers
  const library_kernel* kernels = nullptr;
  const char* names = nullptr;  // of the C++ objects, with commas between them
};

// A number that differs if an image of other headers, or of another standard library, cannot be read with these.
constexpr std::uint64_t image_layout() {
  std::uint64_t hash = 14695981039346656037u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const std::size_t size :
       {sizeof(void*), sizeof(std::string_view), sizeof(kernel_image), sizeof(parameter), sizeof(source_line),
        sizeof(text_identity), sizeof(needs), sizeof(dim3), sizeof(parameter_type), sizeof(library_kernel)})
    mix(size);
  for (const std::size_t offset :
       {offsetof(kernel_image, segments), offsetof(kernel_image, parameters), offsetof(kernel_image, block),
        offsetof(kernel_image, needs), offsetof(kernel_image, statements), offsetof(kernel_image, identity),
        offsetof(kernel_image, packed), offsetof(kernel_image, unpack), offsetof(parameter, bytes),
        offsetof(needs, shared_bytes), offsetof(needs, cooperative), offsetof(needs, cluster)})
    mix(offset);
  for (const detail::type_facts& facts : detail::type_table)
    for (const char letter : facts.suffix) mix(static_cast<unsigned char>(letter));
  constexpr std::string_view text[] = {"kaio"};
  const text_hash hashed = hash_of(text, 1);
  mix(hashed.low);
  mix(hashed.high);
  mix(no_statement);
#ifdef _LIBCPP_VERSION
  mix(1);  // its string_view has the members of libstdc++'s in another order
#endif
  return hash;
}

}  // namespace kaio::ptx

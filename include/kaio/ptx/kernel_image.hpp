#pragma once
// The plain, type-erased form of a kernel. The language produces one for each kernel, as a constant; the
// runtime sees nothing else of it. Its pointers are read only during a call that is given the image: a
// library with kernels may be unloaded while devices are open. Two kernels are the same if their name, text,
// parameters, block and needs are equal, wherever they are.

#include <kaio/ptx/target.hpp>
#include <kaio/ptx/text_hash.hpp>
#include <kaio/ptx/type.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace kaio::ptx {

// How a kernel accesses the memory of a pointer parameter.
enum class access : std::uint8_t { scalar, in, out, inout };

// One `.param` of the entry, in order. A pointer is `.u64`, with `type` the type of its elements. A struct is
// a scalar of type::none, `.param .align <alignment> .b8 name[<bytes>]`.
struct parameter {
  ptx::type type = type::none;
  ptx::access access = access::scalar;
  std::uint32_t bytes = 0, alignment = 0;  // a struct, which has no type
  friend constexpr bool operator==(const parameter&, const parameter&) = default;
  constexpr bool is_struct() const { return access == access::scalar && type == type::none; }
  constexpr unsigned size() const {
    return access != access::scalar ? 8 : type == type::none ? bytes : type == type::pred ? 1 : size_of(type);
  }
};

// The C++ statement that an instruction came from.
struct source_line {
  const char* file = nullptr;
  std::uint32_t line = 0;
};

// The hash of a text, and the segments that it was computed from. If the image is given another text, the
// hash no longer applies.
struct text_identity {
  const std::string_view* segments = nullptr;
  std::size_t segment_count = 0;
  text_hash hash;
};

struct kernel_image {
  std::string_view name;                       // the `.entry` name: [a-zA-Z_][a-zA-Z0-9_]*
  const std::string_view* segments = nullptr;  // the module's text, in pieces that join without separators
  std::size_t segment_count = 0;
  const parameter* parameters = nullptr;
  std::size_t parameter_count = 0;
  dim3 block;  // threads of a block, fixed when the kernel was written
  ptx::needs needs;
  const source_line* statements = nullptr;  // the C++ statements in the order of the text
  std::size_t statement_count = 0;
  const std::uint16_t* statement_of_line =
      nullptr;                 // text line i (from 0) came from statements[statement_of_line[i]]
  std::size_t line_count = 0;  // lines of text; no_statement marks directives
  // The hash of `segments`. Kernels of the language have it as a constant; without it, each launch hashes the
  // text.
  text_identity identity = {};
  // A packed image has no segments, and only the first of its statements: with_text() reads the others.
  // kaio's libraries consist of packed images.
  const unsigned char* packed = nullptr;
  void (*unpack)(const kernel_image& image, void (*use)(void* context, const kernel_image& whole),
                 void* context) = nullptr;

  constexpr bool is_packed() const { return unpack != nullptr && segments == nullptr; }
};

// Calls f(image) with the segments and statements of the image, which last until f returns. Throws what f
// throws; std::runtime_error if the packed text is damaged, std::bad_alloc.
template <class F>
void with_text(const kernel_image& kernel, F&& f) {
  if (!kernel.is_packed()) {
    f(kernel);
    return;
  }
  using callable = std::remove_reference_t<F>;
  const auto call = [](void* context, const kernel_image& whole) {
    (*static_cast<callable*>(context))(whole);
  };
  kernel.unpack(kernel, call, const_cast<void*>(static_cast<const void*>(&f)));
}

// The hash of an image's text: the one that it carries, or computed.
constexpr text_hash hash_of_text(const kernel_image& kernel) {
  const text_identity& known = kernel.identity;
  if (kernel.is_packed() || (known.segments != nullptr && known.segments == kernel.segments &&
                             known.segment_count == kernel.segment_count))
    return known.hash;
  return hash_of(kernel.segments, kernel.segments != nullptr ? kernel.segment_count : 0);
}

// Adds the identity to an image that was made by hand, so that launches need not hash its text: about 1 us
// for 4 KB. The text must not change from here on.
//
//   const kernel_image kernel = identified({.name = "scale", .segments = text, .segment_count = 3, ...});
constexpr kernel_image identified(kernel_image kernel) {
  kernel.identity = {kernel.segments, kernel.segment_count,
                     hash_of(kernel.segments, kernel.segments != nullptr ? kernel.segment_count : 0)};
  return kernel;
}

inline constexpr std::uint16_t no_statement = 0xffff;

// One argument of a launch: the bits of the parameter, and the facts for checking a buffer.
struct argument {
  std::uint64_t bits = 0;  // the scalar's bytes (little endian, zero-extended), or the device address
  // buffer, tensor map: identity of the device that owns it; nullptr: scalar, struct or raw pointer
  const void* device = nullptr;
  std::uint64_t bytes = 0;     // buffer, struct: its size
  const void* data = nullptr;  // a struct: its bytes are copied into the parameter at the launch
  // buffer: the argument may use only some of these bytes, like a view with gaps between its rows; another
  // argument may be in between
  bool scattered = false;
};

// The grid of a launch before it is checked against a device: 64 bits, so that no size wraps on its way
// there.
struct launch_grid {
  std::uint64_t x = 1, y = 1, z = 1;
  std::uint32_t shared_bytes = 0;  // dynamic shared memory of a block, beyond the kernel's own
  dim3 cluster = {0, 0, 0};        // blocks of a cluster; zeros: the kernel's own, or no clusters
  bool programmatic = false;       // may begin before the work before it in the stream has ended
};

}  // namespace kaio::ptx

#pragma once
// Shared by the tests of textures and surfaces: images in a memory, and a kernel that applies one instruction to
// tables of coordinates.

#include "tests/emulator/kernel.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace emulator_test {

constexpr texel_format single_float{texel_kind::floating, 4, 1};

// The rows of `values` texels in a new buffer, with a gap after each row and each slice.
template <class T>
image image_of(memory& m, image_shape shape, const texel_format& format, unsigned width, unsigned height,
               unsigned depth, const std::vector<T>& values) {
  image result;
  result.shape = shape;
  result.format = format;
  result.width = width;
  result.height = height;
  result.depth = depth;
  result.pitch = (std::uint64_t{width} * format.size() + 31) / 32 * 32;
  result.slice = result.pitch * (height + 1);
  result.address = m.allocate(result.slice * depth);
  const std::size_t elements = std::size_t{width} * format.channels;
  for (unsigned z = 0; z < depth; ++z)
    for (unsigned y = 0; y < height; ++y)
      m.write(result.texel(0, y, z), values.data() + (std::size_t{z} * height + y) * elements,
              elements * sizeof(T));
  return result;
}

// A kernel whose thread t has the t-th row of `columns` in %r10, %r11, ... and writes %r20 ... %r23 to its buffer.
// The object is in %p2.
inline std::string image_text(const std::string& instruction, std::size_t columns, std::size_t rows) {
  std::string body =
      "mad.lo.u64 %d1, %wide, 4, %p1;\nmov.b32 %r20, 0; mov.b32 %r21, 0; mov.b32 %r22, 0;"
      " mov.b32 %r23, 0;\n";
  for (std::size_t c = 0; c < columns; ++c)
    body += "ld.global.b32 %r" + std::to_string(10 + c) + ", [%d1+" + std::to_string(c * rows * 4) + "];\n";
  return kernel_text(
      body + instruction +
          "\nmad.lo.u64 %d2, %wide, 16, %p0;\nst.global.v4.b32 [%d2], {%r20, %r21, %r22, %r23};",
      3);
}

using row_of_words = std::vector<std::uint32_t>;

// Four words for each row of coordinates.
inline std::vector<row_of_words> apply_image(memory& m, const std::string& instruction, std::uint64_t object,
                                             const std::vector<row_of_words>& columns) {
  const std::size_t rows = columns.at(0).size(), padded = (rows + 31) / 32 * 32;
  row_of_words table;
  for (row_of_words column : columns) {
    column.resize(padded, column.back());
    table.insert(table.end(), column.begin(), column.end());
  }
  const array<std::uint32_t> out(m, padded * 4), in(m, table);
  const module code = parsed_module(image_text(instruction, columns.size(), padded));
  run_module(code, m, {out.address(), in.address(), object},
             {static_cast<std::uint32_t>(padded / 32), 32, 0, 1});
  const auto all = out.values();
  std::vector<row_of_words> result;
  for (std::size_t r = 0; r < rows; ++r) {
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(r * 4);
    result.emplace_back(at, at + 4);
  }
  return result;
}

inline row_of_words float_bits(const std::vector<float>& values) {
  row_of_words result;
  for (const float v : values) result.push_back(bits(v));
  return result;
}

// The fault of one instruction on an object, with coordinates 0.
inline fault_report image_fault(memory& m, const std::string& instruction, std::uint64_t object) {
  try {
    apply_image(m, instruction, object, {{0}, {0}, {0}});
  } catch (const fault& e) {
    return e.report();
  }
  FAIL("no fault: " << instruction);
  return {};
}

}  // namespace emulator_test

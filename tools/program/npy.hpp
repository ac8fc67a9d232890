#pragma once
// NumPy's file format: the header has type and shape, the elements follow. It reads and writes arrays in C
// order, of little-endian numbers and of booleans, in versions 1 to 3 of the format.
// Source: NumPy documentation, "numpy.lib.format".
//
//   npy::array x = npy::read("x.npy");      // x.type == "f4", x.shape == {8, 128}
//   npy::write("y.npy", x);

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kaio::tools::npy {

struct array {
  std::string type;  // as NumPy writes it, without the order of bytes: f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1
  std::vector<std::uint64_t> shape;
  std::vector<std::byte> data;

  std::size_t element_bytes() const { return static_cast<std::size_t>(type[1] - '0'); }
  std::uint64_t elements() const { return data.size() / element_bytes(); }
};

// The array in the contents of a file, whose name `path` is in messages. Throws std::runtime_error.
array parse(std::span<const std::byte> content, const std::string& path);
// Throws std::runtime_error: the error and the file.
array read(const std::string& path);
void write(const std::string& path, const array& a);

}  // namespace kaio::tools::npy

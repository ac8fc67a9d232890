#pragma once
// The value of `--arg` for a kernel's parameter: a number, raw bytes, or a buffer that is filled from a file,
// written to a file, or both.
//
//   3:u32  -1.5:f16  0x7f:b8  bytes:0x00ff  null      values
//   in:x.npy                                          a buffer with the elements of x.npy, only read
//   inout:x.npy[:y.npy]                               the same, written to y.npy (or x.npy) at the end
//   out:y.npy:f32:8x128                               zeros, written to y.npy; to the terminal for -
//   zeros:f32:256                                     zeros, not written to a file

#include "tools/program/npy.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::tools {

// The command line, or what it names, cannot be used.
class usage_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct argument {
  enum class kind : std::uint8_t { value, in, inout, out, zeros };

  std::string text;  // as it was given
  kind what = kind::value;
  std::vector<std::byte> value;  // of a value
  npy::array buffer;             // of the others
  std::string element;           // the name of its type, where one was given
  std::string result;            // the file that is written at the end; "-": the standard output

  bool is_buffer() const { return what != kind::value; }
  bool has_result() const { return what == kind::inout || what == kind::out; }
};

// Reads the files that it names. Throws usage_error.
argument parse_argument(const std::string& text);

// The elements as numbers, in rows of the last extent.
std::string printed(const npy::array& a, std::string_view element);

}  // namespace kaio::tools

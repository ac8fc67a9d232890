#pragma once
// The output of a kernel's printf (CUDA C++ programming guide, "Formatted Output"): C's conversions with
// flags, width, precision and length. Arguments are stored in memory one after the other, each at a multiple
// of its size, floating-point ones in double precision.
//
//   print_formatted(out, "%d of %s\n", source);   // returns 2

#include "emulator/program/scalar.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace kaio::emulator {

struct print_source {
  std::function<u64(u32 bytes)> next;            // the next argument, of 4 or 8 bytes
  std::function<std::string(u64 address)> text;  // the text of a %s argument
};

// Appends to `out`; returns the number of arguments used by the format. Other text is copied.
u32 print_formatted(std::string& out, std::string_view format, const print_source& source);

}  // namespace kaio::emulator

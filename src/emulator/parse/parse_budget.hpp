#pragma once
// The limits of a text's cost. The parser rejects a text beyond them.

#include <cstddef>

namespace kaio::emulator {

struct parse_budget {
  std::size_t bytes = 64u << 20;      // whole text
  std::size_t statements = 4u << 20;  // all functions together
  std::size_t operands = 256;         // per instruction, nested ones included
  std::size_t parameters = 4096;      // per function
  std::size_t functions = 1u << 16;
  std::size_t targets = 1u << 20;    // all .branchtargets and .calltargets together
  std::size_t registers = 4u << 20;  // declared by one function
  std::size_t variables = 1u << 16;  // declared by the module
  std::size_t initial_values = 4u << 20;
  unsigned nesting = 64;  // braces, brackets and parentheses
};

}  // namespace kaio::emulator

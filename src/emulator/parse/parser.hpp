#pragma once
// Reads PTX text into a syntax::module. It accepts the whole grammar of a module (directives, variables with
// initialisers, functions, statements) whether or not the emulator executes them: that is the
// decoder's question. Every rejection is a ptx_error with line, column and reason. Hostile text costs no more
// than the budget.
//
//   syntax::module m = parse(text, parse_budget{.statements = 1000});

#include "emulator/parse/syntax.hpp"

#include <cstddef>
#include <string_view>

namespace kaio::emulator {

struct parse_budget {
  std::size_t bytes = 64u << 20;      // of text
  std::size_t statements = 4u << 20;  // of all functions together
  std::size_t operands = 256;         // of one instruction, nested ones counted
  std::size_t parameters = 4096;      // of one function
  std::size_t functions = 1u << 16;
  std::size_t targets = 1u << 20;    // of all .branchtargets and .calltargets together
  std::size_t registers = 4u << 20;  // declared by one function
  std::size_t variables = 1u << 16;  // declared by the module
  std::size_t initial_values = 4u << 20;
  unsigned nesting = 64;  // of braces, brackets and parentheses
};

// Throws ptx_error. The views of the result point into `text`, whose first line has the number `first_line`.
syntax::module parse(std::string_view text, const parse_budget& budget = {}, u32 first_line = 1);

}  // namespace kaio::emulator

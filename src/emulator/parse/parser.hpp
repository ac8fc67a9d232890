#pragma once
// Reads PTX text into a syntax::module. It accepts the whole grammar of a module: directives, variables with
// initialisers, functions, statements. The decoder decides whether the emulator executes them. Every
// rejection is a ptx_error with line, column and reason. Hostile text costs no more than the budget.
//
//   syntax::module m = parse(text, parse_budget{.statements = 1000});

#include "emulator/parse/parse_budget.hpp"
#include "emulator/parse/syntax.hpp"

#include <string_view>

namespace kaio::emulator {

// Throws ptx_error. The result's views point into `text`, whose first line has the number `first_line`.
syntax::module parse(std::string_view text, const parse_budget& budget = {}, u32 first_line = 1);

// Reads only .version and .target of a text. Throws ptx_error.
syntax::module parse_header(std::string_view text);

}  // namespace kaio::emulator

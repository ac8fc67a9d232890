#include "emulator/parse/parser.hpp"

#include "emulator/parse/parser_state.hpp"
#include "emulator/program/error.hpp"

#include <fmt/format.h>

namespace kaio::emulator {

syntax::module parse(std::string_view text, const parse_budget& budget, u32 first_line) {
  if (text.size() > budget.bytes)
    throw ptx_error(first_line, 1,
                    fmt::format("the text has {} bytes, more than {}", text.size(), budget.bytes));
  return parser_state(text, budget, first_line).module();
}

syntax::module parse_header(std::string_view text) { return parser_state(text, {}, 1).header(); }

}  // namespace kaio::emulator

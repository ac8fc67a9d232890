#pragma once
// Instructions that are written as text: the catalogue's knowledge of one, and its form in a program. In the
// text, $0, $1, ... are the operands of the instruction, the results first. A program keeps the text as an
// array of its own space: a word with the needs, then the characters.
//
//   static_assert(facts_of_text("ex2.approx.f16x2 $0, $1").sm == 75);

#include <kaio/ptx/catalogue.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::ptx {

// The least target and version that have an instruction.
struct text_needs {
  std::uint16_t sm = 10;
  isa_version version = {1, 0};
  bool arch_specific = false;

  constexpr std::uint64_t word() const {
    return std::uint64_t{sm} | std::uint64_t{version.major} << 16 | std::uint64_t{version.minor} << 24 |
           std::uint64_t{arch_specific} << 32;
  }
  static constexpr text_needs of(std::uint64_t word) {
    return {static_cast<std::uint16_t>(word),
            {static_cast<std::uint8_t>(word >> 16), static_cast<std::uint8_t>(word >> 24)},
            (word >> 32) != 0};
  }
};

struct text_facts : text_needs {
  bool known = false;   // the mnemonic is in the catalogue, and so is each word after it
  bool impure = false;  // it has side effects, or its results vary
};

namespace detail {

constexpr bool begins_with(std::string_view text, std::string_view part) {
  return text.size() >= part.size() && text.substr(0, part.size()) == part;
}

// The row with the longest mnemonic that `name` begins with, or that of opcode::none.
constexpr const instruction_facts& row_of_text(std::string_view name) {
  const instruction_facts* best = &facts(opcode::none);
  for (const instruction_facts& row : catalogue) {
    const std::size_t size = row.mnemonic.size();
    if (size <= best->mnemonic.size() || row.mnemonic[0] == '.' || !begins_with(name, row.mnemonic)) continue;
    if (size == name.size() || name[size] == '.') best = &row;
  }
  return *best;
}

// Special registers that change while a thread runs. Source: PTX ISA, "Special Registers".
constexpr bool reads_what_changes(std::string_view text) {
  for (const std::string_view name : {"%clock", "%globaltimer", "%smid", "%warpid", "%pm"})
    for (std::size_t at = 0; at + name.size() <= text.size(); ++at)
      if (text.substr(at, name.size()) == name) return true;
  return false;
}

constexpr type type_of_suffix(std::string_view word) {
  for (unsigned i = 1; i <= static_cast<unsigned>(type::f64); ++i)
    if (type_table[i].suffix == word) return static_cast<type>(i);
  return type::none;
}

constexpr modifier modifier_of_suffix(std::string_view word) {
  for (const modifier_facts& row : modifier_table)
    if (row.mod != modifier::none && row.text == word) return row.mod;
  return modifier::none;
}

}  // namespace detail

// The mnemonic with its suffixes: the text up to the first blank.
constexpr std::string_view name_of_text(std::string_view text) {
  std::size_t size = 0;
  while (size < text.size() && text[size] != ' ') ++size;
  return text.substr(0, size);
}

// Reads the facts of an instruction from its text.
constexpr text_facts facts_of_text(std::string_view text) {
  text_facts result;
  const std::string_view name = name_of_text(text);
  const instruction_facts& row = detail::row_of_text(name);
  result.impure = !row.pure || detail::reads_what_changes(text);
  if (row.op == opcode::none) return result;
  modifier_list modifiers = 0;
  unsigned count = 0;
  type first = type::none;
  for (std::size_t at = row.mnemonic.size(); at < name.size();) {
    std::size_t end = at + 1;
    while (end < name.size() && name[end] != '.') ++end;
    const std::string_view word = name.substr(at, end - at);
    at = end;
    if (const type t = detail::type_of_suffix(word); t != type::none) {
      if (first == type::none) first = t;
      continue;
    }
    const modifier m = detail::modifier_of_suffix(word);
    if (m == modifier::none || count == 8) return result;
    modifiers |= static_cast<modifier_list>(m) << (8 * count++);
  }
  raise_to(row.op, modifiers, first, result.version, result.sm);
  result.arch_specific = row.arch_specific;
  result.known = true;
  return result;
}

}  // namespace kaio::ptx

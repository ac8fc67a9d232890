#pragma once
// The text of a ptx_op: one instruction with its operands $0, $1, ..., the results first. If it has no operands, they
// are listed in order.
//
//   "match.all.sync.b32 $0|$1, $2, $3"
//   "fns.b32"                               // fns.b32 $0, $1, $2, $3

#include <kaio/dsl/number/fixed_string.hpp>
#include <kaio/ptx/instruction_text.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kaio::dsl::detail {

// The operands of a text: their number, the results among them, and which ones are addresses.
struct text_operands {
  std::uint32_t results = 0;
  std::uint32_t count = 0;
  std::uint64_t addresses = 0;  // a bit for each

  constexpr bool is_address(std::uint32_t n) const { return (addresses >> n & 1) != 0; }
};

inline constexpr std::uint32_t max_text_operands = 32;
inline constexpr std::size_t max_text_size = 512;

constexpr bool lists_its_operands(std::string_view text) {
  for (const char c : text)
    if (c == ' ') return true;
  return false;
}

// Writes " $0, [$1]", the list for a text without operands, and returns its size. `to` may be null.
constexpr std::size_t list_operands(const text_operands& operands, char* to) {
  std::size_t size = 0;
  const auto put = [&](char c) {
    if (to != nullptr) to[size] = c;
    ++size;
  };
  for (std::uint32_t n = 0; n < operands.count; ++n) {
    if (n != 0) put(',');
    put(' ');
    if (operands.is_address(n)) put('[');
    put('$');
    if (n >= 10) put(static_cast<char>('0' + n / 10));
    put(static_cast<char>('0' + n % 10));
    if (operands.is_address(n)) put(']');
  }
  return size;
}

template <fixed_string Text, text_operands Operands>
constexpr auto complete() {
  if constexpr (lists_its_operands(Text.view())) {
    return Text;
  } else {
    constexpr std::size_t size = Text.view().size();
    fixed_string<size + list_operands(Operands, nullptr) + 1> whole;
    for (std::size_t k = 0; k < size; ++k) whole.data[k] = Text.data[k];
    list_operands(Operands, whole.data + size);
    return whole;
  }
}
template <fixed_string Text, text_operands Operands>
inline constexpr auto completed_text = complete<Text, Operands>();

constexpr std::uint64_t number_of_text(std::string_view text) {
  std::uint64_t number = text.size();
  for (const char c : text) number = number * 31 + static_cast<unsigned char>(c);
  return number;
}

// The faults of a text; all false: none.
struct text_fault {
  bool form = false;      // it is not one instruction
  bool branches = false;  // it is one of control flow
  bool is_wgmma = false;  // it writes registers after it is done
  bool results = false;   // it has several results, but no operands
  bool number = false;    // $n that is no operand
  bool unused = false;    // an operand that it does not name
  bool brackets = false;  // an address without brackets
  bool space = false;     // an address of a state space that it does not name
  bool is_too_long = false;
};

constexpr bool has_word(std::string_view name, std::string_view word) {
  for (std::size_t at = 0; at + word.size() <= name.size(); ++at)
    if (name.substr(at, word.size()) == word) return true;
  return false;
}

constexpr bool is_one_instruction(std::string_view text) {
  if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
  char before = ' ';
  for (const char c : text) {
    if (c < ' ' || c > '~' || c == ';' || c == '@' || c == '"' || c == '#' || c == '\\') return false;
    if (before == '/' && (c == '/' || c == '*')) return false;
    before = c;
  }
  return before != ' ' && before != ',';
}

constexpr bool is_control_flow(std::string_view name) {
  std::size_t size = 0;
  while (size < name.size() && name[size] != '.') ++size;
  const std::string_view opcode = name.substr(0, size);
  for (const std::string_view word : {"bra", "brx", "call", "ret", "exit"})
    if (opcode == word) return true;
  return false;
}

// Finds the faults of the operands in a text that lists them.
constexpr void find_operand_faults(std::string_view text, const text_operands& operands, text_fault& fault) {
  std::uint64_t named = 0;
  char before = ' ';  // the last character that is no blank
  for (std::size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '$') {
      std::uint32_t n = 0;
      std::size_t digits = 0;
      for (; k + 1 < text.size() && text[k + 1] >= '0' && text[k + 1] <= '9' && digits < 3; ++k, ++digits)
        n = 10 * n + static_cast<std::uint32_t>(text[k + 1] - '0');
      if (digits == 0 || n >= operands.count) {
        fault.number = true;
        return;
      }
      named |= std::uint64_t{1} << n;
      if (operands.is_address(n) && before != '[') fault.brackets = true;
    }
    if (text[k] != ' ') before = text[k];
  }
  if (named != (std::uint64_t{1} << operands.count) - 1) fault.unused = true;
}

constexpr text_fault find_text_fault(std::string_view text, const text_operands& operands, bool has_global,
                                     bool has_shared) {
  text_fault fault;
  const std::string_view name = ptx::name_of_text(text);
  fault.is_too_long = text.size() > max_text_size || operands.count > max_text_operands;
  fault.form = !is_one_instruction(text);
  fault.branches = is_control_flow(name);
  fault.is_wgmma = ptx::detail::begins_with(name, "wgmma.");
  fault.space = (has_global && !has_word(name, ".global")) || (has_shared && !has_word(name, ".shared"));
  if (lists_its_operands(text))
    find_operand_faults(text, operands, fault);
  else
    fault.results = operands.results > 1;
  return fault;
}

}  // namespace kaio::dsl::detail

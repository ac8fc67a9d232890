#include "driver_emulator/module/linked_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

namespace kaio::driver_emulator {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The end of the blank, comment, string, word or single character at `at`.
std::size_t end_of_token(std::string_view text, std::size_t at) {
  const auto or_end = [&](std::size_t found) { return std::min(found, text.size()); };
  if (text.substr(at, 2) == "//") return or_end(text.find('\n', at));
  if (text.substr(at, 2) == "/*") {
    const std::size_t end = text.find("*/", at + 2);
    return end == std::string_view::npos ? text.size() : end + 2;
  }
  if (text[at] == '"') {
    const std::size_t end = text.find('"', at + 1);
    return end == std::string_view::npos ? text.size() : end + 1;
  }
  std::size_t end = at + 1;
  if (is_of_name(text[at]) || text[at] == '.')
    while (end < text.size() && is_of_name(text[end])) ++end;
  return end;
}

// Directives that end with their line.
bool is_line(std::string_view word) {
  constexpr std::array<std::string_view, 5> lines{".version", ".target", ".address_size", ".file", ".loc"};
  return std::find(lines.begin(), lines.end(), word) != lines.end();
}

// What a module has at its outermost level: a function, a variable, or a directive.
struct statement {
  std::string_view text;
  std::string_view directive;  // its first word
  std::string_view linkage;    // .visible, .weak, .extern, .common; empty: none
  std::string_view name;       // of a function or variable
  bool function = false, kernel = false;
  bool body = false;  // of a function
  bool defines() const { return !name.empty() && linkage != ".extern" && (!function || body); }
};

statement take_statement(std::string_view text, std::size_t& at) {
  statement s;
  const std::size_t begin = at;
  int braces = 0, parentheses = 0;
  bool named = false;
  while (at < text.size()) {
    const std::size_t from = at;
    at = end_of_token(text, at);
    const std::string_view token = text.substr(from, at - from);
    const char first = token.front();
    if (is_blank(first) || token.starts_with("//") || token.starts_with("/*")) continue;
    if (s.directive.empty()) s.directive = token;
    if (is_line(s.directive)) {
      at = std::min(text.find('\n', from), text.size());
      break;
    }
    if (first == '{') {
      ++braces;
    } else if (first == '}') {
      const bool whole = s.function || s.directive == ".section";
      if (--braces == 0 && whole) {
        s.body = true;
        break;
      }
    } else if (braces == 0 && first == ';') {
      break;
    } else if (braces != 0 || named) {
      continue;
    } else if (first == '(') {
      ++parentheses;
    } else if (first == ')') {
      --parentheses;
    } else if (parentheses != 0) {
      continue;
    } else if (token == ".func" || token == ".entry") {
      s.function = true;
      s.kernel = token == ".entry";
    } else if (token == ".visible" || token == ".weak" || token == ".extern" || token == ".common") {
      s.linkage = token;
    } else if (first == '[' || first == '=') {
      named = true;
    } else if (is_of_name(first) && !is_digit(first)) {
      s.name = token;
      named = s.function;
    }
  }
  s.text = text.substr(begin, at - begin);
  if (s.directive == ".section" || s.directive == ".pragma" || is_line(s.directive)) s.name = {};
  return s;
}

std::vector<statement> statements_of(std::string_view text) {
  std::vector<statement> all;
  for (std::size_t at = 0; at < text.size();) {
    const statement s = take_statement(text, at);
    if (!s.directive.empty()) all.push_back(s);
  }
  return all;
}

// Appends a statement with other names, and without the lines of its source.
void append(std::string& to, std::string_view text, const std::map<std::string_view, std::string>& names,
            bool with_lines) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_token(text, at);
    const std::string_view token = text.substr(at, end - at);
    at = end;
    if (token == ".loc" && !with_lines) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    const auto other = names.find(token);
    if (other == names.end())
      to += token;
    else
      to += other->second;
  }
}

}  // namespace

std::string linked_text(const std::vector<std::string>& texts) {
  std::vector<std::vector<statement>> all;
  std::map<std::string_view, std::string_view> defined;  // linkage by name
  for (const std::string& text : texts) {
    all.push_back(statements_of(text));
    for (const statement& s : all.back())
      if (s.defines() && !s.linkage.empty()) defined.emplace(s.name, s.linkage);
  }
  std::string result;
  std::set<std::string_view> weak;
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::map<std::string_view, std::string> own;
    if (i != 0)
      for (const statement& s : all[i])
        if (s.defines() && s.linkage.empty() && !s.kernel)
          own.emplace(s.name, std::string(s.name) + "$file" + std::to_string(i));
    for (const statement& s : all[i]) {
      if (i != 0 && (is_line(s.directive) || s.directive == ".section")) continue;
      if (s.defines() && s.linkage == ".weak" && !weak.insert(s.name).second) continue;
      const auto found = defined.find(s.name);
      std::map<std::string_view, std::string> names = own;
      if (s.function && s.linkage == ".extern" && found != defined.end())
        names.emplace(s.linkage, std::string(found->second));
      append(result, s.text, names, i == 0);
      result += '\n';
    }
  }
  return result;
}

}  // namespace kaio::driver_emulator

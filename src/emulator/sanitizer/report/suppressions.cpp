#include "emulator/sanitizer/report/suppressions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace kaio::emulator::sanitizing {

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t t = 0, p = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

suppressions::suppressions(std::string_view text, std::string file) : file_(std::move(file)) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    add(line, number);
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
}

suppressions suppressions::of_file(const std::string& file) {
  const auto refuse = [&](std::string_view why) {
    throw launch_error(
        fmt::format("kaio: the file of suppressions '{}' cannot be read: {}; name a text file", file, why));
  };
  std::error_code unknown;
  if (std::filesystem::is_directory(file, unknown)) refuse("it is a directory");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(std::generic_category().message(errno));
  std::ostringstream text;
  if (in.peek() != std::ifstream::traits_type::eof()) text << in.rdbuf();
  if (in.bad()) refuse("the system reports an error");
  return suppressions(text.view(), file);
}

void suppressions::add(std::string_view line, std::size_t number) {
  line = line.substr(0, line.find('#'));
  std::istringstream words{std::string(line)};
  std::string what, kernel, where, rest;
  if (!(words >> what)) return;
  const auto refuse = [&](std::string_view why) {
    throw launch_error(
        fmt::format("kaio: {}:{}: {}; a line is 'check kernel-pattern [line]'", file_, number, why));
  };
  if (!(words >> kernel)) refuse("there is no pattern for kernels");
  rule r;
  r.kernel = kernel;
  r.any_check = what == "all";
  if (!r.any_check) {
    bool known = false;
    for (unsigned c = 0; c < check_count; ++c)
      if (name_of(static_cast<check>(c)) == what) r.which = static_cast<check>(c), known = true;
    if (!known) refuse(fmt::format("'{}' is no check", what));
  }
  if (words >> where) {
    if (where.find(':') != std::string::npos) {
      r.source = where;
    } else {
      const auto [end, error] = std::from_chars(where.data(), where.data() + where.size(), r.ptx_line);
      if (error != std::errc{} || end != where.data() + where.size() || r.ptx_line == 0)
        refuse(fmt::format("'{}' is neither a PTX line nor file:line", where));
    }
  }
  if (words >> rest) refuse(fmt::format("'{}' is too much", rest));
  rules_.push_back(std::move(r));
}

bool suppressions::matches(check c, const fault_report& r) {
  for (const rule& known : rules_) {
    if (!known.any_check && known.which != c) continue;
    if (!matches_pattern(r.kernel, known.kernel)) continue;
    if (known.ptx_line != 0 && known.ptx_line != r.ptx_line && known.ptx_line != r.other.ptx_line) continue;
    if (!known.source.empty() && !fmt::format("{}:{}", r.file, r.line).ends_with(known.source) &&
        !fmt::format("{}:{}", r.other.file, r.other.line).ends_with(known.source))
      continue;
    __atomic_fetch_add(&count_, 1, __ATOMIC_RELAXED);
    return true;
  }
  return false;
}

}  // namespace kaio::emulator::sanitizing

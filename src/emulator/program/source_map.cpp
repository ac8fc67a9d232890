#include "emulator/program/source_map.hpp"

#include "emulator/program/module.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

namespace kaio::emulator {
namespace {

constexpr std::size_t most_source_lines = 200000;

// The words of a directive, separated by spaces and tabs.
class words {
 public:
  explicit words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t first = rest_.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return rest_ = {};
    const std::size_t last = std::min(rest_.find_first_of(" \t\r,", first), rest_.size());
    const std::string_view word = rest_.substr(first, last - first);
    rest_.remove_prefix(last);
    return word;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

bool number(std::string_view word, u32& value) {
  const auto parsed = std::from_chars(word.data(), word.data() + word.size(), value);
  return parsed.ec == std::errc{} && parsed.ptr == word.data() + word.size() && !word.empty();
}

std::vector<source_place> from_image(const ptx::kernel_image& image) {
  std::vector<source_place> result(image.line_count);
  for (std::size_t i = 0; i < image.line_count; ++i) {
    const std::uint16_t statement = image.statement_of_line[i];
    if (statement == ptx::no_statement || statement >= image.statement_count) continue;
    const ptx::source_line& from = image.statements[statement];
    if (from.file != nullptr) result[i] = {from.file, from.line};
  }
  return result;
}

// .file NUMBER "NAME"[, time, bytes]; it may come before or after the .loc that names it.
std::map<u32, std::string> files_of(const module& program, u32 lines) {
  std::map<u32, std::string> files;
  for (u32 i = 1; i <= lines; ++i) {
    words line(program.line(i));
    u32 file = 0;
    if (line.next() != ".file" || !number(line.next(), file)) continue;
    const std::string_view rest = line.rest();
    const std::size_t open = rest.find('"'), close = rest.find('"', open + 1);
    if (open != std::string_view::npos && close != std::string_view::npos)
      files[file] = std::string(rest.substr(open + 1, close - open - 1));
  }
  return files;
}

bool starts_function(std::string_view word) {
  return word == ".visible" || word == ".weak" || word == ".extern" || word == ".common" ||
         word == ".entry" || word == ".func";
}

// .loc FILE LINE COLUMN[, ...] holds for the following lines, up to the end of the function.
std::vector<source_place> from_directives(const module& program) {
  const std::string_view text = program.text();
  if (text.find(".loc") == std::string_view::npos) return {};
  const auto lines = static_cast<u32>(std::count(text.begin(), text.end(), '\n') + 1);
  const std::map<u32, std::string> files = files_of(program, lines);
  std::vector<source_place> result(lines);
  source_place current;
  for (u32 i = 1; i <= lines; ++i) {
    words line(program.line(i));
    const std::string_view first = line.next();
    if (starts_function(first)) current = {};
    if (first != ".loc") {
      result[i - 1] = current;
      continue;
    }
    u32 file = 0, at = 0;
    if (!number(line.next(), file) || !number(line.next(), at) || at == 0) continue;
    const auto found = files.find(file);
    if (found != files.end()) current = {found->second, at};
  }
  return result;
}

}  // namespace

std::vector<source_place> statements(const module& program, const ptx::kernel_image* image) {
  std::vector<source_place> places;
  if (image != nullptr)
    ptx::with_text(*image, [&](const ptx::kernel_image& whole) {
      if (whole.statement_of_line != nullptr) places = from_image(whole);
    });
  return places.empty() ? from_directives(program) : places;
}

std::vector<std::string> lines_of_file(const std::string& path) {
  std::vector<std::string> result;
  std::ifstream file(path);
  for (std::string line; result.size() < most_source_lines && std::getline(file, line);)
    result.push_back(std::move(line));
  return result;
}

}  // namespace kaio::emulator

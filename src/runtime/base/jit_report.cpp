#include "runtime/base/jit_report.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "host/write_file.hpp"
#include "runtime/base/elevated.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {

constexpr std::size_t context_lines = 2;
constexpr std::size_t max_reported_lines = 8;

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

const ptx::source_line* source_of(const ptx::kernel_image& kernel, std::size_t line) {
  if (!kernel.statement_of_line || line == 0 || line > kernel.line_count) return nullptr;
  const std::uint16_t statement = kernel.statement_of_line[line - 1];
  if (statement == ptx::no_statement || statement >= kernel.statement_count) return nullptr;
  const ptx::source_line& source = kernel.statements[statement];
  return source.file ? &source : nullptr;
}

// Writes the text to a file and returns its path. Empty: KAIO_KEEP_PTX is not set, or writing failed.
std::string keep(const jit_failure& failure) {
  const std::string folder = file_variable("KAIO_KEEP_PTX");
  if (folder.empty()) return {};
  std::string hash = hexadecimal(std::hash<std::string_view>{}(failure.text)).substr(2);
  const std::filesystem::path file =
      std::filesystem::path(folder) / text(failure.kernel.name, '.', hash, ".ptx");
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  try {
    host::write_file(file.string(), {failure.text}, host::durability::made_again);
  } catch (const host::write_error& e) {
    log().warn("KAIO_KEEP_PTX: {}", e.what());
    return {};
  }
  return file.string();
}

}  // namespace

std::string joined_text(const ptx::kernel_image& kernel) {
  std::string joined;
  ptx::with_text(kernel, [&](const ptx::kernel_image& whole) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < whole.segment_count; ++i) size += whole.segments[i].size();
    joined.reserve(size);
    for (std::size_t i = 0; i < whole.segment_count; ++i) joined += whole.segments[i];
  });
  return joined;
}

std::vector<std::size_t> lines_of_log(std::string_view log) {
  constexpr std::string_view mark = "line ";
  std::vector<std::size_t> lines;
  for (std::size_t at = log.find(mark); at != std::string_view::npos; at = log.find(mark, at + 1)) {
    if (at > 0 && std::isalpha(static_cast<unsigned char>(log[at - 1]))) continue;
    std::size_t line = 0;
    const char* digits = log.data() + at + mark.size();
    const auto [end, failed] = std::from_chars(digits, log.data() + log.size(), line);
    if (failed == std::errc() && end != digits && line > 0 &&
        std::find(lines.begin(), lines.end(), line) == lines.end()) {
      lines.push_back(line);
    }
  }
  return lines;
}

std::string excerpt_of(const ptx::kernel_image& kernel, std::string_view text_of_kernel,
                       const std::vector<std::size_t>& lines) {
  const std::vector<std::string_view> all = split_lines(text_of_kernel);
  std::vector<std::size_t> wanted;
  for (std::size_t i = 0; i < lines.size() && i < max_reported_lines; ++i) {
    const std::size_t first = lines[i] > context_lines ? lines[i] - context_lines : 1;
    for (std::size_t line = first; line <= lines[i] + context_lines && line <= all.size(); ++line)
      wanted.push_back(line);
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::string excerpt;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const std::size_t line = wanted[i];
    if (i > 0 && wanted[i - 1] + 1 != line) excerpt += "      ...\n";
    const bool marked = std::find(lines.begin(), lines.end(), line) != lines.end();
    std::array<char, 32> number{};
    std::snprintf(number.data(), number.size(), "%c %5zu | ", marked ? '>' : ' ', line);
    excerpt += text(number.data(), all[line - 1]);
    if (const ptx::source_line* source = source_of(kernel, line)) {
      excerpt += text("    // ", source->file, ':', source->line);
    }
    excerpt += '\n';
  }
  return excerpt;
}

void throw_jit_error(const jit_failure& failure) {
  std::string_view log_text = failure.log;
  while (!log_text.empty() &&
         (std::isspace(static_cast<unsigned char>(log_text.back())) || log_text.back() == '\0')) {
    log_text.remove_suffix(1);
  }
  const std::vector<std::size_t> lines = lines_of_log(log_text);
  std::string excerpt;
  ptx::with_text(failure.kernel,
                 [&](const ptx::kernel_image& whole) { excerpt = excerpt_of(whole, failure.text, lines); });
  std::string message = text("kaio: kernel ", display_name(failure.kernel), " cannot be loaded on ",
                             failure.device, ": ", failure.cause);
  if (!failure.what_to_do.empty()) message += text("; ", failure.what_to_do);
  if (!log_text.empty()) message += text('\n', log_text);
  if (!excerpt.empty()) message += text('\n', excerpt.substr(0, excerpt.size() - 1));
  const std::string file = keep(failure);
  message += file.empty() ? std::string("\nset KAIO_KEEP_PTX to a folder to keep the text in a file there")
                          : text("\nthe text is kept in ", file);
  throw jit_error(message, failure.kernel.name, log_text, excerpt);
}

}  // namespace kaio::runtime

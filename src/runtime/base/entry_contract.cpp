#include "runtime/base/entry_contract.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <charconv>

#include "runtime/base/jit_report.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {

// The words and signs of a PTX text, without spaces, comments and strings.
class header_words {
 public:
  explicit header_words(std::string_view text) : rest_(text) {}

  // Empty at the end.
  std::string_view next() {
    skip();
    std::size_t size = std::min<std::size_t>(1, rest_.size());
    while (size < rest_.size() && is_word(rest_[size - 1]) && is_word(rest_[size])) ++size;
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return word;
  }

 private:
  static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
  }
  void drop_to(std::string_view end) {
    const std::size_t at = rest_.find(end, 1);
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + end.size());
  }
  void skip() {
    constexpr std::string_view spaces = " \t\r\n\f\v";
    while (true) {
      rest_.remove_prefix(std::min(rest_.find_first_not_of(spaces), rest_.size()));
      if (rest_.starts_with("//"))
        drop_to("\n");
      else if (rest_.starts_with("/*"))
        drop_to("*/");
      else if (rest_.starts_with('"'))
        drop_to("\"");
      else
        return;
    }
  }

  std::string_view rest_;
};

// The bytes of a fundamental or opaque type; 0 for any other word.
std::uint64_t bytes_of_type(std::string_view word) {
  if (word == ".texref" || word == ".samplerref" || word == ".surfref") return 8;
  for (const auto& facts : ptx::detail::type_table)
    if (facts.bytes != 0 && facts.suffix == word) return facts.bytes;
  return 0;
}

// An integer of PTX: decimal, 0x, or octal, perhaps with U after it.
std::optional<std::uint64_t> number(std::string_view word) {
  if (word.ends_with('U')) word.remove_suffix(1);
  const bool hexadecimal = word.starts_with("0x") || word.starts_with("0X");
  if (hexadecimal) word.remove_prefix(2);
  std::uint64_t value = 0;
  const int base = hexadecimal ? 16 : word.starts_with('0') ? 8 : 10;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (failed != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// Reads the parameters after `(`, up to the closing one:
//   .param .u64 .ptr .global .align 16 x, .param .align 8 .b8 s[24]
std::optional<std::vector<entry_parameter>> parameter_list(header_words& words) {
  std::vector<entry_parameter> list;
  entry_parameter current;
  std::string_view word = words.next();
  if (word == ")") return list;
  for (; !word.empty(); word = words.next()) {
    if (word == "," || word == ")") {
      list.push_back(std::move(current));
      current = {};
      if (word == ")") return list;
    } else if (word == ".align") {
      words.next();
    } else if (word == "[") {
      const auto count = number(words.next());
      current.bytes = count && *count <= UINT32_MAX ? current.bytes * *count : 0;
    } else if (const std::uint64_t bytes = bytes_of_type(word)) {
      current.bytes = bytes;
    } else if (word.front() != '.' && word != "]") {
      current.name = word;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<entry_parameter>> entry_parameters(std::string_view text, std::string_view kernel) {
  header_words words(text);
  for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
    if (word != ".entry" || words.next() != kernel) continue;
    if (words.next() != "(") return std::vector<entry_parameter>();
    return parameter_list(words);
  }
  return std::nullopt;
}

void check_parameters(const ptx::kernel_image& kernel, const std::vector<entry_parameter>& declared,
                      std::string_view source, std::string_view device) {
  const auto refuse = [&](const std::string& cause) {
    throw_jit_error({kernel, source, "", device, cause, "make the image from this text"});
  };
  if (declared.size() != kernel.parameter_count)
    refuse(
        text("its text declares ", declared.size(), " parameters, and its image ", kernel.parameter_count));
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const std::uint64_t bytes = kernel.parameters[i].size();
    if (declared[i].bytes != 0 && declared[i].bytes != bytes)
      refuse(text("parameter ", declared[i].name, " has ", declared[i].bytes, " bytes in its text, and ",
                  bytes, " in its image"));
  }
}

void check_block(const ptx::kernel_image& kernel, std::uint64_t most, std::string_view device) {
  if (kernel.block.count() <= most) return;
  throw launch_error(text("kaio: kernel ", display_name(kernel), " has blocks of ", kernel.block.count(),
                          " threads, and with the limit of its text and the registers that it uses ", device,
                          " runs at most ", most, "; use a smaller block"));
}

}  // namespace kaio::runtime

// Hostile files of tuning: reading never fails, and accepts only entries that a writer wrote. The input is read as a
// file. Then its lines become entries of a good file, in which one byte is changed: each entry that is left must be one
// that was written.

#include "ops/choice/tune_text.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace kaio::ops;

constexpr std::string_view device = "GPU sm_90a 132 driver 13000 kaio 0.1.0";

void require(bool condition) {
  if (!condition) std::abort();
}

// "key variant" in each line.
tune_map entries_of(std::string_view text) {
  tune_map entries;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() == text.size() ? line.size() : line.size() + 1);
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, blank), variant = line.substr(blank + 1);
    if (is_tune_word(key) && is_tune_word(variant)) entries.insert_or_assign(std::string(key), variant);
  }
  return entries;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const tune_map read = parse_tuning(text, device);
  for (const auto& [key, variant] : read) require(is_tune_word(key) && is_tune_word(variant));
  require(parse_tuning(print_tuning(read, device), device) == read);

  if (size < 5) return 0;
  const tune_map written = entries_of(text.substr(4));
  std::string file = print_tuning(written, device);
  require(parse_tuning(file, device) == written);
  const std::size_t at = (std::size_t{data[0]} << 16 | std::size_t{data[1]} << 8 | data[2]) % file.size();
  file[at] = static_cast<char>(file[at] ^ data[3]);
  for (const auto& [key, variant] : parse_tuning(file, device)) {
    const auto found = written.find(key);
    require(found != written.end() && found->second == variant);
  }
  return 0;
}

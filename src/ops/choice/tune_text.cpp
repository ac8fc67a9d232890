#include "ops/choice/tune_text.hpp"

#include <cstddef>

namespace kaio::ops {

namespace {

constexpr std::string_view first_words = "kaio-tune 1 ";

// FNV-1a.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325u) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

std::string hexadecimal(std::uint64_t value) {
  std::string result(16, '0');
  for (std::size_t i = 16; i-- > 0; value >>= 4) result[i] = "0123456789abcdef"[value & 15];
  return result;
}

std::string checksum(std::string_view device, std::string_view key, std::string_view variant) {
  std::uint64_t hash = hash_of(device);
  for (const std::string_view part : {std::string_view("\n"), key, std::string_view(" "), variant})
    hash = hash_of(part, hash);
  return hexadecimal(hash);
}

}  // namespace

bool is_tune_word(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text)
    if (c <= ' ' || c > '~') return false;
  return true;
}

tune_map parse_tuning(std::string_view text, std::string_view device) {
  tune_map result;
  bool first = true;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // a line that was cut off
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (first) {
      if (line.substr(0, first_words.size()) != first_words || line.substr(first_words.size()) != device)
        return {};
      first = false;
      continue;
    }
    const std::size_t one = line.find(' '),
                      two = line.find(' ', one == std::string_view::npos ? one : one + 1);
    if (one != 16 || two == std::string_view::npos) continue;
    const std::string_view key = line.substr(one + 1, two - one - 1), variant = line.substr(two + 1);
    if (is_tune_word(key) && is_tune_word(variant) && line.substr(0, one) == checksum(device, key, variant))
      result.insert_or_assign(std::string(key), std::string(variant));
  }
  return result;
}

std::string print_tuning(const tune_map& entries, std::string_view device) {
  std::string text(first_words);
  text.append(device).append("\n");
  for (const auto& [key, variant] : entries)
    text.append(checksum(device, key, variant))
        .append(" ")
        .append(key)
        .append(" ")
        .append(variant)
        .append("\n");
  return text;
}

std::string tune_digest(std::string_view text) { return hexadecimal(hash_of(text)); }

}  // namespace kaio::ops

#pragma once
// The text of a file of tuning. Reading it never fails: what is damaged, or of another device, is left out.
//
//   kaio-tune 1 <device>                       a line for the file's device
//   <checksum> <key> <variant>                 one line each; the checksum is that of the device, key and variant

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kaio::ops {

using tune_map = std::map<std::string, std::string, std::less<>>;

// Whether a text can be a key or a variant: one word of printable characters.
bool is_tune_word(std::string_view text);

// The entries of a text that is of this device.
tune_map parse_tuning(std::string_view text, std::string_view device);
// The text of these entries, whose keys and variants are words; the device is one line.
std::string print_tuning(const tune_map& entries, std::string_view device);

// 16 digits that depend on every character (FNV-1a, 64 bits).
std::string tune_digest(std::string_view text);

}  // namespace kaio::ops

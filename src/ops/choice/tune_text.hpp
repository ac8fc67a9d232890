#pragma once
// The text of a tuning file. Reading never fails: damaged lines, and files of other devices, are left out.
//
//   kaio-tune 1 <device>                       one line: the file's device
//   <checksum> <key> <variant>                 a line per entry; the checksum covers device, key and variant

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace kaio::ops {

using tune_map = std::map<std::string, std::string, std::less<>>;

// Whether a text can be a key or a variant: one word of printable characters.
bool is_tune_word(std::string_view text);

// The entries of a text, if it is of this device.
tune_map parse_tuning(std::string_view text, std::string_view device);
// The text of these entries. Keys and variants are words; the device has no line break.
std::string print_tuning(const tune_map& entries, std::string_view device);

// 16 digits that depend on every character (FNV-1a, 64 bits).
std::string tune_digest(std::string_view text);

}  // namespace kaio::ops

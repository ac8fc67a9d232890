#include "runtime/base/text.hpp"

#include <array>
#include <cstdio>

namespace kaio::runtime {

std::string hexadecimal(unsigned long long value) {
  std::array<char, 24> digits{};
  std::snprintf(digits.data(), digits.size(), "0x%llx", value);
  return digits.data();
}

std::string readable_bytes(unsigned long long bytes) {
  constexpr std::array units{"bytes", "KB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return text(bytes, " bytes");
  double scaled = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (scaled >= 1000 && unit + 1 < units.size()) scaled /= 1000, ++unit;
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.2f %s", scaled, units[unit]);
  return digits.data();
}

}  // namespace kaio::runtime

// Reads files of safetensors from the standard input, each after its length as u64, and writes a line for each: refused,
// or its tensors with their names and bytes in hexadecimal.

#include <kaio/weights/weights.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte b : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", std::to_integer<unsigned>(b));
    text += digits;
  }
  return text;
}

std::string line_of(std::span<const std::byte> bytes) {
  try {
    const kaio::safetensors_file file = kaio::safetensors_file::view(bytes, "m");
    std::string line = "accepted";
    for (const kaio::tensor_entry& t : file.tensors()) {
      line += ' ' + hexadecimal(std::as_bytes(std::span(t.name))) + ' ' + std::string(facts(t.format).name) +
              " [";
      for (const std::uint64_t extent : t.shape) line += std::to_string(extent) + ',';
      line += "] " + hexadecimal(t.bytes) + ';';
    }
    return line;
  } catch (const kaio::file_error&) {
    return "refused";
  }
}

}  // namespace

int main() {
  for (std::uint64_t size = 0; std::fread(&size, sizeof size, 1, stdin) == 1;) {
    std::vector<std::byte> bytes(size);
    if (std::fread(bytes.data(), 1, bytes.size(), stdin) != bytes.size()) return 1;
    std::puts(line_of(bytes).c_str());
  }
  return 0;
}

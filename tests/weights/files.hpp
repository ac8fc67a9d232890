#pragma once
// Files that the tests make: GGUF and safetensors in memory, field by field, and files on the disk that are
// removed.

#include <kaio/weights/weights.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tool/temporary_folder.hpp"

namespace kaio::tests {

template <class T>
std::string little(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

inline std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// zlib's CRC-32.
inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  std::uint32_t crc = ~0u;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<std::uint32_t>(b);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

// Text of a GGUF file; offsets follow from the tensors.
struct gguf_maker {
  std::uint32_t version = 3, alignment = 32;
  std::vector<std::string> keys, tensors;
  std::string data;

  static std::string string(std::string_view s) { return little<std::uint64_t>(s.size()) + std::string(s); }
  // `type` is a gguf_type, `value` its bytes.
  gguf_maker& key(std::string_view name, gguf_type type, const std::string& value) {
    keys.push_back(string(name) + little(static_cast<std::uint32_t>(type)) + value);
    return *this;
  }
  // `dims` as the file has them, dim[0] contiguous.
  gguf_maker& tensor(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                     const std::string& bytes) {
    return tensor_at(name, dims, type, data.size(), bytes);
  }
  gguf_maker& tensor_at(std::string_view name, const std::vector<std::uint64_t>& dims, std::uint32_t type,
                        std::uint64_t offset, const std::string& bytes) {
    std::string t = string(name) + little(static_cast<std::uint32_t>(dims.size()));
    for (const std::uint64_t d : dims) t += little(d);
    tensors.push_back(t + little(type) + little(offset));
    data += bytes;
    data.resize((data.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  std::string text() const {
    std::string all =
        "GGUF" + little(version) + little<std::uint64_t>(tensors.size()) + little<std::uint64_t>(keys.size());
    for (const auto& k : keys) all += k;
    for (const auto& t : tensors) all += t;
    all.resize((all.size() + alignment - 1) / alignment * alignment);
    return all + data;
  }
};

struct safetensors_maker {
  std::string header, data;

  safetensors_maker& raw(const std::string& member) {
    header += (header.empty() ? "" : ",") + member;
    return *this;
  }
  // `shape` as JSON: "[2,3]".
  safetensors_maker& tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                            const std::string& bytes) {
    raw("\"" + name + R"(":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":[)" +
        std::to_string(data.size()) + "," + std::to_string(data.size() + bytes.size()) + "]}");
    data += bytes;
    return *this;
  }
  std::string text() const {
    std::string h = "{" + header + "}";
    h.resize((h.size() + 7) / 8 * 8, ' ');
    return little<std::uint64_t>(h.size()) + h + data;
  }
};

// A folder that is removed with its files.
class folder {
 public:
  std::string path(std::string_view name) const { return folder_.path().string() + '/' + std::string(name); }
  // Writes a file; its path.
  std::string write(std::string_view name, std::string_view contents) {
    std::string made = path(name);
    std::FILE* const file = std::fopen(made.c_str(), "wb");
    if (!file || std::fwrite(contents.data(), 1, contents.size(), file) != contents.size()) std::abort();
    std::fclose(file);
    return made;
  }

 private:
  tool::temporary_folder folder_;
};

// The contents of a thrown file_error.
struct damage {
  errc code{};
  std::string message, file, tensor;
};

template <class Call>
damage catch_damage(Call call) {
  try {
    call();
  } catch (const file_error& e) {
    return {e.code(), e.what(), std::string(e.file()), std::string(e.tensor())};
  }
  return {errc::driver_error, "nothing was thrown", {}, {}};
}

}  // namespace kaio::tests

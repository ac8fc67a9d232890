#pragma once
// The metadata of a GGUF file, by their keys. An error names the file and the key.

#include <kaio/ptx/standard.hpp>
#include <kaio/weights/gguf.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::showcase::llama {

class metadata {
 public:
  metadata(const gguf_file& file, std::string_view path) : file_(file), path_(path) {}

  [[noreturn]] void refuse(std::string_view what) const {
    throw file_error(errc::unsupported_format, "kaio: '" + path_ + "': " + std::string(what), path_, {});
  }
  bool has(std::string_view key) const { return file_.metadata(key) != nullptr; }

  std::uint32_t number(std::string_view key, std::optional<std::uint32_t> missing = {}) const {
    const gguf_value* const value = find(key, missing.has_value());
    if (value == nullptr) return *missing;
    const std::optional<std::uint64_t> number = value->as_unsigned();
    if (!number || *number > std::numeric_limits<std::uint32_t>::max())
      refuse("key " + std::string(key) + " is no number from 0 to 2^32 - 1");
    return static_cast<std::uint32_t>(*number);
  }
  double real(std::string_view key, std::optional<double> missing = {}) const {
    const gguf_value* const value = find(key, missing.has_value());
    if (value == nullptr) return *missing;
    const std::optional<double> number = value->as_number();
    if (!number) refuse("key " + std::string(key) + " is no number");
    return *number;
  }
  bool flag(std::string_view key, bool missing) const {
    const gguf_value* const value = find(key, true);
    if (value == nullptr) return missing;
    const std::optional<bool> flag = value->as_bool();
    if (!flag) refuse("key " + std::string(key) + " is neither true nor false");
    return *flag;
  }
  std::string text(std::string_view key, std::optional<std::string_view> missing = {}) const {
    const gguf_value* const value = find(key, missing.has_value());
    if (value == nullptr) return std::string(*missing);
    const std::optional<std::string_view> text = value->as_string();
    if (!text) refuse("key " + std::string(key) + " is no text");
    return std::string(*text);
  }
  // An array; empty if the file has none.
  std::vector<std::string> texts(std::string_view key) const {
    std::vector<std::string> all;
    const gguf_value* const value = array(key, gguf_type::string);
    if (value == nullptr) return all;
    all.reserve(value->count);
    const char* at = reinterpret_cast<const char*>(value->bytes.data());
    for (std::uint64_t i = 0; i < value->count; ++i) {  // opening has checked the lengths
      std::uint64_t size = 0;
      std::memcpy(&size, at, sizeof(size));
      all.emplace_back(at + sizeof(size), size);
      at += sizeof(size) + size;
    }
    return all;
  }
  template <class T>
  std::vector<T> numbers(std::string_view key, gguf_type type) const {
    const gguf_value* const value = array(key, type);
    std::vector<T> all(value == nullptr ? 0 : value->count);
    if (!all.empty()) std::memcpy(all.data(), value->bytes.data(), all.size() * sizeof(T));
    return all;
  }

 private:
  const gguf_value* find(std::string_view key, bool may_be_missing) const {
    const gguf_value* const value = file_.metadata(key);
    if (value == nullptr && !may_be_missing) refuse("key " + std::string(key) + " is missing");
    return value;
  }
  const gguf_value* array(std::string_view key, gguf_type type) const {
    const gguf_value* const value = find(key, true);
    if (value != nullptr && (value->type != gguf_type::array || value->element != type))
      refuse("key " + std::string(key) + " is no array of the expected type");
    return value;
  }

  const gguf_file& file_;
  std::string path_;
};

}  // namespace kaio::showcase::llama

// The values of GGUF's metadata as numbers and text.

#include <kaio/weights/gguf.hpp>

#include <limits>

#include "weights/base/byte_reader.hpp"

namespace kaio::weights {

std::optional<std::int64_t> gguf_value::as_signed() const noexcept {
  const std::byte* const at = bytes.data();
  switch (type) {
    case gguf_type::u8: return load<std::uint8_t>(at);
    case gguf_type::i8: return load<std::int8_t>(at);
    case gguf_type::u16: return load<std::uint16_t>(at);
    case gguf_type::i16: return load<std::int16_t>(at);
    case gguf_type::u32: return load<std::uint32_t>(at);
    case gguf_type::i32: return load<std::int32_t>(at);
    case gguf_type::i64: return load<std::int64_t>(at);
    case gguf_type::u64: {
      const auto value = load<std::uint64_t>(at);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default: return std::nullopt;
  }
}

std::optional<std::uint64_t> gguf_value::as_unsigned() const noexcept {
  if (type == gguf_type::u64) return load<std::uint64_t>(bytes.data());
  const auto value = as_signed();
  if (!value || *value < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*value);
}

std::optional<double> gguf_value::as_number() const noexcept {
  if (type == gguf_type::f32) return load<float>(bytes.data());
  if (type == gguf_type::f64) return load<double>(bytes.data());
  if (type == gguf_type::u64) return static_cast<double>(load<std::uint64_t>(bytes.data()));
  const auto value = as_signed();
  if (!value) return std::nullopt;
  return static_cast<double>(*value);
}

std::optional<bool> gguf_value::as_bool() const noexcept {
  if (type != gguf_type::boolean) return std::nullopt;
  return bytes.front() != std::byte{0};
}

std::optional<std::string_view> gguf_value::as_string() const noexcept {
  if (type != gguf_type::string) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace kaio::weights

#pragma once
// What the readers of both formats check: names, sizes, and how the tensors share the file.

#include <kaio/weights/tensor_entry.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace kaio::weights {

constexpr std::size_t longest_name = 65535;  // bytes, of GGUF's keys and of all tensors

// Why a name is not allowed ("is empty", ...), or nothing.
std::string_view problem_of_name(std::string_view name);

// a * b and a + b; nothing if they overflow.
inline std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<std::uint64_t> sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// The product of the extents: 0 if one of them is 0. Nothing if the product of the others overflows.
std::optional<std::uint64_t> elements_of(std::span<const std::uint64_t> shape);

// Fails where two tensors share bytes of one file.
void check_overlaps(std::span<const tensor_entry> tensors, std::string_view file);

// The tensors by their names; the entries stay where they are.
class name_index {
 public:
  name_index() = default;
  // Fails where a name occurs twice.
  name_index(std::span<const tensor_entry> tensors, std::string_view file);
  const tensor_entry* find(std::string_view name) const noexcept;

 private:
  std::vector<const tensor_entry*> sorted_;
};

}  // namespace kaio::weights

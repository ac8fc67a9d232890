#pragma once
// The table of formats with their names in files.

#include <kaio/weights/weight_format.hpp>

namespace kaio::weights {

struct format_row {
  static constexpr std::uint32_t no_id = ~std::uint32_t{0};
  format_facts facts;
  std::uint32_t gguf_type;             // no_id: GGUF does not have it
  std::string_view safetensors_dtype;  // empty: safetensors does not have it
};

std::span<const format_row> format_rows() noexcept;

}  // namespace kaio::weights

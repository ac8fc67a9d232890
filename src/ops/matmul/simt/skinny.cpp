// f32 with few rows.

#include "ops/matmul/simt/rows.hpp"

namespace kaio::ops {

namespace {
constexpr skinny_config cut(std::uint32_t rows, major b, std::uint32_t vector) {
  return {.rows = rows, .columns = rows > 8 ? 2u : 4u, .warps = 8, .b = b, .vector = vector};
}

template <std::uint32_t Rows>
void add(variant_list& list) {
  using enum line_direction;
  list.push_back(skinny_variant<cut(Rows, major::k, 4), f32>(along_k));
  list.push_back(skinny_variant<cut(Rows, major::mn, 4), f32>(along_k));
  list.push_back(skinny_variant<cut(Rows, major::k, 1), f32>(along_k));
  list.push_back(skinny_variant<cut(Rows, major::k, 1), f32>(across_k));
  list.push_back(skinny_variant<cut(Rows, major::mn, 1), f32>(along_k));
  list.push_back(skinny_variant<cut(Rows, major::mn, 1), f32>(across_k));
}
}  // namespace

void add_skinny(variant_list& list) {
  add<1>(list);
  add<4>(list);
  add<16>(list);
}

}  // namespace kaio::ops

#pragma once
// The library's tiles of f32 by multiply-adds. A function is a template, so that the object of a family has only its own
// kernels.

#include <cstdint>

#include "ops/matmul/simt/rows.hpp"
#include "ops/matmul/simt/splits.hpp"

namespace kaio::ops {

// Tiles by tensor copies: for sm_90.
inline constexpr simt_config simt_tensor_large{.m = 128,
                                               .n = 128,
                                               .k = 8,
                                               .thread_m = 16,
                                               .thread_n = 8,
                                               .stages = 4,
                                               .min_blocks = 2,
                                               .clusters = true};
template <class = void>
void add_simt_tensor_tiles(variant_list& list) {
  add_simt_tensor<with_lines<simt_tensor_large>(major::k, major::k)>(list);
  add_simt_tensor<with_lines<simt_tensor_large>(major::k, major::mn)>(list);
  add_simt_tensor<with_lines<simt_tensor_large>(major::mn, major::k)>(list);
  add_simt_tensor<with_lines<simt_tensor_large>(major::mn, major::mn)>(list);
}

// Lines that begin at multiples of 16 bytes.
inline constexpr simt_config simt_small{
    .m = 64, .n = 64, .k = 16, .thread_m = 8, .thread_n = 4, .stages = 3, .min_blocks = 2};
constexpr simt_config simt_aligned(simt_config cut) {
  cut.vector_a = cut.vector_b = 4;
  return cut;
}
template <class = void>
void add_simt_aligned_tiles(variant_list& list) {
  add_simt_general_layouts<simt_small>(list);
  add_simt_general_layouts<simt_aligned(simt_splits_64)>(list);
  add_simt_general_layouts<simt_aligned(simt_splits_32)>(list);
}

// Lines that begin anywhere, for sm_90. Older devices take the kernels for sm_70.
template <class = void>
void add_simt_any_tiles(variant_list& list) {
  add_simt_general_layouts<simt_splits_64>(list);
  add_simt_general_layouts<simt_splits_32>(list);
}

// Lines that begin anywhere, from sm_70 on: loads go through registers.
constexpr simt_config simt_through_registers() {
  simt_config cut = simt_anywhere;
  cut.stages = 2;
  cut.async = false;
  return cut;
}
template <class = void>
void add_simt_sm70_tiles(variant_list& list) {
  add_simt_general_layouts<simt_through_registers()>(list);
}

// Few rows.
constexpr skinny_config skinny_cut(std::uint32_t rows, major b, std::uint32_t vector) {
  return {.rows = rows, .columns = rows > 8 ? 2u : 4u, .warps = 8, .b = b, .vector = vector};
}
template <std::uint32_t Rows, class T>
void add_simt_rows(variant_list& list) {
  using enum line_direction;
  list.push_back(skinny_variant<skinny_cut(Rows, major::k, 4), T>(along_k));
  list.push_back(skinny_variant<skinny_cut(Rows, major::mn, 4), T>(along_k));
  list.push_back(skinny_variant<skinny_cut(Rows, major::k, 1), T>(along_k));
  list.push_back(skinny_variant<skinny_cut(Rows, major::k, 1), T>(across_k));
  list.push_back(skinny_variant<skinny_cut(Rows, major::mn, 1), T>(along_k));
  list.push_back(skinny_variant<skinny_cut(Rows, major::mn, 1), T>(across_k));
}
template <class T>
void add_simt_few_rows(variant_list& list) {
  add_simt_rows<1, T>(list);
  add_simt_rows<4, T>(list);
  add_simt_rows<16, T>(list);
}

}  // namespace kaio::ops

// The layouts that have a picture, and the meaning of the colours and labels of each kind.

#include "tools/program/layout_picture.hpp"

#include <kaio/dsl/number/float8.hpp>
#include <kaio/dsl/number/half.hpp>
#include <kaio/dsl/tile/fragment_layout.hpp>
#include <kaio/dsl/tile/layout.hpp>

#include <fmt/format.h>

#include <type_traits>
#include <utility>

namespace kaio::tools {
namespace {

using std::uint32_t;
using list = std::vector<drawn_layout>;

// ---- Tiles

template <class Tile>
picture draw_tile(const drawn_layout& what) {
  constexpr uint32_t piece = Tile::element_bytes < 16 ? 16 / Tile::element_bytes : 1;
  picture p;
  p.title = fmt::format("{}: {}", what.name, what.description);
  p.notes = {
      fmt::format(
          "{} bytes, aligned to {}. Label: byte offset. Colour: which 16 of the 128 bytes that the 32 banks have.",
          Tile::bytes, Tile::alignment),
      "Where eight rows of a column have eight colours, ldmatrix reads them without a bank conflict."};
  p.rows = Tile::rows;
  p.columns = Tile::columns;
  p.group_columns = piece;
  for (uint32_t r = 0; r < Tile::rows; ++r)
    for (uint32_t c = 0; c < Tile::columns; ++c) {
      const uint32_t offset = Tile::offset_bytes(r, c);
      p.cells.push_back({r, c, fmt::format("{}", offset),
                         fmt::format("row {}, column {}: byte {}, bank {}", r, c, offset, Tile::bank(r, c)),
                         fmt::format("data-offset=\"{}\" data-bank=\"{}\"", offset, Tile::bank(r, c)),
                         offset / 16 % 8 * 45, offset / 128 % 2 == 0 ? 82u : 74u});
    }
  return p;
}

// 16 rows of 128 bytes.
template <class T, class Layout>
void add_tile(list& to, const char* type, const char* layout) {
  using tile = tile_layout<T, 16, 128 / sizeof(T), Layout>;
  to.push_back({fmt::format("tile_{}_{}", type, layout),
                fmt::format("16 x {} elements of {} bytes in shared memory", tile::columns, sizeof(T)),
                draw_tile<tile>});
}

template <class T>
void add_tiles(list& to, const char* type) {
  add_tile<T, row_major>(to, type, "row_major");
  add_tile<T, column_major>(to, type, "column_major");
  add_tile<T, padded<16 / sizeof(T)>>(to, type, "padded");
  add_tile<T, swizzled<128>>(to, type, "swizzled_128");
  add_tile<T, swizzled<64>>(to, type, "swizzled_64");
  add_tile<T, swizzled<32>>(to, type, "swizzled_32");
}

// ---- Fragments

template <class Layout>
constexpr uint32_t matrices_of() {
  if constexpr (requires { Layout::matrices; })
    return Layout::matrices;
  else
    return 1;
}

// Several matrices of one instruction are drawn below each other.
template <class Layout>
picture draw_fragment(const drawn_layout& what) {
  constexpr uint32_t matrices = matrices_of<Layout>();
  picture p;
  p.title = fmt::format("{}: {}", what.name, what.description);
  p.notes = {
      fmt::format("{} x {} elements of {} bits; {} lanes hold {} elements each in {} registers of {} bits.",
                  Layout::rows, Layout::columns, Layout::element_bits, Layout::lanes, Layout::elements,
                  Layout::registers, Layout::element_bits == 64 ? 64 : 32),
      "Label: lane:element. Colour: the lane, darker from register to register."};
  if (matrices > 1) p.notes.push_back("Four products, one below the other.");
  p.rows = matrices * Layout::rows;
  p.columns = Layout::columns;
  for (uint32_t lane = 0; lane < Layout::lanes; ++lane)
    for (uint32_t e = 0; e < Layout::elements; ++e) {
      const matrix_place at = Layout::place(lane, e);
      const uint32_t matrix = matrices > 1 ? lane % 16 / 4 : 0;
      const uint32_t in_register = e / Layout::per_register;
      p.cells.push_back(
          {matrix * Layout::rows + at.row, at.column, fmt::format("{}:{}", lane, e),
           fmt::format("row {}, column {}: lane {}, element {} in register {}", at.row, at.column, lane, e,
                       in_register),
           fmt::format("data-lane=\"{}\" data-element=\"{}\" data-register=\"{}\"", lane, e, in_register),
           lane % 32 * 360 / 32, 88 - in_register * 30 / Layout::registers});
    }
  return p;
}

template <class Layout>
void add_fragment(list& to, std::string name, std::string description) {
  to.push_back({std::move(name), std::move(description), draw_fragment<Layout>});
}

template <uint32_t M, uint32_t K, uint32_t Bits>
void add_mma(list& to, const char* type, const char* types) {
  const std::string shape = fmt::format("m{}n8k{}", M, K), name = fmt::format("mma_{}_{}", shape, type);
  add_fragment<mma_a_layout<M, K, Bits>>(to, name + "_a", fmt::format("A of mma.{} on {}", shape, types));
  add_fragment<mma_b_layout<K, Bits>>(to, name + "_b", fmt::format("B of mma.{} on {}", shape, types));
  add_fragment<mma_accumulator_layout<M, Bits == 64 ? 64 : 32>>(
      to, name + "_c", fmt::format("C and D of mma.{} on {}", shape, types));
}

void add_mma_fragments(list& to) {
  const char* const half = "f16, bf16";
  const char* const byte = "s8, u8, e4m3, e5m2";
  const char* const nibble = "s4, u4";
  add_mma<16, 8, 16>(to, "f16", half);
  add_mma<16, 16, 16>(to, "f16", half);
  add_mma<16, 4, 32>(to, "tf32", "tf32");
  add_mma<16, 8, 32>(to, "tf32", "tf32");
  add_mma<8, 16, 8>(to, "s8", byte);
  add_mma<16, 16, 8>(to, "s8", byte);
  add_mma<16, 32, 8>(to, "s8", byte);
  add_mma<8, 32, 4>(to, "s4", nibble);
  add_mma<16, 32, 4>(to, "s4", nibble);
  add_mma<16, 64, 4>(to, "s4", nibble);
  add_mma<8, 128, 1>(to, "b1", "b1");
  add_mma<16, 128, 1>(to, "b1", "b1");
  add_mma<16, 256, 1>(to, "b1", "b1");
  add_mma<8, 4, 64>(to, "f64", "f64");
  add_mma<16, 4, 64>(to, "f64", "f64");
  add_mma<16, 8, 64>(to, "f64", "f64");
  add_mma<16, 16, 64>(to, "f64", "f64");
  const auto quarter = [](const char* which) { return fmt::format("{} of mma.m8n8k4 on f16", which); };
  add_fragment<mma_m8n8k4_a_layout<false>>(to, "mma_m8n8k4_f16_a_row", quarter("A, .row,"));
  add_fragment<mma_m8n8k4_a_layout<true>>(to, "mma_m8n8k4_f16_a_col", quarter("A, .col,"));
  add_fragment<mma_m8n8k4_b_layout<false>>(to, "mma_m8n8k4_f16_b_row", quarter("B, .row,"));
  add_fragment<mma_m8n8k4_b_layout<true>>(to, "mma_m8n8k4_f16_b_col", quarter("B, .col,"));
  add_fragment<mma_m8n8k4_accumulator_layout<16>>(to, "mma_m8n8k4_f16_c_f16", quarter("C and D of f16"));
  add_fragment<mma_m8n8k4_accumulator_layout<32>>(to, "mma_m8n8k4_f16_c_f32", quarter("C and D of f32"));
  add_fragment<matrix_layout<false>>(to, "ldmatrix", "a register of ldmatrix and stmatrix");
  add_fragment<matrix_layout<true>>(to, "ldmatrix_trans", "a register of ldmatrix.trans and stmatrix.trans");
}

// N from 8 to 256.
template <uint32_t... I>
void add_wgmma_accumulators(list& to, std::integer_sequence<uint32_t, I...>) {
  (add_fragment<wgmma_accumulator_layout<8 * (I + 1)>>(
       to, fmt::format("wgmma_n{}", 8 * (I + 1)), fmt::format("D of wgmma.m64n{}, 32 bits", 8 * (I + 1))),
   ...);
  (add_fragment<wgmma_accumulator_layout<8 * (I + 1), 16>>(
       to, fmt::format("wgmma_n{}_f16", 8 * (I + 1)), fmt::format("D of wgmma.m64n{}, f16", 8 * (I + 1))),
   ...);
}

}  // namespace

list drawn_layouts() {
  list all;
  add_tiles<f16>(all, "f16");
  add_tiles<bf16>(all, "bf16");
  add_tiles<e4m3>(all, "e4m3");
  add_tiles<e5m2>(all, "e5m2");
  add_tiles<float>(all, "f32");
  add_mma_fragments(all);
  add_fragment<wgmma_a_layout<16>>(all, "wgmma_a_f16", "A of wgmma.k16 in registers, f16, bf16");
  add_fragment<wgmma_a_layout<8>>(all, "wgmma_a_s8", "A of wgmma.k32 in registers, s8, u8, e4m3, e5m2");
  add_fragment<wgmma_a_layout<32>>(all, "wgmma_a_tf32", "A of wgmma.k8 in registers, tf32");
  add_wgmma_accumulators(all, std::make_integer_sequence<uint32_t, 32>{});
  return all;
}

}  // namespace kaio::tools

// gate_up_project in one launch:
//
//   sm_80 and later    few rows by integers of four bits
//   sm_90 and later    one row by integers; few rows by integers of eight bits, nf4 and fp4

#include <kaio/ops/gate_up_project/gemv/kernel.hpp>
#include <kaio/ops/gate_up_project/skinny/kernel.hpp>
#include <kaio/ops/weight_only/common/decode_bytes.hpp>
#include <kaio/ops/weight_only/common/decode_table.hpp>
#include <kaio/ops/weight_only/gemv/launch.hpp>
#include <kaio/ops/weight_only/skinny/residency.hpp>

#include <array>
#include <type_traits>

#include "ops/gate_up_project/choice/variant.hpp"

namespace kaio::ops {

namespace {

template <std::uint32_t Rows, class T, std::uint32_t Sm, class D = w4_integers,
          w4_codes Codes = w4_codes::int4>
gate_up_variant describe() {
  constexpr auto config = gate_up_w4_rows<D, Rows, Sm>();
  using decoder = typename D::template decoder<T>;
  gate_up_variant v{.image = &gate_up_w4<D, Rows, T, Sm>.image(),
                    .run =
                        [](const stream& s, const w4_problem& product, const gate_up_problem& problem,
                           const w4_one_row_work&) {
                          const auto& kernel = gate_up_w4<D, Rows, T, Sm>;
                          const u32 blocks = product.n_tiles.value;
                          if constexpr (Sm >= 90)
                            kernel.launch(s,
                                          with_w4_resident_blocks(grid(blocks).programmatic(), kernel.image(),
                                                                  s.properties(), config.min_blocks),
                                          product, problem);
                          else
                            kernel.launch(s, grid(blocks), product, problem);
                        },
                    .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
                    .codes = Codes,
                    .rows = Rows,
                    .columns = config.columns()};
  if constexpr (requires { decoder::unit; }) v.unit = decoder::unit;
  return v;
}

template <const w4_one_row_config& C, class T>
gate_up_variant describe_one_row() {
  return {.image = &gate_up_w4_one_row<C, T>.image(),
          .run =
              [](const stream& s, const w4_problem& product, const gate_up_problem& problem,
                 const w4_one_row_work& norm) {
                const w4_one_row_launch launch(product.n_tiles.value, product.splits, s.properties(), norm);
                gate_up_w4_one_row<C, T>.launch(s, launch.grid(), product, problem, launch.work);
              },
          .type = std::is_same_v<T, f16> ? element_type::f16 : element_type::bf16,
          .codes = C.bits == 8 ? w4_codes::int8 : w4_codes::int4,
          .rows = 1,
          .columns = 2 * w4_tile_n,
          .one_row = &C};
}

}  // namespace

std::span<const gate_up_variant> gate_up_w4_variants() {
  constexpr auto eight = w4_codes::int8, table = w4_codes::nf4;
  static const auto& rows = *new std::array{describe_one_row<w4_one_row, f16>(),
                                            describe<8, f16, 90>(),
                                            describe<8, f16, 80>(),
                                            describe<16, f16, 90>(),
                                            describe<16, f16, 80>(),
                                            describe_one_row<w4_one_row, bf16>(),
                                            describe<8, bf16, 90>(),
                                            describe<8, bf16, 80>(),
                                            describe<16, bf16, 90>(),
                                            describe<16, bf16, 80>(),
                                            describe_one_row<w8_one_row, f16>(),
                                            describe<8, f16, 90, w8_integers, eight>(),
                                            describe<16, f16, 90, w8_integers, eight>(),
                                            describe_one_row<w8_one_row, bf16>(),
                                            describe<8, bf16, 90, w8_integers, eight>(),
                                            describe<16, bf16, 90, w8_integers, eight>(),
                                            describe<8, f16, 90, w4_table_at_launch, table>(),
                                            describe<16, f16, 90, w4_table_at_launch, table>(),
                                            describe<8, bf16, 90, w4_table_at_launch, table>(),
                                            describe<16, bf16, 90, w4_table_at_launch, table>()};
  return rows;
}

void list_gate_up_w4_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const gate_up_variant& v : gate_up_w4_variants()) list.push_back(v.image);
}

}  // namespace kaio::ops

// Grouped products of operands of 8 bits from sm_80 on, with lines along K: 8-bit floats of either format,
// converted to f16, and integers. If there are no scales of parts, they are 1.

#include <kaio/ops/matmul/mma_sync/product.hpp>
#include <kaio/ops/matmul_8bit_grouped/mma_sync/kernel.hpp>

#include <array>
#include <vector>

#include "ops/families.hpp"
#include "ops/matmul_8bit_grouped/common/call.hpp"

namespace kaio::ops {

namespace {

// Groups often have few rows, so tiles have half the rows of matmul's large ones.
constexpr mma_sync_config of_floats{.m = 64,
                                    .n = 128,
                                    .k = 32,
                                    .warp_m = 32,
                                    .warp_n = 64,
                                    .stages = 2,
                                    .a = major::k,
                                    .b = major::k,
                                    .copy_a = copy_form::vectors,
                                    .copy_b = copy_form::vectors};
constexpr mma_sync_config of_integers{.m = 64,
                                      .n = 128,
                                      .k = 64,
                                      .warp_m = 32,
                                      .warp_n = 64,
                                      .stages = 4,
                                      .min_blocks = 2,
                                      .a = major::k,
                                      .b = major::k};
constexpr auto& kernel_of_floats =
    grouped_bytes_mma<of_floats, instruction_product<mma_m16n8k16<f32, f16>>, grouped_fp8<true, true>>;
constexpr auto& kernel_of_integers =
    grouped_bytes_mma<of_integers, instruction_product<mma_m16n8k32<i32, i8>>, grouped_int8>;

grouped_bytes_mma_problem problem_of(const grouped_bytes_call& call, const mma_sync_config& config) {
  const auto format = [](const any_view& v) { return v.type == element_kind::e5m2 ? 1u : 0u; };
  grouped_bytes_mma_problem problem{
      .tiles = call.tiles(config.n), .of = {}, .a_is_e5m2 = format(call.a), .b_is_e5m2 = format(call.b)};
  problem.of.lda = call.a.strides[0];
  problem.of.ldb = call.b.strides[2];
  problem.of.batch_b = call.b.strides[0];
  problem.of.c = call.lines();
  problem.of.k = static_cast<u32>(call.k());
  return problem;
}

}  // namespace

std::span<const grouped_bytes_kernel> grouped_bytes_mma_rows() {
  static const auto& rows = *new std::array{
      grouped_bytes_kernel{&kernel_of_floats.image(),
                           [](const grouped_bytes_call& call) {
                             return !call.is_int8() && call.is_along_k(8) && call.k() % 8 == 0;
                           },
                           [](const stream& s, const grouped_bytes_call& call) {
                             kernel_of_floats.launch(s, grid(call.blocks(of_floats.m, of_floats.n)),
                                                     call.memory<u8>(call.a), call.memory<u8>(call.b),
                                                     call.to(), problem_of(call, of_floats), call.terms);
                           }},
      grouped_bytes_kernel{
          &kernel_of_integers.image(),
          [](const grouped_bytes_call& call) { return call.is_int8() && call.is_along_k(16); },
          [](const stream& s, const grouped_bytes_call& call) {
            kernel_of_integers.launch(s, grid(call.blocks(of_integers.m, of_integers.n)),
                                      call.memory<i8>(call.a), call.memory<i8>(call.b), call.to(),
                                      problem_of(call, of_integers), call.terms);
          }}};
  return rows;
}

void list_grouped_bytes_mma_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const grouped_bytes_kernel& v : grouped_bytes_mma_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops

#include "ops/matmul_grouped/simt/rows.hpp"

#include <kaio/ops/matmul_grouped/simt/kernel.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <vector>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

std::uint64_t grouped_simt_blocks(const grouped_call& call) {
  return grouped_tiles::most(call.rows(), call.groups(), grouped_simt_body::m) *
         ceil_div(call.n(), std::uint64_t{grouped_simt_body::n});
}

void launch_grouped_simt(const stream& s, const grouped_call& call) {
  const auto tiles_n = static_cast<u32>(ceil_div(call.n(), std::uint64_t{grouped_simt_body::n}));
  const grouped_simt_problem problem{
      .tiles = grouped_tiles::of(call.offsets.address, call.groups(), call.rows(), tiles_n),
      .a = call.a.address,
      .b = call.b.address,
      .c = call.c.address,
      .a_row = call.a.strides[0],
      .a_k = call.a.strides[1],
      .b_group = call.b.strides[0],
      .b_k = call.b.strides[1],
      .b_n = call.b.strides[2],
      .c_row = call.c.strides[0],
      .c_n = call.c.strides[1],
      .n = static_cast<u32>(call.n()),
      .k = static_cast<u32>(call.k()),
      .type = detail::element_type_of(call.a.type),
      .out_type = detail::element_type_of(call.c.type),
      .b_along_n = call.b.strides[2] == 1 ? 1u : 0u};
  grouped_simt<>.launch(s, grid(grouped_simt_blocks(call)), problem);
}

const ptx::kernel_image& grouped_simt_image() { return grouped_simt<>.image(); }

void list_matmul_grouped_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&grouped_simt_image());
}

}  // namespace kaio::ops

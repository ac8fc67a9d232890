#include "ops/matmul_grouped/simt/sums.hpp"

#include <kaio/ops/matmul_grouped/simt/sums.hpp>

#include <vector>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

void launch_grouped_sums_simt(const stream& s, const grouped_sums_call& call) {
  const grouped_sums_simt_problem problem{.tiles = call.tiles_of(64, 64),
                                          .a = call.a.address,
                                          .b = call.b.address,
                                          .c = call.c.address,
                                          .a_row = call.a.strides[0],
                                          .a_m = call.a.strides[1],
                                          .b_row = call.b.strides[0],
                                          .b_n = call.b.strides[1],
                                          .c_group = call.c.strides[0],
                                          .c_m = call.c.strides[1],
                                          .c_n = call.c.strides[2],
                                          .m = static_cast<u32>(call.m()),
                                          .n = static_cast<u32>(call.n()),
                                          .type = detail::element_type_of(call.a.type),
                                          .out_type = detail::element_type_of(call.c.type),
                                          .accumulate = call.accumulate ? 1u : 0u};
  grouped_sums_simt<>.launch(s, grid(call.tiles(64, 64)), problem);
}
const ptx::kernel_image& grouped_sums_simt_image() { return grouped_sums_simt<>.image(); }

void list_matmul_grouped_sums_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&grouped_sums_simt_image());
}

}  // namespace kaio::ops

#include "ops/matmul_grouped/simt/rows.hpp"

#include <kaio/ops/matmul_grouped/simt/kernel.hpp>

#include <vector>

#include "ops/families.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

grouped_matrices matrices_of(const any_view& b) {
  return {b.address, b.strides[0], b.strides[1], b.strides[2], b.strides[2] == 1 ? 1u : 0u};
}

template <bool Paired>
void launch(const stream& s, const grouped_call& call) {
  using tile = grouped_simt_tile;
  typename grouped_simt_body<Paired>::problem_type problem{
      .tiles = call.tiles(ceil_div(call.n(), std::uint64_t{tile::n})),
      .gather = call.gather(),
      .a = call.a.address,
      .c = call.c.address,
      .a_row = call.a.strides[0],
      .a_k = call.a.strides[1],
      .c_row = call.c.strides[0],
      .c_n = call.c.strides[1],
      .b = matrices_of(call.b),
      .second = matrices_of(Paired ? call.up : call.b),
      .terms = {},
      .n = static_cast<u32>(call.n()),
      .k = static_cast<u32>(call.k()),
      .type = detail::element_type_of(call.a.type),
      .out_type = detail::element_type_of(call.c.type)};
  if constexpr (Paired)
    problem.terms = call.gate();
  else
    problem.terms = grouped_call::terms_of(call.bias);
  grouped_simt<Paired>.launch(s, grid(grouped_simt_blocks(call)), problem);
}

}  // namespace

std::uint64_t grouped_simt_blocks(const grouped_call& call) {
  return call.most_tiles(grouped_simt_tile::m, grouped_simt_tile::n);
}

void launch_grouped_simt(const stream& s, const grouped_call& call) {
  if (call.is_paired())
    launch<true>(s, call);
  else
    launch<false>(s, call);
}

const ptx::kernel_image& grouped_simt_image() { return grouped_simt<false>.image(); }
const ptx::kernel_image& gate_up_simt_image() { return grouped_simt<true>.image(); }

void list_matmul_grouped_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&grouped_simt_image());
  list.push_back(&gate_up_simt_image());
}

}  // namespace kaio::ops

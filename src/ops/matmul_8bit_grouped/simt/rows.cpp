// Grouped products of operands of 8 bits by multiply-adds, from sm_70 on: any layout, any address. If there
// are no scales of parts, they are 1.

#include <kaio/ops/matmul_8bit/fp8/source.hpp>
#include <kaio/ops/matmul_8bit/int8/source.hpp>
#include <kaio/ops/matmul_8bit_grouped/simt/kernel.hpp>

#include <array>
#include <vector>

#include "ops/families.hpp"
#include "ops/matmul_8bit_grouped/common/call.hpp"

namespace kaio::ops {

namespace {

template <class Numbers, class Epilogue>
void launch(const stream& s, const grouped_bytes_call& call) {
  const auto format = [](const any_view& v) { return v.type == element_kind::e5m2 ? 1u : 0u; };
  const byte_matrix a{call.a.strides[0], call.a.strides[1], 0, format(call.a)},
      b{call.b.strides[2], call.b.strides[1], call.b.strides[0], format(call.b)};
  const grouped_bytes_simt_problem problem{call.tiles(simt_bytes::tile), call.lines(),
                                           static_cast<u32>(call.k())};
  grouped_bytes_simt<Numbers, Epilogue>.launch(s, grid(call.blocks(simt_bytes::tile, simt_bytes::tile)),
                                               call.memory<u8>(call.a), a, call.memory<u8>(call.b), b,
                                               call.to(), problem, call.terms);
}

}  // namespace

std::span<const grouped_bytes_kernel> grouped_bytes_simt_rows() {
  using of_floats = grouped_fp8<true, false>;
  static const auto& rows =
      *new std::array{grouped_bytes_kernel{&grouped_bytes_simt<fp8_singles, of_floats>.image(),
                                           [](const grouped_bytes_call& call) { return !call.is_int8(); },
                                           launch<fp8_singles, of_floats>},
                      grouped_bytes_kernel{&grouped_bytes_simt<int8_fours, grouped_int8>.image(),
                                           [](const grouped_bytes_call& call) { return call.is_int8(); },
                                           launch<int8_fours, grouped_int8>}};
  return rows;
}

void list_grouped_bytes_simt_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const grouped_bytes_kernel& v : grouped_bytes_simt_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops

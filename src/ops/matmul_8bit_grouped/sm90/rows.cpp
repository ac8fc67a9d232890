// Grouped products of operands of 8 bits on sm_90a, both operands along K.

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul_8bit_grouped/sm90/kernel.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "ops/families.hpp"
#include "ops/matmul_8bit_grouped/common/call.hpp"

namespace kaio::ops {

namespace {

// Promotion keeps sums and totals in registers, which a whole warpgroup of producers leaves to the consumers.
template <bool Promotes>
inline constexpr sm90_config config{.m = 128, .n = 128, .stages = 6, .whole_producer = Promotes};

template <class T>
matrix_lines<T> lines(const any_view& v, std::uint32_t line, std::uint64_t batches,
                      std::int64_t batch_pitch) {
  const auto length = static_cast<std::uint64_t>(v.extents[1]);
  const auto count = static_cast<std::uint64_t>(v.extents[line]);
  // The stride of one line is never used, but is a stride of a tensor map.
  const std::uint64_t pitch =
      count == 1 ? (length + 15) / 16 * 16 : static_cast<std::uint64_t>(v.strides[line]);
  return {device_pointer<T>{v.address, static_cast<std::size_t>(v.bytes), v.device, true},
          length,
          count,
          pitch,
          batches,
          static_cast<std::uint64_t>(batch_pitch)};
}

template <class T, class Out, class Epilogue, class Terms>
void launch(const stream& s, const grouped_bytes_call& call, const Terms& terms) {
  constexpr sm90_config c = config<promotes<Epilogue>>;
  using mainloop = sm90_mainloop<c, T>;
  constexpr sm90_boxes boxes = mainloop::whole_boxes(1);
  constexpr auto& kernel = grouped_bytes_sm90<c, T, Out, Epilogue>;
  const grouped_bytes_sm90_problem problem{
      .tiles = call.tiles(c.n),
      .c = call.lines(),
      .k_blocks = static_cast<u32>(ceil_div(call.k(), std::uint64_t{mainloop::k})),
      .tile = sm90_tile::of<T>(boxes, c.a, c.b)};
  const std::uint64_t blocks =
      std::min(call.blocks(c.m, c.n), s.max_active_clusters(kernel.image(), {0, 0, 0}));
  kernel.launch(
      s, grid(blocks).programmatic(),
      lines<T>(call.a, 0, call.groups(), 0).map(s, boxes.a.sizes, sm90_config::row_bytes),
      lines<T>(call.b, 2, call.groups(), call.b.strides[0]).map(s, boxes.b.sizes, sm90_config::row_bytes),
      call.to(), problem, terms);
}

bool takes_e4m3(const grouped_bytes_call& call) {
  return call.a.type == element_kind::e4m3 && call.b.type == element_kind::e4m3 && call.is_along_k(16);
}

}  // namespace

std::span<const grouped_bytes_kernel> grouped_bytes_sm90_rows() {
  using promoted = fp8_grouped<fp8_general>;
  static const auto& rows = *new std::array{
      grouped_bytes_kernel{
          &grouped_bytes_sm90<config<false>, e4m3, fp8_output, fp8_general>.image(),
          [](const grouped_bytes_call& call) { return !call.has_parts() && takes_e4m3(call); },
          [](const stream& s, const grouped_bytes_call& call) {
            launch<e4m3, fp8_output, fp8_general>(s, call, call.fp8());
          }},
      grouped_bytes_kernel{
          &grouped_bytes_sm90<config<true>, e4m3, fp8_output, promoted>.image(),
          [](const grouped_bytes_call& call) { return call.has_parts() && takes_e4m3(call); },
          [](const stream& s, const grouped_bytes_call& call) {
            launch<e4m3, fp8_output, promoted>(s, call, call.fp8());
          }},
      grouped_bytes_kernel{
          &grouped_bytes_sm90<config<false>, i8, int8_output, int8_general>.image(),
          [](const grouped_bytes_call& call) { return call.is_int8() && call.is_along_k(16); },
          [](const stream& s, const grouped_bytes_call& call) {
            launch<i8, int8_output, int8_general>(s, call, call.int8());
          }}};
  return rows;
}

void list_grouped_bytes_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const grouped_bytes_kernel& v : grouped_bytes_sm90_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops

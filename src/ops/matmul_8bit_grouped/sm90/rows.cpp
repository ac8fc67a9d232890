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

constexpr sm90_config config{.m = 128, .n = 128, .stages = 6, .whole_producer = true};

// Bytes from line to line. The stride of one line is never used, but is a stride of a tensor map.
std::uint64_t pitch_of(const any_view& v, std::uint32_t line) {
  const auto length = static_cast<std::uint64_t>(v.extents[1]);
  return v.extents[line] == 1 ? (length + 15) / 16 * 16 : static_cast<std::uint64_t>(v.strides[line]);
}
// A, repeated for each group.
template <class T>
matrix_lines<T> lines_of_a(const grouped_bytes_call& call) {
  return {call.memory<T>(call.a), call.k(),      static_cast<std::uint64_t>(call.a.extents[0]),
          pitch_of(call.a, 0),    call.groups(), 0};
}
template <class T>
matrix_lines<T> lines_of_b(const grouped_bytes_call& call) {
  return {call.memory<T>(call.b), call.k(),      call.n(),
          pitch_of(call.b, 2),    call.groups(), static_cast<std::uint64_t>(call.b.strides[0])};
}

template <class T, class Epilogue>
void launch(const stream& s, const grouped_bytes_call& call) {
  constexpr sm90_config c = config;
  using mainloop = sm90_mainloop<c, T>;
  constexpr sm90_boxes boxes = mainloop::whole_boxes(1);
  constexpr auto& kernel = grouped_bytes_sm90<c, T, Epilogue>;
  const grouped_bytes_sm90_problem problem{
      .tiles = call.tiles(c.n),
      .c = call.lines(),
      .k_blocks = static_cast<u32>(ceil_div(call.k(), std::uint64_t{mainloop::k})),
      .tile = sm90_tile::of<T>(boxes, c.a, c.b),
      .rows = {call.a.address, static_cast<u32>(pitch_of(call.a, 0) / 16), static_cast<u32>(call.k()),
               call.terms.gather}};
  const std::uint64_t blocks =
      std::min(call.blocks(c.m, c.n), s.max_active_clusters(kernel.image(), {0, 0, 0}));
  kernel.launch(
      s, grid(blocks).programmatic(), lines_of_a<T>(call).map(s, boxes.a.sizes, sm90_config::row_bytes),
      lines_of_b<T>(call).map(s, boxes.b.sizes, sm90_config::row_bytes), call.to(), problem, call.terms);
}

// A gather counts pieces of 16 bytes in 32 bits.
bool takes_lines(const grouped_bytes_call& call) {
  return call.is_along_k(16) && (call.terms.gather.rows == 0 || call.a.bytes < (std::uint64_t{1} << 36));
}
bool takes_e4m3(const grouped_bytes_call& call) {
  return call.a.type == element_kind::e4m3 && call.b.type == element_kind::e4m3 && takes_lines(call);
}

}  // namespace

std::span<const grouped_bytes_kernel> grouped_bytes_sm90_rows() {
  using of_parts = grouped_fp8<false, true>;
  static const auto& rows = *new std::array{
      grouped_bytes_kernel{
          &grouped_bytes_sm90<config, e4m3, grouped_fp8_whole>.image(),
          [](const grouped_bytes_call& call) { return !call.has_parts() && takes_e4m3(call); },
          launch<e4m3, grouped_fp8_whole>},
      grouped_bytes_kernel{
          &grouped_bytes_sm90<config, e4m3, of_parts>.image(),
          [](const grouped_bytes_call& call) { return call.has_parts() && takes_e4m3(call); },
          launch<e4m3, of_parts>},
      grouped_bytes_kernel{&grouped_bytes_sm90<config, i8, grouped_int8>.image(),
                           [](const grouped_bytes_call& call) { return call.is_int8() && takes_lines(call); },
                           launch<i8, grouped_int8>}};
  return rows;
}

void list_grouped_bytes_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const grouped_bytes_kernel& v : grouped_bytes_sm90_rows()) list.push_back(v.image);
}

}  // namespace kaio::ops

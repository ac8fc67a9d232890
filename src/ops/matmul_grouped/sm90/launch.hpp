#pragma once
// Launches of the grouped kernels with wgmma.

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul_grouped/sm90/kernel.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <type_traits>

#include "ops/matmul_grouped/common/call.hpp"

namespace kaio::ops::detail {

using grouped_element = f16;  // names both types of 16 bits

constexpr sm90_config grouped_config(std::uint32_t n, std::uint32_t stages, std::uint32_t panels) {
  return {.m = 128,
          .n = n,
          .stages = stages,
          .panels = panels,
          .whole_producer = true,
          .b_by_launch = true,
          .type_by_launch = true};
}
constexpr sm90_config with_b(sm90_config config, major b) {
  config.b = b;
  return config;
}

inline matrix_lines<grouped_element> grouped_lines(const any_view& v, std::int64_t length, std::int64_t count,
                                                   std::int64_t pitch, std::uint64_t batches,
                                                   std::int64_t batch_pitch) {
  // The stride of one line is never used, but is a stride of a tensor map.
  const std::int64_t used = count == 1 ? (length + 7) / 8 * 8 : pitch;
  return {device_pointer<grouped_element>{
              v.address, static_cast<std::size_t>(v.bytes / sizeof(grouped_element)), v.device, true},
          static_cast<std::uint64_t>(length),
          static_cast<std::uint64_t>(count),
          static_cast<std::uint64_t>(used),
          batches,
          static_cast<std::uint64_t>(batch_pitch)};
}
// The matrices of a group, with lines along K or along N.
inline matrix_lines<grouped_element> lines_of_b(const any_view& b, bool along_k) {
  const std::uint32_t line = along_k ? 1 : 2, across = 3 - line;
  return grouped_lines(b, b.extents[line], b.extents[across], b.strides[across],
                       static_cast<std::uint64_t>(b.extents[0]), b.strides[0]);
}

template <class Body>
typename Body::problem_type grouped_problem(const grouped_call& call, const sm90_boxes& boxes, bool along_k) {
  const any_view& a = call.a;
  const auto tile = [&]<class T>(std::type_identity<T>) {
    return sm90_tile::of<T>(boxes, major::k, along_k ? major::k : major::mn);
  };
  typename Body::problem_type problem{
      .tiles = call.tiles(ceil_div(call.n(), std::uint64_t{Body::columns})),
      .c = {call.c.strides[0], 0, static_cast<u32>(call.rows()), static_cast<u32>(call.n()),
            call.stores_by_four() ? 1u : 0u},
      .k_blocks = static_cast<u32>(ceil_div(call.k(), std::uint64_t{Body::mainloop::k})),
      .tile =
          a.type == element_kind::f16 ? tile(std::type_identity<f16>{}) : tile(std::type_identity<bf16>{}),
      .c_address = call.c.address,
      .rows = {a.address, static_cast<u32>(a.extents[0] == 1 ? 0 : a.strides[0] / 8),
               static_cast<u32>(call.k()), call.gather()},
      .terms = {}};
  return problem;
}

// The blocks of a launch: those of the tiles that the groups may have, or those that run at once.
template <class Body, sm90_config C>
std::uint64_t grouped_blocks(const stream& s, const grouped_call& call, const ptx::kernel_image& image) {
  return std::min(call.most_tiles(C.m, Body::columns),
                  std::uint64_t{s.max_active_clusters(image, {0, 0, 0})});
}

// The destination of a store by tensor copies.
template <class Body>
auto grouped_copies_to(const stream& s, const grouped_call& call) {
  const any_view& c = call.c;
  return grouped_lines(c, c.extents[1], c.extents[0], c.strides[0], call.groups(), 0)
      .map(s, Body::store::box, Body::store::row_bytes);
}
inline auto grouped_lines_of_a(const grouped_call& call) {
  return grouped_lines(call.a, call.a.extents[1], call.a.extents[0], call.a.strides[0], call.groups(), 0);
}

}  // namespace kaio::ops::detail

#pragma once
// The host's side of the kernels for sm_90a: tensor maps of the operands, the walk over the tiles, the launch.

#include <kaio/ops/matmul/sm90_kernel.hpp>
#include <kaio/ops/matmul/sm90_split.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/tensor_map.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// One matrix of a batch in device memory, as tensor copies see it: lines of neighbours, `pitch` elements apart.
template <class T>
struct matrix_lines {
  device_pointer<T> memory;
  std::uint64_t length = 0;  // elements of a line
  std::uint64_t lines = 0;
  std::uint64_t pitch = 0;  // elements from line to line
  std::uint64_t batches = 1;
  std::uint64_t batch_pitch = 0;  // elements from one matrix to the next

  // Four neighbours from a multiple of four on lie at a multiple of their size.
  bool stores_by_four() const {
    return memory.address % (4 * sizeof(T)) == 0 && pitch % 4 == 0 && (batches == 1 || batch_pitch % 4 == 0);
  }

  // The map whose boxes are `box`, innermost dimension first.
  encoded_tensor_map<T, 3> map(const stream& s, const std::uint32_t (&box)[3], std::uint32_t swizzle) const {
    return tiled_tensor_map<3>(s, memory,
                               {.extents = {length, lines, batches},
                                .strides = {pitch, batches == 1 ? pitch : batch_pitch},
                                .box = {box[0], box[1], box[2]},
                                .swizzle = swizzle_of(swizzle),
                                .promotion = l2_promotion::bytes_256});
  }
};

// An output whose element type is given by the launch.
template <>
struct matrix_lines<any_output> {
  output_memory memory{};
  std::uint64_t length = 0, lines = 0, pitch = 0, batches = 1, batch_pitch = 0;

  bool stores_by_four() const {
    const u64 element = memory.type == static_cast<u32>(output_type::f32) ? sizeof(f32) : sizeof(f16);
    return memory.address % (4 * element) == 0 && pitch % 4 == 0 && (batches == 1 || batch_pitch % 4 == 0);
  }
};

namespace detail {
constexpr u32 ceil_divide(std::uint64_t x, std::uint64_t by) { return static_cast<u32>((x + by - 1) / by); }

template <class Out>
output_lines lines_of(const matrix_lines<Out>& c) {
  return {static_cast<i64>(c.pitch), static_cast<i64>(c.batch_pitch), static_cast<u32>(c.lines),
          static_cast<u32>(c.length), c.stores_by_four() ? 1u : 0u};
}
}  // namespace detail

// C = epilogue(A * B) with the tensor copies' view of the three: A has lines along K or along M, as the
// configuration says, B along K or along N, C along N. `clusters`: how many are resident on the device; `group`:
// see tile_walk. C needs no tensor map where the epilogue reads memory.
template <sm90_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                 const matrix_lines<Out>& c, std::uint64_t k, std::uint64_t clusters, std::uint32_t group,
                 const Extra&... extra) {
  using mainloop = sm90_mainloop<C, T>;
  const auto walk =
      tile_walk::over(detail::ceil_divide(c.lines, C.m * C.cluster_m),
                      detail::ceil_divide(c.length, C.n * C.cluster_n), static_cast<u32>(c.batches), group);
  const sm90_problem problem{walk, detail::lines_of(c), detail::ceil_divide(k, mainloop::k)};
  const auto shape = grid(std::min<std::uint64_t>(walk.tiles, clusters) * C.cluster_blocks()).programmatic();
  const auto a_map = a.map(s, mainloop::a_operand::box, C.row_bytes);
  const auto b_map = b.map(s, mainloop::b_operand::box, C.row_bytes);
  constexpr auto& kernel = sm90_matmul<C, T, Out, Epilogue>;
  if constexpr (works_in_registers<Epilogue>) {
    using output = sm90_copied_store<C, Out>;
    kernel.launch(s, shape, a_map, b_map, c.map(s, output::box, output::row_bytes), problem, extra...);
  } else {
    auto to = c.memory;
    kernel.launch(s, shape, a_map, b_map, to, problem, extra...);
  }
}

// The same by the blocks of clusters that share a tile. A transposed configuration takes what is B of the product
// as `a`, and what is A as `b`. `a_is_constant`: no work of the stream that may still run writes `a`; the kernel then
// begins to load it while the one before it ends.
template <sm90_split_config C, scalar T, class Out, class Epilogue, class... Extra>
void launch_sm90_split(const stream& s, const matrix_lines<T>& a, const matrix_lines<T>& b,
                       const matrix_lines<Out>& c, std::uint64_t k, bool a_is_constant,
                       const Extra&... extra) {
  using mainloop = sm90_mainloop<C.loop(), T>;
  const std::uint64_t along_m = C.transposed ? c.length : c.lines,
                      along_n = C.transposed ? c.lines : c.length;
  const sm90_split_problem problem{detail::lines_of(c), detail::ceil_divide(k, mainloop::k),
                                   divisor::of(detail::ceil_divide(along_m, C.m)), a_is_constant ? 1u : 0u};
  const std::uint64_t tiles = std::uint64_t{problem.tiles_m.value} * detail::ceil_divide(along_n, C.n);
  auto to = c.memory;
  sm90_split_matmul<C, T, Out, Epilogue>.launch(s, grid(tiles * C.splits, 1, c.batches).programmatic(),
                                                a.map(s, mainloop::a_operand::box, sm90_config::row_bytes),
                                                b.map(s, mainloop::b_operand::box, sm90_config::row_bytes),
                                                to, problem, extra...);
}

}  // namespace kaio::ops

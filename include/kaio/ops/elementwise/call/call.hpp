#pragma once
// A call of elementwise without its types, and the kernels of a function: the host's part is compiled once,
// the kernels where the function is.

#include <kaio/ops/elementwise/common/problem.hpp>
#include <kaio/ops/elementwise/simt/strided.hpp>
#include <kaio/ops/elementwise/simt/tiles.hpp>
#include <kaio/ops/elementwise/simt/vectors.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ops/shared/device_refusal.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace kaio::ops::detail {

// An output, an input, or a number of the host.
struct elementwise_operand {
  std::string_view name;
  any_view view{};
  u64 bits = 0;  // of a number, which has no view
};

inline constexpr u32 elementwise_operands = elementwise_inputs + 2;

// Parameters of a launch, for as many operands as there may be (problem.hpp).
struct elementwise_launch {
  std::array<u64, elementwise_operands> addresses{};
  std::array<std::array<u32, elementwise_dimensions>, elementwise_operands> strides{};
  std::array<divisor, elementwise_dimensions - 1> extents{};
  u32 items = 0, rank = 1, repeated = 0, rest = 0;
  std::array<std::array<u32, 2>, elementwise_operands> steps{};
  u32 piece_extent = 0, lanes_log = 0;
  std::array<u32, 2> tile_extents{};
  u32 staged = 0, whole = 0;
};

// The kernels of a function: each launches blocks for all items.
struct elementwise_kernels {
  using launcher = void (*)(const stream&, const elementwise_launch&);
  launcher vectors, strided, tiles;  // vectors, tiles: may be null
  u32 width;                         // neighbours in an item of `vectors`
  u32 elements_of_thread;            // of `strided`
  u32 piece = 0;                     // neighbours in a piece of `tiles`, 0: it has none
};

// operands: the outputs, of equal extents, then the inputs, which are broadcast to them.
void run_elementwise(const stream& s, std::string_view operation, const elementwise_operand* operands,
                     u32 outputs, u32 inputs, const elementwise_kernels& kernels);

// The launchers of a function's kernels. Tiles: with a kernel for transposed inputs.
template <dsl::fixed_string Name, class Signature, bool Tiles = true>
struct elementwise_kernels_of {
  static constexpr u32 operands = Signature::operands;

  static elementwise_problem<operands> problem_of(const elementwise_launch& launch) {
    elementwise_problem<operands> result{};
    for (u32 i = 0; i < operands; ++i) {
      result.addresses[i] = launch.addresses[i];
      for (u32 d = 0; d < elementwise_dimensions; ++d)
        result.strides[i * elementwise_dimensions + d] = launch.strides[i][d];
    }
    for (u32 d = 0; d + 1 < elementwise_dimensions; ++d) result.extents[d] = launch.extents[d];
    result.items = launch.items;
    result.rank = launch.rank;
    result.repeated = launch.repeated;
    result.rest = launch.rest;
    return result;
  }
  static constexpr std::uint64_t blocks(u32 items, u32 of_block) {
    return std::uint64_t{items} / of_block + (items % of_block != 0 ? 1 : 0);
  }
  // Before sm_80 there are no conversions to bf16, and the kernel of any strides serves.
  static constexpr u32 vectors_sm = Signature::rounds_to_bf16 ? 80 : 70;
  static void vectors(const stream& s, const elementwise_launch& launch) {
    constexpr u32 of_block = elementwise_vectors<Signature, vectors_sm>::items_of_block;
    elementwise_vectors_kernel<Name, Signature, vectors_sm>.launch(s, grid(blocks(launch.items, of_block)),
                                                                   problem_of(launch));
  }
  static void strided(const stream& s, const elementwise_launch& launch) {
    elementwise_strided_problem<operands> problem{};
    problem.pieces = problem_of(launch);
    for (u32 i = 0; i < operands; ++i) problem.steps[i] = launch.steps[i][0];
    problem.extent = launch.piece_extent;
    problem.lanes_log = launch.lanes_log;
    elementwise_strided_kernel<Name, Signature>.launch(
        s, grid(blocks(launch.items, elementwise_threads >> launch.lanes_log)), problem);
  }
  static void tiles(const stream& s, const elementwise_launch& launch) {
    elementwise_tiles_problem<operands> problem{};
    problem.tiles = problem_of(launch);
    for (u32 i = 0; i < operands; ++i)
      for (u32 d = 0; d < 2; ++d) problem.steps[2 * i + d] = launch.steps[i][d];
    for (u32 d = 0; d < 2; ++d) problem.extents[d] = launch.tile_extents[d];
    problem.staged = launch.staged;
    problem.whole = launch.whole;
    elementwise_tiles_kernel<Name, Signature, vectors_sm>.launch(
        s, grid(launch.items).shared_bytes(elementwise_tiles<Signature, vectors_sm>::shared_bytes()),
        problem);
  }
  static elementwise_kernels for_device(const stream& s) {
    elementwise_kernels result{vectors, strided, nullptr, Signature::width,
                               elementwise_strided<Signature>::elements_of_thread};
    if constexpr (Tiles) {
      result.tiles = tiles;
      using all = elementwise_tiles<Signature, vectors_sm>;
      result.piece = all::has_pieces ? all::pieces::width : 0;
    }
    if constexpr (Signature::rounds_to_bf16) {
      if (!runs_on(elementwise_vectors_kernel<Name, Signature, vectors_sm>.image(), s.properties()))
        result.vectors = result.tiles = nullptr;
    }
    return result;
  }
  static void list(std::vector<const ptx::kernel_image*>& images) {
    images.push_back(&elementwise_vectors_kernel<Name, Signature, vectors_sm>.image());
    images.push_back(&elementwise_strided_kernel<Name, Signature>.image());
    if constexpr (Tiles) images.push_back(&elementwise_tiles_kernel<Name, Signature, vectors_sm>.image());
  }
};

}  // namespace kaio::ops::detail

// Checks a call of elementwise, merges its dimensions, chooses a kernel and launches it. A call whose indices
// or strides exceed 32 bits is launched in parts.

#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/ops/shared/validation.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_items = std::int64_t{1} << 31, most_stride = std::int64_t{1} << 32;
constexpr std::int64_t least_tile = 16;  // elements along each dimension of a tile

struct dimension {
  std::int64_t extent;
  std::array<std::int64_t, elementwise_operands> strides;  // bytes
};

// A call after its checks: dimensions by the strides of the first output, the innermost first.
struct resolved_call {
  const stream& s;
  const elementwise_kernels& kernels;
  u32 outputs, operands;
  std::array<u32, elementwise_operands> bytes{};  // of an element; 0: a number of the host
  std::array<u64, elementwise_operands> addresses{};
  std::array<dimension, elementwise_dimensions> dimensions{};
  u32 rank = 0;
};

void check(const stream& s, std::string_view operation, const elementwise_operand* operands, u32 outputs,
           u32 inputs) {
  const validation checks(operation, s.device_identity());
  const any_view& first = operands[0].view;
  for (u32 o = 0; o < outputs; ++o) {
    const any_view& out = operands[o].view;
    checks.output(operands[o].name, out);
    if (out.rank != first.rank)
      refuse(operation, "argument " + std::string(operands[o].name) + " has " + std::to_string(out.rank) +
                            " dimensions, and " + std::string(operands[0].name) + " has " +
                            std::to_string(first.rank));
    for (u32 d = 0; d < first.rank; ++d)
      checks.extent(operands[o].name, out, d, first.extents[d], "the extents of the outputs are equal");
    for (u32 other = 0; other < o; ++other)
      checks.apart(operands[o].name, out, operands[other].name, operands[other].view);
  }
  for (u32 i = outputs; i < outputs + inputs; ++i) {
    const any_view& in = operands[i].view;
    if (!in.exists()) continue;
    checks.input(operands[i].name, in);
    if (in.rank > first.rank)
      refuse(operation, "argument " + std::string(operands[i].name) + " has " + std::to_string(in.rank) +
                            " dimensions, and the output has " + std::to_string(first.rank));
    const u32 missing = first.rank - in.rank;
    for (u32 d = 0; d < in.rank; ++d)
      if (in.extents[d] != 1)
        checks.extent(operands[i].name, in, d, first.extents[missing + d],
                      "as of the output, or 1 to be broadcast");
    for (u32 o = 0; o < outputs; ++o) {
      const any_view& out = operands[o].view;
      bool same = in.address == out.address && in.element_bytes() == out.element_bytes() &&
                  in.rank == out.rank && in.extents == out.extents;
      for (u32 d = 0; d < out.rank; ++d)
        same = same && (out.extents[d] == 1 || in.strides[d] == out.strides[d]);
      if (!same) checks.apart(operands[o].name, out, operands[i].name, in);
    }
  }
}

resolved_call resolve(const stream& s, const elementwise_operand* operands, u32 outputs, u32 inputs,
                      const elementwise_kernels& kernels) {
  resolved_call call{s, kernels, outputs, outputs + inputs};
  for (u32 i = 0; i < call.operands; ++i) {
    const any_view& view = operands[i].view;
    call.bytes[i] = view.exists() ? view.element_bytes() : 0;
    call.addresses[i] = view.exists() ? view.address : operands[i].bits;
  }
  const any_view& first = operands[0].view;
  std::array<dimension, elementwise_dimensions> all{};
  u32 count = 0;
  for (u32 d = first.rank; d-- > 0;) {
    if (first.extents[d] == 1) continue;
    dimension& next = all[count++];
    next.extent = first.extents[d];
    for (u32 i = 0; i < call.operands; ++i) {
      const any_view& view = operands[i].view;
      const u32 missing = view.exists() ? first.rank - view.rank : first.rank;
      const bool varies = d >= missing && view.extents[d - missing] != 1;
      next.strides[i] = varies ? view.strides[d - missing] * std::int64_t{call.bytes[i]} : 0;
    }
  }
  for (u32 d = 1; d < count; ++d)  // by the output's strides; equal ones keep their order
    for (u32 k = d; k > 0 && all[k].strides[0] < all[k - 1].strides[0]; --k) std::swap(all[k], all[k - 1]);
  // A dimension continues the one inside it if that holds for every operand.
  for (u32 d = 0; d < count; ++d) {
    bool continues = call.rank != 0;
    for (u32 i = 0; continues && i < call.operands; ++i) {
      const dimension& inner = call.dimensions[call.rank - 1];
      continues = all[d].strides[i] == inner.strides[i] * inner.extent;
    }
    if (continues)
      call.dimensions[call.rank - 1].extent *= all[d].extent;
    else
      call.dimensions[call.rank++] = all[d];
  }
  if (call.rank == 0) {  // one element
    call.dimensions[0].extent = 1;
    for (u32 i = 0; i < call.operands; ++i) call.dimensions[0].strides[i] = call.bytes[i];
    call.rank = 1;
  }
  return call;
}

bool has_long_stride(const resolved_call& call, const dimension& d, std::int64_t factor) {
  return std::any_of(d.strides.begin(), d.strides.begin() + call.operands,
                     [&](std::int64_t stride) { return stride * factor >= most_stride; });
}

// Whether groups of `width` elements of operand i along a dimension begin at multiples of their size, up to 16
// bytes, wherever they are along the other dimensions.
bool is_aligned(const resolved_call& call, u32 i, u32 along, std::int64_t width) {
  const std::int64_t alignment = std::min<std::int64_t>(16, width * call.bytes[i]);
  if (call.addresses[i] % static_cast<u64>(alignment) != 0) return false;
  for (u32 d = 0; d < call.rank; ++d)
    if (d != along && call.dimensions[d].strides[i] % alignment != 0) return false;
  return true;
}

// Whether all operands are contiguous along dimension 0, or repeated, and items begin at multiples of their
// size, up to 16 bytes.
bool moves_vectors(const resolved_call& call) {
  const dimension& inner = call.dimensions[0];
  const std::int64_t width = call.kernels.width;
  if (call.kernels.vectors == nullptr || inner.extent < width ||
      (inner.extent % width != 0 && call.rank != 1))
    return false;
  for (u32 i = 0; i < call.operands; ++i) {
    const std::int64_t bytes = call.bytes[i];
    if (bytes == 0 || (inner.strides[i] == 0 && i >= call.outputs)) continue;
    if (inner.strides[i] != bytes || !is_aligned(call, i, 0, width)) return false;
  }
  return true;
}

// The dimension along which inputs are contiguous that are not so along dimension 0; 0: there is none.
u32 turned_dimension(const resolved_call& call) {
  const dimension& inner = call.dimensions[0];
  if (call.kernels.tiles == nullptr || inner.strides[0] != call.bytes[0] || inner.extent < least_tile ||
      has_long_stride(call, inner, elementwise_tile))
    return 0;
  for (u32 i = call.outputs; i < call.operands; ++i) {
    if (call.bytes[i] == 0 || inner.strides[i] == 0 || inner.strides[i] == call.bytes[i]) continue;
    for (u32 d = 1; d < call.rank; ++d)
      if (call.dimensions[d].strides[i] == call.bytes[i] && call.dimensions[d].extent >= least_tile &&
          !has_long_stride(call, call.dimensions[d], elementwise_tile))
        return d;
  }
  return 0;
}

void set_dimension(elementwise_launch& launch, const resolved_call& call, u32 place, const dimension& d,
                   std::int64_t items, std::int64_t elements_of_item) {
  if (place + 1 < elementwise_dimensions) launch.extents[place] = divisor::of(static_cast<u32>(items));
  for (u32 i = 0; i < call.operands; ++i)
    launch.strides[i][place] = static_cast<u32>(d.strides[i] * elements_of_item);
}

// Whether each operand consists of whole, aligned pieces along dimension 0, or along dimension 1 if it is staged.
bool has_pieces(const resolved_call& call, u32 staged) {
  const std::int64_t width = call.kernels.piece;
  for (u32 i = 0; i < call.operands; ++i) {
    if (call.bytes[i] == 0) continue;
    const u32 along = staged >> i & 1u;
    const dimension& line = call.dimensions[along];
    if (width == 0 || line.extent % width != 0 || line.strides[i] != call.bytes[i] ||
        !is_aligned(call, i, along, width))
      return false;
  }
  return true;
}

void launch_tiles(resolved_call call, u32 turned, elementwise_launch& launch) {
  std::rotate(call.dimensions.begin() + 1, call.dimensions.begin() + turned,
              call.dimensions.begin() + turned + 1);
  std::int64_t blocks = 1;
  for (u32 d = 0; d < 2; ++d) {
    const dimension& of = call.dimensions[d];
    const std::int64_t tiles = (of.extent + elementwise_tile - 1) / elementwise_tile;
    set_dimension(launch, call, d, of, tiles, elementwise_tile);
    launch.tile_extents[d] = static_cast<u32>(of.extent);
    for (u32 i = 0; i < call.operands; ++i) launch.steps[i][d] = static_cast<u32>(of.strides[i]);
    blocks *= tiles;
  }
  for (u32 d = 2; d < call.rank; ++d) {
    const u32 place = d + 1 == call.rank ? elementwise_dimensions - 1 : d;
    set_dimension(launch, call, place, call.dimensions[d], call.dimensions[d].extent, 1);
    blocks *= call.dimensions[d].extent;
  }
  for (u32 i = call.outputs; i < call.operands; ++i) {
    const std::int64_t bytes = call.bytes[i];
    if (bytes != 0 && call.dimensions[1].strides[i] == bytes && call.dimensions[0].strides[i] != bytes &&
        call.dimensions[0].strides[i] != 0)
      launch.staged |= 1u << i;
  }
  launch.whole = has_pieces(call, launch.staged) ? 1 : 0;
  launch.items = static_cast<u32>(blocks);
  call.kernels.tiles(call.s, launch);
}

// Sets the dimensions from `first` on, element by element; returns the number of their items.
std::int64_t set_outer(elementwise_launch& launch, const resolved_call& call, u32 first) {
  std::int64_t items = 1;
  for (u32 d = first; d < call.rank; ++d) {
    const u32 place = d + 1 == call.rank ? elementwise_dimensions - 1 : d;
    set_dimension(launch, call, place, call.dimensions[d], call.dimensions[d].extent, 1);
    items *= call.dimensions[d].extent;
  }
  return items;
}

void launch_vectors(const resolved_call& call, elementwise_launch& launch) {
  const dimension& inner = call.dimensions[0];
  const std::int64_t width = call.kernels.width, items = inner.extent / width;
  set_dimension(launch, call, call.rank == 1 ? elementwise_dimensions - 1 : 0, inner, items, width);
  launch.items = static_cast<u32>(items * set_outer(launch, call, 1));
  launch.rest = static_cast<u32>(inner.extent % width);
  for (u32 i = call.outputs; i < call.operands; ++i)
    if (call.bytes[i] != 0 && inner.strides[i] == 0) launch.repeated |= 1u << i;
  call.kernels.vectors(call.s, launch);
}

// log2 of the threads of a piece: the fewest idle ones, then the most. Fewer than 32 threads only for rows
// that are shorter than their piece.
u32 lanes_log_of(const resolved_call& call) {
  const dimension& inner = call.dimensions[0];
  u32 best = 0;
  std::int64_t fewest = 0;
  for (u32 log = 9; log-- > 0;) {
    const std::int64_t piece = std::int64_t{call.kernels.elements_of_thread} << log;
    if (has_long_stride(call, inner, piece)) continue;
    const std::int64_t covered = (inner.extent + piece - 1) / piece * piece;
    if (fewest != 0 && covered >= fewest) continue;
    if (fewest != 0 && log < 5 && inner.extent > 2 * piece) break;
    fewest = covered;
    best = log;
  }
  return best;
}

void launch_strided(const resolved_call& call, elementwise_launch& launch) {
  const dimension& inner = call.dimensions[0];
  launch.lanes_log = lanes_log_of(call);
  const std::int64_t piece = std::int64_t{call.kernels.elements_of_thread} << launch.lanes_log,
                     pieces = (inner.extent + piece - 1) / piece;
  set_dimension(launch, call, 0, inner, pieces, piece);
  launch.piece_extent = static_cast<u32>(inner.extent);
  for (u32 i = 0; i < call.operands; ++i) launch.steps[i][0] = static_cast<u32>(inner.strides[i]);
  launch.items = static_cast<u32>(pieces * set_outer(launch, call, 1));
  call.kernels.strided(call.s, launch);
}

void move(resolved_call& call, const dimension& along, std::int64_t count) {
  for (u32 i = 0; i < call.operands; ++i)
    if (call.bytes[i] != 0) call.addresses[i] += static_cast<u64>(along.strides[i] * count);
}

void launch(const resolved_call& call) {
  for (u32 d = 0; d < call.rank; ++d) {
    if (!has_long_stride(call, call.dimensions[d], d == 0 ? call.kernels.elements_of_thread : 1)) continue;
    resolved_call one = call;
    std::copy(call.dimensions.begin() + d + 1, call.dimensions.begin() + call.rank,
              one.dimensions.begin() + d);
    if (--one.rank == 0) {
      one.dimensions[0] = {1, {}};
      one.rank = 1;
    }
    for (std::int64_t k = 0; k < call.dimensions[d].extent; ++k) {
      launch(one);
      move(one, call.dimensions[d], 1);
    }
    return;
  }
  const bool by_vectors = moves_vectors(call);
  std::int64_t items = 1;
  u32 longest = 0;
  for (u32 d = 0; d < call.rank; ++d) {
    items *=
        d == 0 && by_vectors ? call.dimensions[d].extent / call.kernels.width : call.dimensions[d].extent;
    if (call.dimensions[d].extent > call.dimensions[longest].extent) longest = d;
  }
  if (items >= most_items) {
    constexpr std::int64_t granule = 1024;  // parts begin at items, and at multiples of 16 bytes
    const std::int64_t extent = call.dimensions[longest].extent;
    const std::int64_t half = extent < 2 * granule ? extent / 2 : extent / 2 / granule * granule;
    resolved_call part = call;
    part.dimensions[longest].extent = half;
    launch(part);
    move(part, call.dimensions[longest], half);
    part.dimensions[longest].extent = extent - half;
    return launch(part);
  }
  elementwise_launch parameters;
  parameters.addresses = call.addresses;
  parameters.rank = call.rank;
  const u32 turned = by_vectors ? 0 : turned_dimension(call);
  if (by_vectors)
    launch_vectors(call, parameters);
  else if (turned != 0)
    launch_tiles(call, turned, parameters);
  else
    launch_strided(call, parameters);
}

}  // namespace

void run_elementwise(const stream& s, std::string_view operation, const elementwise_operand* operands,
                     u32 outputs, u32 inputs, const elementwise_kernels& kernels) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  check(s, operation, operands, outputs, inputs);
  if (operands[0].view.empty()) return;
  launch(resolve(s, operands, outputs, inputs, kernels));
}

}  // namespace kaio::ops::detail

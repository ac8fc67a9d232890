#include "ops/linear_cross_entropy/call/plan.hpp"

#include <kaio/ops/cross_entropy/common/problem.hpp>
#include <kaio/ops/reduce/call/plan.hpp>

#include <algorithm>

#include "ops/cross_entropy/call/losses.hpp"

namespace kaio::ops {

namespace {

// The chunk that is fastest: logits of a chunk have 256 MiB, and dx is written often enough to be a small part of
// the products' time if a chunk has 2048 classes or more.
constexpr std::uint64_t logits_bytes = std::uint64_t{256} << 20, wanted_chunk = 2048;
constexpr std::uint64_t tile = 256;                             // columns of the largest tile of a product
constexpr std::uint64_t most_splits = std::uint64_t{16} << 20;  // bytes

constexpr std::uint64_t ceil(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

std::uint64_t fastest_chunk(const linear_shape& shape) {
  const std::uint64_t of_memory = logits_bytes / (sizeof(f32) * std::max<std::uint64_t>(shape.rows, 1));
  return std::max(wanted_chunk, of_memory / tile * tile);
}

// Chunks of one size, not above `chunk`.
std::uint64_t balanced(std::uint64_t classes, std::uint64_t chunk) {
  if (chunk >= classes) return classes;
  const std::uint64_t unit = chunk % tile == 0 ? tile : least_chunk;
  return std::min(chunk, ceil(ceil(classes, ceil(classes, chunk)), unit) * unit);
}

// The workspace of the sums of columns of a gradient.
std::uint64_t bytes_of_sums(const linear_shape& shape, std::uint64_t columns, std::uint64_t pitch) {
  any_view x, out;
  x.type = shape.type;
  x.rank = 2;
  x.address = out.address = 256;  // which is not looked at
  x.bytes = out.bytes = ~std::uint64_t{0} >> 1;
  x.extents = {static_cast<std::int64_t>(shape.rows), static_cast<std::int64_t>(columns)};
  x.strides = {static_cast<std::int64_t>(pitch), 1};
  out.type = element_kind::f32;
  out.rank = 1;
  out.extents = {x.extents[1]};
  out.strides = {1};
  out.address += shape.rows * pitch * sizeof(f32);
  const reduce_options options{.axis = 0};
  return detail::reduce_bytes({"linear_cross_entropy_backward", x, out, &options, sizeof(f32)});
}

}  // namespace

linear_plan linear_plan::of(loss_direction direction, const linear_shape& shape, std::uint64_t chunk) {
  linear_plan plan;
  plan.chunk = balanced(shape.classes, chunk == 0 ? fastest_chunk(shape) : chunk);
  plan.chunks = ceil(shape.classes, plan.chunk);
  plan.pitch = ceil(plan.chunk, 16) * 16;
  const auto take = [&](std::uint64_t size) {
    const std::uint64_t at = plan.bytes;
    plan.bytes += ceil(size, 256) * 256;
    return at;
  };
  const bool is_half = shape.type != element_kind::f32;
  if (direction == loss_direction::forward) {
    plan.losses = take(loss_workspace_bytes(shape.rows));
    if (plan.chunks > 1) plan.states = take(cross_entropy_states * sizeof(f32) * shape.rows);
  }
  plan.logits = take(sizeof(f32) * shape.rows * plan.pitch);
  if (direction == loss_direction::backward) {
    plan.gradients = is_half ? take(2 * shape.rows * plan.pitch) : plan.logits;
    if (is_half && plan.chunks > 1) plan.sums = take(sizeof(f32) * shape.rows * shape.features);
  }
  // Eight splits of the product that has the smallest output.
  const std::uint64_t columns = direction == loss_direction::forward ? plan.chunk : shape.features;
  std::uint64_t rest = std::min(most_splits, 8 * sizeof(f32) * shape.rows * columns);
  if (direction == loss_direction::backward)
    for (const std::uint64_t size : {plan.chunk, shape.classes - plan.chunk * (plan.chunks - 1)})
      rest = std::max(rest, bytes_of_sums(shape, size, plan.pitch));
  plan.rest = take(rest);
  return plan;
}

linear_plan linear_plan::within(loss_direction direction, const linear_shape& shape, std::uint64_t bytes) {
  linear_plan plan = of(direction, shape, 0);
  if (plan.bytes <= bytes || plan.chunk <= least_chunk) return plan;
  std::uint64_t fits = 1, units = (plan.chunk - 1) / least_chunk;
  while (fits < units) {
    const std::uint64_t middle = (fits + units + 1) / 2;
    if (of(direction, shape, middle * least_chunk).bytes <= bytes)
      fits = middle;
    else
      units = middle - 1;
  }
  return of(direction, shape, fits * least_chunk);
}

}  // namespace kaio::ops

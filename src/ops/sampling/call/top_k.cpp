// Checks calls of top_k before anything runs, and launches them.

#include <kaio/ops/top_k.hpp>
#include <kaio/runtime/device.hpp>

#include <string>
#include <string_view>

#include "ops/families.hpp"
#include "ops/sampling/call/blocks_of_row.hpp"
#include "ops/sampling/simt/rows.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace detail {

namespace {

constexpr std::string_view name_of_top_k = "top_k";
constexpr std::int64_t most_elements = 0x7fffffff - 1024;

void check_neighbours(std::string_view name, const any_view& v) {
  if (v.strides[1] != 1 && v.extents[1] > 1)
    refuse(name_of_top_k, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[1]) +
                              " along its last dimension; neighbours of a row are adjacent: stride 1");
}

}  // namespace

void run_top_k(const stream& s, const any_view& x, const any_view& values, const any_view& indices) {
  const device_properties& device = s.properties();
  const operation_scope traced(name_of_top_k);
  const validation check(name_of_top_k, s.device_identity());
  check.input("x", x);
  check.output("values", values);
  check.output("indices", indices);
  check_neighbours("x", x);
  check_neighbours("values", values);
  check_neighbours("indices", indices);
  if (values.type != x.type) refuse(name_of_top_k, "argument values has another element type than x");
  const std::int64_t k = values.extents[1];
  check.extent("values", values, 0, x.extents[0], "the rows of x");
  check.extent("indices", indices, 0, x.extents[0], "the rows of x");
  check.extent("indices", indices, 1, k, "k, the last extent of values");
  check.at_most("x", x, 0, 0x7fffffff / sample_blocks);
  check.at_most("x", x, 1, most_elements);
  if (k > x.extents[1] || k > std::int64_t{most_top_k})
    refuse(name_of_top_k, "k is " + std::to_string(k) + ", the last extent of values; at most " +
                              std::to_string(most_top_k) + " and the size of a row, " +
                              std::to_string(x.extents[1]) + ", are supported");
  check.apart("values", values, "x", x);
  check.apart("indices", indices, "x", x);
  check.apart("indices", indices, "values", values);
  if (values.empty()) return;

  const auto rows = static_cast<u32>(x.extents[0]), size = static_cast<u32>(x.extents[1]);
  const sample_variant<top_k_problem>& variant = top_k_variant_for(device);
  const u32 log_list = top_k_log_list(size);
  u32 teams = rows, blocks = 1;
  if (log_list != 32) {
    const u32 of_block = sample_threads >> log_list;
    teams = (rows + of_block - 1) / of_block;
  } else if (variant.has_clusters) {
    blocks = blocks_of_row(device, rows, size);
  }
  variant.run(s,
              {.x = x.address,
               .stride = x.strides[0],
               .type = element_type_of(x.type),
               .rows = rows,
               .size = size,
               .k = static_cast<u32>(k),
               .log_list = log_list,
               .of_warp = sample_elements_of_warp(size, blocks),
               .wide = indices.type == element_kind::i64 ? 1u : 0u,
               .values = {values.address, values.strides[0]},
               .indices = {indices.address, indices.strides[0]}},
              teams, blocks);
}

}  // namespace detail

void top_k_warmup(const runtime::device& gpu) { gpu.warmup(*top_k_variant_for(gpu.properties()).image); }

std::vector<const ptx::kernel_image*> top_k_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_top_k_kernels(list);
  return list;
}

}  // namespace kaio::ops

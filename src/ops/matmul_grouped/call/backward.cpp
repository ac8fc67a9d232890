// Checks calls of matmul_grouped_backward before anything runs, and launches them.

#include <kaio/ops/matmul_grouped_backward.hpp>
#include <kaio/runtime/device.hpp>

#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ops/families.hpp"
#include "ops/matmul_grouped/call/checks.hpp"
#include "ops/matmul_grouped/mma_sync/sums.hpp"
#include "ops/matmul_grouped/simt/sums.hpp"
#include "ops/matmul_grouped/sm90/sums.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "matmul_grouped_backward";

void check_output(const validation& check, std::string_view name, const any_view& v, std::uint32_t rank,
                  const any_view& dc) {
  if (v.rank != rank)
    detail::refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                                  " dimensions, not " + std::to_string(rank));
  check.output(name, v);
  if (v.type != dc.type && v.type != element_kind::f32)
    detail::refuse(operation, "argument " + std::string(name) +
                                  " has another element type than dc, and is not f32; cast it");
}

void launch_sums(const stream& s, const grouped_sums_call& call) {
  if (call.tiles(64, 64) > static_cast<std::uint64_t>(detail::most_grouped))
    detail::refuse(operation, "argument db has more tiles than a launch has blocks; split its groups");
  const grouped_sums_call along = call.along_n();
  if (!along.is_aligned()) return launch_grouped_sums_simt(s, along);
  if (runs_on(*grouped_sums_sm90_images()[0], s.properties())) return launch_grouped_sums_sm90(s, along);
  if (runs_on(grouped_sums_mma_image(call.a.type), s.properties())) return launch_grouped_sums_mma(s, along);
  launch_grouped_sums_simt(s, along);
}

}  // namespace

void matmul_grouped_backward(const stream& s, const any_view& dc, const any_view& a, const any_view& b,
                             const any_view& offsets, const output_view& da, const output_view& db,
                             const matmul_grouped_backward_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const detail::operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  for (const auto& [name, v, rank] : {std::tuple{"dc", &dc, 2u}, std::tuple{"a", &a, 2u},
                                      std::tuple{"b", &b, 3u}, std::tuple{"offsets", &offsets, 1u}}) {
    if (v->rank != rank)
      detail::refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v->rank) +
                                    " dimensions, not " + std::to_string(rank));
    check.input(name, *v);
  }
  if (dc.type != element_kind::f16 && dc.type != element_kind::bf16)
    detail::refuse(operation, "argument dc has elements that are not f16 or bf16");
  if (a.type != dc.type) detail::refuse(operation, "argument a has another element type than dc; cast it");
  if (b.type != dc.type) detail::refuse(operation, "argument b has another element type than dc; cast it");
  if (offsets.type != element_kind::i32)
    detail::refuse(operation, "argument offsets has elements that are not i32");
  check.extent("a", a, 0, dc.extents[0], "the rows of dc");
  check.extent("b", b, 1, a.extents[1], "the columns of a");
  check.extent("b", b, 2, dc.extents[1], "the columns of dc");
  check.extent("offsets", offsets, 0, b.extents[0] + 1, "the groups of b, and one");
  detail::check_adjacent(operation, "offsets", offsets);
  for (std::uint32_t d = 0; d < 2; ++d) check.at_most("dc", dc, d, detail::most_grouped);
  check.at_most("a", a, 1, detail::most_grouped);
  check.at_most("b", b, 0, detail::most_grouped - 1);
  const bool has_da = detail::is_given(da), has_db = detail::is_given(db);
  if (has_da) {
    check_output(check, "da", da, 2, dc);
    for (std::uint32_t d = 0; d < 2; ++d) check.extent("da", da, d, a.extents[d], "that of a");
  }
  if (has_db) {
    check_output(check, "db", db, 3, dc);
    for (std::uint32_t d = 0; d < 3; ++d) check.extent("db", db, d, b.extents[d], "that of b");
  }
  for (const auto& [name, v] :
       {std::pair{"dc", &dc}, std::pair{"a", &a}, std::pair{"b", &b}, std::pair{"offsets", &offsets}}) {
    if (has_da) check.apart("da", da, name, *v);
    if (has_db) check.apart("db", db, name, *v);
  }
  if (has_da && has_db) check.apart("db", db, "da", da);
  if (has_da && !da.empty() && b.extents[0] != 0) {
    any_view transposed = b;
    std::swap(transposed.extents[1], transposed.extents[2]);
    std::swap(transposed.strides[1], transposed.strides[2]);
    detail::launch_grouped(operation, s, {dc, transposed, offsets, da});
  }
  if (has_db && !db.empty()) launch_sums(s, {a, dc, offsets, db, options.accumulate});
}

void matmul_grouped_backward_warmup(const runtime::device& gpu) {
  matmul_grouped_warmup(gpu);
  for (const ptx::kernel_image* image : matmul_grouped_backward_kernels())
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> matmul_grouped_backward_kernels() {
  std::vector<const ptx::kernel_image*> list = grouped_sums_sm90_images();
  list.push_back(&grouped_sums_mma_image(element_kind::f16));
  list.push_back(&grouped_sums_mma_image(element_kind::bf16));
  list.push_back(&grouped_sums_simt_image());
  return list;
}

}  // namespace kaio::ops

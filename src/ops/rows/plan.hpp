#pragma once
// The launch of a kernel of rows: from checked views, the parameters that all such kernels share, the grid, and which
// of an operation's kernels runs.

#include <kaio/dsl/kernel/launch.hpp>
#include <kaio/ops/rows/division.hpp>
#include <kaio/ops/shared/any_view.hpp>
#include <kaio/ptx/kernel_image.hpp>
#include <kaio/runtime/properties.hpp>
#include <kaio/runtime/stream.hpp>

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

// What a kernel holds in shared memory: a row; next to it, if there is room, the numbers that belong to the elements of
// each row, such as weights; or the rows of two tensors.
enum class row_staging { row, row_and_factors, two_rows };

struct row_plan {
  rows_problem problem{};
  bool vectors = false;   // pieces are neighbours; see stage.hpp
  bool is_newer = false;  // the kernels for sm_90: clusters, asynchronous copies
  bool is_long = false;   // shared memory does not hold a row: its last pieces are far
  std::uint32_t blocks = 0, cluster = 1, shared_bytes = 0;

  bool is_empty() const { return blocks == 0; }
  // Inline: the programs of the families link no plan.cpp.
  kaio::grid grid() const {
    kaio::grid result = kaio::grid(blocks).shared_bytes(shared_bytes);
    if (cluster > 1) result = result.cluster(cluster);
    return is_newer ? result.programmatic() : result;
  }
};

// The plan for rows of x along its last dimension. Each tensor of `like`, if it is given, has the extents of x and its
// rows; each of `factors` has the elements of one row; each of `others` has as many rows as x, of any elements anywhere.
// `x` and these have passed their checks.
row_plan plan_rows(const device_properties& device, const any_view& x,
                   std::initializer_list<const any_view*> like,
                   std::initializer_list<const any_view*> factors = {},
                   row_staging staging = row_staging::row,
                   std::initializer_list<const any_view*> others = {});

// Refuses x and tensors like it that kernels of rows cannot count: 2^31 rows or more, or 2^31 elements of a row.
void check_row_counts(std::string_view operation, const any_view& x);
using detail::check_adjacent;

// The strides of the rows of a view, as kernels take them; address 0 if it is not given.
row_strides rows_of(const any_view& v);

// A kernel of rows, and its launch.
template <class Problem>
struct row_variant {
  const ptx::kernel_image* image = nullptr;
  void (*run)(const stream&, const row_plan&, const Problem&) = nullptr;
};

// The kernels of an operation for each type (f32, f16, bf16), architecture (sm_70, sm_90) and kind of pieces (single
// elements, vectors).
template <class Problem>
using row_variants = std::array<std::array<std::array<row_variant<Problem>, 2>, 2>, 3>;

// Kernel<T, Sm, Vectors> is the kernel's object.
template <class Problem, template <class, std::uint32_t, bool> class Kernel>
row_variants<Problem> row_variants_of() {
  const auto one = []<class T, std::uint32_t Sm, bool Vectors>() {
    return row_variant<Problem>{.image = &Kernel<T, Sm, Vectors>::value.image(),
                                .run = [](const stream& s, const row_plan& plan, const Problem& problem) {
                                  Kernel<T, Sm, Vectors>::value.launch(s, plan.grid(), problem);
                                }};
  };
  const auto of_type = [&]<class T>() {
    return std::array<std::array<row_variant<Problem>, 2>, 2>{
        {{one.template operator()<T, 70, false>(), one.template operator()<T, 70, true>()},
         {one.template operator()<T, 90, false>(), one.template operator()<T, 90, true>()}}};
  };
  return {of_type.template operator()<f32>(), of_type.template operator()<f16>(),
          of_type.template operator()<bf16>()};
}
template <class Problem>
const row_variant<Problem>& variant_of(const row_variants<Problem>& all, element_kind kind,
                                       const row_plan& plan) {
  return all[kind == element_kind::f32   ? 0
             : kind == element_kind::f16 ? 1
                                         : 2][plan.is_newer ? 1 : 0][plan.vectors ? 1 : 0];
}
template <class Problem>
void list_row_variants(const row_variants<Problem>& all, std::vector<const ptx::kernel_image*>& list) {
  for (const auto& of_type : all)
    for (const auto& of_sm : of_type)
      for (const auto& v : of_sm) list.push_back(v.image);
}

}  // namespace kaio::ops

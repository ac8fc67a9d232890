#include "ops/cross_entropy/simt/rows.hpp"

#include <kaio/ops/cross_entropy/simt/backward.hpp>
#include <kaio/ops/cross_entropy/simt/kernel.hpp>
#include <kaio/ops/cross_entropy/simt/totals.hpp>

#include <array>

#include "ops/families.hpp"

namespace kaio::ops {

namespace {

template <class T, std::uint32_t Sm, bool Vectors>
struct backward_kernel {
  static constexpr const auto& value = cross_entropy_backward_rows<T, Sm, Vectors>;
};

template <class Out>
row_variant<cross_entropy_backward_problem> rounded_variant() {
  return {.image = &cross_entropy_backward_rounded<Out>.image(),
          .run = [](const stream& s, const row_plan& plan, const cross_entropy_backward_problem& problem) {
            cross_entropy_backward_rounded<Out>.launch(s, plan.grid(), problem);
          }};
}

template <class T, bool Vectors>
cross_entropy_variant describe() {
  return {.image = &cross_entropy_rows<T, Vectors>.image(),
          .run = [](const stream& s, std::uint32_t blocks, const cross_entropy_forward_problem& problem) {
            cross_entropy_rows<T, Vectors>.launch(s, grid(blocks), problem);
          }};
}

// Rows: f32, f16, bf16. Columns: elements, vectors.
using forward_variants = std::array<std::array<cross_entropy_variant, 2>, 3>;

const forward_variants& table() {
  static const forward_variants all{{{describe<f32, false>(), describe<f32, true>()},
                                     {describe<f16, false>(), describe<f16, true>()},
                                     {describe<bf16, false>(), describe<bf16, true>()}}};
  return all;
}

}  // namespace

const cross_entropy_variant& cross_entropy_variant_for(element_kind kind, bool vectors) {
  return table()[kind == element_kind::f32 ? 0 : kind == element_kind::f16 ? 1 : 2][vectors ? 1 : 0];
}
const row_variants<cross_entropy_backward_problem>& cross_entropy_backward_variants() {
  static const auto all = row_variants_of<cross_entropy_backward_problem, backward_kernel>();
  return all;
}
const row_variant<cross_entropy_backward_problem>& cross_entropy_backward_to(element_kind kind) {
  static const std::array all{rounded_variant<f16>(), rounded_variant<bf16>()};
  return all[kind == element_kind::f16 ? 0 : 1];
}
const ptx::kernel_image& cross_entropy_totals_image() { return cross_entropy_totals<>.image(); }
void run_cross_entropy_totals(const stream& s, std::uint32_t blocks,
                              const cross_entropy_totals_problem& problem) {
  cross_entropy_totals<>.launch(s, grid(blocks), problem);
}

void list_cross_entropy_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto& of_type : table())
    for (const auto& one : of_type) list.push_back(one.image);
  list_row_variants(cross_entropy_backward_variants(), list);
  for (const element_kind kind : {element_kind::f16, element_kind::bf16})
    list.push_back(cross_entropy_backward_to(kind).image);
  list.push_back(&cross_entropy_totals_image());
}

}  // namespace kaio::ops

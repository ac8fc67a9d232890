#include "ops/norm/backward/rows.hpp"

#include <kaio/ops/norm/backward/columns.hpp>
#include <kaio/ops/norm/backward/kernel.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

namespace kaio::ops {

namespace {

template <class T, std::uint32_t Sm, bool Vectors>
struct norm_backward_kernel {
  static constexpr const auto& value = norm_backward_rows<T, Sm, Vectors>;
};

constexpr std::uint32_t programmatic = 90;

}  // namespace

const row_variants<norm_backward_problem>& norm_backward_variants() {
  static const auto all = row_variants_of<norm_backward_problem, norm_backward_kernel>();
  return all;
}

void launch_norm_columns(const stream& s, const norm_backward_plan& plan,
                         const norm_columns_problem& problem) {
  const grid blocks((problem.rows.size + (row_threads - 1)) / row_threads, plan.partials);
  norm_backward_columns.launch(s, blocks, problem);
}

void launch_norm_partials(const stream& s, const norm_partials_problem& problem) {
  const grid blocks((problem.size + 31) / 32, problem.dbias != 0 ? 2 : 1);
  if (s.properties().target.sm >= programmatic)
    norm_backward_partials<programmatic>.launch(s, grid(blocks).programmatic(), problem);
  else
    norm_backward_partials<70>.launch(s, blocks, problem);
}

std::vector<const ptx::kernel_image*> norm_backward_sums_kernels(const device_properties& device) {
  return {&norm_backward_columns.image(), device.target.sm >= programmatic
                                              ? &norm_backward_partials<programmatic>.image()
                                              : &norm_backward_partials<70>.image()};
}

void list_norm_backward_kernels(std::vector<const ptx::kernel_image*>& list) {
  list_row_variants(norm_backward_variants(), list);
  list.push_back(&norm_backward_columns.image());
  list.push_back(&norm_backward_partials<70>.image());
  list.push_back(&norm_backward_partials<programmatic>.image());
}

}  // namespace kaio::ops

#include "ops/norm/simt/rows.hpp"

#include <kaio/ops/norm/simt/kernel.hpp>

namespace kaio::ops {

namespace {
template <class T, std::uint32_t Sm, bool Vectors>
struct kernel_of {
  static constexpr auto& value = norm_rows<T, Sm, Vectors>;
};
}  // namespace

const row_variants<norm_problem>& norm_variants() {
  static const auto all = row_variants_of<norm_problem, kernel_of>();
  return all;
}

void list_norm_kernels(std::vector<const ptx::kernel_image*>& list) {
  list_row_variants(norm_variants(), list);
}

}  // namespace kaio::ops

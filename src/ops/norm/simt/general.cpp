#include <kaio/ops/norm/simt/general.hpp>

#include "ops/norm/simt/rows.hpp"

namespace kaio::ops {

namespace {
template <class T, std::uint32_t Sm, bool Vectors>
struct kernel_of {
  static constexpr auto& value = general_norm_rows<T, Sm, Vectors>;
};
}  // namespace

const row_variants<general_norm_problem>& general_norm_variants() {
  static const auto all = row_variants_of<general_norm_problem, kernel_of>();
  return all;
}

void list_norm_general_kernels(std::vector<const ptx::kernel_image*>& list) {
  list_row_variants(general_norm_variants(), list);
}

}  // namespace kaio::ops

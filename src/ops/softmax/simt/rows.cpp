#include "ops/softmax/simt/rows.hpp"

#include <kaio/ops/softmax/simt/backward.hpp>
#include <kaio/ops/softmax/simt/kernel.hpp>

#include "ops/families.hpp"

namespace kaio::ops {

namespace {

template <class T, std::uint32_t Sm, bool Vectors>
struct forward_kernel {
  static constexpr const auto& value = softmax_rows<T, Sm, Vectors>;
};
template <class T, std::uint32_t Sm, bool Vectors>
struct backward_kernel {
  static constexpr const auto& value = softmax_backward_rows<T, Sm, Vectors>;
};

}  // namespace

const row_variants<softmax_problem>& softmax_variants() {
  static const auto all = row_variants_of<softmax_problem, forward_kernel>();
  return all;
}
const row_variants<softmax_backward_problem>& softmax_backward_variants() {
  static const auto all = row_variants_of<softmax_backward_problem, backward_kernel>();
  return all;
}

void list_softmax_kernels(std::vector<const ptx::kernel_image*>& list) {
  list_row_variants(softmax_variants(), list);
  list_row_variants(softmax_backward_variants(), list);
}

}  // namespace kaio::ops

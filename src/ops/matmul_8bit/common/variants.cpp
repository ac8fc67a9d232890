#include "ops/matmul_8bit/common/variants.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <string>
#include <utility>

namespace kaio::ops {

void leave_operands_out(matmul_call& call, const void* device) {
  if (call.k != 0) return;
  call.a = call.b = {.device = device};
  call.a.pitch = call.b.pitch = 1;
}

std::vector<const matmul_variant*> variants_among(const variant_list& list, const matmul_call& call) {
  std::vector<const matmul_variant*> result;
  for (const matmul_variant& v : list)
    if (v.operand == call.operand && v.output == call.output && v.a == call.a.lines && v.b == call.b.lines)
      result.push_back(&v);
  return result;
}

const matmul_variant& named_variant(std::string_view operation, std::string_view product,
                                    std::string_view kinds, const std::vector<const matmul_variant*>& among,
                                    const matmul_call& call, const device_properties& device,
                                    std::string_view name) {
  const std::string start = "kaio: " + std::string(operation) + ": ",
                    variants = std::string(product) + "_variants";
  for (const matmul_variant* const v : among) {
    if (v->name() != name) continue;
    if (const std::string why = refusal(*v, call, device); !why.empty())
      throw invalid_argument(start + "variant " + std::string(name) + " cannot run this product: " + why +
                             "; leave the variant out, or take another of " + variants);
    return *v;
  }
  throw invalid_argument(start + "there is no variant " + std::string(name) + " for " + std::string(kinds) +
                         "; " + variants + " lists them");
}

std::vector<matmul_variant_info> ranked_variants(const std::vector<const matmul_variant*>& among,
                                                 const matmul_call& call, const device_properties& device) {
  std::vector<matmul_variant_info> result;
  for (const matmul_variant* const v : among) {
    matmul_variant_info one{v->name(), refusal(*v, call, device), 0, 0};
    if (one.refusal.empty()) one.seconds = cost(*v, call, device);
    result.push_back(std::move(one));
  }
  std::stable_sort(result.begin(), result.end(), [](const auto& x, const auto& y) {
    if (x.refusal.empty() != y.refusal.empty()) return x.refusal.empty();
    return x.seconds < y.seconds;
  });
  return result;
}

std::vector<const ptx::kernel_image*> distinct_kernels(std::vector<const ptx::kernel_image*> list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

}  // namespace kaio::ops

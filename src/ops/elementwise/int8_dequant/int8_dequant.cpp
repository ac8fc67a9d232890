// The kernels of int8_dequant with one scale, by the type of numbers, and the call.

#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/ops/elementwise/int8_dequant/function.hpp>
#include <kaio/ops/int8_dequant.hpp>
#include <kaio/runtime/device.hpp>

#include <bit>
#include <cmath>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "int8_dequant";

template <class T>
using kernels = detail::elementwise_kernels_of<
    "int8_dequant_" + dsl::type_name<T>,
    elementwise_signature<scaled_code, elementwise_types<T>, elementwise_types<i8, elementwise_number<f32>>>,
    false>;

}  // namespace

namespace detail {

void run_int8_dequant(const stream& s, const any_view& codes, f32 scale, const any_view& x) {
  if (!std::isfinite(scale)) refuse(operation, "scale is not finite");
  if (codes.type != element_kind::i8) refuse(operation, "argument codes has elements that are not i8");
  if (codes.rank != x.rank || codes.extents != x.extents)
    refuse(operation, "argument codes has other extents than x; they are equal");
  const elementwise_operand operands[3] = {
      {"x", x, 0}, {"codes", codes, 0}, {"scale", {}, std::bit_cast<u32>(scale)}};
  switch (x.type) {
    case element_kind::f32: return run_elementwise(s, operation, operands, 1, 2, kernels<f32>::for_device(s));
    case element_kind::f16: return run_elementwise(s, operation, operands, 1, 2, kernels<f16>::for_device(s));
    case element_kind::bf16:
      return run_elementwise(s, operation, operands, 1, 2, kernels<bf16>::for_device(s));
    default: refuse(operation, "argument x has elements that are not f32, f16 or bf16");
  }
}

}  // namespace detail

void list_int8_dequant_kernels(std::vector<const ptx::kernel_image*>& list) {
  kernels<f32>::list(list);
  kernels<f16>::list(list);
  kernels<bf16>::list(list);
}

std::vector<const ptx::kernel_image*> int8_dequant_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_int8_dequant_kernels(list);
  return list;
}

void int8_dequant_warmup(const runtime::device& gpu) {
  for (const ptx::kernel_image* image : int8_dequant_kernels())
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
  dequantise_warmup(gpu);
}

}  // namespace kaio::ops

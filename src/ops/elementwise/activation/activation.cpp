// The kernels of activations, by element type, and the calls.

#include <kaio/ops/activation.hpp>
#include <kaio/ops/elementwise/activation/functions.hpp>
#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/runtime/device.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using number = elementwise_number<f32>;
using choice = elementwise_number<u32>;

template <class T>
inline constexpr bool is_fast = !std::is_same_v<T, f32>;

template <dsl::fixed_string Name, class T, class Function, class Outputs, class Inputs>
using kernels = detail::elementwise_kernels_of<Name + "_" + dsl::type_name<T>,
                                               elementwise_signature<Function, Outputs, Inputs>, false>;

template <class T>
struct kernels_of {
  using types = elementwise_types<T>;
  using activate =
      kernels<"activate", T, activated<is_fast<T>>, types, elementwise_types<T, number, number, choice>>;
  using activate_backward = kernels<"activate_backward", T, activated_backward<is_fast<T>>, types,
                                    elementwise_types<T, T, number, number, choice>>;
  using gated = kernels<"gated", T, gated_product<is_fast<T>>, types,
                        elementwise_types<T, T, number, number, number, number, choice>>;
  using gated_backward =
      kernels<"gated_backward", T, gated_product_backward<is_fast<T>>, elementwise_types<T, T>,
              elementwise_types<T, T, T, number, number, number, number, choice>>;

  static void list(std::vector<const ptx::kernel_image*>& images) {
    activate::list(images);
    activate_backward::list(images);
    gated::list(images);
    gated_backward::list(images);
  }
};

// Calls f(kernels_of<T>) for the elements of all tensors.
template <class F>
void with_kernels(std::string_view operation, element_kind kind, const F& f) {
  switch (kind) {
    case element_kind::f32: return f(kernels_of<f32>{});
    case element_kind::f16: return f(kernels_of<f16>{});
    case element_kind::bf16: return f(kernels_of<bf16>{});
    default: detail::refuse(operation, "elements are not f32, f16 or bf16; cast them");
  }
}

struct curve_numbers {
  u32 variant;
  f32 a, b;
};
curve_numbers numbers_of(std::string_view operation, activation_kind kind) {
  switch (kind) {
    case activation_kind::silu: return {curve::by_sigmoid, 1, 0};
    case activation_kind::gelu: return {curve::by_normal, 0, 0};
    case activation_kind::gelu_tanh: return {curve::by_sigmoid, 1.59576912f, 0.0713548163f};
    case activation_kind::gelu_sigmoid: return {curve::by_sigmoid, 1.702f, 0};
    case activation_kind::relu: return {curve::by_ramp, 1, 0};
    case activation_kind::relu2: return {curve::by_ramp, 0, 1};
  }
  detail::refuse(operation, "the kind of activation is unknown; take one of activation");
}

// The operands of a call: tensors, then numbers.
struct operand_list {
  std::array<detail::elementwise_operand, detail::elementwise_operands> all{};
  u32 size = 0;

  void add(std::string_view name, const any_view& view) { all[size++] = {name, view, 0}; }
  void add(std::string_view name, f32 value) { all[size++] = {name, {}, std::bit_cast<u32>(value)}; }
  void add(const curve_numbers& of) {
    add("a", of.a);
    add("b", of.b);
  }
  void choose(const curve_numbers& of) { all[size++] = {"variant", {}, of.variant}; }
};

void check_types(std::string_view operation, const operand_list& operands) {
  const detail::elementwise_operand& first = operands.all[0];
  for (u32 i = 1; i < operands.size; ++i) {
    const detail::elementwise_operand& other = operands.all[i];
    if (!other.view.exists()) continue;
    if (other.view.type != first.view.type)
      detail::refuse(operation, "argument " + std::string(other.name) + " has another element type than " +
                                    std::string(first.name) + "; cast it");
    if (other.view.rank != first.view.rank || other.view.extents != first.view.extents)
      detail::refuse(operation, "argument " + std::string(other.name) + " has other extents than " +
                                    std::string(first.name) + "; they are equal");
  }
}

// Checks the options; returns the limit, which may be infinite.
f32 limit_of(std::string_view operation, const gated_options& options) {
  if (!(options.limit >= 0) || !std::isfinite(options.limit))
    detail::refuse(operation, "limit is not above 0 and finite; leave it out for none");
  if (!std::isfinite(options.up_offset)) detail::refuse(operation, "up_offset is not finite");
  return options.limit == 0 ? std::numeric_limits<f32>::infinity() : options.limit;
}

}  // namespace

namespace detail {

void run_activate(const stream& s, activation_kind kind, const any_view& x, const any_view& y) {
  constexpr std::string_view operation = "activate";
  const curve_numbers curve = numbers_of(operation, kind);
  operand_list operands;
  operands.add("y", y);
  operands.add("x", x);
  operands.add(curve);
  operands.choose(curve);
  check_types(operation, operands);
  with_kernels(operation, x.type, [&]<class T>(const kernels_of<T>&) {
    run_elementwise(s, operation, operands.all.data(), 1, operands.size - 1,
                    kernels_of<T>::activate::for_device(s));
  });
}

void run_activate_backward(const stream& s, activation_kind kind, const any_view& dy, const any_view& x,
                           const any_view& dx) {
  constexpr std::string_view operation = "activate_backward";
  const curve_numbers curve = numbers_of(operation, kind);
  operand_list operands;
  operands.add("dx", dx);
  operands.add("dy", dy);
  operands.add("x", x);
  operands.add(curve);
  operands.choose(curve);
  check_types(operation, operands);
  with_kernels(operation, x.type, [&]<class T>(const kernels_of<T>&) {
    run_elementwise(s, operation, operands.all.data(), 1, operands.size - 1,
                    kernels_of<T>::activate_backward::for_device(s));
  });
}

void run_gated(const stream& s, activation_kind kind, const any_view& gate, const any_view& up,
               const any_view& y, const gated_options& options) {
  constexpr std::string_view operation = "gated";
  const curve_numbers curve = numbers_of(operation, kind);
  const f32 limit = limit_of(operation, options);
  operand_list operands;
  operands.add("y", y);
  operands.add("gate", gate);
  operands.add("up", up);
  operands.add(curve);
  operands.add("limit", limit);
  operands.add("up_offset", options.up_offset);
  operands.choose(curve);
  check_types(operation, operands);
  with_kernels(operation, y.type, [&]<class T>(const kernels_of<T>&) {
    run_elementwise(s, operation, operands.all.data(), 1, operands.size - 1,
                    kernels_of<T>::gated::for_device(s));
  });
}

void run_gated_backward(const stream& s, activation_kind kind, const any_view& dy, const any_view& gate,
                        const any_view& up, const any_view& dgate, const any_view& dup,
                        const gated_options& options) {
  constexpr std::string_view operation = "gated_backward";
  const curve_numbers curve = numbers_of(operation, kind);
  const f32 limit = limit_of(operation, options);
  operand_list operands;
  operands.add("dgate", dgate);
  operands.add("dup", dup);
  operands.add("dy", dy);
  operands.add("gate", gate);
  operands.add("up", up);
  operands.add(curve);
  operands.add("limit", limit);
  operands.add("up_offset", options.up_offset);
  operands.choose(curve);
  check_types(operation, operands);
  with_kernels(operation, dy.type, [&]<class T>(const kernels_of<T>&) {
    run_elementwise(s, operation, operands.all.data(), 2, operands.size - 2,
                    kernels_of<T>::gated_backward::for_device(s));
  });
}

}  // namespace detail

void list_activation_kernels(std::vector<const ptx::kernel_image*>& list) {
  kernels_of<f32>::list(list);
  kernels_of<f16>::list(list);
  kernels_of<bf16>::list(list);
}

void activation_warmup(const runtime::device& gpu, element_kind kind) {
  std::vector<const ptx::kernel_image*> images;
  with_kernels("activation_warmup", kind,
               [&]<class T>(const kernels_of<T>&) { kernels_of<T>::list(images); });
  for (const ptx::kernel_image* image : images)
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

std::vector<const ptx::kernel_image*> activation_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_activation_kernels(list);
  return list;
}

}  // namespace kaio::ops

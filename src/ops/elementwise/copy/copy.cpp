// The kernels of copy, by the size of elements or by the types that are converted, and the call.

#include <kaio/ops/copy.hpp>
#include <kaio/ops/elementwise/call/call.hpp>
#include <kaio/ops/elementwise/copy/function.hpp>
#include <kaio/runtime/device.hpp>

#include <string>

#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

template <class T>
using same = detail::elementwise_kernels_of<
    "copy_" + dsl::type_name<T>,
    elementwise_signature<copied_bits, elementwise_types<T>, elementwise_types<T>>>;
template <class From, class To>
using cast_to = detail::elementwise_kernels_of<
    "copy_" + dsl::type_name<From> + "_to_" + dsl::type_name<To>,
    elementwise_signature<converted, elementwise_types<To>, elementwise_types<From>>>;

// Calls f(kernels) for elements of these kinds.
template <class From, class F>
void with_cast_of(element_kind to, const F& f) {
  if constexpr (!std::is_same_v<From, f32>)
    if (to == element_kind::f32) f(cast_to<From, f32>{});
  if constexpr (!std::is_same_v<From, f16>)
    if (to == element_kind::f16) f(cast_to<From, f16>{});
  if constexpr (!std::is_same_v<From, bf16>)
    if (to == element_kind::bf16) f(cast_to<From, bf16>{});
}
template <class F>
void with_kernels(const any_view& to, const any_view& from, const F& f) {
  if (to.type == from.type && to.element_bytes() == from.element_bytes()) {
    switch (to.element_bytes()) {
      case 1: return f(same<u8>{});
      case 2: return f(same<u16>{});
      case 4: return f(same<u32>{});
      default: return f(same<u64>{});
    }
  }
  if (!is_wide(to.type) || !is_wide(from.type))
    detail::refuse("copy", "to and from have different element types; only f32, f16 and bf16 are converted");
  switch (from.type) {
    case element_kind::f32: return with_cast_of<f32>(to.type, f);
    case element_kind::f16: return with_cast_of<f16>(to.type, f);
    default: return with_cast_of<bf16>(to.type, f);
  }
}

// Whether each `by` neighbours of dimension `along` may be taken as one aligned element.
bool is_made_of(const any_view& v, std::uint32_t along, std::int64_t by) {
  bool result = v.strides[along] == 1 && v.extents[along] % by == 0 &&
                v.address % (static_cast<std::uint64_t>(by) * v.element_bytes()) == 0;
  for (std::uint32_t d = 0; d < v.rank; ++d)
    result = result && (d == along || v.extents[d] == 1 || v.strides[d] % by == 0);
  return result;
}
void take_together(any_view& v, std::uint32_t along, std::int64_t by) {
  v.other_bytes = v.element_bytes() * static_cast<std::uint32_t>(by);
  v.type = element_kind::other;
  v.extents[along] /= by;
  for (std::uint32_t d = 0; d < v.rank; ++d)
    if (d != along) v.strides[d] /= by;
}
// Takes neighbours of a dimension without gaps as elements of up to 8 bytes.
void widen(any_view& to, any_view& from) {
  if (to.rank < from.rank || to.empty()) return;
  const std::uint32_t missing = to.rank - from.rank;
  for (std::uint32_t d = missing; d < to.rank; ++d) {
    if (to.extents[d] != from.extents[d - missing] || to.extents[d] == 1) continue;
    for (std::int64_t by = 8 / to.element_bytes(); by > 1; by /= 2) {
      if (!is_made_of(to, d, by) || !is_made_of(from, d - missing, by)) continue;
      take_together(to, d, by);
      take_together(from, d - missing, by);
      return;
    }
  }
}

}  // namespace

namespace detail {

void run_copy(const stream& s, const any_view& target, const any_view& source) {
  any_view to = target, from = source;
  if (to.type == from.type && to.element_bytes() == from.element_bytes()) widen(to, from);
  const elementwise_operand operands[2] = {{"to", to, 0}, {"from", from, 0}};
  with_kernels(to, from, [&]<class Kernels>(const Kernels&) {
    run_elementwise(s, "copy", operands, 1, 1, Kernels::for_device(s));
  });
}

void warm_up_copy(const runtime::device& gpu, const any_view& to, const any_view& from) {
  std::vector<const ptx::kernel_image*> images;
  with_kernels(to, from, [&]<class Kernels>(const Kernels&) { Kernels::list(images); });
  for (const ptx::kernel_image* image : images)
    if (runs_on(*image, gpu.properties())) gpu.warmup(*image);
}

}  // namespace detail

void list_copy_kernels(std::vector<const ptx::kernel_image*>& list) {
  same<u8>::list(list);
  same<u16>::list(list);
  same<u32>::list(list);
  same<u64>::list(list);
  cast_to<f32, f16>::list(list);
  cast_to<f32, bf16>::list(list);
  cast_to<f16, f32>::list(list);
  cast_to<f16, bf16>::list(list);
  cast_to<bf16, f32>::list(list);
  cast_to<bf16, f16>::list(list);
}

std::vector<const ptx::kernel_image*> copy_kernels() {
  std::vector<const ptx::kernel_image*> list;
  list_copy_kernels(list);
  return list;
}

}  // namespace kaio::ops

// check_kernels makes kernels that nothing launches, templates and local ones too, and is a constant; with
// KAIO_CHECK_KERNELS every kernel is made where it is written.
#define KAIO_CHECK_KERNELS
#include <kaio/kaio.hpp>

using namespace kaio;

namespace {

template <class T, u32 N>
inline constexpr auto scale = kernel<"scale_" + type_name<T> + "_" + decimal<N>, 64>(
    [](thread t, inout<T> x) { x[t.global_id() * N] *= 2.0f; });
static_assert(check_kernels(scale<f32, 1>, scale<f16, 2>));

constexpr auto nothing = kernel<"nothing", 32>([](thread) {});
static_assert(check_kernels(nothing));

template <class T>
constexpr bool local_kernel_is_checked() {
  constexpr auto clear = kernel<"clear", 32>([](thread t, out<T> x) { x[t.global_id()] = 0; });
  return check_kernels(clear, nothing);
}
static_assert(local_kernel_is_checked<u32>() && local_kernel_is_checked<i64>());

}  // namespace

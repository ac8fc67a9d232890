// The argument of a check is a kernel, not its lambda.
// EXPECT: kaio: check_kernels takes kernels: static_assert(check_kernels(scale, saxpy))
#include <kaio/dsl/dsl.hpp>
using namespace kaio;
inline constexpr auto body = [](thread t, inout<f32> x) { x[t.global_id()] *= 2.0f; };
inline constexpr auto scale = kernel<"scale", 256>(body);
#ifdef KAIO_FIXED
static_assert(check_kernels(scale));
#else
static_assert(check_kernels(body));
#endif

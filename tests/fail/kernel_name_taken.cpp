// A name that PTX, or the text that kaio makes, gives a meaning to is no kernel's.
// EXPECT: kaio: _, WARP_SZ, vprintf, __assertfail, L_1, L_2, ... have a meaning in PTX or in the text that kaio makes; give the kernel another name
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

static_assert(dsl::is_taken_name("_") && dsl::is_taken_name("WARP_SZ"));
static_assert(dsl::is_taken_name("vprintf") && dsl::is_taken_name("__assertfail"));
static_assert(dsl::is_taken_name("L_1") && dsl::is_taken_name("L_20"));
static_assert(!dsl::is_taken_name("__") && !dsl::is_taken_name("warp_sz") && !dsl::is_taken_name("add"));
static_assert(!dsl::is_taken_name("L_") && !dsl::is_taken_name("L_x") && !dsl::is_taken_name("l_1"));

#ifdef KAIO_FIXED
constexpr auto k = kernel<"warp_size", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
static_assert(k.ptx().size() > 0);
#else
constexpr auto k = kernel<"WARP_SZ", 32>([](thread, out<f32> y) { y[0] = 1.0f; });
#endif

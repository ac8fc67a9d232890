// A packed pair has two answers to isnan.
// EXPECT: kaio: isnan, isinf, isfinite and signbit take
// LATE(g++): g++ instantiates the body while it evaluates the kernel, and names no line of it
// LATE(clang): each template between the check and the kernel is three lines
#include <kaio/kaio.hpp>
using namespace kaio;
inline constexpr auto check =
    kernel<"check", 256>([](thread t, [[maybe_unused]] in<f16x2> x, [[maybe_unused]] in<f16> z, out<bool> y) {
      val i = t.global_id();
#ifdef KAIO_FIXED
      y[i] = isnan(z[i]);
#else
      y[i] = isnan(x[i]);
#endif
    });
static_assert(check.ptx().contains("st.global"));

// The code of prints and assertions.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

// Equal texts are one, and calls share the memory for their arguments.
inline constexpr auto prints = kernel<"prints", 32>([](thread t, in<f32> x, val<u32> n) {
  val i = t.global_id();
  device_print(t, "%u: %f\n", i, x[i]);
  if (auto g = t.when(i < n)) device_print(t, "%u: %f\n", n, x[n]);
  for (auto k : t.range(0u, n)) device_print(t, "%u\n", k);
});
static_assert(prints.needs().prints);
static_assert(prints.ptx().count("call.uni (count), vprintf") == 3);
static_assert(prints.ptx().count(".global .align 8") == 2 && prints.ptx().count("  .local .align 8") == 2);
static_assert(prints.ptx().contains("st.local.f64 [local_1+8]"));

// Without arguments there is no memory for them.
inline constexpr auto plain = kernel<"plain", 32>([](thread t) { device_print(t, "100%%\n"); });
static_assert(plain.ptx().count(".local") == 0 && plain.needs().prints);

inline constexpr auto asserts = kernel<"asserts", 32>([](thread t, out<f32> y, val<u32> n) {
  device_assert(t, n < 5, "n is small");
  y[n] = 1.0f;
});
static_assert(asserts.ptx().count("call.uni __assertfail") == 1 && !asserts.needs().prints);

// Assertions that are left out, or that always hold, leave nothing.
inline constexpr auto left_out = kernel<"left_out", 32, kernel_options{.assertions = false}>(
    [](thread t, in<u32> x, out<f32> y, val<u32> n) {
      device_assert(t, x[n] < 5, "n is small");
      y[n] = 1.0f;
    });
inline constexpr auto certain = kernel<"certain", 32>([](thread t, out<f32> y, val<u32> n) {
  device_assert(t, val(3u) < 5, "three is small");
  y[n] = 1.0f;
});
static_assert(left_out.ptx().count("__assertfail") == 0 && left_out.ptx().count("ld.global") == 0);
static_assert(certain.ptx().count("__assertfail") == 0);

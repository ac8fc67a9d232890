// The f64 constants of the language have all their digits, also with -fsingle-precision-constant, which makes floats of
// literals without a suffix.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto exponential = kernel<"exponential", 32>([](thread t, in<f64> x, out<f64> y) {
  val i = t.global_id();
  y[i] = exp(x[i]);
});
static_assert(exponential.ptx().contains("0d3FF71547652B82FE"));  // log2(e)

inline constexpr auto error_function = kernel<"error_function", 32>([](thread t, in<f64> x, out<f64> y) {
  val i = t.global_id();
  y[i] = erfc(x[i]);
});
static_assert(error_function.ptx().contains("0d3FD3333333333333"));  // 0.3

inline constexpr auto slope = kernel<"slope", 32>([](thread t, inout<f64> x) {
  val i = t.global_id();
  const val v = t.let(x[i]);
  x[i] = derivative(log10(v), v);
});
static_assert(slope.ptx().contains("0d3FDBCB7B1526E50E"));  // 1 / ln(10)

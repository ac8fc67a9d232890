// A kernel is traced without the program around it.
// EXPECT: kaio: a kernel captures nothing
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
auto make() {
  return kernel<"k", 32>([](thread, out<f32> y, val<f32> a) { y[0] = a; });
}
#else
auto make(f32 a) {
  return kernel<"k", 32>([a](thread, out<f32> y) { y[0] = a; });
}
#endif

// 64 bits are printed with ll.
// EXPECT: kaio: the argument of this conversion is a u64; write %llu, %llx, %llo or %p
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto k = kernel<"k", 128>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  val i = t.global_id();
#ifdef KAIO_FIXED
  device_print(t, "%llu\n", cast<u64>(i));
#else
  device_print(t, "%u\n", cast<u64>(i));
#endif
});
static_assert(k.ptx().size() > 0);

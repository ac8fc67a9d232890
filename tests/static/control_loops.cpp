// The code of counted loops: copies, the loop for the rest, tests that are known.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// Four copies, a loop for the rest, and no sum but one a round.
inline constexpr auto by_four = kernel<"by_four", 32>([](thread t, inout<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n).unroll<4>()) y[k] = 1.0f;
});
static_assert(times(by_four, "st.global.f32") == 5);
static_assert(times(by_four, ".pragma \"nounroll\";") == 2);

// A multiple of the copies leaves no rest; its entry is not tested.
inline constexpr auto multiple = kernel<"multiple", 32>([](thread t, inout<f32> y) {
  for (auto k : t.range(0u, 16).unroll<4>()) y[k] = 1.0f;
});
static_assert(times(multiple, "st.global.f32") == 4 && times(multiple, "bra") == 1);

// Known rounds that are no multiple: both loops, no tests before them.
inline constexpr auto ragged = kernel<"ragged", 32>([](thread t, inout<f32> y) {
  for (auto k : t.range(0u, 18).unroll<4>()) y[k] = 1.0f;
});
static_assert(times(ragged, "st.global.f32") == 5 && times(ragged, "bra") == 2);

// Wholly unrolled, a counter is a constant: the addresses are offsets, and nothing is left of the loop.
inline constexpr auto whole = kernel<"whole", 32>([](thread t, inout<f32> y) {
  for (auto k : t.range(0, 6, 2).unroll()) y[k] = 1.0f;
  for (auto k : t.range(10, 12).unroll<8>()) y[k] = 1.0f;
});
static_assert(times(whole, "st.global.f32") == 5 && times(whole, "bra") == 0 && times(whole, "add.") == 0);
static_assert(whole.ptx().contains("+16]") && whole.ptx().contains("+44]"));

// Copies share what they compute, unless a thread may have skipped it.
inline constexpr auto sharing = kernel<"sharing", 32>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n, 2).unroll<4>()) y[k] = exp(x[7]);
});
static_assert(times(sharing, "ex2") == 2);
inline constexpr auto skipping = kernel<"skipping", 32>([](thread t, in<f32> x, inout<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n, 2).unroll<4>()) {
    k.continue_if(y[k] > 0.0f);
    y[k] = exp(x[7]);
  }
});
static_assert(times(skipping, "ex2") == 5);

// A constant step of a 32- or 64-bit counter compares with the bound itself. A smaller counter's sum may run
// over the end, so it compares with the bound moved back by the step, once.
inline constexpr auto rolled = kernel<"rolled", 32>([](thread t, inout<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n).no_unroll()) y[k] = 1.0f;
});
static_assert(times(rolled, "nounroll") == 1 && times(rolled, "max") == 0);
inline constexpr auto stepped = kernel<"stepped", 32>([](thread t, inout<f32> y, val<u32> n) {
  for (auto k : t.range(0u, n, 3)) y[k] = 1.0f;
});
static_assert(times(stepped, "max") == 0 && times(stepped, "nounroll") == 0);
inline constexpr auto narrow = kernel<"narrow", 32>([](thread t, inout<f32> y, val<u8> n) {
  for (auto k : t.range(0, n, 3)) y[k] = 1.0f;
});
static_assert(times(narrow, "max.u32") == 1);

// Reading a clock twice is two reads; an index is read once.
inline constexpr auto clocks = kernel<"clocks", 32>([](thread t, out<u64> y) {
  val start = t.clock64();
  y[thread_idx_x()] = t.clock64() - start;
  y[thread_idx_x() + 32] = cast<u64>(t.clock()) + t.globaltimer() + cast<u64>(t.sm_id());
});
static_assert(times(clocks, "%clock64") == 2 && times(clocks, "%tid.x") == 1);
static_assert(times(clocks, "mov.u32 %r") >= 3 && times(clocks, "%globaltimer") == 1);

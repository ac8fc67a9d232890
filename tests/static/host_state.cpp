// Variables of the host in kernels, where they are C++ as anywhere: values computed while the kernel compiles,
// the state of loops of the host and of copies of an unrolled loop, and state that no other statement uses.
// Refused state: tests/fail/host_state_*.cpp.
#include <kaio/dsl/dsl.hpp>

using namespace kaio;

namespace {

// A place that goes round, as stages of a pipeline do.
struct ring {
  u32 stages;
  u32 stage = 0;
  constexpr u32 next() {
    const u32 now = stage;
    stage = (stage + 1) % stages;
    return now;
  }
};

constexpr auto host_loops = kernel<"host_loops", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  u32 count = 0;
  ring r{3};
  for (u32 q = 0; q < 5; ++q) {
    y[i] += x[i + q] * count;
    y[i] += x[r.next()];
    ++count;
  }
  const auto numbered = [&](const val<u32>& v) { return t.let(v + count++); };
  const val a = numbered(i);
  const val b = numbered(n);
  y[i] = a * b + count;
});
static_assert(host_loops.is_well_formed());

// Inside one body, and gone with it.
constexpr auto within_a_body = kernel<"within_a_body", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  for (auto k : t.range(0u, n)) {
    u32 weight = 1;
    for (u32 q = 0; q < 3; ++q) {
      y[i] += x[k] * weight;
      weight *= 10;
    }
    if (auto g = t.when(x[k] > 3u)) {
      u32 place = 0;
      y[place++] = 1u;
      y[place++] = 2u;
    }
  }
});
static_assert(within_a_body.is_well_formed());

// Back to what it was at the end of the body.
constexpr auto restored = kernel<"restored", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  u32 depth = 0;
  for (auto k : t.range(0u, n)) {
    ++depth;
    y[i] += x[k] * depth;
    --depth;
  }
  if (auto g = t.when(i < n)) {
    depth = 7;
    y[i] += depth;
    depth = 0;
  }
  y[i] += depth;
});
static_assert(restored.is_well_formed());

// Changed, but nothing of the device depends on it afterwards.
constexpr auto not_used = kernel<"not_used", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  [[maybe_unused]] u32 statements = 0;
  if (auto g = t.when(i < n)) {
    y[i] = x[i];
    ++statements;
  }
  for (auto k : t.range(0u, n)) {
    y[i] += x[k];
    ++statements;
  }
});
static_assert(not_used.is_well_formed());

// The copies of an unrolled loop: all of a known range, or a number of copies that brings the state back.
constexpr auto copies = kernel<"copies", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.global_id();
  u32 count = 0;
  for (auto k : t.range(0u, 4u).unroll()) y[i] += x[k] * count++;
  y[i] += count;
  u32 now = 0;
  for (auto k : t.range(0u, n).unroll<2>()) {
    y[i] += x[k] * (now + 1);
    now = 1 - now;
  }
  u32 third = 0;
  for (auto k : t.range(0u, 12u).unroll<3>()) {
    y[i] += x[k] * third;
    third = (third + 1) % 3;
  }
  y[i] += third;
});
static_assert(copies.is_well_formed());

// Names of tiles and variables are exchanged on the host, outside of bodies or for whole rounds.
constexpr auto names = kernel<"names", 64>([](thread t, in<u32> x, inout<u32> y, val<u32> n) {
  val i = t.thread_rank();
  shared_tiles<u32, 1, 64, row_major, 2> s(t);
  for (auto k : t.range(0u, n)) {
    for (u32 now = 0; now < 2; ++now) {
      s[now][0][i] = x[k + now];
      t.barrier();
      y[i] += s[now][0][63 - i];
      t.barrier();
    }
  }
});
static_assert(names.is_well_formed());

}  // namespace

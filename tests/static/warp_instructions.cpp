// The code of the exchanges between lanes, threads and blocks: the instruction that the target has,
// no more of them than needed, one barrier for one exchange of a block.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// Shuffles of 64 bits in halves; the predicate only where it is asked for; widths in the segment mask.
inline constexpr auto shuffled =
    kernel<"shuffled", 32>([](thread, in<f64> x, in<u8> z, out<f64> y, out<u8> w) {
      val i = thread_idx_x();
      y[i] = shfl_down(x[i], 1);
      const auto [below, exists] = shfl_up_checked<8>(z[i], 2, 0x0000ffffu);
      w[i] = select(exists, below, u8{7});
    });
static_assert(times(shuffled, "shfl.sync.down.b32 %r") == 2);
static_assert(times(shuffled, "shfl.sync.up.b32") == 1 && times(shuffled, "|%p") == 1);
static_assert(times(shuffled, ", 2, 6144, 65535;") == 1);

// Known operators commute: a butterfly. Others keep the order: a tree, and a broadcast.
inline constexpr auto butterfly = kernel<"butterfly", 64>(
    [](thread t, in<f32> x, out<f32> y) { y[t.thread_rank()] = warp_reduce(t, x[t.thread_rank()], plus{}); });
static_assert(times(butterfly, "shfl.sync.bfly") == 5 && times(butterfly, "shfl.sync") == 5);
static_assert(times(butterfly, "selp") == 0 && times(butterfly, "add.rn.f32") == 5);
inline constexpr auto tree = kernel<"tree", 64>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  y[i] = warp_reduce(t, x[i], [](const auto& a, const auto& b) { return a + b; });
});
static_assert(times(tree, "shfl.sync.down") == 5 && times(tree, "shfl.sync.idx") == 1 &&
              times(tree, "selp") == 0);

// A partial warp asks only where a lane may be missing, and stops early.
inline constexpr auto partial = kernel<"partial", 6>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  y[i] = warp_reduce(t, x[i], plus{});
});
static_assert(times(partial, "shfl.sync.down") == 3 && times(partial, "selp") == 1);
static_assert(times(partial, ", 63;") == 4);

// redux.sync from sm_80 on, for integers of up to 32 bits over whole warps.
template <class T, u32 Target, u32 Width = 32>
inline constexpr auto reduced =
    kernel<"reduced", 64, kernel_options{.target = {Target}}>([](thread t, in<T> x, out<T> y) {
      val i = t.thread_rank();
      y[i] = warp_reduce<Width>(t, x[i], plus{});
      y[i + 64] = warp_reduce<Width>(t, x[i], minimum{});
    });
static_assert(times(reduced<u32, 80>, "redux.sync.add.u32") == 1 && times(reduced<u32, 80>, "shfl") == 0);
static_assert(times(reduced<i32, 80>, "redux.sync.add.s32") == 1 &&
              times(reduced<i32, 80>, "redux.sync.min.s32") == 1);
static_assert(times(reduced<i16, 80>, "redux.sync.min.s32") == 1 &&
              times(reduced<i16, 80>, "cvt.s32.s16") == 1);
static_assert(times(reduced<u32, 75>, "redux") == 0 && times(reduced<u32, 75>, "shfl.sync.bfly") == 10);
static_assert(times(reduced<i64, 80>, "redux") == 0 && times(reduced<f32, 80>, "redux") == 0);
static_assert(times(reduced<u32, 80, 16>, "redux") == 0);

// elect.sync where there is one; the needs follow.
template <u32 Target>
inline constexpr auto elected =
    kernel<"elected", 64, kernel_options{.target = {Target}}>([](thread t, out<u32> y) {
      if (auto leader = t.when(elect(t, 0x0000ff00u))) y[0] = t.thread_rank();
      sync_warp(t);
    });
static_assert(elected<90>.ptx().contains("elect.sync _|%p1, 65280;") && elected<90>.needs().target.sm == 90);
static_assert(elected<70>.ptx().contains("bar.warp.sync 65280;") && elected<70>.needs().target.sm == 70);
static_assert(elected<70>.ptx().contains("bar.warp.sync 4294967295;"));

// Scans take the predicate of the shuffle.
inline constexpr auto scanned = kernel<"scanned", 32>([](thread t, in<u32> x, out<u32> y) {
  val i = t.thread_rank();
  y[i] = warp_exclusive_scan(t, x[i], plus{}, 0u);
});
static_assert(times(scanned, "shfl.sync.up") == 6 && times(scanned, "selp") == 6 &&
              times(scanned, "setp") == 0);

// One barrier an exchange; two buffers serve any number of exchanges, whatever their types.
inline constexpr auto straight = kernel<"straight", 256>([](thread t, in<f32> x, in<f64> z, out<f64> y) {
  val i = t.thread_rank();
  val a = block_reduce(t, x[i], plus{});
  val b = block_reduce(t, z[i], maximum{});
  val c = block_inclusive_scan(t, x[i] * a, plus{});
  val d = block_reduce(t, z[i] - b, minimum{});
  y[i] = cast<f64>(c) + d;
});
static_assert(times(straight, "bar.sync 0") == 4 && straight.needs().shared_bytes == 96);

// A barrier of the author's frees them too.
inline constexpr auto freed = kernel<"freed", 256>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  y[i] = block_reduce(t, x[i], plus{});
  t.barrier();
  y[i + 256] = block_reduce(t, x[i] * 2.0f, plus{});
});
static_assert(times(freed, "bar.sync 0") == 3 && freed.needs().shared_bytes == 32);

// A loop comes back to the buffer that it has just read: a second barrier. After exchanges that may not have
// happened, both buffers may still be read: one more.
inline constexpr auto looped = kernel<"looped", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.thread_rank();
  var sum(t, 0.0f);
  for (auto k : t.range(0u, n)) sum += block_reduce(t, x[i + k], plus{});
  y[i] = sum;
});
static_assert(times(looped, "bar.sync 0") == 2);
inline constexpr auto guarded = kernel<"guarded", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.thread_rank();
  var sum = block_reduce(t, x[i], plus{});
  if (auto more = t.when(n > 1)) sum += block_reduce(t, x[i] * 2.0f, plus{});
  y[i] = sum + block_reduce(t, sum, plus{});
});
static_assert(times(guarded, "bar.sync 0") == 4);

// A body that the whole block runs, or skips, is straight code inside, with loops and guards between the
// exchanges.
inline constexpr auto inside = kernel<"inside", 256>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.thread_rank();
  if (auto some = t.when(n > 3)) {
    var sum = block_reduce(t, x[i], plus{});
    for (auto k : t.range(0u, n)) sum += x[i + k];
    val most = block_reduce(t, sum, maximum{});
    if (auto positive = t.when(most > 0.0f)) sum = sum * most;
    y[i] = block_reduce(t, sum, plus{});
  }
});
static_assert(times(inside, "bar.sync 0") == 3 && inside.needs().shared_bytes == 64);

// Only the first warp continues where only the first thread asks.
inline constexpr auto to_first = kernel<"to_first", 1024>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  val total = block_reduce_to_first(t, x[i], plus{});
  if (auto first = t.when(i == 0)) y[0] = total;
});
static_assert(times(to_first, "bar.sync 0") == 1 && times(to_first, "shfl.sync.idx") == 0);

// No sequence over the warps, however many there are.
inline constexpr auto odd_warps = kernel<"odd_warps", 992>([](thread t, in<f32> x, out<f32> y) {
  val i = t.thread_rank();
  y[i] = block_reduce(t, x[i], plus{});
});
static_assert(times(odd_warps, "ld.shared") == 1 && times(odd_warps, "bar.sync 0") == 1);
static_assert(times(odd_warps, "shfl.sync") == 11);

inline constexpr auto voted = kernel<"voted", 100>([](thread t, in<u32> x, out<u32> y) {
  val v = x[t.thread_rank()];
  val all = block_all(t, v < 5);
  val any = block_any(t, v < 7);
  y[0] = block_count(t, all | any);
});
static_assert(times(voted, "bar.red.and.pred %p") == 1 && times(voted, "bar.red.or.pred %p") == 1);
static_assert(times(voted, "bar.red.popc.u32 %r") == 1);

inline constexpr auto met = kernel<"met", 64>([](thread t, inout<u32> state, val<u32> n) {
  for ([[maybe_unused]] auto k : t.range(0u, n)) grid_barrier(t, state);
});
static_assert(met.needs().cooperative && !voted.needs().cooperative);
static_assert(times(met, "atom.acq_rel.gpu.global.add.u32") == 1 &&
              times(met, "ld.acquire.gpu.global.u32") == 1);
static_assert(times(met, "bar.sync 0") == 2);

// Instructions by their text: what the catalogue knows of a text, the lines that the program prints, what is
// shared, removed and kept, and what they make a kernel need.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
#include <string_view>

using namespace kaio;

// --- the catalogue

constexpr bool needs(std::string_view text, ptx::isa_version version, unsigned sm) {
  const ptx::text_facts known = ptx::facts_of_text(text);
  return known.known && known.version == version && known.sm == sm && !known.arch_specific;
}
static_assert(needs("popc.b32", {2, 0}, 20));
static_assert(needs("ex2.approx.ftz.f32 $0, $1", {1, 4}, 20));
static_assert(needs("ex2.approx.ftz.bf16x2", {7, 8}, 90));
static_assert(needs("min.f16x2", {7, 0}, 80));
static_assert(needs("atom.global.add.f64", {5, 0}, 60));
static_assert(needs("cp.async.bulk.commit_group", {8, 0}, 90));
static_assert(needs("mov.u32 $0, %smid", {1, 0}, 10));
static_assert(ptx::facts_of_text("wgmma.fence.sync.aligned").arch_specific);
static_assert(!ptx::facts_of_text("pocp.b32").known);
static_assert(!ptx::facts_of_text("popc.b33").known);
static_assert(!ptx::facts_of_text("popcb32").known);
static_assert(!ptx::facts_of_text("ex2.aprox.f32").known);
static_assert(!ptx::facts_of_text("fns.b32").known);
static_assert(!ptx::facts_of_text("").known && !ptx::facts_of_text(".pragma").known);
static_assert(!ptx::facts_of_text("popc.b32").impure && !ptx::facts_of_text("fns.b32").impure);
static_assert(!ptx::facts_of_text("mov.u32 $0, %laneid").impure);
static_assert(ptx::facts_of_text("mov.u64 $0, %globaltimer").impure);
static_assert(ptx::facts_of_text("shfl.sync.idx.b32").impure &&
              ptx::facts_of_text("atom.global.oops.b32").impure);
// More words than a record has room for.
static_assert(!ptx::facts_of_text("ld.rn.rn.rn.rn.rn.rn.rn.rn.rn").known);

// --- the text

constexpr auto fns =
    ptx_op<"fns.b32", u32(u32, u32, i32), ptx_effect::pure, ptx_since{.target = {70}, .version = {6, 0}}>;
constexpr auto ones = ptx_op<"popc.b32", u32(u32), ptx_effect::pure>;
constexpr auto clock_high = ptx_op<"mov.u32 $0, %clock_hi", u32(), ptx_effect::memory>;
constexpr auto match = ptx_op<"match.any.sync.b32", u32(u32, u32), ptx_effect::memory>;
constexpr auto halves = ptx_op<"mov.b64 {$0, $1}, $2", ptx_results<u32, u32>(u64), ptx_effect::pure>;
constexpr auto sum = ptx_op<"add.f32", f32(f32, f32), ptx_effect::pure>;
constexpr auto sum_of_halves = ptx_op<"add.f16", f16(f16, f16), ptx_effect::pure>;
constexpr auto add_small = ptx_op<"add.s16", i16(i16, i16), ptx_effect::pure>;
constexpr auto either = ptx_op<"selp.b64 $0, $1, $2, !$3", u64(u64, u64, bool), ptx_effect::pure>;

inline constexpr auto expressions = kernel<"expressions", 32>(
    [](thread t, in<f16> h, out<u32> y, out<f16> z, out<u64> w, val<u32> i, val<f32> f) {
      y[i] = fns(i, 0, 3);
      y[i + 1] = ones(i) + ones(i);
      [[maybe_unused]] val unused = ones(i + 7);
      [[maybe_unused]] const auto both = halves(t, cast<u64>(i));
      y[i + 2] = bit_cast<u32>(sum(f, -1.5f));
      z[i] = sum_of_halves(h[i], 2);
      y[i + 3] = cast<u32>(cast<i32>(add_small(cast<i16>(i), -3)));
      val seven = 7u;
      y[i + 4] = ones(seven);      // still a number of the host
      y[i + 5] = ones(t.let(9u));  // a value of the device
      w[i] = either(u64{1} << 40, cast<u64>(i), true);
    });
static_assert(expressions.ptx().contains("fns.b32 %r2, %r1, 0, 3;"));
static_assert(expressions.ptx().count("popc.b32") == 3);
static_assert(!expressions.ptx().contains("mov.b64 {"));
static_assert(expressions.ptx().contains("0fBFC00000;"));
static_assert(expressions.ptx().contains("mov.b16 %rs2, 0x4000;"));  // no immediates of f16
static_assert(expressions.ptx().contains("add.f16 %rs3, %rs1, %rs2;"));
static_assert(expressions.ptx().contains("add.s16 %rs5, %rs4, -3;"));

static_assert(expressions.ptx().contains("popc.b32 %r11, 7;"));
static_assert(expressions.ptx().contains("mov.b32 %r13, 9;") &&
              expressions.ptx().contains("popc.b32 %r14, %r13;"));
static_assert(expressions.ptx().contains("selp.b64 %rd"));
static_assert(expressions.ptx().contains("1099511627776, %rd") && expressions.ptx().contains(", !%p1;"));
static_assert(expressions.needs().version == ptx::isa_version{6, 0});

// A guarded value does not reach what follows it; an effect is neither shared nor removed.
inline constexpr auto scoped = kernel<"scoped", 32>([](thread t, out<u32> y, val<u32> i) {
  if (auto g = t.when(i > 3)) y[i] = ones(i);
  y[i + 1] = ones(i);
  [[maybe_unused]] val before = clock_high(t);
  [[maybe_unused]] val after = clock_high(t);
  [[maybe_unused]] val peers = match(t, i, 0xffffffffu);
});
static_assert(scoped.ptx().count("popc.b32") == 2 && scoped.ptx().count("%clock_hi;") == 2);
static_assert(scoped.ptx().contains("match.any.sync.b32 %r") && scoped.ptx().contains(", 4294967295;"));

// --- addresses

constexpr auto load_two =
    ptx_op<"ld.global.v2.f32 {$0, $1}, [$2+8]", ptx_results<f32, f32>(ptx_global), ptx_effect::memory>;
constexpr auto load_shared = ptx_op<"ld.shared.u32", u32(ptx_shared), ptx_effect::memory>;
constexpr auto store_shared = ptx_op<"st.shared.u32", void(ptx_shared, u32), ptx_effect::memory>;
constexpr auto discard = ptx_op<"discard.global.L2 [$0], 128", void(ptx_global), ptx_effect::memory,
                                ptx_since{.target = {80}, .version = {7, 4}}>;
inline constexpr auto addresses = kernel<"addresses", 32>([](thread t, in<f32> x, out<f32> y, val<i32> i) {
  shared<u32, 64> numbers(t);
  const auto two = load_two(t, x[i + 2]);
  y[i] = two.get<0>() + two.get<1>();
  store_shared(t, numbers[i + 1], 5u);
  val read = load_shared(t, numbers[3]);
  val same = load_shared(t, shared_address(numbers[i]));
  y[i + 1] = cast<f32>(read + same);
  discard(t, y[0]);
});
static_assert(addresses.ptx().contains("ld.global.v2.f32 {%f1, %f2}, [%rd") &&
              addresses.ptx().contains("+8+8];"));
static_assert(addresses.ptx().contains("+4], 5;") && addresses.ptx().contains("[shared_0+12];"));
static_assert(addresses.ptx().contains("discard.global.L2 [%rd4], 128;"));
static_assert(addresses.needs().target == ptx::target{80, false});
static_assert(addresses.needs().version == ptx::isa_version{7, 4});
static_assert(addresses.needs().shared_bytes == 256);

// --- what a text needs, where its author says it

constexpr auto of_one_architecture = ptx_op<"setmaxnreg.inc.sync.aligned.u32 64", void(), ptx_effect::memory,
                                            ptx_since{.target = {90, true}, .version = {8, 0}}>;
inline constexpr auto specific = kernel<"specific", 128>([](thread t) { of_one_architecture(t); });
static_assert(specific.needs().target == ptx::target{90, true});
static_assert(specific.ptx().contains("  setmaxnreg.inc.sync.aligned.u32 64;"));

// --- a barrier of the block frees the memory of exchanges, as t.barrier() does

constexpr auto wait_for_block =
    ptx_op<"barrier.sync 0", void(), ptx_effect::barrier, ptx_since{.target = {70}, .version = {6, 0}}>;
constexpr auto wait_for_nobody =
    ptx_op<"barrier.sync 0", void(), ptx_effect::memory, ptx_since{.target = {70}, .version = {6, 0}}>;
template <auto Wait>
inline constexpr auto exchanges = kernel<"exchanges", 64>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto first = t.when(n > 1)) y[i] = block_reduce(t, x[i], maximum{});
  if (auto second = t.when(n > 2)) y[i] = block_reduce(t, x[i], minimum{});
  Wait(t);
  y[i + 64] = block_reduce(t, x[i], plus{});
});
static_assert(exchanges<wait_for_block>.ptx().count("bar.sync 0") + 1 ==
              exchanges<wait_for_nobody>.ptx().count("bar.sync 0"));

// --- the analysis of accesses does not trust a text

constexpr auto lane_by_text = ptx_op<"mov.u32 $0, %laneid", u32(), ptx_effect::pure>;
inline constexpr auto unknown_places =
    kernel<"unknown_places", 32>([](thread t, out<f32> y) { y[t.let(lane_by_text())] = 1.0f; });
static_assert(!unknown_places.accesses_known());

// --- the checks of a program follow it: what it writes, and what it reads

static_assert(expressions.is_well_formed() && scoped.is_well_formed() && addresses.is_well_formed());
inline constexpr auto looped = kernel<"looped", 64>([](thread t, in<u32> x, out<u32> y, val<u32> n) {
  val i = t.global_id();
  var total(t, 0u);
  for (auto k : t.range(0u, n)) {
    if (auto g = t.when(k > 3)) total += ones(x[i + k]);
    const auto [low, high] = halves(t, cast<u64>(total) + 1);
    total = match(t, low ^ high, 0xffffffffu);
    wait_for_block(t);
  }
  y[i] = total;
});
static_assert(looped.is_well_formed());
static_assert(looped.ptx().count("popc.b32") == 1 && looped.ptx().count("barrier.sync 0;") == 1);

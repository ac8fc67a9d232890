// The code of accesses to memory: one instruction each, with its policies in the order that PTX wants.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// A vector is one load and one store; a load from an in parameter is made once, and elements are parts of it.
inline constexpr auto vectors = kernel<"vectors", 32>([](thread t, in<f32x4> x, out<f32x4> y, out<f32> z) {
  val i = t.global_id();
  val v = x[i];
  y[i] = make_vec(v[3], v[2], x[i][1], 1);
  z[i] = x[i][0];
});
static_assert(times(vectors, "ld.global") == 1 && times(vectors, "ld.global.nc.v4.f32 {") == 1);
static_assert(times(vectors, "st.global") == 2 && times(vectors, "st.global.v4.f32 [") == 1);

// Vectors of more than four elements move as words; smaller ones keep their element type.
inline constexpr auto words =
    kernel<"words", 32>([](thread t, in<f16x8> x, out<f16x8> y, in<u8x4> b, out<u8x4> c, out<i8x16> d) {
      val i = t.global_id();
      y[i] = x[i];
      c[i] = b[i];
      d[i] = map([](auto a) { return cast<i8>(a); },
                 map([](auto a) { return a; }, load_vec<16>(shared<u8, 64>(t)[0])));
    });
static_assert(times(words, "ld.global.nc.v4.u32") == 1 && times(words, "st.global.v4.u32") == 2);
static_assert(times(words, "ld.global.nc.v4.u8") == 1 && times(words, "st.global.v4.u8") == 1);
static_assert(times(words, "ld.shared.v4.u32") == 1);

// Policies.
inline constexpr auto policies = kernel<"policies", 32>([](thread t, in<f32> x, inout<f32> y) {
  val i = t.global_id();
  store(y[i], load(x[i], cache::cs, prefetch_size::bytes_64), order::release, scope::device, evict::last);
  store(y[i], load(y[i], order::acquire, scope::system, prefetch_size::bytes_128), cache::wt);
  store(y[i], load(y[i], volatile_access), volatile_access);
  fence(t, order::sc, scope::system);
  prefetch(x[i], cache_level::l2);
});
static_assert(policies.ptx().contains("ld.global.cs.nc.L2::64B.f32"));
static_assert(policies.ptx().contains("st.release.gpu.global.L1::evict_last.f32"));
static_assert(policies.ptx().contains("ld.acquire.sys.global.L2::128B.f32"));
static_assert(policies.ptx().contains("st.global.wt.f32"));
static_assert(policies.ptx().contains("ld.volatile.global.f32") &&
              policies.ptx().contains("st.volatile.global.f32"));
static_assert(policies.ptx().contains("fence.sc.sys;") && policies.ptx().contains("prefetch.global.L2 ["));
static_assert(policies.needs().target.sm == 75 && policies.needs().version == ptx::isa_version{7, 4});

// Memory that the grid before may have written is read by plain loads after the wait, and again after each wait.
inline constexpr auto waits = kernel<"waits", 32, kernel_options{.target = {90}}>(
    [](thread t, in<f32> x, in<f32x4> v, out<f32> y, val<u32> n) {
      const val i = t.global_id();
      y[0] = x[i];
      if (auto late = t.when(n > 1u)) grid_dependency_wait(t);
      y[1] = x[i] + x[i] * v[i][2];
      y[2] = load(x[i], evict::last, prefetch_size::bytes_64);
      grid_dependency_wait(t);
      y[3] = x[i] - v[i][3] + v[i][1];
    });
static_assert(times(waits, "griddepcontrol.wait") == 2 && times(waits, ".nc") == 1);
static_assert(times(waits, "ld.global.nc.f32") == 1 && times(waits, "ld.global.f32") == 2);
static_assert(times(waits, "ld.global.v4.f32") == 2 &&
              times(waits, "ld.global.L1::evict_last.L2::64B.f32") == 1);

// Atomic operations: PTX's own where there is one, a loop elsewhere; order and scope where they are given.
template <u16 Sm>
inline constexpr auto atomics = kernel<"atomics", 32, kernel_options{.target = {Sm}}>(
    [](thread t, inout<f32> x, inout<bf16> b, inout<f32x4> v, inout<i64> l) {
      val i = t.global_id();
      atomic_add(x[0], 1.0f);
      atomic_max(x[1], 1.0f, order::acquire, scope::block);
      atomic_add(b[i], 1);
      atomic_add(v[i], make_vec(1.0f, 2.0f, 3.0f, x[i]), order::acq_rel);
      atomic_sub(l[0], 2, scope::system);
      atomic_min(l[0], 2);
    });
static_assert(times(atomics<70>, "atom.global.add.f32") == 1 &&
              times(atomics<70>, "atom.acquire.cta.global.cas.b32") == 1);
static_assert(times(atomics<70>, "cas.b16") == 1 &&
              times(atomics<70>, "atom.acq_rel.gpu.global.add.f32") == 4);
static_assert(times(atomics<70>, "atom.relaxed.sys.global.add.u64") == 1 &&
              times(atomics<70>, "atom.global.min.s64") == 1);
static_assert(times(atomics<90>, "atom.global.add.noftz.bf16") == 1 && times(atomics<90>, "cas.b16") == 0);
static_assert(times(atomics<90>, "atom.acq_rel.gpu.global.add.v4.f32") == 1);
static_assert(atomics<70>.needs().target.sm == 70);

// Members are where the compiler puts them.
struct base {
  u8 first;
};
struct deep {
  u16 a[3];
  f64 b;
};
struct layout {
  u8 flag;
  alignas(16) f32 wide;
  bool set;
  deep inner[2];
  f32x2 pair;
  u8 last;
};
static_assert(dsl::offset_of<layout>(&layout::flag) == offsetof(layout, flag));
static_assert(dsl::offset_of<layout>(&layout::wide) == offsetof(layout, wide));
static_assert(dsl::offset_of<layout>(&layout::set) == offsetof(layout, set));
static_assert(dsl::offset_of<layout>(&layout::inner) == offsetof(layout, inner));
static_assert(dsl::offset_of<layout>(&layout::pair) == offsetof(layout, pair));
static_assert(dsl::offset_of<layout>(&layout::last) == offsetof(layout, last));
static_assert(dsl::offset_of<base>(&base::first) == 0);

// A struct is one parameter; a member is loaded once.
inline constexpr auto structs = kernel<"structs", 32>([](thread t, val<layout> p, in<layout> x, out<f64> y) {
  val i = t.global_id();
  y[i] = p[&layout::inner][1][&deep::b] * p[&layout::inner][1][&deep::b] + x[i][&layout::inner][0][&deep::b];
});
static_assert(structs.ptx().contains(".param .align 16 .b8 structs_param_0[80]"));
static_assert(times(structs, "ld.param.f64") == 1 && structs.ptx().contains("[structs_param_0+48]"));
static_assert(structs.ptx().contains("+32]"));

// Arrays: aligned for vectors; tables hold the bits of their values.
inline constexpr auto arrays = kernel<"arrays", 32>([](thread t, in<u32> x, out<u16> y) {
  shared<u16, 8> small(t);
  shared<u16, 7> smaller(t);
  local<u16, 9> own(t);
  dynamic_shared<u16> any(t);
  constant table(t, {u16{1}, u16{2}, u16{0xffff}, u16{4}, u16{5}});
  val i = t.global_id();
  own[x[i] % 9] = table[x[i] % 5];
  small[0] = own[x[i + 1] % 9];
  smaller[0] = any[i];
  y[i] = small[1] + smaller[2] + table[3];
});
static_assert(arrays.ptx().contains(".shared .align 16 .b8 shared_0[16]"));
static_assert(arrays.ptx().contains(".shared .align 2 .b8 shared_1[14]"));
static_assert(arrays.ptx().contains(".local .align 16 .b8 local_2[18]"));
static_assert(arrays.ptx().contains("{1407370588717057,5}"));
static_assert(times(arrays, "ld.const.u16") == 2);

// The shapes of a launch carry the dynamic shared memory.
static_assert(dsl::grid_of(over(100).per_thread(2).shared_bytes(512), {32}).shared_bytes == 512);
static_assert(dsl::grid_of(grid(2, 3).shared_bytes(64), {32}).shared_bytes == 64);

// The attributes of a launch, in any order; a grid over elements is rounded up to whole clusters.
constexpr ptx::launch_grid attributed =
    dsl::grid_of(over(1000).programmatic().cluster(4).per_thread(2).shared_bytes(16), {32});
static_assert(attributed.x == 16 && attributed.shared_bytes == 16 && attributed.programmatic);
static_assert(attributed.cluster == ptx::dim3{4, 1, 1});
static_assert(dsl::grid_of(over(1000), {32}, {3, 1, 1}).x == 33);
static_assert(dsl::grid_of(over(1000), {32}, {3, 1, 1}).cluster.count() == 0);
static_assert(dsl::grid_of(over(1000).cluster(5), {32}, {3, 1, 1}).x == 35);
static_assert(dsl::grid_of(over(0).cluster(5), {32}).x == 0);
static_assert(dsl::grid_of(over(-1).cluster(2), {1}).x == ~std::uint64_t{0});  // too large, not wrapped to 0
static_assert(dsl::grid_of(grid(8, 4).cluster(2, 2).programmatic(), {32}).cluster == ptx::dim3{2, 2, 1});
static_assert(!dsl::grid_of(grid(8, 4), {32}).programmatic && dsl::grid_of(grid(8, 4), {32}).cluster.x == 0);

// A whole struct: an instruction for each number, and one for a vector; in registers a variable changes in place.
struct pair_of {
  f32 value;
  u32 count;
  f32x2 range;
};
inline constexpr auto whole = kernel<"whole", 32>([](thread t, in<pair_of> x, out<pair_of> y, val<u32> n) {
  val i = t.global_id();
  var<pair_of> sum(t, pair_of{0, 1, {2, 3}});
  for (auto k : t.range(0u, n)) {
    sum[&pair_of::value] += x[k][&pair_of::value];
    sum[&pair_of::count] += 1;
    sum[&pair_of::range][1] *= 2.0f;
  }
  y[i] = sum;
  y[i + 1] = x[i];
});
static_assert(times(whole, "ld.global.nc.f32") == 2 && times(whole, "ld.global.nc.v2.f32") == 1);
static_assert(times(whole, "st.global.f32") == 2 && times(whole, "st.global.v2.f32") == 2);
static_assert(times(whole, "mov.f32") == 3 && times(whole, "mov.b32") == 2);
static_assert(whole.ptx().contains("mul.rn.f32 %f3, %f3, 0f40000000"));

// The memory of an array as elements of another type of their size: no conversion, no second array.
inline constexpr auto as_singles = kernel<"as_singles", 32>([](thread t, in<f32> x, out<u32> y) {
  const shared<u32, 64> cells(t);
  val i = t.thread_rank();
  const auto singles = cells.as<f32>();
  store_vec(singles[i * 2u], make_vec(x[i], x[i + 1]));
  t.barrier();
  y[i] = cells[i];
});
static_assert(times(as_singles, "st.shared.v2.f32") == 1 && times(as_singles, "ld.shared.u32") == 1);
static_assert(times(as_singles, "mov.b32") == 0 && times(as_singles, ".shared .align") == 1);

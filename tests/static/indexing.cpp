// The code of indices and moved pointers: one widening multiply-add, and constants in the instructions.
#include <kaio/dsl/dsl.hpp>

#include <cstddef>
using namespace kaio;

template <class K>
constexpr std::size_t times(const K& k, std::string_view part) {
  return k.ptx().count(part);
}

// 32-bit operands: mad.wide. It is the same value each time.
inline constexpr auto exact =
    kernel<"exact", 32>([](thread t, in<f32> x, out<f32> y, val<u32> pitch, val<u32> n) {
      val row = t.global_id();
      y[index(row, pitch, n)] = x[index(row, pitch, n)];
    });
static_assert(times(exact, "mad.wide.u32") == 1 && times(exact, "mul.lo") == 0 &&
              times(exact, "cvt.u64.u32") == 1);

inline constexpr auto exact_signed =
    kernel<"exact_signed", 32>([](thread, in<f32> x, out<f32> y, val<i32> row, val<i32> n) {
      y[index(row, 640, n)] = x[index(row, n, row)];
    });
static_assert(times(exact_signed, "mad.wide.s32") == 2 && times(exact_signed, "cvt.s64.s32") == 2);

// A constant column is an offset; factors of 64 bits make a product of 64 bits.
inline constexpr auto mixed =
    kernel<"mixed", 32>([](thread t, in<f32> x, out<f32> y, val<u32> pitch, val<u64> big) {
      val row = t.global_id();
      y[index(row, pitch, 3)] = x[index(row, big, 5u)];
      y[index(row, pitch, row, big, 0)] = 1.0f;
    });
static_assert(times(mixed, "mul.wide.u32") == 1 && times(mixed, "mad.wide.u32") == 1);
static_assert(mixed.ptx().contains("+12], ") && mixed.ptx().contains("+20]"));
static_assert(times(mixed, "mul.lo.u64") == 2 && times(mixed, "mad.lo") == 0);

// The analysis of accesses knows it.
inline constexpr auto tiles = kernel<"tiles", block_size{32, 4}>([](thread, in<f32> x, out<f32> y) {
  y[index(thread_idx_y(), 32, thread_idx_x())] = x[index(thread_idx_y(), 32, thread_idx_x())];
});
static_assert(tiles.coalesced() && tiles.accesses_known());

// A pointer that was moved by numbers of the host costs nothing; what it points to stays read-only.
inline constexpr auto moved = kernel<"moved", 32>([](thread, in<f32> x, inout<f32> y, out<f32> z) {
  const in four = x + 4;
  const in six = 2 + four;
  const inout back = y - 1;
  const out far = z + (u64{1} << 40);
  far[0] = (six - 1u)[1] + back[2];
});
static_assert(times(moved, "add.s64") == 1 && times(moved, "mul") == 0);
static_assert(moved.ptx().contains("ld.global.nc.f32") && times(moved, "+24]") == 1);
static_assert(times(moved, "+4]") == 1);

// Moved by an index of the device: as with from(), its address is computed once; the constants are offsets.
inline constexpr auto rows = kernel<"rows", 32>([](thread t, in<f32> x, out<f32> y, val<u64> pitch) {
  const in row = x + cast<u64>(t.global_id()) * pitch + 1;
  y[0] = row[0] + row[1] + row[2];
});
static_assert(times(rows, "add.s64") == 1 && times(rows, "+4]") == 1 && times(rows, "+12]") == 1);

// Operators on cells: one load, the operation, one store.
inline constexpr auto cells = kernel<"cells", 32>([](thread t, inout<u32> y) {
  val i = t.global_id();
  y[i] |= 0x100u;
  y[i] <<= 2;
});
static_assert(times(cells, "ld.global.u32") == 2 && times(cells, "st.global.u32") == 2);
static_assert(times(cells, "or.b32") == 1 && times(cells, "shl.b32") == 2);

// A literal next to a literal.
inline constexpr auto chosen =
    kernel<"chosen", 32>([](thread t, out<f32> y, out<i32> z, out<u32> w, out<bool> b) {
      val i = t.global_id();
      val inside = i < 7;
      y[i] = select(inside, 1.0f, 0.0f);
      z[i] = select(inside, 1, -1);
      w[i] = select(inside, 1u, 2u) + i;
      b[i] = select(inside, true, false);
    });
static_assert(times(chosen, "selp.f32") == 1 && times(chosen, "selp.b32") >= 2);

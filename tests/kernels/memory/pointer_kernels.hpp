#pragma once
// The kernels that test pointer arithmetic, exact indices, and operators on cells.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>

namespace kaio::tests {

// Pointers that were moved by numbers of the host and of the device, in each kind of parameter.
inline constexpr auto pointer_sums = kernel<"pointer_sums", 32>(
    [](thread t, in<f32> x, inout<i32> y, out<f32> z, val<u32> row, val<i64> back, val<u64> pitch) {
      val lane = thread_idx_x();
      const in first = x + cast<u64>(row) * pitch;
      const in second = first + 4;
      const in third = 3u + (second + lane) - back;
      z[lane] = first[lane];
      (z + 32)[lane] = second[lane];
      const out last = z + lane + 65;
      (last - 1)[0] = third[1];
      const inout own = y + block_idx_x() * 32 + lane;
      own[0] = own[0] * 2 + (own - lane)[cast<i64>(lane)];
      if (auto g = t.when(lane < 8)) {
        const in inner = second - (lane + 1);
        last[31] = inner[0] + (inner + row)[-1];
      }
    });

struct sample {
  u16 tag;
  f32x2 pair;
};

// Moved pointers to vectors and structs, whose elements are larger.
inline constexpr auto pointer_elements =
    kernel<"pointer_elements", 32>([](thread t, in<f32x4> v, inout<sample> s, out<f32> y, val<u32> k) {
      val lane = t.thread_rank();
      y[lane] = (v + k + 1)[lane][2];
      (s + k)[lane][&sample::tag] += 1;
      y[lane + 32] = (s + k - 1)[lane + 1][&sample::pair][1];
    });

// The results of index(), for operands of 32 and 64 bits and of both signs.
inline constexpr auto exact_indices = kernel<"exact_indices", 64>(
    [](thread t, in<u32> a, in<i32> b, in<u64> c, in<u16> d, out<u64> y, out<i64> z, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        val p = a[i], q = a[i + n], r = a[i + 2 * n];
        y[i] = index(p, q, r);
        y[i + n] = index(p, 100000, r);
        y[i + 2 * n] = index(p, q, 12);
        y[i + 3 * n] = index(p, q, r, q, p);
        y[i + 4 * n] = index(c[i], q, r);
        y[i + 5 * n] = index(p, q, c[i]);
        y[i + 6 * n] = index(p, 0x100000001u, r);
        y[i + 7 * n] = index(d[i], p, d[i]);
        val u = b[i], v = b[i + n], w = b[i + 2 * n];
        z[i] = index(u, v, w);
        z[i + n] = index(u, -7, w);
        z[i + 2 * n] = index(-3, v, -5);
      }
    });
inline constexpr u32 exact_index_rows = 8, exact_signed_rows = 3;

struct flags {
  u8 few;
  u32 many[2];
  bool set, odd;
};

// The operators of integers on cells of global and shared memory, and on members of structs.
template <class T>
inline constexpr auto cell_operators = kernel<"cell_operators_" + type_name<T>, 32>(
    [](thread t, in<T> x, in<u32> amount, inout<T> y, out<T> z, val<u32> n) {
      shared<T, 32> own(t);
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        y[i] %= x[i];
        y[i + n] &= x[i];
        y[i + 2 * n] |= x[i];
        y[i + 3 * n] ^= x[i];
        y[i + 4 * n] <<= amount[i];
        y[i + 5 * n] >>= amount[i];
        y[i + 6 * n] ^= 5;
        y[i + 7 * n] <<= 3;
        own[thread_idx_x()] = x[i];
        own[thread_idx_x()] |= 1;
        own[thread_idx_x()] <<= 1;
        z[i] = own[thread_idx_x()];
      }
    });

inline constexpr auto member_operators =
    kernel<"member_operators", 32>([](thread t, inout<flags> f, in<u32> x, inout<u32> y) {
      val i = t.global_id();
      f[i][&flags::few] |= 0x81;
      f[i][&flags::few] >>= 1;
      f[i][&flags::many][1] ^= x[i];
      f[i][&flags::set] &= x[i] > 100;
      f[i][&flags::odd] ^= x[i] % 2 == 0;
      f[i][&flags::odd] |= x[i] == 7;
      // Values that know no kernel.
      const val three = 3u;
      y[i] += thread_idx_x();
      y[i] *= three;
      y[i] ^= thread_idx_x() << 2;
      y[i] <<= three;
      var v(t, 10u);
      v -= thread_idx_x() % 8;
      v %= three;
      y[i] |= v;
      v = thread_idx_x();
      y[i] += v;
    });

}  // namespace kaio::tests

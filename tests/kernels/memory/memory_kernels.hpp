#pragma once
// The kernels that test memory: vectors, policies, structs, arrays, pointers to rows.

#include <kaio/dsl/dsl.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::tests {

template <class V, class Source, u32... K>
constexpr auto reversed(const Source& v, dsl::index_list<K...>) {
  return make_vec(v[V::size() - 1 - K]...);
}

// A vector on each of its ways: through read-only, written and shared memory, as a whole and as its elements.
template <class V>
inline constexpr auto vectors =
    kernel<"vectors_" + type_name<typename V::value_type> + "_" + decimal<V::size()>, 64>(
        [](thread t, in<V> x, out<V> backwards, inout<V> doubled, inout<typename V::value_type> elements,
           out<V> mixed) {
          using T = typename V::value_type;
          constexpr u32 n = V::size();
          val i = t.global_id();
          val v = x[i];
          backwards[i] = reversed<V>(v, dsl::indices<n>{});
          doubled[i] = map([](auto a) { return a + a; }, doubled[i]);
          shared<T, 65 * n> staged(t);
          store_vec(staged[thread_idx_x() * n + n], v);
          t.barrier();
          val before = load_vec<n>(staged[select(thread_idx_x() == 0, 1, thread_idx_x()) * n]);
          shared<V, 64> whole(t);
          whole[thread_idx_x()] = before;
          t.barrier();
          val other = whole[thread_idx_x() ^ 1];
          val own = load_vec<n>(elements[i * n]);
          store_vec(elements[i * n], map([](auto a, auto b) { return a - b; }, own, other));
          mixed[i] = map([](auto a, auto b) { return b + a; }, x[i], own);
          if (auto first = t.when(i == 0)) elements[1] = x[1][n - 1];
        });

// Every way around the caches and through the memory order gives the same numbers.
inline constexpr auto policies = kernel<"policies", 64, kernel_options{.target = {80}}>(
    [](thread t, in<f32> x, inout<f32> y, out<f32> z, in<f32x4> v, inout<f32x4> w, val<u32> n) {
      val i = t.global_id();
      var sum = load(x[i]);
      sum += load(x[i], cache::ca);
      sum += load(x[i], cache::cg, prefetch_size::bytes_64);
      sum += load(x[i], cache::cs);
      sum += load(x[i], evict::normal);
      sum += load(x[i], evict::unchanged, prefetch_size::bytes_128);
      sum += load(x[i], prefetch_size::bytes_256, evict::first);
      sum += load(x[i], evict::last);
      sum += load(x[i], evict::no_allocate);
      store(y[i], sum, cache::wb);
      sum += load(y[i], cache::lu);
      store(y[i], sum, cache::cg);
      sum += load(y[i], cache::cv);
      store(y[i], sum, cache::cs);
      sum += load(y[i], volatile_access);
      store(y[i], sum, cache::wt);
      sum += load(y[i], order::relaxed, scope::block);
      store(y[i], sum, volatile_access);
      sum += load(y[i], scope::system, order::acquire);
      store(y[i], sum, order::release, scope::device);
      store(z[i], sum, evict::first, order::relaxed, scope::device);
      prefetch(x[i], cache_level::l1);
      prefetch(y[i], cache_level::l2);
      fence(t, order::acq_rel, scope::block);
      fence(t, order::sc, scope::system);
      store(w[i], map([](auto a) { return a * 2.0f; }, load(v[i], cache::cs)), evict::no_allocate);
      store(w[i + n], load(w[i], order::relaxed, scope::device), cache::cs);
    });

// The block that arrives last sums the results of the others: fences and tickets across the grid.
inline constexpr auto last_block =
    kernel<"last_block", 64>([](thread t, in<u32> x, inout<u32> partial, inout<u32> count, out<u32> total) {
      val block = block_idx_x();
      val sum = block_reduce(t, x[t.global_id()], plus{});
      shared<u32, 1> is_last(t);
      if (auto one = t.when(thread_idx_x() == 0)) {
        store(partial[block], sum);
        fence(t, order::acq_rel, scope::device);
        val ticket = atomic_inc(count[0], grid_dim_x() - 1);
        is_last[0] = cast<u32>(ticket == grid_dim_x() - 1);
      }
      t.barrier();
      fence(t, order::acq_rel, scope::device);
      if (auto last = t.when((is_last[0] == 1) & (thread_idx_x() == 0))) {
        var all(t, 0u);
        for (auto k : t.range(0u, grid_dim_x())) all += load(partial[k], cache::cg);
        total[0] = all;
      }
    });

struct quantity {
  u8 unit;
  f64 amount;
};
inline bool operator==(const quantity& a, const quantity& b) {
  return a.unit == b.unit && a.amount == b.amount;
}
struct body {
  f32 mass;
  bool alive;
  i8 charge;
  f16 friction;
  f32x4 position;
  quantity stock[2];
  std::array<u16, 3> tags;
  i64 id;
  friend bool operator==(const body&, const body&) = default;
};

// Structs as a parameter, read and written member by member.
inline constexpr auto structs =
    kernel<"structs", 32>([](thread t, in<body> x, inout<body> y, out<body> z, val<body> p, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        z[i][&body::mass] = x[i][&body::mass] * p[&body::mass];
        z[i][&body::alive] = x[i][&body::alive] & p[&body::alive];
        z[i][&body::charge] = x[i][&body::charge] - p[&body::charge];
        z[i][&body::friction] = p[&body::friction];
        z[i][&body::position] =
            map([](auto a, auto b) { return a + b; }, x[i][&body::position], p[&body::position]);
        for (u32 k = 0; k < 2; ++k) {
          z[i][&body::stock][k][&quantity::unit] = p[&body::stock][1 - k][&quantity::unit];
          z[i][&body::stock][k][&quantity::amount] =
              x[i][&body::stock][k][&quantity::amount] + p[&body::stock][k][&quantity::amount];
        }
        for (u32 k = 0; k < 3; ++k) z[i][&body::tags][k] = x[i][&body::tags][2 - k] + p[&body::tags][k];
        z[i][&body::id] = p[&body::id];
        y[i][&body::id] += 5;
        y[i][&body::position] = make_vec(p[&body::position][3], 1.0f, y[i][&body::position][0], 2.0f);
        val old = atomic_add(y[0][&body::mass], 1.0f);
        y[i][&body::charge] = cast<i8>(old * 0.0f) + 3;
      }
    });

// Arrays with run-time indices: the thread's own, and tables of constants.
inline constexpr std::array<i16, 6> odd_numbers = {1, -3, 5, -7, 9, -11};
inline constexpr auto indexed_arrays = kernel<"indexed_arrays", 32>(
    [](thread t, in<u32> x, out<f32> y, out<i16> z, out<f64> w, out<bool> b, val<u32> n) {
      val i = t.global_id();
      local<f32, 16> own(t);
      local<f64x2, 3> pairs(t);
      constant table(t, {0.5f, -1.5f, 2.5f});
      constant small(t, odd_numbers);
      constant flags(t, {true, false, false, true, true});
      constant<f64, 2> wide(t, {1e300, -0.0});
      for (auto k : t.range(0u, 16u)) own[k] = cast<f32>(x[i] + k * k);
      for (auto k : t.range(0u, 3u)) pairs[k] = make_vec(cast<f64>(k) + wide[k & 1], cast<f64>(i));
      var sum(t, 0.0f);
      for (auto k : t.range(0u, 8u)) sum += own[(x[i] + k) % 16] * table[(x[i] + k) % 3];
      y[i] = sum;
      z[i] = small[x[i] % 6] + small[2];
      w[i] = pairs[x[i] % 3][0];
      b[i] = flags[x[i] % 5];
      own[cast<i64>(i) % 16] = -1.0f;
      y[i + n] = own[x[i] % 16];
    });

// Shared memory whose size the launch gives, in addition to static arrays.
inline constexpr auto dynamic_arrays =
    kernel<"dynamic_arrays", 64>([](thread t, in<u32> x, out<u32> y, val<u32> rounds) {
      dynamic_shared<u32> buffer(t);
      dynamic_shared<u32x4> vectors_of_it(t);
      shared<u32, 64> fixed(t);
      val i = thread_idx_x();
      fixed[i] = x[i];
      for (auto k : t.range(0u, rounds)) buffer[k * 64 + i] = x[i] * 3 + k;
      t.barrier();
      val last = vectors_of_it[(rounds * 64) / 4 - 1 - i / 4];
      y[i] = last[0] + last[3] + fixed[63 - i];
    });

// More than 48 KB of static arrays, and dynamic memory after them.
inline constexpr auto large_arrays =
    kernel<"large_arrays", 256, kernel_options{.large_shared = true}>([](thread t, in<u32> x, out<u32> y) {
      shared<u32, 60, 256> first(t);
      shared<u32, 5, 256> second(t);
      dynamic_shared<u32> behind(t);
      val i = thread_idx_x();
      for (auto k : t.range(0u, 60u)) first[k][i] = x[i] + k;
      for (auto k : t.range(0u, 5u)) second[k][i] = x[i] * k;
      behind[i] = x[i] ^ 0x5555u;
      t.barrier();
      var sum(t, 0u);
      for (auto k : t.range(0u, 60u)) sum += first[k][255 - i];
      for (auto k : t.range(0u, 5u)) sum = sum * 7 + second[k][255 - i];
      y[i] = sum + behind[255 - i];
    });

// Indices of several dimensions, each of a type of its own; none of the small ones could hold the whole
// place.
template <class Row, class Column>
inline constexpr auto mixed_indices = kernel<"mixed_indices_" + type_name<Row> + "_" + type_name<Column>, 64>(
    [](thread t, in<Row> rows, in<Column> columns, out<u32> y) {
      shared<u32, 3, 40, 50> a(t);
      for (auto k : t.block_stride(6000u)) a[k / 2000][k / 50 % 40][k % 50] = k;
      t.barrier();
      val i = t.thread_rank();
      const u32 last = 2;
      y[4 * i] = a[last][rows[i]][columns[i]];
      y[4 * i + 1] = a[i % 3][rows[i]][49];
      y[4 * i + 2] = a[rows[i] % 3][39][columns[i]];
      y[4 * i + 3] = a[1][7][columns[i]];
    });

// A function of rows, which knows nothing of the matrix.
template <class Row, class Result>
constexpr void sum_row(const thread& t, const Row& row, const Result& result, const val<u32>& columns) {
  var sum(t, 0.0f);
  for (auto k : t.range(0u, columns)) sum += row[k] * row[cast<i32>(columns) - 1];
  result[0] = sum;
}
inline constexpr auto rows =
    kernel<"rows", 32>([](thread t, in<f32> x, out<f32> y, inout<f32x4> w, val<u32> n, val<u32> columns) {
      val r = t.global_id();
      if (auto in_range = t.when(r < n)) {
        sum_row(t, x.from(r * columns), y.from(cast<i64>(r) + 1).from(-1), columns);
        const inout pair = w.from(2 * cast<u64>(r));
        pair[1] = pair.from(0)[0];
      }
    });

// Parts of an array of more than 2^31 elements: the address has 64 bits on every way to it.
inline constexpr auto far_addresses =
    kernel<"far_addresses", 32>([](thread t, in<u8> x, out<u8> y, val<u64> far, val<i64> back) {
      val i = t.global_id();
      y[i] = x.from(far).from(back)[i];
      y[i + 32] = load(x.from(far)[cast<i64>(i) + back], cache::cs);
      y[i + 64] = x[far + cast<u64>(i)];
    });

// Pointers that are read from memory.
inline constexpr auto pointers_in_memory =
    kernel<"pointers_in_memory", 32>([](thread t, in<u64> addresses, val<u32> from, val<u32> to) {
      val i = t.global_id();
      const in x = pointer_at<in<u32>>(t, t.let(addresses[from]));
      const val sum = t.let(x[i] + x[t.let(0u)]);
      if (auto even = t.when(i % 2 == 0)) pointer_at<out<u32>>(t, t.let(addresses[to]))[i] = sum;
    });

// Constants among the parameters have no place in PTX.
inline constexpr auto constant_parameters =
    kernel<"constant_parameters", 32>([](thread t, std::integral_constant<u32, 5> stride, in<u32> x,
                                         std::integral_constant<bool, true> twice, out<u32> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) y[i] = x[i * stride] * (twice ? 2 : 1);
    });

}  // namespace kaio::tests

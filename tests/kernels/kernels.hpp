#pragma once
// The kernels that test the language, on the emulator and on a GPU. The test of each has the expected
// result in the host's own C++.

#include <kaio/dsl/dsl.hpp>

#include <cstdint>
#include <limits>

namespace kaio::tests {

// --- arithmetic: one result a row of y, for each pair of operands

// The operations that every number has; `Out` takes the result of operation k for element i.
template <class T, class A, class B, class Out>
constexpr void common_operations(const A& a, const B& b, const Out& out) {
  out(a + b);
  out(a - b);
  out(a * b);
  out(a / b);
  out(min(a, b));
  out(max(a, b));
  out(a * b + a);
  out(a - a * b);
  out(select(a < b, a, b));
  out(select(a <= b, a, b));
  out(select(a > b, a, b));
  out(select(a >= b, a, b));
  out(select(a == b, a, b));
  out(select(a != b, a, b));
  out(a * 2 + 1);
  out(select((!(a < b)) & (a != b), T(3), a));
}
inline constexpr std::uint32_t common_operation_count = 16;

template <class T, class A, class B, class Out>
constexpr void integer_operations(const A& a, const B& b, const Out& out) {
  out(a % b);
  out(a & b);
  out(a | b);
  out(a ^ b);
  out(~a);
  out(a << cast<u32>(b & 63));
  out(a >> cast<u32>(b & 63));
  out(a / 8);
  out(a % 8);
  out(a / 7);
}
inline constexpr std::uint32_t integer_operation_count = 10;

template <class T>
inline constexpr std::uint32_t operation_count =
    common_operation_count + (dsl::integer<T> ? integer_operation_count : 0) +
    (ptx::is_unsigned(dsl::ptx_type<T>) ? 0 : 2);

// `Sm`: the target; it decides how f16 and bf16 are computed.
template <dsl::scalar T, u32 Sm = 70>
inline constexpr auto every_operation =
    kernel<"every_operation_" + type_name<T> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, in<T> z, out<T> y, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            val b = z[i];
            u32 row = 0;
            const auto out = [&](const auto& result) { y[i + n * row++] = result; };
            common_operations<T>(a, b, out);
            if constexpr (dsl::integer<T>) integer_operations<T>(a, b, out);
            if constexpr (!ptx::is_unsigned(dsl::ptx_type<T>)) {
              out(-a);
              out(abs(a));
            }
          }
        });

// --- conversions: from T to everything, the bits of the result extended to 64

template <class... T>
struct type_list {};
using every_type = type_list<f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, bool>;

// Calls f.template operator()<To>() for each type.
template <class F, class... To>
constexpr void for_each_type(type_list<To...>, const F& f) {
  (f.template operator()<To>(), ...);
}

template <dsl::device A>
constexpr auto extended_bits(const A& a) {
  using T = dsl::element<A>;
  if constexpr (dsl::integer<T> || std::is_same_v<T, bool>)
    return cast<u64>(a);
  else if constexpr (sizeof(T) == 8)
    return bit_cast<u64>(a);
  else if constexpr (sizeof(T) == 4)
    return cast<u64>(bit_cast<u32>(a));
  else
    return cast<u64>(bit_cast<u16>(a));
}

// Conversions to To, in this order: cast; between integers cast_sat; where a rounding may matter, toward
// zero, down and up, and to the nearest.
template <class To, class From>
inline constexpr std::uint32_t conversion_count = std::is_same_v<To, bool> || std::is_same_v<From, bool> ? 1
                                                  : dsl::integer<To> && dsl::integer<From>               ? 2
                                                                                                         : 5;

template <dsl::scalar T, u32 Sm = 70>
inline constexpr auto every_conversion =
    kernel<"every_conversion_" + type_name<T> + "_" + decimal<Sm>, 128, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, out<u64> y, val<u32> n) {
          val i = t.global_id();
          if (auto in_range = t.when(i < n)) {
            val a = x[i];
            u32 row = 0;
            const auto out = [&](const auto& result) { y[i + n * row++] = extended_bits(t.let(result)); };
            for_each_type(every_type{}, [&]<class To>() {
              out(cast<To>(a));
              if constexpr (conversion_count<To, T> == 2) out(cast_sat<To>(a));
              if constexpr (conversion_count<To, T> == 5) {
                out(cast<To>(a, round_toward_zero));
                out(cast<To>(a, round_down));
                out(cast<To>(a, round_up));
                out(cast<To>(a, round_nearest));
              }
            });
          }
        });

// --- functions

template <dsl::floating T>
inline constexpr auto elementary =
    kernel<"elementary_" + type_name<T>, 128>([](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        y[i] = sqrt(x[i]);
        y[i + n] = abs(x[i]);
        y[i + n * 2] = fma(x[i], x[i], x[i]);
        y[i + n * 3] = fma(x[i], 2, -1);
      }
    });

// --- control

// Nested guards and their otherwise, assigning variables of outer scopes.
inline constexpr auto branches = kernel<"branches", 64>([](thread t, in<i32> x, out<i32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) {
    val v = x[i];
    var r(t, 0);
    if (auto negative = t.when(v < 0)) {
      r = -v;
      if (auto even = t.when(v % 2 == 0)) r += 1000;
      if (auto odd = t.otherwise()) {
        r += 2000;
        if (auto deep = t.when(v < -50)) r *= 2;
      }
    }
    if (auto positive = t.otherwise()) {
      if (auto large = t.when(v > 50)) r = v * 3;
      r += v;
    }
    y[i] = r;
  }
});

// loop() with several exits; the lanes of a warp leave in different rounds.
inline constexpr auto early_exits =
    kernel<"early_exits", 64>([](thread t, in<u32> x, out<u32> y, out<u32> z, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        var v = x[i];
        var steps(t, 0u);
        for (auto l : t.loop()) {  // Collatz, at most 200 steps
          l.break_if(v <= 1);
          steps += 1;
          l.break_if(steps >= 200);
          val odd = v % 2 == 1;
          v = select(odd, v * 3 + 1, v / 2);
        }
        y[i] = steps;
        var sum(t, 0u);
        for (auto k : t.range(0u, i)) {
          k.continue_if(k % 3 == 0);
          if (auto inner = t.when(k > 40)) k.break_if(k % 10 == 7);
          for (auto j : t.range(0u, 4)) {
            j.break_if(j > k);
            sum += k * j;
          }
        }
        z[i] = sum;
      }
    });

// Loops of every direction; their bodies' values are of the round.
template <dsl::integer T>
inline constexpr auto ranges =
    kernel<"ranges_" + type_name<T>, 32>([](thread t, in<T> x, out<T> y, val<T> step, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(i < n)) {
        var up(t, T{0});
        for (auto k : t.range(T{2}, x[i], 3)) up = up * 3 + k;
        y[i] = up;
        var other(t, T{1});
        if constexpr (ptx::is_signed(dsl::ptx_type<T>)) {
          for (auto k : t.range(x[i], T{-5}, -2)) other = other * 5 - k;
        } else {
          for (auto k : t.range(T{1}, x[i], step)) other = other * 5 - k;
        }
        y[i + n] = other;
        var none(t, T{7});
        for ([[maybe_unused]] auto k : t.range(T{4}, T{4})) none += T{1};
        y[i + n * 2] = none;
      }
    });

// bool: parameters, memory, variables, operators.
inline constexpr auto conditions = kernel<"conditions", 32>(
    [](thread t, in<bool> x, inout<bool> y, out<u32> z, val<bool> flag, val<bool> off, val<u32> n) {
      val i = t.global_id();
      if (auto in_range = t.when(all_of(i < n, flag, !off))) {
        var seen = x[i] ^ flag;
        if (auto third = t.when(i % 3 == 0)) seen = true;
        seen |= y[i];
        y[i] = any_of(seen & (x[i] == flag), i == 5, x[i] != y[i]);
        z[i] = cast<u32>(seen) + select(y[i], 10u, t.let(i * 0)) + cast<u32>(select(flag, seen, x[i])) * 100;
      }
    });

// --- semantics

// Reading a variable or a cell takes its value there: later writes do not reach back.
inline constexpr auto snapshots = kernel<"snapshots", 32>([](thread t, inout<i32> x, out<i32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) {
    var v = x[i];
    val before = v;
    auto tree = v + 1;  // not lowered yet, and still the old v
    v = v * 10;
    val cell = x[i];
    x[i] = v;
    y[i] = before;
    y[i + n] = tree;
    y[i + n * 2] = v;
    y[i + n * 3] = cell;
    y[i + n * 4] = x[i];
    // Over a loop: the snapshot from before it, while the variable changes.
    val start = v;
    for (auto k : t.range(0, 3)) v = v + start + k;
    y[i + n * 5] = v;
    // Two variables exchanged.
    var a = t.let(before);
    var b = t.let(before + 100);
    val old = a;
    a = b;
    b = old;
    y[i + n * 6] = a * 2 - b;
  }
});

// Values computed in a guarded body belong to it, and names may be reused: the outer ones come back.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
inline constexpr auto scopes = kernel<"scopes", 32>([](thread t, in<f32> x, out<f32> y, val<u32> n) {
  val i = t.global_id();
  if (auto in_range = t.when(i < n)) {
    val v = 1.0f + x[i] * 0.0f;
    if (auto big = t.when(x[i] > 0.5f)) {
      val v = x[i] * x[i];
      y[i] = v;
    }
    if (auto small = t.otherwise()) y[i] = v;
    y[i + n] = v + x[i] * x[i];  // the product again: the guarded one does not dominate this place
  }
});

#pragma GCC diagnostic pop

// Indices of 64 bits, and negative ones.
inline constexpr auto far_index =
    kernel<"far_index", 32>([](thread t, in<f32> x, out<f32> y, val<i32> middle, val<u64> far) {
      val i = cast<i32>(t.global_id());
      y[i] = x[middle - i - 1];
      y[cast<u64>(i) + 32] = x[far - 4294967296u + cast<u64>(i) + (u64{1} << 32)];
    });

// Operations on constants alone: folded, or given to the device where only it knows the value. i is 0.
inline constexpr auto constants = kernel<"constants", 32>(
    [](thread t, out<f32> f, out<f64> d, out<i32> s, out<i64> l, out<bool> b, val<u32> zero) {
      val big = 100000001;
      val small = 2.5f;
      val wide = -3.25;
      val one = 1u;
      val infinite = std::numeric_limits<f32>::infinity();
      val far = -7000000000;
      f[0] = cast<f32>(big);
      f[1] = sqrt(small) + small / 3.0f;
      f[2] = exp(small);
      f[3] = log(infinite);
      f[4] = min(small, 3.0f) * infinite;
      f[5] = infinite * 0.0f;
      f[6] = fma(small, small, small);
      f[7] = bit_cast<f32>(one);
      f[8] = cast<f32>(far) + cast<f32>(wide);
      f[9] = shfl_xor(t.let(small), 1);
      d[0] = cast<f64>(big);
      d[1] = -wide * wide + 1.0;
      d[2] = sqrt(abs(wide)) / 2.0;
      d[3] = cast<f64>(small);
      s[0] = cast<i32>(small);
      s[1] = cast<i32>(one << zero);
      s[2] = ~big & (big >> 3);
      s[3] = cast<i32>(far);
      s[4] = bit_cast<i32>(small);
      s[5] = 7;
      for (auto k : t.range(0, 0)) s[5] = k;
      for (auto k : t.range(10u, 2, 3)) s[5] = cast<i32>(k);
      if (auto always = t.when(one < 2)) s[6] = 1;
      if (auto never = t.when(one > 2)) s[6] = 2;
      l[0] = cast<i64>(wide) + far / -1;
      b[0] = wide < 2.0;
      b[1] = small == infinite;
      b[2] = cast<bool>(small);
    });

// --- shared memory, warps, blocks

inline constexpr auto transpose = kernel<"transpose", block_size{16, 16}>(
    [](thread t, in<f32> x, out<f32> y, val<u32> rows, val<u32> columns) {
      shared<f32, 16, 17> tile(t);
      val tx = thread_idx_x();
      val ty = thread_idx_y();
      val column = block_idx_x() * 16 + tx;
      val row = block_idx_y() * 16 + ty;
      if (auto inside = t.when((row < rows) & (column < columns))) tile[ty][tx] = x[row * columns + column];
      t.barrier();
      val out_column = block_idx_y() * 16 + tx;
      val out_row = block_idx_x() * 16 + ty;
      if (auto inside = t.when((out_row < columns) & (out_column < rows)))
        y[out_row * rows + out_column] = tile[tx][ty];
    });

template <dsl::scalar T>
inline constexpr auto shuffles =
    kernel<"shuffles_" + type_name<T>, 64>([](thread t, in<T> x, out<T> y, in<u32> lane) {
      val i = t.global_id();
      val v = x[i];
      y[i] = shfl_idx(v, lane[i]);
      y[i + 64] = shfl_up(v, 3);
      y[i + 128] = shfl_down(v, 5u);
      y[i + 192] = shfl_xor(v, 9);
      y[i + 256] = shfl_idx<8>(v, 2);
      y[i + 320] = shfl_down<16>(v, 4);
      val from_first = shfl_idx(v > x[0], 0);
      y[i + 384] = select(from_first, v, T{1});
    });

template <dsl::scalar T, u32 Threads>
inline constexpr auto reductions = kernel<"reductions_" + type_name<T> + "_" + decimal<Threads>, Threads>(
    [](thread t, in<T> x, out<T> y, val<u32> n) {
      val i = t.thread_rank();
      val total = block_reduce(t, x[i], plus{});
      val least = block_reduce(t, x[i], minimum{});
      val most = block_reduce(t, x[i], [](auto a, auto b) { return max(a, b); });
      val of_warp = warp_reduce(t, x[i], plus{});
      y[i] = total;
      y[i + n] = least;
      y[i + n * 2] = most;
      y[i + n * 3] = of_warp;
    });

// One call site in every round of a loop: no thread may overwrite memory that a slower thread still reads.
inline constexpr auto repeated_reduction =
    kernel<"repeated_reduction", 192>([](thread t, in<u32> x, out<u32> y, val<u32> rounds) {
      val i = t.thread_rank();
      var sum(t, 0u);
      for (auto k : t.range(0u, rounds)) {
        val total = block_reduce(t, x[i] + k * i, plus{});
        val most = block_reduce(t, (x[i] ^ k) + total, maximum{});
        sum = sum * 31 + total + most;
      }
      y[i] = sum;
    });

}  // namespace kaio::tests

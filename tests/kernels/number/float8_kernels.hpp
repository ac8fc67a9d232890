#pragma once
// Kernels with e4m3 and e5m2: every conversion, alone, in pairs and in vectors, and every place where an
// element can be stored.

#include <kaio/kaio.hpp>

namespace kaio::tests {

// Decodes n codes to every other type; row k of `y` has the bits of the k-th.
template <class T, u32 Sm>
inline constexpr auto float8_decoded =
    kernel<"float8_decoded_" + type_name<T> + "_sm" + decimal<Sm>, 64, kernel_options{.target = {Sm}}>(
        [](thread t, in<T> x, out<f32> single, out<f16> half, out<bf16> brain, out<f64> wide, out<i32> whole,
           out<u8> is_not_zero, out<e4m3> first, out<e5m2> second, out<i32> floored, val<u32> n) {
          val i = t.global_id();
          if (auto g = t.when(i < n)) {
            val v = x[i];
            single[i] = cast<f32>(v);
            half[i] = cast<f16>(v);
            brain[i] = cast<bf16>(v);
            wide[i] = cast<f64>(v);
            whole[i] = cast<i32>(v);
            is_not_zero[i] = cast<u8>(cast<bool>(v));
            first[i] = cast<e4m3>(v);
            second[i] = cast<e5m2>(v);
            floored[i] = cast<i32>(v, round_down);
          }
        });

// Encodes n numbers.
template <class From, u32 Sm>
inline constexpr auto float8_encoded =
    kernel<"float8_encoded_" + type_name<From> + "_sm" + decimal<Sm>, 64, kernel_options{.target = {Sm}}>(
        [](thread t, in<From> x, out<e4m3> first, out<e5m2> second, val<u32> n) {
          val i = t.global_id();
          if (auto g = t.when(i < n)) {
            first[i] = cast<e4m3>(x[i]);
            second[i] = cast<e5m2>(x[i], round_nearest);
          }
        });

// Vectors: four f32 and eight f16 to 8 bits and back, one vector a thread; and pairs in a u16.
template <class T, u32 Sm>
inline constexpr auto float8_vectors =
    kernel<"float8_vectors_" + type_name<T> + "_sm" + decimal<Sm>, 64, kernel_options{.target = {Sm}}>(
        [](thread t, in<f32x4> x, in<f16x8> h, out<vec<T, 4>> four, out<f32x4> four_back,
           inout<vec<T, 8>> eight, out<f16x8> eight_back, out<u16> pair, out<f16x2> pair_back, val<u32> n) {
          val i = t.global_id();
          if (auto g = t.when(i < n)) {
            val a = cast<T>(x[i]);
            four[i] = a;
            four_back[i] = cast<f32>(a);
            val v = x[i];
            eight[i] = cast<T>(h[i]);
            eight_back[i] = cast<f16>(eight[i]);
            val two = pack<T>(v[1], v[2]);
            pair[i] = two;
            pair_back[i] = unpack<T>(two);
          }
        });

// Every place: a scalar parameter, shared memory, a vector of 16, a variable, a literal, a shuffle, bits.
template <class T>
inline constexpr auto float8_places = kernel<"float8_places_" + type_name<T>, 64>(
    [](thread t, in<vec<T, 16>> x, out<vec<T, 16>> backwards, out<vec<T, 16>> same, out<T> y, val<T> scalar) {
      shared<T, 64> tile(t);
      val i = t.thread_rank();
      val v = x[i];
      same[i] = v;
      backwards[i] = make_vec(v[15], v[14], v[13], v[12], v[11], v[10], v[9], v[8], v[7], v[6], v[5], v[4],
                              v[3], v[2], v[1], v[0]);
      tile[i] = v[3];
      t.barrier();
      var kept = tile[i ^ 1u];
      if (auto g = t.when(i % 8 == 0)) kept = scalar;
      if (auto g = t.when(i % 8 == 1)) kept = 0.3f;
      if (auto g = t.when(i % 8 == 2)) kept = bit_cast<T>(cast<u8>(i));
      y[i] = select(i % 8 == 3, shfl_xor(kept, 3u), kept);
      y[i + 64] = bit_cast<T>(bit_cast<i8>(v[0]));
    });

}  // namespace kaio::tests

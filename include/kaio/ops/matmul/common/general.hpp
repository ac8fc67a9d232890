#pragma once
// The epilogue of the prebuilt matmul: alpha, beta * C, a bias, an activation and a residual, each of them
// chosen at run time by numbers that are the same for all threads, so that one kernel serves every
// combination and type.
//
//   y = activation(alpha * x + beta * C + bias) + residual

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/terms.hpp>

#include <cstdint>

namespace kaio::ops {

struct general {
  static constexpr fixed_string name = "general";

  template <std::uint32_t N>
  static constexpr dsl::register_array<val<f32>, N> several(thread t,
                                                            const dsl::register_array<val<f32>, N>& x,
                                                            const dsl::register_array<place, N>& at,
                                                            const val<matmul_terms>& terms) {
    auto y = array_of<N>([&](u32 i) { return var(t, x[i] * terms[&matmul_terms::alpha]); });
    if (auto more = t.when(terms[&matmul_terms::plain] == 0u)) {
      const auto wide = array_of<N>([&](u32 i) { return widened(t, at[i]); });
      const val beta = t.let(terms[&matmul_terms::beta]);
      each(t, terms[&matmul_terms::c], wide, [&](u32 i, const auto& c) { y[i] = fma(beta, c, y[i]); });
      each(t, terms[&matmul_terms::bias], wide, [&](u32 i, const auto& bias) { y[i] += bias; });
      activate(t, y, t.let(terms[&matmul_terms::activation]));
      each(t, terms[&matmul_terms::residual], wide, [&](u32 i, const auto& residual) { y[i] += residual; });
    }
    return array_of<N>([&](u32 i) { return val<f32>(t.let(y[i])); });
  }

  struct wide_place {
    val<i64> batch, row, column;
  };
  static constexpr wide_place widened(thread t, const place& at) {
    return {t.let(cast<i64>(at.batch)), t.let(cast<i64>(at.row)), t.let(cast<i64>(at.column))};
  }

  // use(i, the element of a tensor for place i); not called where there is no such tensor.
  template <class Term, std::uint32_t N, class Use>
  static constexpr void each(thread t, const Term& term, const dsl::register_array<wide_place, N>& at,
                             const Use& use) {
    const val type = t.let(term[&matmul_term::type]);
    if (auto exists = t.when(type != 0u)) {
      // The C that is read may be the C that is written, so what is read is inout.
      const auto offset = array_of<N>([&](u32 i) {
        return t.let(at[i].batch * term[&matmul_term::batch] + at[i].row * term[&matmul_term::row] +
                     at[i].column * term[&matmul_term::column]);
      });
      const val address = t.let(term[&matmul_term::address]);
      if (auto single = t.when(type == static_cast<u32>(term_type::f32))) {
        const auto x =
            array_of<N>([&](u32 i) { return t.let(pointer_at<inout<f32>>(t, address)[offset[i]]); });
        for (u32 i = 0; i < N; ++i) use(i, x[i]);
      }
      if (auto half = t.otherwise()) {
        const auto bits =
            array_of<N>([&](u32 i) { return t.let(pointer_at<inout<u16>>(t, address)[offset[i]]); });
        const val is_f16 = t.let(type == static_cast<u32>(term_type::f16));
        for (u32 i = 0; i < N; ++i)
          use(i, t.let(select(is_f16, cast<f32>(bit_cast<f16>(bits[i])),
                              bit_cast<f32>(cast<u32>(bits[i]) << 16))));
      }
    }
  }

 private:
  template <std::uint32_t N>
  static constexpr void activate(thread t, dsl::register_array<var<f32>, N>& y, const val<u32>& which) {
    const auto is = [&](matmul_activation a) { return which == static_cast<u32>(a); };
    if (auto any = t.when(which != 0u)) {
      if (auto f = t.when(is(matmul_activation::relu)))
        for (u32 i = 0; i < N; ++i) y[i] = activation::relu{}(t, t.let(y[i]));
      if (auto smooth = t.otherwise())
        in_turn(t, y, [&](const val<f32>& x) {
          var result(t, x);
          if (auto f = t.when(is(matmul_activation::gelu))) result = activation::gelu{}(t, x);
          if (auto f = t.when(is(matmul_activation::gelu_tanh))) result = activation::gelu_tanh{}(t, x);
          if (auto f = t.when(is(matmul_activation::silu))) result = activation::silu{}(t, x);
          return t.let(result);
        });
    }
  }

  // y[i] = f(y[i]) for a long f, which is in the kernel once. Registers have constant numbers, so a loop over
  // them chooses.
  template <std::uint32_t N, class F>
  static constexpr void in_turn(thread t, dsl::register_array<var<f32>, N>& y, const F& f) {
    if constexpr (N == 1) {
      y[0] = f(t.let(y[0]));
    } else {
      for (auto i : t.range(0u, N).no_unroll()) {
        var x(t, y[0]);
        for (u32 known = 1; known < N; ++known) x = select(i == known, y[known], x);
        const val result = f(t.let(x));
        for (u32 known = 0; known < N; ++known) y[known] = select(i == known, result, y[known]);
      }
    }
  }

 public:
  // After what it calls: clang evaluates a kernel where its image is asked for, and knows the templates that are
  // defined up to there.
  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<matmul_terms> terms) const {
    return several(t, dsl::register_array<val<f32>, 1>{{x}}, dsl::register_array<place, 1>{{at}}, terms)[0];
  }
};

}  // namespace kaio::ops

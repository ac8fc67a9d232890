#pragma once
// The epilogue of the prebuilt matmul: alpha, beta * C, a bias, an activation and a residual, each of them
// chosen at run time by numbers that are the same for all threads, so that one kernel serves every combination
// and type.
//
//   y = activation(alpha * x + beta * C + bias) + residual

#include <kaio/ops/matmul/epilogue.hpp>
#include <kaio/ops/matmul/terms.hpp>

#include <cstdint>

namespace kaio::ops {

struct general {
  static constexpr fixed_string name = "general";

  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<matmul_terms> terms) const {
    var y(t, x * terms[&matmul_terms::alpha]);
    if (auto more = t.when(terms[&matmul_terms::plain] == 0u)) {
      y = fma(terms[&matmul_terms::beta], read(t, terms[&matmul_terms::c], at), y);
      y += read(t, terms[&matmul_terms::bias], at);
      activate(t, y, t.let(terms[&matmul_terms::activation]));
      y += read(t, terms[&matmul_terms::residual], at);
    }
    return t.let(y);
  }

 private:
  // The element of a term for a place of C; 0 where there is no such term.
  template <class Term>
  static constexpr val<f32> read(thread t, const Term& term, const place& at) {
    var result(t, 0.0f);
    const val type = t.let(term[&matmul_term::type]);
    if (auto exists = t.when(type != 0u)) {
      const val offset = t.let(cast<i64>(at.batch) * term[&matmul_term::batch] +
                               cast<i64>(at.row) * term[&matmul_term::row] +
                               cast<i64>(at.column) * term[&matmul_term::column]);
      const val address = t.let(term[&matmul_term::address]);
      if (auto wide = t.when(type == static_cast<u32>(term_type::f32)))
        result = memory<f32>(t, address)[offset];
      if (auto narrow = t.otherwise()) {
        const val bits = t.let(memory<u16>(t, address)[offset]);
        result = select(type == static_cast<u32>(term_type::f16), cast<f32>(bit_cast<f16>(bits)),
                        bit_cast<f32>(cast<u32>(bits) << 16));
      }
    }
    return t.let(result);
  }

  static constexpr void activate(thread t, var<f32>& y, const val<u32>& activation) {
    const auto is = [&](matmul_activation a) { return activation == static_cast<u32>(a); };
    if (auto any = t.when(activation != 0u)) {
      if (auto f = t.when(is(matmul_activation::relu))) y = activation::relu{}(t, t.let(y));
      if (auto f = t.when(is(matmul_activation::gelu))) y = activation::gelu{}(t, t.let(y));
      if (auto f = t.when(is(matmul_activation::gelu_tanh))) y = activation::gelu_tanh{}(t, t.let(y));
      if (auto f = t.when(is(matmul_activation::silu))) y = activation::silu{}(t, t.let(y));
    }
  }

  // A pointer that is a member of a parameter. The C that is read may be the C that is written.
  template <class T>
  static constexpr inout<T> memory(thread t, const val<u64>& address) {
    dsl::tracer& trace = t.trace();
    dsl::pointer<T> result{};
    result.trace = &trace;
    result.base = trace.probing() ? 0 : address.node().checked(trace);
    result.scope = trace.scope();
    return {result};
  }
};

}  // namespace kaio::ops

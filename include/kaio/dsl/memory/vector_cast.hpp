#pragma once
// Conversions of whole vectors: cast<T>(v) converts each element. e4m3 and e5m2 are converted two at a time,
// one instruction per pair from sm_89 on; pack<e4m3>(a, b) and unpack<e4m3>(bits) do that to single pairs.
//
//   y[i] = cast<e4m3>(x[i]);                  // in<f32x4> x, out<e4m3x4> y
//   val two = pack<e4m3>(a * scale, b * scale);      // u16, a in the lower byte
//   val both = unpack<e4m3>(two);                    // f16x2

#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/pure.hpp>
#include <kaio/dsl/memory/vector.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class T, class Tree>
struct vector_cast_node {
  using From = typename vector_of<Tree>::value_type;
  using vector_type = vec<T, vector_of<Tree>::size()>;
  static constexpr bool bound = Tree::bound;
  static constexpr bool reads_memory = Tree::reads_memory;
  static constexpr unsigned loads = Tree::loads;
  Tree tree;

  constexpr const vector_cast_node& vector_node() const { return *this; }
  constexpr tracer* context() const { return tree.context(); }
  constexpr void load(tracer& t) const { tree.load(t); }
  constexpr void lower(tracer& t, value* out) const {
    constexpr std::uint32_t n = vector_type::size();
    value x[n] = {};
    tree.lower(t, x);
    if constexpr (std::is_same_v<T, From>) {
      for (std::uint32_t k = 0; k < n; ++k) out[k] = x[k];
    } else if constexpr (float8<From>) {
      for (std::uint32_t k = 0; k < n; k += 2) from_pair(t, x + k, out + k);
    } else if constexpr (float8<T>) {
      for (std::uint32_t k = 0; k < n; k += 2) to_pair(t, ptx_type<From>, x + k, out + k);
    } else {
      for (std::uint32_t k = 0; k < n; ++k) out[k] = cast_rule<T, From>::apply(t, x[k]);
    }
  }
  constexpr std::uint64_t hash() const {
    return tree.hash() * hash_factor + static_cast<unsigned>(ptx_type<T>);
  }

 private:
  static constexpr void from_pair(tracer& t, const value* x, value* out) {
    const value both = t.from_float8_pair(kind_of<From>, t.pair_of_bytes(x[0], x[1]));
    const tracer::halves parts = t.split(both, ptx::type::f16);
    const value numbers[2] = {parts.low, parts.high};
    if constexpr (float8<T>)
      to_pair(t, ptx::type::f16, numbers, out);
    else
      for (std::uint32_t k = 0; k < 2; ++k) out[k] = t.cast(ptx_type<T>, ptx::type::f16, numbers[k]);
  }
  static constexpr void to_pair(tracer& t, ptx::type from, const value* x, value* out) {
    const tracer::halves bytes = t.bytes_of_pair(t.to_float8_pair(kind_of<T>, from, x[0], x[1]));
    out[0] = bytes.low;
    out[1] = bytes.high;
  }
};

// The vector with each element converted, as cast<T>(x) converts a number.
template <scalar T, vector_source V>
constexpr auto cast(const V& v) {
  using From = typename vector_of<V>::value_type;
  static_assert((!packed<T> && !packed<From>) || std::is_same_v<T, From>,
                "kaio: a cast of packed pairs; write map with low(x) and high(x)");
  return vector_cast_node<T, vector_node_of<V>>{v.vector_node()};
}

namespace detail {

template <float8 P, class From>
struct pack_float8_rule {
  static constexpr value apply(tracer& t, value low, value high) {
    const value pair = t.to_float8_pair(kind_of<P>, ptx_type<From>, low, high);
    return t.pure({opcode::cvt, 0, ptx::type::u32, ptx::type::u16, ptx::type::u16}, pair);
  }
};

template <float8 P>
struct unpack_float8_rule {
  static constexpr value apply(tracer& t, value bits) {
    return t.from_float8_pair(
        kind_of<P>,
        t.pure({opcode::cvt, 0, ptx::type::u16, ptx::type::u32, ptx::type::b16}, t.in_register(bits)));
  }
};

}  // namespace detail

// Two numbers in a u16, rounded to e4m3 or e5m2 as cast does (cvt.rn.satfinite.e4m3x2.f32), the first in the
// lower byte. Fragments of matrix instructions consist of such pairs.
template <float8 P, class A, class B>
  requires operands<A, B>
constexpr auto pack(const A& low, const B& high) {
  require_same<A, B>();
  using From = typename common<A, B>::type;
  static_assert(std::is_same_v<From, f32> || std::is_same_v<From, f16> || std::is_same_v<From, bf16>,
                "kaio: pack<e4m3> and pack<e5m2> take two f32, f16 or bf16; write cast<f32>(x)");
  return make_pure<u16, detail::pack_float8_rule<P, From>>(operand_node<From>(low), operand_node<From>(high));
}

// The two numbers in a u16, exactly, as f16x2 (cvt.rn.f16x2.e4m3x2).
template <float8 P, device A>
constexpr auto unpack(const A& bits) {
  static_assert(device_of<A, u16>, "kaio: unpack<e4m3> and unpack<e5m2> take a u16, as pack makes it");
  return make_unary<f16x2, detail::unpack_float8_rule<P>>(bits);
}

}  // namespace kaio::dsl

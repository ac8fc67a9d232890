#pragma once
// Members of structs, named by pointers to members: the offset of one in its struct, and the kernel parameter
// that is a struct. The offset is asked of the compiler itself: a struct is made of bytes that hold one bit
// of their own positions each, and the first byte of the member then gives that bit of its position.
//
//   struct view { u64 rows, columns; f32 scale[2]; };
//   [](thread t, in<f32> x, out<f32> y, val<view> v) { ... y[i] = x[i] * v[&view::scale][0]; }

#include <kaio/dsl/memory/location.hpp>
#include <kaio/dsl/memory/vector.hpp>
#include <kaio/dsl/number/index_list.hpp>

#include <array>
#include <cstdint>
#include <type_traits>

namespace kaio::dsl {

namespace detail {

template <std::size_t N>
struct object_bytes {
  unsigned char data[N];
};

template <class M>
constexpr unsigned char first_byte(const M& m) {
  if constexpr (std::is_array_v<M>)
    return first_byte(m[0]);
  else
    return __builtin_bit_cast(object_bytes<sizeof(M)>, m).data[0];
}

// Whether a constant expression can make an S of bytes: not with pointers, references, unions or bit-fields
// in it.
template <class S>
concept made_of_bytes =
    requires { typename std::bool_constant<(__builtin_bit_cast(S, object_bytes<sizeof(S)>{}), true)>; };

// Each byte holds one bit of its own position; a constant, so that naming a member costs little.
template <class S, std::uint32_t Bit>
inline constexpr S marked = [] {
  object_bytes<sizeof(S)> bytes{};
  for (std::size_t i = 0; i < sizeof(S); ++i) bytes.data[i] = static_cast<unsigned char>(i >> Bit & 1);
  return __builtin_bit_cast(S, bytes);
}();

// The number of bits in positions below `size`.
constexpr std::uint32_t position_bits(std::size_t size) {
  std::uint32_t bits = 0;
  while ((size - 1) >> bits != 0) ++bits;
  return bits;
}

template <class S, class M, std::uint32_t... Bit>
constexpr std::uint32_t byte_of([[maybe_unused]] M S::*member, const index_list<Bit...>&) {
  const std::uint32_t offset = ((first_byte(marked<S, Bit>.*member) != 0 ? 1u << Bit : 0u) | ... | 0u);
  if (offset % alignof(std::remove_all_extents_t<M>) != 0)
    kernel_error("kaio: a member of a packed struct is not aligned; copy it into a struct of natural layout");
  return offset;
}

}  // namespace detail

// The offset of a member in S, in bytes; S may have it from a base.
template <class S, class M, class C>
constexpr std::uint32_t offset_of(M C::*member) {
  static_assert(
      detail::made_of_bytes<S>,
      "kaio: a struct in a kernel is made of numbers, vectors, arrays and structs of them; pass memory as in<T>, out<T> or inout<T>");
  if constexpr (detail::made_of_bytes<S>)
    return detail::byte_of<S, M>(static_cast<M S::*>(member), indices<detail::position_bits(sizeof(S))>{});
  else
    return 0;
}

// The elements of an array: E[N], std::array<E, N>.
template <class A>
struct array_facts {
  static constexpr bool is_array = false;
};
template <class E, std::size_t N>
struct array_facts<E[N]> {
  static constexpr bool is_array = true;
  static constexpr std::size_t size = N;
  using element = E;
};
template <class E, std::size_t N>
struct array_facts<std::array<E, N>> : array_facts<E[N]> {};

// What a member may be.
template <class M>
concept member = array_facts<M>::is_array || memory_element<M>;

template <class M>
constexpr auto require_member() {
  static_assert(
      member<M>,
      "kaio: this member of a struct is no number of the language, no vector, array or struct of them");
}

template <std::size_t N>
constexpr std::uint32_t checked_array_index(tracer& t, std::uint64_t i) {
  if (i < N) return static_cast<std::uint32_t>(i);
  t.fail_next("kaio: the index of an array in a struct is beyond its end; it goes from 0 to N - 1");
  return 0;
}

// A scalar in a parameter that is a struct.
template <scalar T>
struct parameter_member_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = false;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;
  tracer* trace;
  std::uint32_t parameter, offset;

  constexpr const parameter_member_node& node() const { return *this; }
  constexpr tracer* context() const { return trace; }
  constexpr void load(tracer&) const {}
  constexpr value lower(tracer& t) const { return t.parameter_member(ptx_type<T>, parameter, offset); }
};

template <class V>
struct parameter_vector_node;
template <class T, std::uint32_t N>
struct parameter_vector_node<vec<T, N>> {
  using vector_type = vec<T, N>;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = false;
  static constexpr unsigned loads = 0;
  tracer* trace;
  std::uint32_t parameter, offset;

  constexpr const parameter_vector_node& vector_node() const { return *this; }
  constexpr tracer* context() const { return trace; }
  constexpr void load(tracer&) const {}
  constexpr void lower(tracer& t, value* out) const {
    for (std::uint32_t k = 0; k < N; ++k) out[k] = (*this)[k].lower(t);
  }
  constexpr parameter_member_node<T> operator[](std::uint32_t k) const {
    const auto bytes = static_cast<std::uint32_t>(sizeof(T));
    return {{}, trace, parameter, offset + checked_element<N>(*trace, k) * bytes};
  }
};

template <class M>
constexpr auto parameter_part(tracer* t, std::uint32_t parameter, std::uint32_t offset);

// An array in a parameter that is a struct; indexed by the host's numbers.
template <class E, std::size_t N>
struct parameter_array {
  tracer* trace;
  std::uint32_t parameter, offset;
  constexpr auto operator[](std::uint64_t i) const {
    return parameter_part<E>(
        trace, parameter, offset + checked_array_index<N>(*trace, i) * static_cast<std::uint32_t>(sizeof(E)));
  }
  template <device I>
  constexpr auto operator[](const I&) const {
    static_assert(
        never<I>,
        "kaio: an array in a parameter is indexed by numbers of the host; copy it into a local<T, N>, or pass a buffer");
    return refused{};
  }
  static constexpr std::size_t size() { return N; }
};

// A struct that a launch passes by value.
template <record S>
class val<S, in_kernel> {
 public:
  constexpr val(tracer& t, std::uint32_t parameter, std::uint32_t offset)
      : trace_(&t), parameter_(parameter), offset_(offset) {}

  // A member: a number, a vector, an array, or a struct again.
  template <class M, class C>
    requires std::is_base_of_v<C, S>
  constexpr auto operator[](M C::*m) const {
    require_member<M>();
    if constexpr (member<M>)
      return parameter_part<M>(trace_, parameter_, offset_ + offset_of<S>(m));
    else
      return refused{};
  }

 private:
  tracer* trace_;
  std::uint32_t parameter_, offset_;
};

template <class M>
constexpr auto parameter_part(tracer* t, std::uint32_t parameter, std::uint32_t offset) {
  require_member<M>();
  if constexpr (array_facts<M>::is_array)
    return parameter_array<typename array_facts<M>::element, array_facts<M>::size>{t, parameter, offset};
  else if constexpr (scalar<M>)
    return parameter_member_node<M>{{}, t, parameter, offset};
  else if constexpr (is_vec<M>)
    return parameter_vector_node<M>{t, parameter, offset};
  else if constexpr (record<M>)
    return val<M>(*t, parameter, offset);
}

}  // namespace kaio::dsl

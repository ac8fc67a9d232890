#pragma once
// tensor_map<T, Rank>: the parameter of a kernel that describes a tensor in global memory and the box of it
// that one tensor copy moves. The runtime encodes it (kaio/runtime/tensor_map.hpp); the kernel hands it to
// the copies of kaio/dsl/async/tensor_copy.hpp. Source: PTX ISA, "Tensors".
//
//   kernel<"copy", 128>([](thread t, tensor_map<f16, 2> x, ...) { prefetch(x); ... });

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/dsl/trace/trace.hpp>

#include <cstdint>

namespace kaio::dsl {

inline constexpr std::uint32_t tensor_map_bytes = 128;
inline constexpr std::uint32_t tensor_map_alignment = 64;

template <scalar T, std::uint32_t Rank>
struct tensor_map {
  static_assert(Rank >= 1 && Rank <= 5, "kaio: a tensor map has 1 to 5 dimensions");
  using element_type = T;
  static constexpr std::uint32_t rank = Rank;
  tracer* trace;
  value address;  // generic

  constexpr std::uint64_t hash() const { return address; }
};

// The argument that a launch takes: an object with the element type, the rank and the 128 bytes.
template <class A, class T, std::uint32_t Rank>
concept encoded_tensor = requires(const A& a) {
  typename A::value_type;
  requires std::is_same_v<typename A::value_type, T>;
  requires A::rank == Rank;
  a.as_argument();
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::tensor_map;
}

#pragma once
// Arrays in the shared memory of a block: of a fixed size (48 KB together, or 227 KB with
// kernel_options{.large_shared = true}), or of the size that the launch gives. Contents are undefined until
// written.
//
//   shared<f32, 16, 17> tile(t);                 // rows of 17: no bank conflicts by column
//   tile[row][column] = x[i];
//   dynamic_shared<f32> buffer(t);               // k.launch(stream, over(n).shared_bytes(4 * 1024), ...)

#include <kaio/dsl/expression/conversion.hpp>
#include <kaio/dsl/memory/place.hpp>

#include <cstdint>

namespace kaio::dsl {

namespace detail {

// One cell of an array of the kernel.
template <class T, modifier Space, ptx::access Access = ptx::access::inout, class I>
constexpr auto array_cell(tracer* t, std::uint32_t array, const I& i) {
  const auto node = index_node(i);
  using Location = array_location<Space, std::remove_const_t<decltype(node)>>;
  return place_of<Access, T>(Location{t, array, node, bytes_of<T>});
}

// Refuses a host index outside its dimension.
template <std::uint32_t N, class I>
constexpr auto require_below([[maybe_unused]] tracer& t, [[maybe_unused]] const I& i) {
  if constexpr (std::is_integral_v<I>)
    if (i < I{0} || static_cast<std::uint64_t>(i) >= N)
      t.fail_next("kaio: an index is outside its array; indices of a dimension of N go from 0 to N - 1");
}

// An array is aligned for vectors of its elements.
template <class T>
constexpr std::uint32_t array_alignment(std::uint64_t bytes) {
  const auto own = static_cast<std::uint32_t>(alignof(T));
  return bytes >= 16 && own < 16 ? 16 : own;
}

// A part of an index in several dimensions, widened: the place of an element may not fit the 8 or 16 bits of
// the part.
template <index_operand I>
constexpr auto index_part(const I& i) {
  if constexpr (!device<I>)
    return i;
  else if constexpr (sizeof(element<I>) < 4)
    return cast<u32>(i);
  else
    return i.node();
}

// prefix * next + part: in the type of both, else modulo 2^32, which no shared memory exceeds.
template <class Prefix, class Part>
constexpr auto linear_index(const Prefix& prefix, std::uint32_t next, const Part& part) {
  if constexpr (device<Prefix> && device<Part>) {
    if constexpr (std::is_same_v<element<Prefix>, element<Part>>)
      return prefix * next + part;
    else
      return cast<u32>(prefix) * next + cast<u32>(part);
  } else if constexpr (device<Prefix>) {
    return prefix * next + part;
  } else if constexpr (device<Part>) {
    return part + prefix * next;  // a constant takes the type of the other index
  } else {
    return static_cast<Prefix>(part) + prefix * next;
  }
}

}  // namespace detail

// A shared array of one dimension whose size need not be a template argument:
// `shared_array<f32> partial(t, warps);`
template <memory_element T>
class shared_array {
 public:
  template <is_thread Thread>
  constexpr shared_array(const Thread& t, std::uint64_t count, std::uint32_t line = __builtin_LINE(),
                         const char* file = __builtin_FILE())
      : shared_array(t.trace(), count, line, file) {}

  template <is_thread Thread, device N>
  constexpr shared_array(const Thread&, const N&) {
    static_assert(
        never<N>,
        "kaio: a shared array has a size that the compiler knows; write dynamic_shared<T> name(t) for one that the launch gives");
  }

  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    return detail::array_cell<T, modifier::shared>(trace_, array_, i);
  }

  // This memory, as elements of another type of equal size.
  template <memory_element U>
  constexpr shared_array<U> as() const {
    static_assert(bytes_of<U> == bytes_of<T>,
                  "kaio: elements of a shared array have another size; as<U>() changes the type alone");
    shared_array<U> other;
    other.trace_ = trace_;
    other.array_ = array_;
    return other;
  }

  constexpr tracer& trace() const { return *trace_; }

 private:
  template <memory_element, std::uint32_t, std::uint32_t...>
  friend class shared;
  template <memory_element>
  friend class shared_array;
  constexpr shared_array() = default;  // for the message of a shared without its thread

  constexpr shared_array(tracer& t, std::uint64_t count, std::uint32_t line, const char* file) : trace_(&t) {
    t.declare(line, file);
    if (count == 0 || count > tracer::max_large_shared)
      t.fail("kaio: a shared array needs one element or more, and at most 227 KB");
    const std::uint64_t bytes = count * bytes_of<T>;
    array_ = t.probing() ? t.new_identity() : t.new_shared(bytes, detail::array_alignment<T>(bytes));
  }
  tracer* trace_ = nullptr;
  std::uint32_t array_ = 0;
};

// A row of a shared array of several dimensions: indexed until one element is left.
template <memory_element T, class Prefix, std::uint32_t... Rest>
class shared_row;

template <memory_element T, class Prefix, std::uint32_t Next, std::uint32_t... Rest>
class shared_row<T, Prefix, Next, Rest...> {
 public:
  constexpr shared_row(const shared_array<T>& elements, const Prefix& prefix)
      : elements_(elements), prefix_(prefix) {}

  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    detail::require_below<Next>(elements_.trace(), i);
    const auto linear = detail::linear_index(prefix_, Next, detail::index_part(i));
    if constexpr (sizeof...(Rest) == 0)
      return elements_[linear];
    else
      return shared_row<T, std::remove_const_t<decltype(linear)>, Rest...>(elements_, linear);
  }
  template <class E>
  constexpr void operator=(const E&) const {
    static_assert(
        never<E>,
        "kaio: a row of a shared array is written element by element; each dimension takes an index");
  }

 private:
  shared_array<T> elements_;
  Prefix prefix_;
};

// A static array in the shared memory of the block.
template <memory_element T, std::uint32_t First, std::uint32_t... Rest>
class shared {
  static_assert(First > 0 && ((Rest > 0) && ...),
                "kaio: a shared array needs at least one element in each dimension");

 public:
  template <is_thread Thread>
  constexpr explicit shared(const Thread& t, std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE())
      : elements_(t, std::uint64_t{First} * (Rest * ... * 1ull), line, file) {}

  template <class V = T>
  constexpr shared() {
    static_assert(never<V>, "kaio: an array of the kernel needs its thread; write shared<f32, 32> name(t)");
  }

  static constexpr std::uint32_t size() { return First * (Rest * ... * 1u); }

  // All elements in order, as elements of another type of equal size.
  template <memory_element U>
  constexpr shared_array<U> as() const {
    return elements_.template as<U>();
  }

  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    detail::require_below<First>(elements_.trace(), i);
    if constexpr (sizeof...(Rest) == 0) {
      return elements_[i];
    } else if constexpr (device<I>) {
      const auto prefix = detail::index_part(i);
      return shared_row<T, std::remove_const_t<decltype(prefix)>, Rest...>(elements_, prefix);
    } else {
      return shared_row<T, std::uint32_t, Rest...>(elements_, static_cast<std::uint32_t>(i));
    }
  }

 private:
  shared_array<T> elements_;
};

// The shared memory that a launch requests beyond the kernel's own, seen as elements of T: over(n) or
// grid(x, y, z) with .shared_bytes(b). All dynamic_shared of a kernel begin at one address, aligned to 128
// bytes.
template <memory_element T>
class dynamic_shared {
 public:
  template <is_thread Thread>
  constexpr explicit dynamic_shared(const Thread& t) : trace_(&t.trace()) {
    if (trace_->probing())
      array_ = trace_->new_identity();
    else
      array_ = trace_->new_array(ptx::array_space::dynamic_shared, 0, ptx::least_dynamic_alignment);
  }

  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    return detail::array_cell<T, modifier::shared>(trace_, array_, i);
  }

 private:
  tracer* trace_;
  std::uint32_t array_ = 0;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::dynamic_shared;
using dsl::shared;
using dsl::shared_array;
}  // namespace kaio

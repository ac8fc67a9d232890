#pragma once
// The pointer parameters of a kernel. The memory of an `in` is never written while the kernel runs, so its
// loads are pure (ld.global.nc): they may be shared and removed.
//
//   y[i] = x[i] * 2.0f;                      // in<f32> x, out<f32> y
//   const in row = x.from(r * columns);      // row[0] is x[r * columns]

#include <kaio/dsl/memory/place.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class T>
struct pointer {
  static_assert(
      memory_element<T>,
      "kaio: the elements of a pointer parameter are numbers of the language (f64 f32 f16 bf16 f16x2 bf16x2, e4m3, e5m2, i8 to i64, u8 to u64, bool), vectors vec<T, N>, or structs of them");
  using element_type = T;
  tracer* trace;
  value base;
  std::uint32_t scope = 0;  // where a base that is not a parameter was made

 protected:
  template <ptx::access Access, class I>
  constexpr auto place(const I& i) const {
    if (!trace->is_open(scope))
      trace->fail_next("kaio: a pointer was used outside the guarded body or loop where from() made it");
    const auto node = index_node(i);
    return place_of<Access, T>(
        global_location<std::remove_const_t<decltype(node)>>{trace, base, node, bytes_of<T>});
  }

  template <class I>
  constexpr pointer moved(const I& i, std::uint32_t line, const char* file) const {
    if (!trace->is_open(scope))
      trace->fail_next("kaio: a pointer was used outside the guarded body or loop where from() made it");
    const auto node = index_node(i);
    trace->statement(line, file);
    if (trace->probing()) return *this;
    const global_location<std::remove_const_t<decltype(node)>> at{trace, base, node, bytes_of<T>};
    pointer result = *this;
    result.base = trace->address_value(at.find());
    result.scope = trace->scope();
    return result;
  }
};

// A pointer parameter that the kernel only reads, and that nothing writes while it runs.
template <class T>
struct in : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::in>(i);
  }
  // The pointer to element i.
  template <index I>
  constexpr in from(const I& i, std::uint32_t line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
};

// A pointer parameter that the kernel only writes.
template <class T>
struct out : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::out>(i);
  }
  template <index I>
  constexpr out from(const I& i, std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
};

// A pointer parameter that the kernel reads and writes.
template <class T>
struct inout : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::inout>(i);
  }
  template <index I>
  constexpr inout from(const I& i, std::uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::in;
using dsl::inout;
using dsl::out;
}  // namespace kaio

#pragma once
// The pointer parameters of a kernel. The memory of an `in` is never written while the kernel runs, so its
// loads are pure (ld.global.nc): they may be shared and removed.
//
//   y[i] = x[i] * 2.0f;                      // in<f32> x, out<f32> y
//   const in row = x.from(r * columns);      // row[0] is x[r * columns]

#include <kaio/dsl/memory/place.hpp>

#include <cstdint>

namespace kaio::dsl {

// The negative of an index: of a literal, or of a device value as i64.
template <index_operand I>
constexpr auto backwards(const I& i) {
  using T = typename index_type<I>::type;
  static_assert(integer<T>, "kaio: an index is an integer; write cast<u32>(x)");
  if constexpr (device<I>)
    return make_unary<i64, unary_rule<operation::neg, i64>>(cast<i64>(i));
  else
    return make_literal<i64>(-static_cast<i64>(operand_node<T>(i).bits));
}

template <class T>
struct pointer {
  static_assert(
      memory_element<T>,
      "kaio: the elements of a pointer parameter are numbers of the language (f64 f32 f16 bf16 f16x2 bf16x2, e4m3, e5m2, i8 to i64, u8 to u64, bool), vectors vec<T, N>, or structs of them");
  using element_type = T;
  tracer* trace;
  value base;
  std::uint32_t scope = 0;  // the scope that made `base`, unless it is a parameter
  std::int64_t offset = 0;  // bytes, which go into the instructions

  template <class I>
  constexpr void operator+=(const I&) const {
    refuse_change<I>();
  }
  template <class I>
  constexpr void operator-=(const I&) const {
    refuse_change<I>();
  }
  template <class I = int>
  constexpr void operator++() const {
    refuse_change<I>();
  }
  template <class I = int>
  constexpr void operator++(int) const {
    refuse_change<I>();
  }

 protected:
  template <ptx::access Access, class I>
  constexpr auto place(const I& i) const {
    const auto node = index_node(i);
    return place_of<Access, T>(at(node));
  }

  // Computes the whole address at this place of the kernel.
  template <class I>
  constexpr pointer moved(const I& i, std::uint32_t line, const char* file) const {
    const auto node = index_node(i);
    const auto there = at(node);
    trace->statement(line, file);
    if (trace->probing()) return {trace, there.seen_value(), scope};
    return {trace, trace->address_value(there.find()), trace->scope()};
  }

  // Computes the address too, but its constant part stays apart in `offset`.
  template <class I>
  constexpr pointer shifted(const I& i) const {
    const auto node = index_node(i);
    const auto there = at(node);
    trace->statement(0, nullptr);
    if (trace->probing()) return {trace, there.seen_value(), scope};
    const tracer::address found = there.find();
    return {trace, found.base, found.base == base ? scope : trace->scope(), found.offset};
  }

  template <class E>
  static constexpr auto refuse_change() {
    static_assert(
        never<E>,
        "kaio: a pointer does not change while the kernel runs; write in next = x + n, and x[i] in a loop");
  }
  template <class E>
  static constexpr auto refuse_distance() {
    static_assert(never<E>, "kaio: a pointer is not subtracted from another one; subtract their indices");
  }

 private:
  template <class Node>
  constexpr global_location<Node> at(const Node& node) const {
    if (!trace->is_open(scope))
      trace->fail_next("kaio: a pointer was used outside the guarded body or loop that made it");
    return {trace, base, node, bytes_of<T>, offset};
  }
};

// A pointer parameter that the kernel only reads. Nothing writes its memory while the kernel runs.
template <class T>
struct in : pointer<T> {
  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::in>(i);
  }
  // The pointer to element i, like x + i, but the whole address is computed at this place.
  template <index_operand I>
  constexpr in from(const I& i, std::uint32_t line = __builtin_LINE(),
                    const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
  // The pointers to element i, and to the element i places before.
  template <index_operand I>
  friend constexpr in operator+(const in& p, const I& i) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr in operator+(const I& i, const in& p) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr in operator-(const in& p, const I& i) {
    return {p.shifted(backwards(i))};
  }
  template <class P>
    requires std::is_same_v<P, in>
  friend constexpr auto operator-(const in&, const P&) {
    in::template refuse_distance<P>();
    return refused{};
  }
};

// A pointer parameter that the kernel only writes.
template <class T>
struct out : pointer<T> {
  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::out>(i);
  }
  template <index_operand I>
  constexpr out from(const I& i, std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
  template <index_operand I>
  friend constexpr out operator+(const out& p, const I& i) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr out operator+(const I& i, const out& p) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr out operator-(const out& p, const I& i) {
    return {p.shifted(backwards(i))};
  }
  template <class P>
    requires std::is_same_v<P, out>
  friend constexpr auto operator-(const out&, const P&) {
    out::template refuse_distance<P>();
    return refused{};
  }
};

// A pointer parameter that the kernel reads and writes.
template <class T>
struct inout : pointer<T> {
  template <index_operand I>
  constexpr auto operator[](const I& i) const {
    return this->template place<ptx::access::inout>(i);
  }
  template <index_operand I>
  constexpr inout from(const I& i, std::uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) const {
    return {this->moved(i, line, file)};
  }
  template <index_operand I>
  friend constexpr inout operator+(const inout& p, const I& i) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr inout operator+(const I& i, const inout& p) {
    return {p.shifted(i)};
  }
  template <index_operand I>
  friend constexpr inout operator-(const inout& p, const I& i) {
    return {p.shifted(backwards(i))};
  }
  template <class P>
    requires std::is_same_v<P, inout>
  friend constexpr auto operator-(const inout&, const P&) {
    inout::template refuse_distance<P>();
    return refused{};
  }
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::in;
using dsl::inout;
using dsl::out;
}  // namespace kaio

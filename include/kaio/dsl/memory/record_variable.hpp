#pragma once
// Variables that are structs of the host: a register for each number. Members are variables themselves.
//
//   struct complex { f32 re, im; };
//   var<complex> sum(t, complex{0, 0});
//   sum[&complex::re] += x[i][&complex::re];
//   y[i] = sum;

#include <kaio/dsl/expression/var.hpp>
#include <kaio/dsl/memory/record.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class M>
constexpr auto variable_part(tracer& t, std::uint32_t variable);

// A number of a variable.
template <scalar T>
class variable_member : public no_host_bool, public no_increment {
 public:
  using device_type = T;
  using compound_type = T;
  constexpr variable_member(tracer& t, std::uint32_t variable) : own_(var<T>::unwritten(t, variable)) {}
  variable_member(const variable_member&) = delete;

  constexpr void operator=(statement<T> s) { own_ = s; }
  constexpr void operator=(const variable_member& other) { own_ = statement<T>(other.node(), 0, nullptr); }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) {
    own_ = e;
  }
  constexpr void operator+=(statement<T> s) { own_ += s; }
  constexpr void operator-=(statement<T> s) { own_ -= s; }
  constexpr void operator*=(statement<T> s) { own_ *= s; }
  constexpr void operator/=(statement<T> s) { own_ /= s; }
  constexpr void operator%=(statement<T> s) { own_ %= s; }
  constexpr void operator&=(statement<T> s) { own_ &= s; }
  constexpr void operator|=(statement<T> s) { own_ |= s; }
  constexpr void operator^=(statement<T> s) { own_ ^= s; }
  constexpr void operator<<=(statement<u32> s) { own_ <<= s; }
  constexpr void operator>>=(statement<u32> s) { own_ >>= s; }
  template <operation Op, class E>
  constexpr void change(const E& e) {
    own_.template change<Op>(e);
  }
  constexpr leaf<T> node() const { return own_.node(); }

 private:
  var<T> own_;
};

// Writes consecutive variables.
constexpr void assign_variables(tracer& t, std::uint32_t first, const value* numbers, std::uint32_t count) {
  if (t.probing()) t.see(first);
  for (std::uint32_t k = 0; k < count; ++k) {
    if (t.probing()) {
      t.see(numbers[k]);
      continue;
    }
    const bool is_condition = t.type_of(t.variable_register(first + k)) == ptx::type::pred;
    t.assign(first + k, is_condition ? t.in_register(numbers[k]) : numbers[k], t.position());
  }
}

// A vector of a variable.
template <class V>
class variable_vector;
template <class T, std::uint32_t N>
class variable_vector<vec<T, N>> {
 public:
  using vector_type = vec<T, N>;
  constexpr variable_vector(tracer& t, std::uint32_t variable) : trace_(&t), first_(variable) {}
  variable_vector(const variable_vector&) = delete;

  constexpr void operator=(const vector_statement<T, N>& s) const {
    assign_variables(*trace_, first_, s.elements(), N);
  }
  constexpr void operator=(const variable_vector& other) const {
    *this = vector_statement<T, N>(other, 0, nullptr);
  }
  template <vector_source E>
    requires(!vector_node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    *this = vector_statement<T, N>(*trace_, e, 0, nullptr);
  }
  constexpr variable_member<T> operator[](std::uint32_t k) const {
    return {*trace_, first_ + checked_element<N>(*trace_, k)};
  }

  constexpr vector_leaf<T, N> vector_node() const {
    vector_leaf<T, N> result{trace_, {}, trace_->scope()};
    for (std::uint32_t k = 0; k < N; ++k)
      result.ids[k] = trace_->probing() ? first_ + k : trace_->snapshot(first_ + k);
    return result;
  }

 private:
  tracer* trace_;
  std::uint32_t first_;
};

// An array of a variable; host constants index it.
template <class E, std::size_t N>
class variable_array {
 public:
  constexpr variable_array(tracer& t, std::uint32_t variable) : trace_(&t), first_(variable) {}
  variable_array(const variable_array&) = delete;
  template <class A>
  constexpr void operator=(const A&) const {
    refuse_array<A>();
  }
  constexpr void operator=(const variable_array&) const { refuse_array<E>(); }
  constexpr auto operator[](std::uint64_t i) const {
    return variable_part<E>(*trace_,
                            first_ + checked_array_index<N>(*trace_, i) * detail::member_fields<E>::numbers);
  }
  template <device I>
  constexpr auto operator[](const I&) const {
    static_assert(never<I>, "kaio: an array in a var is indexed by numbers of the host; keep a local<T, N>");
    return refused{};
  }
  static constexpr std::size_t size() { return N; }

 private:
  tracer* trace_;
  std::uint32_t first_;
};

// A struct in consecutive variables: a var, or a member of one.
template <record S>
class record_variables {
 public:
  using record_type = S;
  constexpr record_variables(tracer& t, std::uint32_t first) : trace_(&t), first_(first) {}
  record_variables(const record_variables&) = delete;

  constexpr void operator=(record_statement<S> s) { write(s); }
  constexpr void operator=(const record_variables& other) { *this = record_statement<S>(other, 0, nullptr); }

  template <class M, class C>
    requires std::is_base_of_v<C, S>
  constexpr auto operator[](M C::*m) const {
    require_member<M>();
    if constexpr (member<M>)
      return variable_part<M>(*trace_, first_ + number_at(offset_of<S>(m)));
    else
      return refused{};
  }

  constexpr tracer* context() const { return trace_; }
  constexpr std::uint64_t hash() const { return first_; }
  constexpr void read(tracer& t, value* out) const {
    for (std::uint32_t k = 0; k < fields_of<S>.size; ++k) out[k] = t.snapshot(first_ + k);
  }

 protected:
  constexpr record_variables() = default;
  constexpr void write(record_statement<S>& s) {
    s.enter(*trace_);
    assign_variables(*trace_, first_, s.numbers(), fields_of<S>.size);
  }
  constexpr void start(tracer& t, record_statement<S> s) {
    trace_ = &t;
    for (std::uint32_t k = 0; k < fields_of<S>.size; ++k) {
      const std::uint32_t variable = t.probing() ? t.new_identity() : t.new_variable(fields_of<S>.at[k].type);
      if (k == 0) first_ = variable;
    }
    write(s);
  }

 private:
  static constexpr std::uint32_t number_at(std::uint32_t offset) {
    std::uint32_t k = 0;
    while (fields_of<S>.at[k].offset != offset) ++k;
    return k;
  }

  tracer* trace_ = nullptr;
  std::uint32_t first_ = 0;
};

template <record S>
class var<S> : public record_variables<S> {
 public:
  template <class Thread, class E>
    requires is_thread<Thread>
  constexpr var(const Thread& t, const E& e, std::uint32_t line = __builtin_LINE(),
                const char* file = __builtin_FILE()) {
    this->start(t.trace(), record_statement<S>(e, line, file));
  }
  template <record_source E>
  constexpr var(const E& e, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    this->start(*e.context(), record_statement<S>(e, line, file));
  }
  constexpr var(const var& other, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE())
      : record_variables<S>() {
    this->start(*other.context(), record_statement<S>(other, line, file));
  }
  template <class H>
    requires std::is_same_v<H, S>
  constexpr var(const H&) {
    static_assert(never<H>, "kaio: a var of a struct needs its kernel; write var name(t, S{...})");
  }

  constexpr void operator=(record_statement<S> s) { this->write(s); }
  // Non-const references and templates keep a val from becoming a var on its way here.
  constexpr void operator=(var& other) { *this = record_statement<S>(other, 0, nullptr); }
  template <class V>
    requires std::is_same_v<std::remove_cv_t<V>, var>
  constexpr void operator=(V&& other) {
    *this = record_statement<S>(other, 0, nullptr);
  }
  template <class V>
    requires std::is_same_v<V, var>
  constexpr void operator=(const V& other) {
    *this = record_statement<S>(other, 0, nullptr);
  }
};

template <record_source E>
var(const E&) -> var<typename E::record_type>;
template <class Thread, record_source E>
var(const Thread&, const E&) -> var<typename E::record_type>;
template <class Thread, record S>
  requires(!record_source<S> && !device<S> && !host_number<S>)
var(const Thread&, const S&) -> var<S>;

template <class M>
constexpr auto variable_part(tracer& t, std::uint32_t variable) {
  if constexpr (array_facts<M>::is_array)
    return variable_array<typename array_facts<M>::element, array_facts<M>::size>(t, variable);
  else if constexpr (scalar<M>)
    return variable_member<M>(t, variable);
  else if constexpr (is_vec<M>)
    return variable_vector<M>(t, variable);
  else
    return record_variables<M>(t, variable);
}

}  // namespace kaio::dsl

#pragma once
// var<T>: a mutable device variable. Reading it takes its value at that point of the kernel; assigning
// changes it for what follows, around loops and out of guarded bodies too.
//
//   var sum(t, 0.0f);              // a literal knows no kernel: name the thread
//   var largest = x[i];
//   sum += x[i] * y[i];            // one fma
//
// A copy is another variable that starts with the same value; a function returns the variable itself. Classes
// and arrays hold vars as they hold numbers.

#include <kaio/dsl/expression/compound.hpp>
#include <kaio/dsl/expression/statement.hpp>

#include <cstdint>

namespace kaio::dsl {

class thread;

// A tree such as thread_idx_x() * 2.
template <class E>
concept knows_no_kernel = device<E> && !node_of<E>::bound;

template <class T>
class var;

template <scalar T>
class var<T> : public no_host_bool, public no_increment {
 public:
  using device_type = T;
  using compound_type = T;

  template <device E>
  constexpr var(const E& e, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    static_assert(node_of<E>::bound,
                  "kaio: a var needs its kernel; write var name(t, value) with the thread");
    if constexpr (node_of<E>::bound) {
      tracer* const t = e.node().context();
      if (t == nullptr)
        kernel_error("kaio: a var that starts from a literal needs its kernel; write var name(t, literal)");
      start(*t, statement<T>(e, line, file));
    }
  }

  template <host_number L>
  constexpr var(L) {
    static_assert(never<L>,
                  "kaio: a var that starts from a literal needs its kernel; write var name(t, literal)");
  }

  template <class V = T>
  constexpr var() {
    static_assert(never<V>, "kaio: a var starts from a value; write var<f32> x(t, 0.0f) with the thread");
  }

  // Starts from a literal, or from any expression.
  template <class Thread, class E>
    requires std::is_same_v<Thread, thread>
  constexpr var(const Thread& t, const E& e, std::uint32_t line = __builtin_LINE(),
                const char* file = __builtin_FILE()) {
    if constexpr (knows_no_kernel<E>)
      start(t.trace(), statement<T>::in(t.trace(), e));
    else
      start(t.trace(), statement<T>(e, line, file));
  }

  constexpr var(const var& other, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE())
      : var(other.node(), line, file) {}

  // Takes over the variable itself, so that returning one costs nothing on any compiler.
  constexpr var(var&& other) noexcept : trace_(other.trace_), variable_(other.variable_) {
    other.trace_ = nullptr;
  }

  // A register without a value yet, for an instruction of the library that writes it first.
  static constexpr var unwritten(tracer& t) {
    return var(t.probing() ? t.new_identity() : t.new_variable(ptx_type<T>), t);
  }
  // As above, for an existing variable: one of several that an instruction writes together.
  static constexpr var unwritten(tracer& t, std::uint32_t variable) { return var(variable, t); }

  // The number of the variable, for instructions that change several.
  constexpr std::uint32_t variable() const { return variable_; }
  constexpr tracer& trace() const { return *trace_; }

  constexpr void operator=(statement<T> s) { assign(s); }
  // Takes a reference to non-const, so that no expression becomes a var on its way here.
  constexpr void operator=(var& other) { *this = statement<T>(other.node(), 0, nullptr); }
  template <class V>
    requires std::is_same_v<std::remove_cv_t<V>, var>
  constexpr void operator=(V&& other) {
    *this = statement<T>(other.node(), 0, nullptr);
  }
  template <class V>
    requires std::is_same_v<V, var>
  constexpr void operator=(const V& other) {
    *this = statement<T>(other.node(), 0, nullptr);
  }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) {
    statement<T> s = statement<T>::in(*trace_, e);
    assign(s);
  }

  constexpr void operator+=(statement<T> s) {
    require_number<T>();
    combine(operation::add, s);
  }
  constexpr void operator-=(statement<T> s) {
    require_number<T>();
    combine(operation::sub, s);
  }
  constexpr void operator*=(statement<T> s) {
    require_number<T>();
    combine(operation::mul, s);
  }
  constexpr void operator/=(statement<T> s) {
    require_number<T>();
    combine(operation::div, s);
  }
  constexpr void operator%=(statement<T> s) {
    require_integer();
    combine(operation::rem, s);
  }
  constexpr void operator&=(statement<T> s) {
    require_bits();
    combine(operation::and_, s);
  }
  constexpr void operator|=(statement<T> s) {
    require_bits();
    combine(operation::or_, s);
  }
  constexpr void operator^=(statement<T> s) {
    require_bits();
    combine(operation::xor_, s);
  }
  constexpr void operator<<=(statement<u32> s) {
    require_integer();
    combine(operation::shl, s);
  }
  constexpr void operator>>=(statement<u32> s) {
    require_integer();
    combine(operation::shr, s);
  }

  // Compound assignment of an expression that knows no kernel (compound.hpp).
  template <operation Op, class E>
  constexpr void change(const E& e) {
    if constexpr (Op <= operation::div)
      require_number<T>();
    else if constexpr (Op >= operation::and_ && Op <= operation::xor_)
      require_bits();
    else
      require_integer();
    auto s = statement<std::conditional_t<Op >= operation::shl, u32, T>>::in(*trace_, e);
    combine(Op, s);
  }

  constexpr leaf<T> node() const {
    const value current = trace_->probing() ? variable_ : trace_->snapshot(variable_);
    return {{}, trace_, current, trace_->scope()};
  }

 private:
  constexpr var(std::uint32_t variable, tracer& t) : trace_(&t), variable_(variable) {}

  static constexpr auto require_integer() {
    static_assert(integer<T>,
                  "kaio: %, << and >> on a var that is no integer; make it a var of an integer type");
  }
  static constexpr auto require_bits() {
    static_assert(!floating<T>, "kaio: a bit operation on a floating var; keep its bits: bit_cast<u32>(x)");
  }

  constexpr void start(tracer& t, statement<T> s) {
    trace_ = &t;
    variable_ = t.probing() ? t.new_identity() : t.new_variable(ptx_type<T>);
    assign(s);
  }

  constexpr void assign(statement<T>& s) {
    s.enter(*trace_);
    if (trace_->probing()) return trace_->see(variable_);
    const value v = s.get(*trace_);
    trace_->assign(variable_, ptx_type<T> == ptx::type::pred ? trace_->in_register(v) : v, s.start());
  }

  template <class S>
  constexpr void combine(operation op, S& s) {
    static_assert(!std::is_same_v<T, bool> || std::is_same_v<S, statement<bool>>);
    s.enter(*trace_);
    if (trace_->probing()) return trace_->see(std::uint64_t{variable_} << 8 | static_cast<unsigned>(op));
    const value v = s.combine(*trace_, op, trace_->snapshot(variable_), ptx_type<T>);
    trace_->assign(variable_, ptx_type<T> == ptx::type::pred ? trace_->in_register(v) : v, s.start());
  }

  tracer* trace_ = nullptr;
  std::uint32_t variable_ = 0;
};

template <device E>
var(const E&) -> var<element<E>>;
template <host_number L>
var(L) -> var<L>;
template <class Thread, device E>
var(const Thread&, const E&) -> var<element<E>>;
template <class Thread, host_number L>
var(const Thread&, L) -> var<L>;

}  // namespace kaio::dsl

namespace kaio {
using dsl::var;
}

#pragma once
// Expressions: pure trees over immutable leaves. Building one emits nothing. It is lowered, left operand first, when it
// is bound to a val or var, stored, or branched on. So the program does not depend on a compiler's order of evaluation.
// A type mismatch is found while the tree's type is formed.
//
// A node has `device_type` (its element type), `bound` (whether some leaf knows the tracer), context(), lower(), and
// hash(): what a probe of the kernel sees of it (trace/soundness.hpp).

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/dsl/trace/trace.hpp>

#include <concepts>
#include <cstdint>

namespace kaio::dsl {

// A device value: a val, a var, a memory cell, or an expression of them. Its node() is a tree.
template <class E>
concept device = requires { typename E::device_type; };

template <class E>
using element = typename E::device_type;

template <class E, class T>
concept device_of = device<E> && std::is_same_v<element<E>, T>;

// The type of a val or var that starts from a device value, or from a literal alone.
template <class E>
struct bound_value {
  using type = literal_type<E>;
};
template <device E>
struct bound_value<E> {
  using type = element<E>;
};
template <class E>
using bound_type = typename bound_value<E>::type;

template <class E>
const E& imagine();  // declared only, for decltype

template <class E>
using node_of = std::remove_cvref_t<decltype(imagine<E>().node())>;

// Refuses host conditions: `if`, `while`, `!` in them and `?:` ask for a value, but a device value has none while the
// kernel is compiled.
struct no_host_bool {
  template <std::same_as<bool> B>
  constexpr explicit operator B() const {
    static_assert(
        never<B>,
        "kaio: a device value in a host condition; write if (auto g = t.when(condition)), l.break_if(condition) to leave a loop, or select(condition, a, b) in place of ?:");
    return false;
  }
  template <class N>
    requires(std::is_arithmetic_v<N> && !std::is_same_v<N, bool>)
  constexpr operator N() const {
    static_assert(
        never<N>,
        "kaio: a device value has no value while the kernel is compiled: keep it in a val, convert it by cast<T>(x), call kaio's exp(x), and index a constant<T, N> or local<T, N> with it");
    return N{};
  }
};

// The result of a function whose requirements have failed. Using it causes no further error.
struct refused {};

// The error for an assignment to a value that never changes.
struct unchanging {
  template <class E>
  constexpr void operator+=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator-=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator*=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator/=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator%=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator&=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator|=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator^=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator<<=(const E&) const {
    refuse<E>();
  }
  template <class E>
  constexpr void operator>>=(const E&) const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator++() const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator++(int) const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator--() const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator--(int) const {
    refuse<E>();
  }

 protected:
  template <class E>
  static constexpr auto refuse() {
    static_assert(never<E>, "kaio: a val never changes; declare a var to assign to");
  }
};

// A var or a cell has no ++ and --: it would be unclear where their value is read.
struct no_increment {
  template <class E = int>
  constexpr void operator++() const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator++(int) const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator--() const {
    refuse<E>();
  }
  template <class E = int>
  constexpr void operator--(int) const {
    refuse<E>();
  }

 private:
  template <class E>
  static constexpr auto refuse() {
    static_assert(never<E>, "kaio: ++ and -- on a device value; write x += 1 or x -= 1");
  }
};

// A value that exists already. `ReadsMemory`: the expression itself loaded it, from memory that may change. Without a
// tracer it is a literal that was put into a val<T>: `id` and `scope` are the halves of its bits.
template <class T, bool ReadsMemory = false>
struct leaf : no_host_bool {
  using device_type = T;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = ReadsMemory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;
  tracer* trace;
  value id;
  std::uint32_t scope;

  static constexpr leaf of(std::uint64_t bits) {
    return {{}, nullptr, static_cast<value>(bits), static_cast<std::uint32_t>(bits >> 32)};
  }
  // Copies the value into the open scope.
  constexpr leaf copy() const {
    if (trace == nullptr) return *this;
    return {{}, trace, checked(*trace), trace->scope()};
  }

  constexpr const leaf& node() const { return *this; }
  constexpr tracer* context() const { return trace; }
  constexpr value lower(tracer& t) const { return checked(t); }
  constexpr void load(tracer&) const {}
  constexpr std::uint64_t hash() const { return std::uint64_t{scope} << 32 | id; }

  // The value, after the check that the scope that made it is still open.
  constexpr value checked(tracer& t) const {
    if (trace == nullptr) return t.constant(ptx_type<T>, std::uint64_t{scope} << 32 | id);
    if (!t.is_open(scope))
      t.fail("kaio: a value was used outside the guarded body or loop that made it; use a var for it");
    return id;
  }
};

template <scalar T>
struct literal : no_host_bool {
  using device_type = T;
  static constexpr bool bound = false;
  static constexpr bool reads_memory = false;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;
  std::uint64_t bits = 0;
  const char* fault = nullptr;  // why the operand's type does not hold the number

  constexpr const literal& node() const { return *this; }
  constexpr tracer* context() const { return nullptr; }
  constexpr value lower(tracer& t) const {
    if (fault != nullptr) t.fail(fault);
    return t.constant(ptx_type<T>, bits);
  }
  constexpr void load(tracer&) const {}
  constexpr std::uint64_t hash() const { return bits; }
};

constexpr std::uint64_t float_bits(f32 x) { return __builtin_bit_cast(std::uint32_t, x); }
constexpr std::uint64_t float_bits(f64 x) { return __builtin_bit_cast(std::uint64_t, x); }
constexpr std::uint64_t float_bits(f16 x) { return x.bits(); }
constexpr std::uint64_t float_bits(bf16 x) { return x.bits(); }
constexpr std::uint64_t float_bits(e4m3 x) { return x.bits(); }
constexpr std::uint64_t float_bits(e5m2 x) { return x.bits(); }

// Whether a finite number would become an infinity. The bound is midway between the largest number of the type and the
// next power of two.
template <floating T>
constexpr bool overflows(double x) {
  constexpr double bound = std::is_same_v<T, f16>    ? 65520.0
                           : std::is_same_v<T, bf16> ? 0x1.ffp127
                                                     : 0x1.ffffffp127_f64;
  const double magnitude = x < 0 ? -x : x;
  return sizeof(T) < 8 && magnitude >= bound && magnitude <= 0x1.fffffffffffffp1023_f64;
}

// A host number in the type of its device operand: an integer must fit exactly, a floating literal
// is rounded.
template <class T, host_number L>
constexpr literal<T> make_literal(L number) {
  literal<T> result;
  if constexpr (float8<T> && std::is_same_v<T, L>) {
    result.bits = number.bits();
  } else if constexpr (!std::is_arithmetic_v<L>) {
    return make_literal<T>(static_cast<float>(number));
  } else if constexpr (std::is_same_v<T, bool> || std::is_same_v<L, bool>) {
    static_assert(std::is_same_v<T, L>,
                  "kaio: bool and numbers do not mix; compare with zero, or write cast<T>(condition)");
    result.bits = number ? 1 : 0;
  } else if constexpr (packed<T>) {
    const literal<half_of<T>> half = make_literal<half_of<T>>(number);
    result.bits = half.bits << 16 | half.bits;
    result.fault = half.fault;
  } else if constexpr (float8<T>) {
    const auto x = static_cast<double>(number);
    if ((x > T::format::greatest || x < -T::format::greatest) && x - x == 0)
      result.fault =
          "kaio: a literal is beyond the greatest number of its type (e4m3: 448, e5m2: 57344); write that number; an infinity also becomes it";
    if constexpr (std::is_integral_v<L>)
      if (static_cast<double>(T(x)) != x)
        result.fault =
            "kaio: an integer literal is not exact in the floating type of the operand; write it as a float";
    result.bits = T(x).bits();
  } else if constexpr (floating<T>) {
    if constexpr (std::is_floating_point_v<L>)
      if (overflows<T>(static_cast<double>(number))) {
        result.fault =
            "kaio: a literal is too large for the floating type of the operand; cast<f32>(x) first, or write an infinity";
        return result;
      }
    const auto rounded = static_cast<T>(static_cast<double>(number));
    if constexpr (std::is_integral_v<L>)
      if (static_cast<double>(rounded) != static_cast<double>(number) ||
          static_cast<L>(static_cast<double>(number)) != number)
        result.fault =
            "kaio: an integer literal is not exact in the floating type of the operand; write it as a float";
    result.bits = float_bits(rounded);
  } else {
    static_assert(
        std::is_integral_v<L>,
        "kaio: a floating literal with an integer operand; write cast<f32>(x) or an integer literal");
    const T converted = static_cast<T>(number);
    if (static_cast<L>(converted) != number || (converted < T{0}) != (number < L{0}))
      result.fault =
          "kaio: a literal does not fit the integer type of the operand; write a value in range, or cast<T>(x)";
    result.bits = canonical(ptx_type<T>, static_cast<std::uint64_t>(converted));
  }
  return result;
}

// The bits of a literal, for callers without a node to lower.
template <class T, host_number L>
constexpr std::uint64_t bits_of_literal(L number) {
  const literal<T> made = make_literal<T>(number);
  if (made.fault != nullptr)
    kernel_error(
        "kaio: a literal does not fit the type that it is given: it is out of its range, or not exact in it");
  return made.bits;
}

// The node of an operand that must be of type T.
template <class T, class E>
constexpr auto operand_node(const E& e) {
  if constexpr (device<E>)
    return e.node();
  else if constexpr (host_constant<E>)
    return make_literal<T>(E::value);
  else
    return make_literal<T>(e);
}

inline constexpr std::uint64_t hash_factor = tracer::hash_factor;

// The number of a rule: a hash of the end of its name.
template <class Rule>
consteval unsigned long long number_of_name() {
  const char* const text = __PRETTY_FUNCTION__;
  constexpr std::size_t size = sizeof(__PRETTY_FUNCTION__) - 1;
  unsigned long long number = size;
  for (std::size_t i = size > 40 ? size - 40 : 0; i < size; ++i)
    number = number * 31 + static_cast<unsigned char>(text[i]);
  return number;
}
template <class Rule>
inline constexpr std::uint64_t number_of_rule = number_of_name<Rule>();

// One operand. Rule::apply(tracer&, value) gives the instructions.
template <class T, class Rule, class A>
struct unary_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound;
  static constexpr bool reads_memory = A::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = A::loads;
  A a;

  constexpr const unary_node& node() const { return *this; }
  constexpr tracer* context() const { return a.context(); }
  constexpr void load(tracer& t) const { a.load(t); }
  constexpr value lower(tracer& t) const { return Rule::apply(t, a.lower(t)); }
  constexpr std::uint64_t hash() const { return a.hash() * hash_factor + number_of_rule<Rule>; }
};

template <class T, class Rule, device A>
constexpr auto make_unary(const A& a) {
  return unary_node<T, Rule, node_of<A>>{{}, a.node()};
}

template <operation Op, class T>
struct unary_rule {
  static constexpr value apply(tracer& t, value a) { return t.unary(Op, ptx_type<T>, a); }
};
template <class To, class From>
struct cast_rule {
  static constexpr value apply(tracer& t, value a) { return t.cast(ptx_type<To>, ptx_type<From>, a); }
};
// Conversions out of 8 bits go through f32, or f16 if that is the target. Those into 8 bits round once, from any type.
template <float8 T>
inline constexpr const float8_kind& kind_of = std::is_same_v<T, e4m3> ? e4m3_kind : e5m2_kind;
template <class To, float8 From>
  requires(!std::is_same_v<To, From>)
struct cast_rule<To, From> {
  static constexpr value apply(tracer& t, value a) {
    constexpr ptx::type between = std::is_same_v<To, f16> ? ptx::type::f16 : ptx::type::f32;
    const value number = t.from_float8(kind_of<From>, between, a);
    if constexpr (float8<To>)
      return t.to_float8(kind_of<To>, between, number);
    else
      return t.cast(ptx_type<To>, between, number);
  }
};
template <float8 To, class From>
  requires(!float8<From>)
struct cast_rule<To, From> {
  static constexpr value apply(tracer& t, value a) { return t.to_float8(kind_of<To>, ptx_type<From>, a); }
};
template <class To>
struct bit_cast_rule {
  static constexpr value apply(tracer& t, value a) { return t.reinterpret(ptx_type<To>, a); }
};

template <class E>
inline constexpr bool is_integer_product = false;

// The operand of + or - that is a contracted product: left is a * b + c, right is a + b * c.
enum class contraction : std::uint8_t { none, left, right };
template <operation Op, class A, class B>
inline constexpr contraction contraction_of =
    Op != operation::add && Op != operation::sub                       ? contraction::none
    : A::is_product || (is_integer_product<A> && Op == operation::add) ? contraction::left
    : B::is_product || (is_integer_product<B> && Op == operation::add) ? contraction::right
                                                                       : contraction::none;

template <operation Op, class T, class Operand, class A, class B>
struct binary_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = A::bound || B::bound;
  static constexpr bool reads_memory = A::reads_memory || B::reads_memory;
  static constexpr bool is_product = Op == operation::mul && floating<T>;
  static constexpr unsigned loads = A::loads + B::loads;
  A a;
  B b;

  constexpr const binary_node& node() const { return *this; }
  constexpr tracer* context() const {
    if constexpr (A::bound && B::bound) {
      tracer* const t = a.context();
      return t != nullptr ? t : b.context();
    } else if constexpr (A::bound) {
      return a.context();
    } else {
      return b.context();
    }
  }
  constexpr void load(tracer& t) const {
    if constexpr (A::loads != 0) a.load(t);
    if constexpr (B::loads != 0) b.load(t);
  }
  constexpr value lower(tracer& t) const {
    if constexpr (contraction_of<Op, A, B> == contraction::left) {
      if (is_integer_product<A> || t.contracts(ptx_type<Operand>)) {
        const value x = a.a.lower(t);
        const value y = a.b.lower(t);
        const value z = b.lower(t);
        const value addend = Op == operation::sub ? t.unary(operation::neg, ptx_type<Operand>, z) : z;
        if constexpr (is_integer_product<A>)
          return t.multiply_add(ptx_type<Operand>, x, y, addend);
        else
          return t.contracted(ptx_type<Operand>, x, y, addend);
      }
    } else if constexpr (contraction_of<Op, A, B> == contraction::right) {
      if (is_integer_product<B> || t.contracts(ptx_type<Operand>)) {
        const value z = a.lower(t);
        const value x = b.a.lower(t);
        const value y = b.b.lower(t);
        const value factor = Op == operation::sub ? t.unary(operation::neg, ptx_type<Operand>, x) : x;
        if constexpr (is_integer_product<B>)
          return t.multiply_add(ptx_type<Operand>, factor, y, z);
        else
          return t.contracted(ptx_type<Operand>, factor, y, z);
      }
    }
    const value x = a.lower(t);
    const value y = b.lower(t);
    if constexpr (Op >= operation::eq && Op <= operation::ge)
      return t.compare(Op, ptx_type<Operand>, x, y);
    else
      return t.binary(Op, ptx_type<Operand>, x, y);
  }
  constexpr std::uint64_t hash() const {
    constexpr std::uint64_t number =
        static_cast<std::uint64_t>(Op) << 48 | static_cast<std::uint64_t>(ptx_type<Operand>) << 40;
    return (a.hash() * hash_factor + b.hash()) * hash_factor + number;
  }
};

template <class T, class Operand, class A, class B>
inline constexpr bool is_integer_product<binary_node<operation::mul, T, Operand, A, B>> = integer<T>;

template <class T>
struct select_rule {
  static constexpr value apply(tracer& t, value condition, value a, value b) {
    return t.select(ptx_type<T>, condition, a, b);
  }
};
template <class T>
struct fma_rule {
  static constexpr value apply(tracer& t, value a, value b, value c) {
    return t.multiply_add(ptx_type<T>, a, b, c);
  }
};

// Shows a probe an operand of a statement: a tree, a place in memory, an object with hash(), a number of the host.
template <class X>
constexpr void see_operand(tracer& t, const X& x) {
  if constexpr (requires { x.location().hash(); })
    t.see(x.location().hash());
  else if constexpr (requires { x.hash(); })
    t.see(x.hash());
  else if constexpr (requires { x.memory().hash(); })
    t.see(x.memory().hash());
  else if constexpr (requires { x.vector_node().hash(); })
    t.see(x.vector_node().hash());
  else if constexpr (requires { x.node().hash(); })
    t.see(x.node().hash());
  else if constexpr (host_constant<X>)
    t.see(static_cast<std::uint64_t>(X::value));
  else if constexpr (std::is_integral_v<X> || std::is_enum_v<X>)
    t.see(static_cast<std::uint64_t>(x));
  else if constexpr (host_number<X>)
    t.see(float_bits(x));
  else
    static_assert(std::is_empty_v<X>, "kaio: an operand that a probe of the kernel does not see");
}
template <class... X>
constexpr void see_operands(tracer& t, const X&... x) {
  (see_operand(t, x), ...);
}

// The kernel of a tree whose leaves may be literals in vals.
template <class Tree>
constexpr tracer& kernel_of(const Tree& tree) {
  tracer* const t = tree.context();
  if (t == nullptr) kernel_error("kaio: literals alone know no kernel; bind one of them: t.let(1.0f)");
  return *t;
}

// A tracer that computes literals, for a tree without a kernel. It is made here, and only after `known` is read. clang
// evaluates bodies of constexpr functions in advance, and would make a tracer in each that holds a `new`.
constexpr tracer* folding_tracer(const tracer* known) {
  if (known != nullptr) return nullptr;
  tracer* made = new tracer;  // a large object: not on the stack of a trace at run time
  made->contract = false;     // nothing folds an fma
  return made;
}

// The bits of a tree of literals in vals, computed as in C++: their kernel is not known.
template <class Tree>
constexpr std::uint64_t literal_bits(const Tree& tree) {
  tracer* folding = folding_tracer(tree.context());
  const value v = tree.lower(*folding);
  if (!tracer::is_constant(v))
    kernel_error(
        "kaio: this is computed from literals alone, which know no kernel; bind one of them: t.let(1.0f)");
  const std::uint64_t bits = folding->bits_of(v);
  delete folding;
  return bits;
}

// Lowers a tree as part of the statement that is open. Nothing is recorded while probing.
template <class E>
constexpr value lower(tracer& t, const E& tree) {
  if (t.probing()) {
    t.see(tree.hash());
    return t.identity();
  }
  t.begin_lowering();
  if constexpr (E::loads != 0) tree.load(t);
  const value v = tree.lower(t);
  t.end_lowering();
  return v;
}

}  // namespace kaio::dsl

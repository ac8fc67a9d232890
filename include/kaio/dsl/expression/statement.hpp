#pragma once
// The right-hand side of a store or an assignment. Its constructor knows the C++ line of `y[i] = e`, which an operator=
// cannot (it has no default arguments): so the constructor opens the statement and lowers e. A product stays in two
// factors, so that `acc += a * b` becomes one fma.

#include <kaio/dsl/expression/expression.hpp>

#include <cstdint>

namespace kaio::dsl {

// The requirements of a statement are part of a default argument. It is instantiated where the user writes the
// statement, so a compiler names that line.
template <class T, class E>
struct stored {
  static_assert(std::is_same_v<E, T>,
                "kaio: the value stored has another type than its place; write cast<T>(x)");
  static constexpr std::uint32_t checked = 0;
};

template <class E>
struct not_stored {
  static constexpr bool is_vector = requires { typename E::vector_type; };
  static_assert(!is_vector || never<E>,
                "kaio: a vector is stored to a number; store an element, v[0], or point to vec<T, N>");
  static_assert(
      is_vector || never<E>,
      "kaio: the stored value is neither a device value nor a number; a pointer, an array or a struct is indexed first: y[i] = x[i]");
  static constexpr std::uint32_t checked = 0;
};

template <scalar T>
class statement {
 public:
  template <device E>
    requires(node_of<E>::bound)
  constexpr statement(const E& e, std::uint32_t line = __builtin_LINE() + stored<T, element<E>>::checked,
                      const char* file = __builtin_FILE()) {
    open(e.node(), line, file);
  }

  template <host_number L>
  constexpr statement(L number, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE())
      : statement(make_literal<T>(number), line, file) {}

  template <class E>
    requires(!device<E> && !host_number<E> && !std::is_same_v<E, refused>)
  constexpr statement(const E&, std::uint32_t = not_stored<E>::checked) {}

  constexpr statement(refused) {}

  // Opens the statement in a known kernel, for a right-hand side that knew none (a literal).
  constexpr void enter(tracer& t) {
    if (entered_) {
      t.right_side_is_open = false;
      return;
    }
    entered_ = true;
    t.statement(line_, file_);
    start_ = t.position();
    if (t.probing()) return t.see(number_.bits);
    value_ = number_.lower(t);
  }

  // The statement in kernel t, for a tree that knows none itself (thread_idx_x() * 2).
  template <device E>
  static constexpr statement in(tracer& t, const E& e) {
    static_assert(std::is_same_v<element<E>, T>,
                  "kaio: the value stored has another type than its place; write cast<T>(x)");
    statement result;
    if constexpr (std::is_same_v<element<E>, T>) {
      result.entered_ = true;
      t.statement(0, nullptr);
      result.start_ = t.position();
      result.value_ = lower(t, e.node());
    }
    return result;
  }

  constexpr value get(tracer& t) const {
    return factor_ != 0 ? t.binary(operation::mul, ptx_type<T>, value_, factor_) : value_;
  }

  // current op this, in the type of `current`; a product is contracted into a sum.
  constexpr value combine(tracer& t, operation op, value current, ptx::type type) const {
    if (factor_ != 0 && t.contracts(type) && op == operation::add)
      return t.multiply_add(type, value_, factor_, current);
    if (factor_ != 0 && t.contracts(type) && op == operation::sub)
      return t.multiply_add(type, t.unary(operation::neg, type, value_), factor_, current);
    return t.binary(op, type, current, get(t));
  }

  // Where the statement's instructions begin.
  constexpr std::uint32_t start() const { return start_; }

 private:
  constexpr statement() = default;
  constexpr statement(const literal<T>& number, std::uint32_t line, const char* file)
      : number_(number), line_(line), file_(file) {}

  template <class Node>
  constexpr void open(const Node& node, std::uint32_t line, const char* file) {
    tracer* const kernel = node.context();
    line_ = line;
    file_ = file;
    if (kernel == nullptr) {
      number_.bits = literal_bits(node);
      return;
    }
    tracer& t = *kernel;
    entered_ = true;
    t.statement(line, file);
    t.right_side_is_open = true;
    start_ = t.position();
    if constexpr (Node::is_product) {
      if constexpr (Node::loads != 0)
        if (!t.probing()) node.load(t);
      value_ = lower(t, node.a);
      factor_ = lower(t, node.b);
    } else {
      value_ = lower(t, node);
    }
  }

  value value_ = 0;
  value factor_ = 0;
  bool entered_ = false;
  std::uint32_t start_ = 0;
  literal<T> number_;
  std::uint32_t line_ = 0;
  const char* file_ = nullptr;
};

}  // namespace kaio::dsl

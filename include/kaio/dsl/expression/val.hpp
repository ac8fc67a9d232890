#pragma once
// val<T>: an immutable device value. Binding an expression to one computes it at that place of the kernel.
//
//   val i = t.global_id();         // val<u32>
//   val xi = x[i];                 // val<f32>: one load
//   val<f32> half = xi * 0.5f;     // the type may be spelled
//   val<f32> zero = 0;             // a literal

#include <kaio/dsl/expression/expression.hpp>

#include <cstdint>

namespace kaio::dsl {

struct in_kernel;  // the ordinary val: computed, known by its number

// A val of an expression that knows no kernel (`val row = block_idx_x();`) keeps the tree instead of a value. The tree is
// pure, and is computed once where it is used.
template <class T, class Tree = in_kernel>
class val;

// Checked where the user writes the val, as in statement.hpp.
template <class T, class E>
struct bound_to {
  static_assert(std::is_same_v<E, T>, "kaio: the val has another type than its value; write cast<T>(x)");
  static constexpr std::uint32_t checked = 0;
};

template <scalar T>
class val<T, in_kernel> : public no_host_bool, public unchanging {
 public:
  using device_type = T;

  template <device E>
  constexpr val(const E& e, std::uint32_t line = __builtin_LINE() + bound_to<T, element<E>>::checked,
                const char* file = __builtin_FILE())
      : leaf_(bind(e, line, file)) {}

  // A literal in the type of the val: as a function's argument, an element of an array, a member of a struct.
  template <host_number L>
  constexpr val(L number) : leaf_(leaf<T>::of(bits_of_literal<T>(number))) {}

  constexpr val(refused) : leaf_{} {}

  template <class V = T>
  constexpr val() {
    static_assert(never<V>,
                  "kaio: a val has its value from the start; write val x = value, or declare a var");
  }

  // A value that the library has lowered itself.
  constexpr val(tracer& t, value id) : leaf_{{}, &t, id, t.scope()} {}

  // A copy belongs to the scope where it is made: one that a guarded body returns must not be used outside.
  constexpr val(const val& other) : leaf_(other.leaf_.copy()) {}

  template <class E>
  constexpr void operator=(const E&) {
    refuse<E>();
  }
  constexpr void operator=(const val& other) { operator=<val>(other); }

  constexpr const leaf<T>& node() const { return leaf_; }

 private:
  // Returns the leaf for the constructor's initializer. If a const struct has the val as a member, g++ 12 takes an
  // assignment in the constructor for a change of the struct.
  template <class E>
  static constexpr leaf<T> bind(const E& e, std::uint32_t line, const char* file) {
    const auto& tree = e.node();
    using Node = node_of<E>;
    constexpr bool is_literal = std::is_same_v<Node, literal<T>>;
    static_assert(
        Node::bound || is_literal,
        "kaio: this value knows no kernel yet; write t.let(value), or `val name = ...` and let the type be deduced");
    if constexpr (Node::bound) {
      tracer* const t = tree.context();
      if (t == nullptr) return leaf<T>::of(literal_bits(tree));
      t->statement(line, file);
      const value id = lower(*t, tree);
      return {{}, t, id, t->scope()};
    } else if constexpr (is_literal) {
      return leaf<T>::of(tree.bits);
    } else {
      return {};
    }
  }

  leaf<T> leaf_;
};

template <scalar T, class Tree>
class val<T, Tree> : public no_host_bool, public unchanging {
 public:
  using device_type = T;
  template <device E>
  constexpr val(const E& e) : tree_(e.node()) {}
  template <host_number L>
  constexpr val(L number) : tree_(make_literal<T>(number)) {}
  constexpr val(const val&) = default;
  template <class E>
  constexpr void operator=(const E&) {
    refuse<E>();
  }
  constexpr void operator=(const val& other) { operator=<val>(other); }
  constexpr const Tree& node() const { return tree_; }

 private:
  Tree tree_;
};

template <bool Bound, class Tree>
struct val_storage {
  using type = in_kernel;
};
template <class Tree>
struct val_storage<false, Tree> {
  using type = Tree;
};

template <device E>
val(const E&) -> val<element<E>, typename val_storage<node_of<E>::bound, node_of<E>>::type>;
template <host_number L>
val(L) -> val<L, literal<L>>;
val(refused) -> val<u32, in_kernel>;

}  // namespace kaio::dsl

namespace kaio {
using dsl::val;
}

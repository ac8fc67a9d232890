#pragma once
// val<T>: an immutable device value. Binding an expression to one computes it at that place of the kernel.
//
//   val i = t.global_id();         // val<u32>
//   val xi = x[i];                 // val<f32>: one load
//   val<f32> half = xi * 0.5f;     // the type may be spelled

#include <kaio/dsl/expression/expression.hpp>

#include <cstdint>

namespace kaio::dsl {

struct in_kernel;  // the ordinary val: computed, known by its number

// A val of an expression that knows no kernel (`val row = block_idx_x();`) keeps the tree in place of a
// value: it is pure, and is computed once where it is used.
template <class T, class Tree = in_kernel>
class val;

// Required where the user writes the val, as in statement.hpp.
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
                const char* file = __builtin_FILE()) {
    const auto& tree = e.node();
    using Node = node_of<E>;
    static_assert(Node::bound,
                  "kaio: this value knows no kernel yet; write `val name = ...` and let the type be deduced");
    if constexpr (Node::bound) {
      trace_ = tree.context();
      trace_->statement(line, file);
      id_ = lower(*trace_, tree);
      scope_ = trace_->scope();
    }
  }

  template <host_number L>
  constexpr val(L) {
    static_assert(never<L>,
                  "kaio: a literal knows no kernel; write `val name = literal` and let the type be deduced");
  }

  constexpr val(refused) {}

  template <class V = T>
  constexpr val() {
    static_assert(never<V>,
                  "kaio: a val has its value from the start; write val x = value, or declare a var");
  }

  // A value that the library has lowered itself.
  constexpr val(tracer& t, value id) : trace_(&t), id_(id), scope_(t.scope()) {}

  // A copy belongs to the scope where it is made: one that a guarded body returns must not be used outside.
  constexpr val(const val& other)
      : trace_(other.trace_), id_(other.node().checked(*other.trace_)), scope_(trace_->scope()) {}

  template <class E>
  constexpr void operator=(const E&) {
    static_assert(never<E>, "kaio: a val never changes; declare a var to assign to");
  }
  constexpr void operator=(const val& other) { operator=<val>(other); }

  constexpr leaf<T> node() const { return {{}, trace_, id_, scope_}; }

 private:
  tracer* trace_ = nullptr;
  value id_ = 0;
  std::uint32_t scope_ = 0;
};

template <scalar T, class Tree>
class val<T, Tree> : public no_host_bool {
 public:
  using device_type = T;
  template <device E>
  constexpr val(const E& e) : tree_(e.node()) {}
  template <host_number L>
  constexpr val(L number) : tree_(make_literal<T>(number)) {}
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

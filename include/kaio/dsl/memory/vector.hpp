#pragma once
// Vectors in a kernel: val<vec<T, N>> holds N values in registers. make_vec makes them from elements, map
// from other vectors, element by element.
//
//   val v = x[i];                                        // in<f32x4> x: one ld.global.nc.v4.f32
//   y[i] = make_vec(v[3], v[2], v[1], v[0]);
//   y[i] = map([](auto a, auto b) { return a * b; }, v, w);

#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/memory/vec.hpp>
#include <kaio/dsl/number/index_list.hpp>

#include <cstdint>

namespace kaio::dsl {

// A vector of the device: a val, a cell, make_vec, map. Its vector_node() is a tree, whose lower() gives
// the elements.
template <class E>
concept vector_source = requires { typename E::vector_type; };

template <class E>
using vector_of = typename E::vector_type;

template <class E>
using vector_node_of = std::remove_cvref_t<decltype(imagine<E>().vector_node())>;

// Elements that exist already.
template <class T, std::uint32_t N, bool ReadsMemory = false>
struct vector_leaf {
  using vector_type = vec<T, N>;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = ReadsMemory;
  static constexpr unsigned loads = 0;
  tracer* trace;
  value ids[N];
  std::uint32_t scope;

  constexpr const vector_leaf& vector_node() const { return *this; }
  constexpr tracer* context() const { return trace; }
  constexpr void load(tracer&) const {}
  constexpr void lower(tracer& t, value* out) const {
    for (std::uint32_t k = 0; k < N; ++k) out[k] = at(k).checked(t);
  }
  constexpr std::uint64_t hash() const {
    std::uint64_t h = 0;
    for (const value id : ids) h = h * hash_factor + id;
    return h;
  }
  constexpr leaf<T, ReadsMemory> at(std::uint32_t k) const { return {{}, trace, ids[k], scope}; }
};

// An element of a tree that gives a vector.
template <class Tree>
struct vector_element_node : no_host_bool {
  using device_type = typename vector_of<Tree>::value_type;
  static constexpr bool bound = Tree::bound;
  static constexpr bool reads_memory = Tree::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = Tree::loads;
  Tree tree;
  std::uint32_t k;

  constexpr const vector_element_node& node() const { return *this; }
  constexpr tracer* context() const { return tree.context(); }
  constexpr void load(tracer& t) const { tree.load(t); }
  constexpr value lower(tracer& t) const {
    value elements[vector_of<Tree>::size()] = {};
    tree.lower(t, elements);
    return elements[k];
  }
  constexpr std::uint64_t hash() const { return tree.hash() * hash_factor + k; }
};

template <std::uint32_t N>
constexpr std::uint32_t checked_element(tracer& t, std::uint32_t k) {
  if (k < N) return k;
  t.fail_next("kaio: an element index outside the vector; vec<T, N> has elements 0 to N - 1");
  return 0;
}

template <std::uint32_t K, class Node>
struct vector_part {
  Node node;
};

// One tree for each element, of type T.
template <class T, class Indices, class... Node>
struct elements_node;
template <class T, std::uint32_t... K, class... Node>
struct elements_node<T, index_list<K...>, Node...> : vector_part<K, Node>... {
  using vector_type = vec<T, sizeof...(Node)>;
  static constexpr bool bound = (Node::bound || ...);
  static constexpr bool reads_memory = (Node::reads_memory || ...);
  static constexpr unsigned loads = (Node::loads + ...);

  constexpr const elements_node& vector_node() const { return *this; }
  constexpr tracer* context() const {
    tracer* t = nullptr;
    ((t = t != nullptr ? t : part<K, Node>().context()), ...);
    return t;
  }
  constexpr void load(tracer& t) const { (part<K, Node>().load(t), ...); }
  constexpr void lower(tracer& t, value* out) const { ((out[K] = part<K, Node>().lower(t)), ...); }
  constexpr std::uint64_t hash() const {
    std::uint64_t h = 0;
    ((h = h * hash_factor + part<K, Node>().hash()), ...);
    return h;
  }

 private:
  template <std::uint32_t I, class N>
  constexpr const N& part() const {
    return static_cast<const vector_part<I, N>&>(*this).node;
  }
};

// Lowers a tree as part of the open statement.
template <class Tree>
constexpr void lower_vector(tracer& t, const Tree& tree, value* out) {
  if (t.probing()) {
    t.see(tree.hash());
    for (std::uint32_t k = 0; k < vector_of<Tree>::size(); ++k) out[k] = t.new_identity();
    return;
  }
  t.begin_lowering();
  if constexpr (Tree::loads != 0) tree.load(t);
  tree.lower(t, out);
  t.end_lowering();
}

template <class T, std::uint32_t N>
class val<vec<T, N>, in_kernel> {
 public:
  using vector_type = vec<T, N>;

  template <vector_source E>
  constexpr val(const E& e, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    static_assert(std::is_same_v<vector_of<E>, vector_type>,
                  "kaio: the val has another vector type than its value; write map with cast<T>(x)");
    const auto& tree = e.vector_node();
    using Tree = vector_node_of<E>;
    static_assert(
        Tree::bound,
        "kaio: a vector of literals alone knows no kernel; store it, or bind one element with t.let(value)");
    if constexpr (Tree::bound) {
      elements_.trace = &kernel_of(tree);
      elements_.trace->statement(line, file);
      lower_vector(*elements_.trace, tree, elements_.ids);
      elements_.scope = elements_.trace->scope();
    }
  }

  constexpr val(const val& other) : elements_(other.elements_) {
    elements_.lower(*elements_.trace, elements_.ids);
    elements_.scope = elements_.trace->scope();
  }
  template <class E>
  constexpr void operator=(const E&) {
    static_assert(never<E>, "kaio: a val never changes; keep the elements of a vector in vars");
  }
  constexpr void operator=(const val& other) { operator=<val>(other); }

  // Element k; k is known while the kernel is compiled.
  constexpr val<T> operator[](std::uint32_t k) const {
    tracer& t = *elements_.trace;
    return val<T>(t, elements_.at(checked_element<N>(t, k)).checked(t));
  }
  template <device I>
  constexpr auto operator[](const I&) const {
    static_assert(
        never<I>,
        "kaio: the elements of a vector are in registers; index them with a number of the host, or keep them in a local<T, N>");
    return refused{};
  }
  static constexpr std::uint32_t size() { return N; }

  constexpr const vector_leaf<T, N>& vector_node() const { return elements_; }

 private:
  vector_leaf<T, N> elements_ = {};
};

template <vector_source E>
val(const E&) -> val<vector_of<E>, in_kernel>;

// The right-hand side of a store of a vector.
template <class T, std::uint32_t N>
class vector_statement {
 public:
  template <vector_source E>
    requires(vector_node_of<E>::bound)
  constexpr vector_statement(const E& e, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE())
      : vector_statement(kernel_of(e.vector_node()), e, line, file) {}

  template <class E>
    requires(device<E> || host_number<E>)
  constexpr vector_statement(const E&) {
    static_assert(never<E>, "kaio: a number is stored to a vector; write make_vec(a, b, ...)");
  }

  template <class E>
  constexpr vector_statement(tracer& t, const E& e, std::uint32_t line, const char* file) {
    static_assert(std::is_same_v<vector_of<E>, vec<T, N>>,
                  "kaio: the vector stored has another type than its place; write map with cast<T>(x)");
    t.statement(line, file);
    if constexpr (std::is_same_v<vector_of<E>, vec<T, N>>) lower_vector(t, e.vector_node(), elements_);
  }

  constexpr const value* elements() const { return elements_; }

 private:
  value elements_[N] = {};
};

namespace detail {

template <class First, class... Rest>
struct first_device : first_device<Rest...> {};
template <device First, class... Rest>
struct first_device<First, Rest...> {
  using type = element<First>;
};
template <class Last>
  requires(!device<Last>)
struct first_device<Last> {
  using type = Last;  // only literals: the type of the last
};

template <class T, class... E>
constexpr auto list_elements(const E&... e) {
  using Node = elements_node<T, indices<sizeof...(E)>, std::remove_cvref_t<decltype(operand_node<T>(e))>...>;
  return Node{{operand_node<T>(e)}...};
}

// The trees of the arguments, made in order, because one may read memory.
template <class Indices, class... Tree>
struct trees;
template <std::uint32_t... I, class... Tree>
struct trees<index_list<I...>, Tree...> : vector_part<I, Tree>... {
  template <class F>
  constexpr auto apply(const F& f, std::uint32_t k) const {
    return f(element_at(static_cast<const vector_part<I, Tree>&>(*this).node, k)...);
  }

 private:
  template <class T, std::uint32_t N, bool ReadsMemory>
  static constexpr auto element_at(const vector_leaf<T, N, ReadsMemory>& tree, std::uint32_t k) {
    return tree.at(k);
  }
  template <class T>
  static constexpr auto element_at(const T& tree, std::uint32_t k) {
    return vector_element_node<T>{{}, tree, k};
  }
};

template <std::uint32_t, class T>
using repeated = T;

template <class F, class Trees, std::uint32_t... K>
constexpr auto map_elements(const F& f, const Trees& trees, index_list<K...>) {
  using R = decltype(trees.apply(f, 0));
  static_assert(device<R>, "kaio: the function given to map returns a device value for each element");
  if constexpr (device<R>) {
    using Node = elements_node<element<R>, index_list<K...>, repeated<K, node_of<R>>...>;
    return Node{{trees.apply(f, K).node()}...};
  }
}

}  // namespace detail

// Operators are for numbers: functions of vectors are written with map.
template <class A, class B>
concept vector_operands = (vector_source<A> && !device<B>) || (vector_source<B> && !device<A>);

template <class A>
constexpr int refuse_vector() {
  static_assert(never<A>,
                "kaio: an operator on vectors; write map([](auto a, auto b) { return a * b; }, v, w)");
  return 0;
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator+(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator-(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator*(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator/(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator%(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator&(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator|(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator^(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator==(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator!=(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator<(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator<=(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator>(const A&, const B&) {
  return refuse_vector<A>();
}
template <class A, class B>
  requires vector_operands<A, B>
constexpr auto operator>=(const A&, const B&) {
  return refuse_vector<A>();
}

// A vector of 2, 4, 8 or 16 elements of one type. Literals take that type.
template <class... E>
constexpr auto make_vec(const E&... elements) {
  static_assert(((device<E> || host_number<E> || host_constant<E>)&&...),
                "kaio: the elements of make_vec are device values and numbers");
  using T = typename detail::first_device<E...>::type;
  static_assert(((!device<E> || device_of<E, T>)&&...),
                "kaio: the elements of make_vec have different types; write cast<T>(x)");
  return detail::list_elements<T>(elements...);
}

// Applies f to elements 0 of the vectors, to elements 1, ...
template <class F, vector_source First, vector_source... Rest>
constexpr auto map(const F& f, const First& first, const Rest&... rest) {
  constexpr std::uint32_t n = vector_of<First>::size();
  static_assert(((vector_of<Rest>::size() == n) && ...),
                "kaio: map takes vectors of the same number of elements");
  using Trees = detail::trees<indices<1 + sizeof...(Rest)>, vector_node_of<First>, vector_node_of<Rest>...>;
  return detail::map_elements(f, Trees{{first.vector_node()}, {rest.vector_node()}...}, indices<n>{});
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::make_vec;
}  // namespace kaio

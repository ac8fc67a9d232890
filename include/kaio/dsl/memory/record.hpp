#pragma once
// Structs in a kernel: a parameter, or numbers in registers, read from memory or a variable or made from
// members. Pointers to members name the members.
//
//   struct view { u64 rows, columns; f32 scale[2]; };
//   [](thread t, in<f32> x, out<f32> y, val<view> v) { ... y[i] = x[i] * v[&view::scale][0]; }
//   val<view> other = views[i];

#include <kaio/dsl/memory/fields.hpp>

#include <cstdint>

namespace kaio::dsl {

// A struct of the device: a val, a var, a place in memory. Its read(tracer&, value*) gives the numbers, in the
// order of fields_of.
template <class E>
concept record_source = requires { typename E::record_type; };

// Where the members of a struct are: in a parameter, or in registers, each by its offset.
struct struct_values {
  struct entry {
    std::uint32_t offset;
    value id;
  };
  tracer* trace;
  std::uint32_t parameter = 0;
  std::uint32_t scope = 0;
  std::uint32_t count = 0;  // number of entries; 0: a parameter
  entry entries[max_fields] = {};

  constexpr value id_at(std::uint32_t offset) const {
    for (std::uint32_t k = 0; k < count; ++k)
      if (entries[k].offset == offset) return entries[k].id;
    return 0;
  }
};

template <class E>
constexpr auto refuse_member_change() {
  static_assert(never<E>, "kaio: a val never changes; declare a var to assign to");
}
template <class E>
constexpr auto refuse_array() {
  static_assert(
      never<E>,
      "kaio: an array in a struct is not assigned as a whole; write a[&S::member][k] = value in a loop of the host");
}

// A number in a struct.
template <scalar T>
class struct_member_node : public no_host_bool, public unchanging {
 public:
  using device_type = T;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = false;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;

  constexpr struct_member_node(const struct_values& from, std::uint32_t offset)
      : trace_(from.trace),
        parameter_(from.parameter),
        offset_(offset),
        id_(from.id_at(offset)),
        scope_(from.scope) {}
  constexpr struct_member_node(const struct_member_node&) = default;
  template <class E>
  constexpr void operator=(const E&) const {
    refuse_member_change<E>();
  }
  constexpr void operator=(const struct_member_node&) const { refuse_member_change<T>(); }

  constexpr const struct_member_node& node() const { return *this; }
  constexpr tracer* context() const { return trace_; }
  constexpr void load(tracer&) const {}
  constexpr value lower(tracer& t) const {
    if (id_ != 0) return leaf<T>{{}, trace_, id_, scope_}.checked(t);
    return t.parameter_member(ptx_type<T>, parameter_, offset_);
  }
  constexpr std::uint64_t hash() const {
    return id_ != 0 ? id_ : (std::uint64_t{parameter_} + 1) << 32 | offset_;
  }

 private:
  tracer* trace_;
  std::uint32_t parameter_, offset_;
  value id_;  // 0: in the parameter
  std::uint32_t scope_;
};

template <class V, class Indices = indices<V::size()>>
class struct_vector_node;
template <class T, std::uint32_t N, std::uint32_t... K>
class struct_vector_node<vec<T, N>, index_list<K...>> {
 public:
  using vector_type = vec<T, N>;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = false;
  static constexpr unsigned loads = 0;

  constexpr struct_vector_node(const struct_values& from, std::uint32_t offset)
      : elements_{struct_member_node<T>(from, offset + K * static_cast<std::uint32_t>(sizeof(T)))...} {}
  constexpr struct_vector_node(const struct_vector_node&) = default;
  template <class E>
  constexpr void operator=(const E&) const {
    refuse_member_change<E>();
  }
  constexpr void operator=(const struct_vector_node&) const { refuse_member_change<T>(); }

  constexpr const struct_vector_node& vector_node() const { return *this; }
  constexpr tracer* context() const { return elements_[0].context(); }
  constexpr void load(tracer&) const {}
  constexpr void lower(tracer& t, value* out) const { ((out[K] = elements_[K].lower(t)), ...); }
  constexpr std::uint64_t hash() const {
    std::uint64_t h = 0;
    ((h = h * hash_factor + elements_[K].hash()), ...);
    return h;
  }
  constexpr struct_member_node<T> operator[](std::uint32_t k) const {
    return elements_[checked_element<N>(*context(), k)];
  }

 private:
  struct_member_node<T> elements_[N];
};

template <class M>
constexpr auto struct_part(const struct_values& from, std::uint32_t offset);

// An array in a struct; host constants index it.
template <class E, std::size_t N>
class struct_array {
 public:
  constexpr struct_array(const struct_values& from, std::uint32_t offset) : from_(from), offset_(offset) {}
  constexpr struct_array(const struct_array&) = default;
  template <class A>
  constexpr void operator=(const A&) const {
    refuse_member_change<A>();
  }
  constexpr void operator=(const struct_array&) const { refuse_member_change<E>(); }

  constexpr auto operator[](std::uint64_t i) const {
    return struct_part<E>(
        from_, offset_ + checked_array_index<N>(*from_.trace, i) * static_cast<std::uint32_t>(sizeof(E)));
  }
  template <device I>
  constexpr auto operator[](const I&) const {
    static_assert(
        never<I>,
        "kaio: an array in a parameter is indexed by numbers of the host; copy it into a local<T, N>, or pass a buffer");
    return refused{};
  }
  static constexpr std::size_t size() { return N; }

 private:
  struct_values from_;
  std::uint32_t offset_;
};

// The numbers of a struct.
template <record S, class E>
constexpr void read_record(tracer& t, const E& e, value* numbers) {
  if (!t.probing()) return e.read(t, numbers);
  see_operand(t, e);
  for (std::uint32_t k = 0; k < fields_of<S>.size; ++k) numbers[k] = t.new_identity();
}

// The right-hand side of a store to a struct: opens the statement and reads the numbers.
template <class E>
struct not_a_record {
  static_assert(
      never<E>,
      "kaio: a struct is stored from one of its type: a val<S>, a var<S>, a place in memory, an S of the host; or member by member: y[i][&S::member] = value");
  static constexpr std::uint32_t checked = 0;
};

template <record S>
class record_statement {
 public:
  template <record_source E>
  constexpr record_statement(const E& e, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) {
    static_assert(std::is_same_v<typename E::record_type, S>,
                  "kaio: the struct stored has another type than its place");
    if constexpr (std::is_same_v<typename E::record_type, S>) {
      tracer& t = *e.context();
      t.statement(line, file);
      read_record<S>(t, e, numbers_);
    }
  }
  // A struct of the host; its numbers are constants.
  constexpr record_statement(const S& s, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE())
      : line_(line), file_(file), is_host_(true) {
    std::uint64_t* next = bits_;
    detail::append_bits(s, next);
  }
  template <class E>
    requires(!record_source<E> && !std::is_same_v<E, S> && !std::is_same_v<E, refused>)
  constexpr record_statement(const E&, std::uint32_t = not_a_record<E>::checked) {}
  constexpr record_statement(refused) {}

  constexpr void enter(tracer& t) {
    if (!is_host_) return;
    is_host_ = false;
    t.statement(line_, file_);
    for (std::uint32_t k = 0; k < fields_of<S>.size && t.probing(); ++k) {
      t.see(bits_[k]);
      numbers_[k] = t.identity();
    }
    if (t.probing()) return;
    for (std::uint32_t k = 0; k < fields_of<S>.size; ++k)
      numbers_[k] = t.constant(fields_of<S>.at[k].type, bits_[k]);
  }
  constexpr const value* numbers() const { return numbers_; }

 private:
  value numbers_[max_fields] = {};
  std::uint64_t bits_[max_fields] = {};
  std::uint32_t line_ = 0;
  const char* file_ = nullptr;
  bool is_host_ = false;
};

// A struct that a launch passes by value, or whose numbers are in registers.
template <record S>
class val<S, in_kernel> {
 public:
  using record_type = S;

  constexpr val(tracer& t, std::uint32_t parameter, std::uint32_t offset)
      : from_{&t, parameter}, offset_(offset) {}
  // Numbers that the library has lowered itself, in the order of fields_of.
  constexpr val(tracer& t, const value* numbers) : from_(in_registers(t, numbers)) {}

  template <record_source E>
  constexpr val(const E& e, std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE())
      : val(*e.context(), record_statement<S>(e, line, file).numbers()) {}

  // A struct of the host, as constants of the kernel.
  template <class Thread>
    requires is_thread<Thread>
  constexpr val(const Thread& t, const S& s, std::uint32_t line = __builtin_LINE(),
                const char* file = __builtin_FILE())
      : val(t.trace(), record_statement<S>(s, line, file)) {}

  constexpr val(const val& other) = default;
  template <class E>
  constexpr void operator=(const E&) {
    static_assert(never<E>, "kaio: a val never changes; declare a var to assign to");
  }
  constexpr void operator=(const val& other) { operator=<val>(other); }

  // A member: a number, a vector, an array, or a struct again.
  template <class M, class C>
    requires std::is_base_of_v<C, S>
  constexpr auto operator[](M C::*m) const {
    require_member<M>();
    if constexpr (member<M>)
      return struct_part<M>(from_, offset_ + offset_of<S>(m));
    else
      return refused{};
  }

  constexpr tracer* context() const { return from_.trace; }
  constexpr std::uint64_t hash() const {
    std::uint64_t h = std::uint64_t{from_.parameter} << 32 | offset_;
    for (std::uint32_t k = 0; k < from_.count; ++k) h = h * hash_factor + from_.entries[k].id;
    return h;
  }
  constexpr void read(tracer& t, value* out) const {
    for (const field& f : fields_of<S>.at) {
      const std::uint32_t at = offset_ + f.offset;
      *out++ = from_.count != 0 ? leaf<u32>{{}, from_.trace, from_.id_at(at), from_.scope}.checked(t)
                                : t.parameter_member(f.type, from_.parameter, at);
    }
  }

 private:
  template <class M>
  friend constexpr auto struct_part(const struct_values& from, std::uint32_t offset);
  constexpr val(const struct_values& from, std::uint32_t offset) : from_(from), offset_(offset) {}
  constexpr val(tracer& t, record_statement<S> s) : from_(in_registers(t, entered(t, s))) {}

  static constexpr const value* entered(tracer& t, record_statement<S>& s) {
    s.enter(t);
    return s.numbers();
  }
  static constexpr struct_values in_registers(tracer& t, const value* numbers) {
    struct_values result{&t, 0, t.scope(), fields_of<S>.size};
    for (std::uint32_t k = 0; k < fields_of<S>.size; ++k)
      result.entries[k] = {fields_of<S>.at[k].offset, numbers[k]};
    return result;
  }

  struct_values from_;
  std::uint32_t offset_ = 0;
};

template <record_source E>
val(const E&) -> val<typename E::record_type, in_kernel>;
template <class Thread, record S>
val(const Thread&, const S&) -> val<S, in_kernel>;

template <class M>
constexpr auto struct_part(const struct_values& from, std::uint32_t offset) {
  require_member<M>();
  if constexpr (array_facts<M>::is_array)
    return struct_array<typename array_facts<M>::element, array_facts<M>::size>(from, offset);
  else if constexpr (scalar<M>)
    return struct_member_node<M>(from, offset);
  else if constexpr (is_vec<M>)
    return struct_vector_node<M>(from, offset);
  else if constexpr (record<M>)
    return val<M>(from, offset);
}

namespace detail {

template <class E>
constexpr tracer* kernel_of_part(const E& e) {
  if constexpr (device<E>)
    return e.node().context();
  else if constexpr (vector_source<E>)
    return e.vector_node().context();
  else if constexpr (record_source<E>)
    return e.context();
  else
    return nullptr;
}

// The numbers of a member of type M.
template <class M, class E>
constexpr void lower_part(tracer& t, value*& next, const E& e) {
  if constexpr (scalar<M>) {
    static_assert(device<E> || host_number<E> || host_constant<E>,
                  "kaio: a number of a struct is made of a device value or a number");
    static_assert(!device<E> || device_of<E, M>,
                  "kaio: a member of the struct has another type than its value; write cast<T>(x)");
    *next = lower(t, operand_node<M>(e));
  } else if constexpr (is_vec<M>) {
    static_assert(vector_source<E>,
                  "kaio: a vector of a struct is made of a vector; write make_vec(a, b, ...)");
    static_assert(std::is_same_v<vector_of<E>, M>,
                  "kaio: a member of the struct has another vector type than its value");
    lower_vector(t, e.vector_node(), next);
  } else if constexpr (record_source<E>) {
    static_assert(std::is_same_v<typename E::record_type, M>,
                  "kaio: a member of the struct has another type than its value");
    read_record<M>(t, e, next);
  } else {
    static_assert(
        never<M>,
        "kaio: a struct in a struct is made of one; an array is written by a var: s[&S::member][0] = value");
  }
  next += member_fields<M>::numbers;
}

template <class List>
struct make_members;
template <class... M>
struct make_members<members_of<M...>> {
  template <class... E>
  static constexpr void lower(tracer& t, value* next, const E&... e) {
    (lower_part<M>(t, next, e), ...);
  }
};

}  // namespace detail

// A struct made of its members in order: numbers, vectors and structs. Literals take the member's type.
//
//   return make_struct<complex>(a[&complex::re] * s, 0);
template <record S, class... E>
constexpr val<S> make_struct(const E&... members) {
  using list = detail::record_members<S>;
  static_assert(sizeof...(E) == list::count, "kaio: make_struct takes a value for each member of the struct");
  tracer* kernel = nullptr;
  ((kernel = kernel != nullptr ? kernel : detail::kernel_of_part(members)), ...);
  if (kernel == nullptr)
    kernel_error("kaio: literals alone know no kernel; write val name(t, S{...}) with the thread");
  kernel->statement(0, nullptr);
  value numbers[max_fields] = {};
  if constexpr (sizeof...(E) == list::count) detail::make_members<list>::lower(*kernel, numbers, members...);
  return val<S>(*kernel, numbers);
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::make_struct;
}  // namespace kaio

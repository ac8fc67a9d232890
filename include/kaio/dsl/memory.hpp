#pragma once
// Memory: the pointer parameters of a kernel and static shared arrays. Indexing names a cell; storing to one
// or reading one happens at that point of the kernel. What an `in` points to is never written while the
// kernel runs, so its loads are pure (ld.global.nc): they may be shared and removed.
//
//   y[i] = x[i] * 2.0f;                 // in<f32> x, out<f32> y
//   shared<f32, 16, 17> tile(t);        // rows of 17: no bank conflicts by column
//   tile[row][column] = x[i];

#include <kaio/dsl/statement.hpp>

#include <cstdint>

namespace kaio::dsl {

class thread;

template <class I>
concept index = device<I> || std::is_integral_v<I>;

// The type of an index; an integer literal becomes i64.
template <class I>
struct index_type {
  using type = i64;
};
template <device I>
struct index_type<I> {
  using type = element<I>;
};

template <index I>
constexpr auto index_node(const I& i) {
  using T = typename index_type<I>::type;
  static_assert(integer<T>, "kaio: an index is i32, u32, i64 or u64; write cast<u32>(x)");
  return operand_node<T>(i);
}

template <scalar T>
inline constexpr std::uint32_t bytes_of = std::is_same_v<T, bool> ? 1 : sizeof(T);

// Where a cell lies in global memory.
template <scalar T, class Index>
struct global_location {
  using index_type = Index;
  static constexpr opcode load_op = opcode::ld_global;
  static constexpr opcode store_op = opcode::st_global;
  tracer* trace;
  value base;
  Index index;

  constexpr tracer::address find() const {
    const value i = lower(*trace, index);
    return trace->global_place(base, ptx_type<element<Index>>, i, bytes_of<T>);
  }
};

// Where a cell lies in a shared array.
template <scalar T, class Index>
struct shared_location {
  using index_type = Index;
  static constexpr opcode load_op = opcode::ld_shared;
  static constexpr opcode store_op = opcode::st_shared;
  tracer* trace;
  std::uint32_t array;
  Index index;

  constexpr tracer::address find() const {
    const value i = lower(*trace, index);
    return trace->shared_place(array, ptx_type<element<Index>>, i, bytes_of<T>);
  }
};

// Compilers disagree on which side of `m[k[i]] = value` is evaluated first, and a load is an effect.
template <class Location>
constexpr void require_settled_index() {
  static_assert(
      !Location::index_type::reads_memory,
      "kaio: the index of a store reads memory that may change; bind it first: val j = k[i]; m[j] = value");
}

// Storing to a place, common to all cells that can be written.
template <scalar T, class Location>
constexpr void store(const Location& at, statement<T>& s) {
  require_settled_index<Location>();
  tracer& t = *at.trace;
  s.enter(t);
  if (t.probing()) return;
  const value v = s.get(t);
  t.store(Location::store_op, ptx_type<T>, at.find(), v);
}

// A cell of an out parameter: it can be written.
template <scalar T, class Location>
class out_cell {
 public:
  constexpr explicit out_cell(const Location& at) : at_(at) {}
  out_cell(const out_cell&) = delete;

  constexpr void operator=(statement<T> s) const { store<T>(at_, s); }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    statement<T> s = statement<T>::in(*at_.trace, e);
    store<T>(at_, s);
  }
  constexpr void operator=(const out_cell&) const { unreadable<T>(); }

  template <class E>
  constexpr void operator+=(const E&) const {
    unreadable<E>();
  }
  template <class E>
  constexpr void operator-=(const E&) const {
    unreadable<E>();
  }
  template <class E>
  constexpr void operator*=(const E&) const {
    unreadable<E>();
  }
  template <class E>
  constexpr void operator/=(const E&) const {
    unreadable<E>();
  }

 private:
  template <class E>
  static constexpr void unreadable() {
    static_assert(never<E>, "kaio: an out parameter cannot be read; make it inout<T>");
  }
  Location at_;
};

// A cell that can be read and written. Reading takes its value at that point of the kernel.
template <scalar T, class Location>
class cell : public no_host_bool {
 public:
  using device_type = T;
  constexpr explicit cell(const Location& at) : at_(at) {}
  cell(const cell&) = delete;

  constexpr void operator=(statement<T> s) const { store<T>(at_, s); }
  constexpr void operator=(const cell& other) const { *this = statement<T>(other.node(), 0, nullptr); }
  template <device E>
    requires(!node_of<E>::bound)
  constexpr void operator=(const E& e) const {
    *this = statement<T>::in(*at_.trace, e);
  }

  constexpr void operator+=(statement<T> s) const { combine(operation::add, s); }
  constexpr void operator-=(statement<T> s) const { combine(operation::sub, s); }
  constexpr void operator*=(statement<T> s) const { combine(operation::mul, s); }
  constexpr void operator/=(statement<T> s) const { combine(operation::div, s); }

  constexpr leaf<T, true> node() const {
    tracer& t = *at_.trace;
    const value loaded = t.probing() ? 0 : t.load(Location::load_op, ptx_type<T>, at_.find());
    return {{}, &t, loaded, t.scope()};
  }

 private:
  constexpr void combine(operation op, statement<T>& s) const {
    require_settled_index<Location>();
    tracer& t = *at_.trace;
    s.enter(t);
    if (t.probing()) return;
    const tracer::address at = at_.find();
    const value current = t.load(Location::load_op, ptx_type<T>, at);
    t.store(Location::store_op, ptx_type<T>, at, s.combine(t, op, current, ptx_type<T>));
  }
  Location at_;
};

// A load from an in parameter: an expression like any other.
template <scalar T, class Index>
struct load_node : no_host_bool {
  using device_type = T;
  static constexpr bool bound = true;
  static constexpr bool reads_memory = Index::reads_memory;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 1 + Index::loads;
  global_location<T, Index> at;

  constexpr const load_node& node() const { return *this; }
  constexpr tracer* context() const { return at.trace; }
  constexpr void load(tracer& t) const { lower(t); }
  constexpr value lower(tracer& t) const {
    const value i = at.index.lower(t);
    return t.load_read_only(ptx_type<T>, t.global_place(at.base, ptx_type<element<Index>>, i, bytes_of<T>));
  }
  template <class E>
  constexpr void operator=(const E&) const {
    static_assert(never<E>, "kaio: an in parameter cannot be written; make it out<T> or inout<T>");
  }
};

template <class T>
struct pointer {
  static_assert(scalar<T>,
                "kaio: the elements of a pointer parameter are f32, f64, i32, u32, i64, u64 or bool");
  using element_type = T;
  tracer* trace;
  value base;
};

// A pointer parameter that the kernel only reads, and that nothing writes while it runs.
template <class T>
struct in : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    using Index = decltype(index_node(i));
    return load_node<T, Index>{{}, {this->trace, this->base, index_node(i)}};
  }
};

// A pointer parameter that the kernel only writes.
template <class T>
struct out : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    using Location = global_location<T, decltype(index_node(i))>;
    return out_cell<T, Location>(Location{this->trace, this->base, index_node(i)});
  }
};

// A pointer parameter that the kernel reads and writes.
template <class T>
struct inout : pointer<T> {
  template <index I>
  constexpr auto operator[](const I& i) const {
    using Location = global_location<T, decltype(index_node(i))>;
    return cell<T, Location>(Location{this->trace, this->base, index_node(i)});
  }
};

// A shared array of one dimension whose size need not be a template argument: `shared_array<f32> partial(t,
// warps);`
template <scalar T>
class shared_array {
 public:
  template <class Thread>
    requires std::is_same_v<Thread, thread>
  constexpr shared_array(const Thread& t, std::uint64_t count) : shared_array(t.trace(), count) {}

  template <index I>
  constexpr auto operator[](const I& i) const {
    using Location = shared_location<T, decltype(index_node(i))>;
    return cell<T, Location>(Location{trace_, array_, index_node(i)});
  }

 private:
  constexpr shared_array(tracer& t, std::uint64_t count) : trace_(&t) {
    if (count == 0 || count > 49152) kernel_error("kaio: a shared array needs 1 element to 48 KB");
    if (!t.probing()) array_ = t.new_shared(count * bytes_of<T>, bytes_of<T>);
  }
  tracer* trace_;
  std::uint32_t array_ = 0;
};

// A row of a shared array of several dimensions: indexed until one element is left.
template <scalar T, class Prefix, std::uint32_t... Rest>
class shared_row;

template <scalar T, class Prefix, std::uint32_t Next, std::uint32_t... Rest>
class shared_row<T, Prefix, Next, Rest...> {
 public:
  constexpr shared_row(const shared_array<T>& elements, const Prefix& prefix)
      : elements_(elements), prefix_(prefix) {}

  template <index I>
  constexpr auto operator[](const I& i) const {
    const auto linear = prefix_ * Next + i;
    if constexpr (sizeof...(Rest) == 0)
      return elements_[linear];
    else
      return shared_row<T, decltype(linear), Rest...>(elements_, linear);
  }

 private:
  shared_array<T> elements_;
  Prefix prefix_;
};

// A static array in the shared memory of the block: at most 48 KB in all. Its contents are undefined until
// written.
template <scalar T, std::uint32_t First, std::uint32_t... Rest>
class shared {
  static_assert(First > 0 && ((Rest > 0) && ...),
                "kaio: a shared array needs at least one element in each dimension");

 public:
  template <class Thread>
    requires std::is_same_v<Thread, thread>
  constexpr explicit shared(const Thread& t) : elements_(t, std::uint64_t{First} * (Rest * ... * 1ull)) {}

  static constexpr std::uint32_t size() { return First * (Rest * ... * 1u); }

  template <index I>
  constexpr auto operator[](const I& i) const {
    if constexpr (sizeof...(Rest) == 0) {
      return elements_[i];
    } else {
      static_assert(device<I>,
                    "kaio: the first index of a shared array of several dimensions is a device value; "
                    "bind it: val row = 0u");
      return shared_row<T, node_of<I>, Rest...>(elements_, i.node());
    }
  }

 private:
  shared_array<T> elements_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::in;
using dsl::inout;
using dsl::out;
using dsl::shared;
using dsl::shared_array;
}  // namespace kaio

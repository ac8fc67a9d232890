#pragma once
// The thread that a kernel describes: its place in the grid, control flow, and the barrier of its block. A
// kernel takes it as its first parameter.
//
//   val i = t.global_id();
//   if (auto in_range = t.when(i < n)) { ... }

#include <kaio/dsl/control/control.hpp>
#include <kaio/dsl/control/range.hpp>
#include <kaio/dsl/control/several.hpp>
#include <kaio/dsl/expression/operators.hpp>
#include <kaio/dsl/expression/special_register.hpp>
#include <kaio/dsl/expression/val.hpp>
#include <kaio/dsl/expression/var.hpp>

#include <cstdint>

namespace kaio::dsl {

// The common type of a range's bounds and step: that of the first device value among them, otherwise that of the first
// bound.
template <class First, class Last, class Step>
struct range_type {
  static constexpr auto pick() {
    if constexpr (device<First>)
      return element<First>{};
    else if constexpr (device<Last>)
      return element<Last>{};
    else if constexpr (device<Step>)
      return element<Step>{};
    else
      return First{};
  }
  using type = decltype(pick());
};

template <class T, class E>
constexpr auto require_range_operand() {
  if constexpr (device<E>)
    static_assert(std::is_same_v<element<E>, T>,
                  "kaio: the bounds and the step of a range() have different types; write cast<T>(x)");
  else
    static_assert(std::is_integral_v<E> || host_constant<E>,
                  "kaio: the bounds and the step of a range() are integers");
}

class thread {
  // Declared first: in constant evaluation, clang instantiates only what it has already read.
  template <scalar T>
  static constexpr auto require_index() {
    static_assert(
        std::is_same_v<T, u32> || std::is_same_v<T, u64> || std::is_same_v<T, i32> || std::is_same_v<T, i64>,
        "kaio: the index of a thread is i32, u32, i64 or u64");
  }

  template <scalar T, class Block, class Thread>
  constexpr val<T> global_index(const Block& block, std::uint32_t width, const Thread& rank,
                                std::uint32_t line, const char* file) const {
    require_index<T>();
    return let(cast<T>(block) * width + cast<T>(rank), line, file);
  }

  template <scalar T>
  constexpr val<T> read(special_register r, std::uint32_t line, const char* file) const {
    trace_->statement(line, file);
    if (trace_->probing()) return val<T>(*trace_, trace_->new_identity());
    return val<T>(*trace_, trace_->read_special(r, ptx_type<T>));
  }

 public:
  constexpr thread(tracer& t, ptx::dim3 block) : trace_(&t), block_(block) {}

  // threads of the block; known while the kernel is compiled
  constexpr ptx::dim3 block_dim() const { return block_; }
  constexpr std::uint32_t block_size() const { return static_cast<std::uint32_t>(block_.count()); }

  // Binds any expression, even one that knows no kernel.
  template <device E>
  constexpr val<element<E>> let(const E& e, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) const {
    trace_->statement(line, file);
    return val<element<E>>(*trace_, lower(*trace_, e.node()));
  }
  // Binds a number of the host, which knows no kernel: t.let(0u) is a val<u32>.
  template <host_number L>
  constexpr val<L> let(L number, std::uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) const {
    return let(make_literal<L>(number), line, file);
  }

  // Binds a struct that is a variable or a place in memory.
  template <class E>
    requires requires { typename E::record_type; }
  constexpr auto let(const E& e, std::uint32_t line = __builtin_LINE(),
                     const char* file = __builtin_FILE()) const {
    return val<typename E::record_type>(e, line, file);
  }

  // Several vals at once, computed from left to right: auto [a, b] = t.vals(x[i], 0u).
  template <class A, class B>
  constexpr auto vals(const A& a, const B& b, call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<val<bound_type<A>>, val<bound_type<B>>>;
    return result{let(a, at.line, at.file), let(b, at.line, at.file)};
  }
  template <class A, class B, class C>
  constexpr auto vals(const A& a, const B& b, const C& c,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<val<bound_type<A>>, val<bound_type<B>>, val<bound_type<C>>>;
    return result{let(a, at.line, at.file), let(b, at.line, at.file), let(c, at.line, at.file)};
  }
  template <class A, class B, class C, class D>
  constexpr auto vals(const A& a, const B& b, const C& c, const D& d,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<val<bound_type<A>>, val<bound_type<B>>, val<bound_type<C>>, val<bound_type<D>>>;
    return result{let(a, at.line, at.file), let(b, at.line, at.file), let(c, at.line, at.file),
                  let(d, at.line, at.file)};
  }
  template <class A, class B, class C, class D, class E>
  constexpr auto vals(const A& a, const B& b, const C& c, const D& d, const E& e,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<val<bound_type<A>>, val<bound_type<B>>, val<bound_type<C>>, val<bound_type<D>>,
                           val<bound_type<E>>>;
    return result{let(a, at.line, at.file), let(b, at.line, at.file), let(c, at.line, at.file),
                  let(d, at.line, at.file), let(e, at.line, at.file)};
  }
  template <class A, class B, class C, class D, class E, class F>
  constexpr auto vals(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<val<bound_type<A>>, val<bound_type<B>>, val<bound_type<C>>, val<bound_type<D>>,
                           val<bound_type<E>>, val<bound_type<F>>>;
    return result{let(a, at.line, at.file), let(b, at.line, at.file), let(c, at.line, at.file),
                  let(d, at.line, at.file), let(e, at.line, at.file), let(f, at.line, at.file)};
  }
  // Several vars at once: auto [sum, count] = t.vars(0.0f, 0u).
  template <class A, class B>
  constexpr auto vars(const A& a, const B& b, call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<var<bound_type<A>>, var<bound_type<B>>>;
    return result{var<bound_type<A>>(*this, a, at.line, at.file),
                  var<bound_type<B>>(*this, b, at.line, at.file)};
  }
  template <class A, class B, class C>
  constexpr auto vars(const A& a, const B& b, const C& c,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<var<bound_type<A>>, var<bound_type<B>>, var<bound_type<C>>>;
    return result{var<bound_type<A>>(*this, a, at.line, at.file),
                  var<bound_type<B>>(*this, b, at.line, at.file),
                  var<bound_type<C>>(*this, c, at.line, at.file)};
  }
  template <class A, class B, class C, class D>
  constexpr auto vars(const A& a, const B& b, const C& c, const D& d,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<var<bound_type<A>>, var<bound_type<B>>, var<bound_type<C>>, var<bound_type<D>>>;
    return result{
        var<bound_type<A>>(*this, a, at.line, at.file), var<bound_type<B>>(*this, b, at.line, at.file),
        var<bound_type<C>>(*this, c, at.line, at.file), var<bound_type<D>>(*this, d, at.line, at.file)};
  }
  template <class A, class B, class C, class D, class E>
  constexpr auto vars(const A& a, const B& b, const C& c, const D& d, const E& e,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<var<bound_type<A>>, var<bound_type<B>>, var<bound_type<C>>, var<bound_type<D>>,
                           var<bound_type<E>>>;
    return result{
        var<bound_type<A>>(*this, a, at.line, at.file), var<bound_type<B>>(*this, b, at.line, at.file),
        var<bound_type<C>>(*this, c, at.line, at.file), var<bound_type<D>>(*this, d, at.line, at.file),
        var<bound_type<E>>(*this, e, at.line, at.file)};
  }
  template <class A, class B, class C, class D, class E, class F>
  constexpr auto vars(const A& a, const B& b, const C& c, const D& d, const E& e, const F& f,
                      call_site at = {__builtin_LINE(), __builtin_FILE()}) const {
    using result = several<var<bound_type<A>>, var<bound_type<B>>, var<bound_type<C>>, var<bound_type<D>>,
                           var<bound_type<E>>, var<bound_type<F>>>;
    return result{
        var<bound_type<A>>(*this, a, at.line, at.file), var<bound_type<B>>(*this, b, at.line, at.file),
        var<bound_type<C>>(*this, c, at.line, at.file), var<bound_type<D>>(*this, d, at.line, at.file),
        var<bound_type<E>>(*this, e, at.line, at.file), var<bound_type<F>>(*this, f, at.line, at.file)};
  }

  // The index of this thread in the grid along one dimension: block_idx_x * block_dim_x + thread_idx_x. u32 wraps:
  // a grid of more than 2^32 threads needs global_id<u64>().
  template <scalar T = u32>
  constexpr val<T> global_id(std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    return global_id_x<T>(line, file);
  }
  template <scalar T = u32>
  constexpr val<T> global_id_x(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    return global_index<T>(block_idx_x(), block_.x, thread_idx_x(), line, file);
  }
  template <scalar T = u32>
  constexpr val<T> global_id_y(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    return global_index<T>(block_idx_y(), block_.y, thread_idx_y(), line, file);
  }
  template <scalar T = u32>
  constexpr val<T> global_id_z(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    return global_index<T>(block_idx_z(), block_.z, thread_idx_z(), line, file);
  }

  // The index of this thread in its block, x fastest.
  constexpr val<u32> thread_rank(std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) const {
    if (block_.y == 1 && block_.z == 1) return let(thread_idx_x(), line, file);
    return let((thread_idx_z() * block_.y + thread_idx_y()) * block_.x + thread_idx_x(), line, file);
  }

  // The index of this thread's block in the grid, x fastest.
  template <scalar T = u32>
  constexpr val<T> block_rank(std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) const {
    require_index<T>();
    return let(
        (cast<T>(block_idx_z()) * cast<T>(grid_dim_y()) + cast<T>(block_idx_y())) * cast<T>(grid_dim_x()) +
            cast<T>(block_idx_x()),
        line, file);
  }

  // The index of this thread in the grid: block_rank * block_size + thread_rank.
  template <scalar T = u32>
  constexpr val<T> grid_rank(std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    const val block = block_rank<T>(line, file);
    const val in_block = thread_rank(line, file);
    return let(block * cast<T>(val<u32, literal<u32>>(block_size())) + cast<T>(in_block), line, file);
  }

  // The index of this thread's warp in its block.
  constexpr val<u32> warp_rank(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    return let(thread_rank() >> 5, line, file);
  }

  // The index of this thread in its warp. Threads fill warps in the order of their rank.
  constexpr val<u32> lane_rank(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    if (block_size() <= 32) return thread_rank(line, file);
    return let(thread_rank() & 31, line, file);
  }

  // if (auto g = t.when(condition)) { body }: the body runs in the threads where the condition holds.
  template <class C>
  constexpr guard when(const C& condition, std::uint32_t line = __builtin_LINE(),
                       const char* file = __builtin_FILE()) const {
    static_assert(device<C>, "kaio: when() takes a device condition; a host condition is a plain if");
    if constexpr (device<C>) {
      static_assert(std::is_same_v<element<C>, bool>, "kaio: when() takes a condition; write x != 0");
      trace_->statement(line, file);
      return guard(*trace_, lower(*trace_, condition.node()));
    }
  }

  // Directly after the body of a when(): runs its body in the threads that did not run that one.
  constexpr guard otherwise(std::uint32_t line = __builtin_LINE(),
                            const char* file = __builtin_FILE()) const {
    trace_->statement(line, file);
    return guard(*trace_);
  }

  // for (auto k : t.range(first, last, step)) { body }
  template <class First, class Last, class Step = int>
  constexpr auto range(const First& first, const Last& last, const Step& step = 1,
                       std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    using T = typename range_type<First, Last, Step>::type;
    static_assert(integer<T>, "kaio: the bounds of a range() are integers");
    require_range_operand<T, First>();
    require_range_operand<T, Last>();
    require_range_operand<T, Step>();
    trace_->statement(line, file);
    const value a = bound<T>(first);
    const value b = bound<T>(last);
    const value s = bound<T>(step);
    return range_loop<T>(*trace_, a, b, s);
  }

  template <class N>
  constexpr void range(const N&) const {
    static_assert(never<N>, "kaio: range() takes the first and the last: t.range(0u, n)");
  }

  // for (auto i : t.grid_stride(n)) { body }: the threads of the whole grid share 0, 1, ... n - 1. The index has the
  // type of n; the grid may have more threads than that type counts. Blocks and grids of one dimension.
  template <class N>
  constexpr auto grid_stride(const N& n, std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    using T = typename range_type<N, N, N>::type;
    require_index<T>();
    if (block_.count() != block_.x)
      trace_->fail_next(
          "kaio: grid_stride() is for blocks of one dimension; write t.range(t.grid_rank(), n, stride)");
    trace_->statement(line, file);
    const value last = lower(*trace_, operand_node<T>(n));
    if (trace_->probing()) return range_loop<T>::upward(*trace_, 0, last, 0);
    // If the type cannot hold an index, the index is past n: it saturates.
    const value width = trace_->constant(ptx::type::u32, block_.x);
    const form product{opcode::mul, in_order(modifier::wide), ptx::type::u32, ptx::type::none,
                       ptx::type::u64};
    const value block = trace_->pure(product, trace_->special(special_register::ctaid_x), width);
    const value rank = trace_->cast(ptx::type::u64, ptx::type::u32, trace_->special(special_register::tid_x));
    const value first = trace_->binary(operation::add, ptx::type::u64, block, rank);
    const value stride = trace_->pure(product, trace_->special(special_register::nctaid_x), width);
    const value from = trace_->cast_saturated(ptx_type<T>, ptx::type::u64, first);
    const value step = trace_->cast_saturated(ptx_type<T>, ptx::type::u64, stride);
    return range_loop<T>::upward(*trace_, from, last, step);
  }

  // for (auto i : t.block_stride(n)) { body }: the threads of the block share 0, 1, ... n - 1.
  template <class N>
  constexpr auto block_stride(const N& n, std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) const {
    using T = typename range_type<N, N, N>::type;
    require_index<T>();
    const val first = let(cast<T>(thread_rank(line, file)), line, file);
    return range(first, n, block_size(), line, file);
  }

  // for (auto l : t.loop()) { ... l.break_if(condition); ... }
  constexpr endless_loop loop(std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) const {
    trace_->statement(line, file);
    return endless_loop(*trace_);
  }

  // The barrier of the block (bar.sync 0): every thread of the block must reach it; orders memory among them.
  constexpr void barrier(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    trace_->statement(line, file);
    if (!trace_->probing()) trace_->barrier();
  }

  // --- registers that change while the thread runs, read at this place

  // A counter of the multiprocessor's clock cycles; the 32-bit one wraps.
  constexpr val<u32> clock(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    return read<u32>(special_register::clock, line, file);
  }
  constexpr val<u64> clock64(std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    return read<u64>(special_register::clock64, line, file);
  }
  // Nanoseconds; the rate of its updates depends on the device.
  constexpr val<u64> globaltimer(std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) const {
    return read<u64>(special_register::globaltimer, line, file);
  }
  // The multiprocessor that the thread is on.
  constexpr val<u32> sm_id(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) const {
    return read<u32>(special_register::smid, line, file);
  }

  constexpr tracer& trace() const { return *trace_; }

 private:
  // A bound of a range. In a probe, a number of the host is still known.
  template <scalar T, class E>
  constexpr value bound(const E& e) const {
    const auto node = operand_node<T>(e);
    const value v = lower(*trace_, node);
    if constexpr (!device<E>)
      if (trace_->probing()) return trace_->constant(ptx_type<T>, node.bits);
    return v;
  }

  tracer* trace_;
  ptx::dim3 block_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::thread;
}  // namespace kaio

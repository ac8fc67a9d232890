#pragma once
// The thread that a kernel describes: its place in the grid, control flow, and the barrier of its block. A
// kernel takes it as its first parameter.
//
//   val i = t.global_id();
//   if (auto in_range = t.when(i < n)) { ... }

#include <kaio/dsl/control.hpp>
#include <kaio/dsl/memory.hpp>
#include <kaio/dsl/operators.hpp>
#include <kaio/dsl/val.hpp>
#include <kaio/dsl/var.hpp>

#include <cstdint>

namespace kaio::dsl {

// A special register: a pure leaf that needs no kernel to be written.
template <special_register R>
struct special_node : no_host_bool {
  using device_type = u32;
  static constexpr bool bound = false;
  static constexpr bool reads_memory = false;
  static constexpr bool is_product = false;
  static constexpr unsigned loads = 0;
  constexpr const special_node& node() const { return *this; }
  constexpr tracer* context() const { return nullptr; }
  constexpr void load(tracer&) const {}
  constexpr value lower(tracer& t) const { return t.special(R); }
};

// Indices and sizes in one dimension; u32. Source: PTX ISA, "Special Registers" (%tid, %ctaid, %ntid,
// %nctaid).
constexpr special_node<special_register::tid_x> thread_idx_x() { return {}; }
constexpr special_node<special_register::tid_y> thread_idx_y() { return {}; }
constexpr special_node<special_register::tid_z> thread_idx_z() { return {}; }
constexpr special_node<special_register::ctaid_x> block_idx_x() { return {}; }
constexpr special_node<special_register::ctaid_y> block_idx_y() { return {}; }
constexpr special_node<special_register::ctaid_z> block_idx_z() { return {}; }
constexpr special_node<special_register::ntid_x> block_dim_x() { return {}; }
constexpr special_node<special_register::ntid_y> block_dim_y() { return {}; }
constexpr special_node<special_register::ntid_z> block_dim_z() { return {}; }
constexpr special_node<special_register::nctaid_x> grid_dim_x() { return {}; }
constexpr special_node<special_register::nctaid_y> grid_dim_y() { return {}; }
constexpr special_node<special_register::nctaid_z> grid_dim_z() { return {}; }
// The lane within the warp, 0 to 31.
constexpr special_node<special_register::laneid> lane_id() { return {}; }

// The common type of a range's bounds and step: that of the first device value among them, or of the first
// literal.
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
constexpr void require_range_operand() {
  if constexpr (device<E>)
    static_assert(std::is_same_v<element<E>, T>,
                  "kaio: the bounds and the step of a range() have different types; write cast<T>(x)");
  else
    static_assert(std::is_integral_v<E> || host_constant<E>,
                  "kaio: the bounds and the step of a range() are integers");
}

class thread {
 public:
  constexpr thread(tracer& t, ptx::dim3 block) : trace_(&t), block_(block) {}

  // threads of the block; known while the kernel is compiled
  constexpr ptx::dim3 block_dim() const { return block_; }
  constexpr std::uint32_t block_size() const { return static_cast<std::uint32_t>(block_.count()); }

  // Binds any expression, one that knows no kernel too.
  template <device E>
  constexpr val<element<E>> let(const E& e, std::uint32_t line = __builtin_LINE(),
                                const char* file = __builtin_FILE()) const {
    trace_->statement(line, file);
    return val<element<E>>(*trace_, lower(*trace_, e.node()));
  }

  // The index of this thread along x in the whole grid: block_idx_x * block_dim_x + thread_idx_x. It wraps in
  // u32; a grid of more than 2^32 threads asks for global_id<u64>().
  template <scalar T = u32>
  constexpr val<T> global_id(std::uint32_t line = __builtin_LINE(),
                             const char* file = __builtin_FILE()) const {
    static_assert(
        std::is_same_v<T, u32> || std::is_same_v<T, u64> || std::is_same_v<T, i32> || std::is_same_v<T, i64>,
        "kaio: global_id() is an integer");
    return let(cast<T>(block_idx_x()) * block_.x + cast<T>(thread_idx_x()), line, file);
  }

  // The index of this thread in its block, x fastest.
  constexpr val<u32> thread_rank(std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE()) const {
    if (block_.y == 1 && block_.z == 1) return let(thread_idx_x(), line, file);
    return let((thread_idx_z() * block_.y + thread_idx_y()) * block_.x + thread_idx_x(), line, file);
  }

  // The index of this thread's warp in its block.
  constexpr val<u32> warp_rank(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
    return let(thread_rank() >> 5, line, file);
  }

  // The index of this thread in its warp. Threads fill warps in the order of their rank.
  constexpr val<u32> lane_rank(std::uint32_t line = __builtin_LINE(),
                               const char* file = __builtin_FILE()) const {
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

  // Directly after the body of a when(): the threads that did not run it.
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
    const value a = lower(*trace_, operand_node<T>(first));
    const value b = lower(*trace_, operand_node<T>(last));
    return range_loop<T>(*trace_, a, b, lower(*trace_, operand_node<T>(step)));
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

  constexpr tracer& trace() const { return *trace_; }

 private:
  tracer* trace_;
  ptx::dim3 block_;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::block_dim_x;
using dsl::block_dim_y;
using dsl::block_dim_z;
using dsl::block_idx_x;
using dsl::block_idx_y;
using dsl::block_idx_z;
using dsl::grid_dim_x;
using dsl::grid_dim_y;
using dsl::grid_dim_z;
using dsl::lane_id;
using dsl::thread;
using dsl::thread_idx_x;
using dsl::thread_idx_y;
using dsl::thread_idx_z;
}  // namespace kaio

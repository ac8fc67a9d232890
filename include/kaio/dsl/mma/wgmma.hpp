#pragma once
// Matrix multiplication by a warpgroup, four warps that together hold 64 rows of the result (PTX
// wgmma.mma_async, sm_90a). It runs asynchronously to the threads: a wgmma_batch issues products and commits
// them as one group, and wgmma_wait waits until groups are done. Every thread of the warpgroup must reach all
// three.
//
//   wgmma_accumulator<f32, 128> acc(t);
//   for (auto k : t.range(0u, tiles)) {
//     full[stage].wait(phase);
//     {
//       wgmma_batch mma(t);                                           // wgmma.fence
//       mma.multiply_add(acc, wgmma_operand<major::k>(a[stage]), wgmma_operand<major::k>(b[stage]), k != 0);
//     }                                                               // wgmma.commit_group
//     wgmma_wait<1>(t);                                               // all groups but the last
//   }
//   wgmma_wait<0>(t);
//
// The hardware owns the accumulator and the registers of A from multiply_add until their group has been
// waited for. A kernel that reads or writes them earlier does not compile (wgmma_order.hpp). Shared memory
// that a product reads must have been written by copies through the async proxy, or before a
// fence_proxy_async.

#include <kaio/dsl/mma/wgmma_accumulator.hpp>
#include <kaio/dsl/mma/wgmma_operand.hpp>

#include <cstdint>

namespace kaio::dsl {

// Options of a product: negated operands, and for i32 clamped sums.
struct wgmma_options {
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;  // sums of i32 that overflow become the least or the greatest number
};

namespace detail {

constexpr auto require_warpgroups(const thread& t) {
  // Further warps may have other work: a producer needs no warpgroup.
  if (t.block_size() < warpgroup_threads)
    t.trace().fail_next("kaio: wgmma needs whole warpgroups; take a block of 128 threads or more");
}

constexpr void emit_wgmma_synchronisation(tracer& t, opcode op) {
  if (!t.probing()) t.begin(op, 0, ptx::type::none);
}

// The modifiers after the shape.
constexpr modifier_list wgmma_modifiers(modifier d, modifier a, modifier b, bool saturate) {
  const modifier operation = a == modifier::b1 ? modifier::and_popc : modifier::none;
  return ptx::in_order(d, a, b, operation, saturate ? modifier::satfinite : modifier::none);
}

}  // namespace detail

// Products that are committed together, as one group, at the end of the batch's block.
class wgmma_batch {
 public:
  // Opens with wgmma.fence: the products see what threads wrote to accumulators and registers of A.
  constexpr explicit wgmma_batch(const thread& t, std::uint32_t line = __builtin_LINE(),
                                 const char* file = __builtin_FILE())
      : trace_(t.trace()) {
    detail::require_warpgroups(t);
    trace_.statement(line, file);
    if (trace_.wgmma_batch_is_open)
      trace_.fail("kaio: a wgmma_batch inside another; the first must end before, with its block");
    trace_.wgmma_batch_is_open = true;
    detail::emit_wgmma_synchronisation(trace_, opcode::wgmma_fence);
  }
  constexpr ~wgmma_batch() {
    trace_.wgmma_batch_is_open = false;
    detail::emit_wgmma_synchronisation(trace_, opcode::wgmma_commit_group);
  }
  wgmma_batch(const wgmma_batch&) = delete;
  wgmma_batch& operator=(const wgmma_batch&) = delete;

  // acc += A * B: one instruction for each slice along K that the operands have. A: a tile, or registers.
  template <wgmma_options Options = wgmma_options{}, class D, std::uint32_t N, class A, class B>
  constexpr void multiply_add(wgmma_accumulator<D, N>& acc, const A& a, const B& b,
                              std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) const {
    multiply_add<Options>(acc, a, b, true, line, file);
  }

  // acc = A * B + (accumulate ? acc : 0). `accumulate` is a host bool, or a condition that is equal in the
  // whole warpgroup.
  template <wgmma_options Options = wgmma_options{}, class D, std::uint32_t N, class A, class B, class S>
    requires(std::is_same_v<S, bool> || device<S>)
  constexpr void multiply_add(wgmma_accumulator<D, N>& acc, const A& a, const B& b, const S& accumulate,
                              std::uint32_t line = __builtin_LINE(),
                              const char* file = __builtin_FILE()) const {
    require_form<Options, D, A, B>();
    trace_.statement(line, file);
    if (a.slices() != b.slices())
      trace_.fail(
          "kaio: the operands of a wgmma have different numbers of slices along K; take slice(k) of each");
    if (trace_.probing()) return see_operands(trace_, acc, a, b, accumulate);
    const value scale = scale_of(acc, accumulate);
    acc.set_value();
    for (std::uint32_t k = 0; k < a.slices(); ++k)
      multiply<Options>(acc, a, b, k, k == 0 ? scale : predicate(true));
  }

  // acc = A * B + (accumulate ? acc : 0), for one slice of an A with half the elements stored
  // (wgmma.mma_async.sp): two of four neighbours along K; tf32: one of two. B has two slices,
  // b.slice(2 * k, 2). The metadata of the lanes that Selector names says which are stored; Selector is 0 for
  // 8-bit elements. Source: PTX ISA, "wgmma.mma_async.sp", "Sparse matrix storage".
  template <std::uint32_t Selector, wgmma_options Options = wgmma_options{}, class D, std::uint32_t N,
            class A, class B, device M, class S>
    requires(std::is_same_v<S, bool> || device<S>)
  constexpr void multiply_add_sparse(wgmma_accumulator<D, N>& acc, const A& a, const B& b, const M& metadata,
                                     const S& accumulate, std::uint32_t line = __builtin_LINE(),
                                     const char* file = __builtin_FILE()) const {
    using TA = typename A::element_type;
    require_form<Options, D, A, B>();
    static_assert(matrix_element<TA>::bits >= 8, "kaio: no sparse wgmma has single bits");
    static_assert(Selector < (matrix_element<TA>::bits == 8 ? 1 : 2),
                  "kaio: the selector of a sparse wgmma is 0 or 1, and 0 for elements of 8 bits");
    static_assert(std::is_same_v<element<M>, u32>, "kaio: the metadata of a sparse wgmma is a u32");
    trace_.statement(line, file);
    if (a.slices() != 1 || b.slices() != 2)
      trace_.fail(
          "kaio: a sparse wgmma multiplies one slice of A and two of B: a.slice(k), b.slice(2 * k, 2)");
    if (!b.are_neighbours(0))
      trace_.fail(
          "kaio: the two slices of B of a sparse wgmma are side by side, the first at an even place; a K-major tile of B has swizzled<64> or swizzled<128>");
    if (trace_.probing()) return see_operands(trace_, acc, a, b, metadata, accumulate);
    const value chosen = trace_.in_register(lower(trace_, metadata.node()));
    const value scale = scale_of(acc, accumulate);
    acc.set_value();
    multiply<Options>(acc, a, b, 0, scale, chosen, Selector);
  }

 private:
  template <wgmma_options Options, class D, class A, class B>
  static constexpr auto require_form() {
    using TA = typename A::element_type;
    using TB = typename B::element_type;
    detail::require_product<D, TA, TB>();
    static_assert(!B::in_registers,
                  "kaio: B of wgmma must be in shared memory; exchange A and B and transpose D");
    static_assert(!std::is_same_v<D, i32> || !(Options.negate_a || Options.negate_b),
                  "kaio: wgmma does not negate integers");
    static_assert(!Options.saturate || (std::is_same_v<D, i32> && matrix_element<TA>::bits == 8),
                  "kaio: wgmma saturates products of i8 and u8 alone");
  }

  // `accumulate` as a predicate.
  template <class D, std::uint32_t N, class S>
  constexpr value scale_of(const wgmma_accumulator<D, N>& acc, const S& accumulate) const {
    if constexpr (device<S>) {
      static_assert(std::is_same_v<element<S>, bool>,
                    "kaio: whether wgmma adds to the accumulator is a condition; write x != 0");
      return trace_.in_register(lower(trace_, accumulate.node()));
    } else {
      if (accumulate && !acc.has_value())
        trace_.fail(
            "kaio: an accumulator is added to before it has a value; clear() it, or pass false after the operands of the first product");
      return predicate(accumulate);
    }
  }
  constexpr value predicate(bool holds) const {
    return trace_.in_register(trace_.constant(ptx::type::pred, holds ? 1 : 0));
  }

  // One instruction, sparse if there is metadata.
  template <wgmma_options Options, class D, std::uint32_t N, class A, class B>
  constexpr void multiply(const wgmma_accumulator<D, N>& acc, const A& a, const B& b, std::uint32_t k,
                          value scale, value metadata = 0, std::uint32_t selector = 0) const {
    tracer& t = trace_;
    using TA = typename A::element_type;
    using TB = typename B::element_type;
    value a_descriptor = 0;
    if constexpr (!A::in_registers) a_descriptor = a.descriptor(t, k, wgmma_rows);
    const value b_descriptor = b.descriptor(t, k, N);
    t.begin(metadata == 0 ? opcode::wgmma_mma_async : opcode::wgmma_mma_async_sp,
            detail::wgmma_modifiers(matrix_element<D>::type, matrix_element<TA>::type,
                                    matrix_element<TB>::type, Options.saturate),
            ptx::type::none);
    const std::uint32_t depth = metadata == 0 ? wgmma_depth<TA> : 2 * wgmma_depth<TA>;
    t.shape({wgmma_rows, N, static_cast<std::uint16_t>(depth)});
    t.change_together(acc.first_variable(), acc.size());
    if constexpr (A::in_registers) {
      t.add({operand_kind::pack, ptx::type::none, A::registers, 0});
      for (std::uint32_t q = 0; q < A::registers; ++q) t.read(a.variable(q));
    } else {
      t.use(a_descriptor);
    }
    t.use(b_descriptor);
    if (metadata != 0) {
      t.use(metadata);
      add_immediate(static_cast<int>(selector));
    }
    t.use(scale);
    if constexpr (!std::is_same_v<D, i32>) {
      add_immediate(Options.negate_a ? -1 : 1);
      add_immediate(Options.negate_b ? -1 : 1);
    }
    if constexpr (matrix_element<TA>::bits == 16) {
      if constexpr (!A::in_registers) add_immediate(A::order == major::mn ? 1 : 0);
      add_immediate(B::order == major::mn ? 1 : 0);
    }
  }

  constexpr void add_immediate(int number) const {
    trace_.add(
        {operand_kind::immediate, ptx::type::s32, 0, static_cast<std::uint64_t>(std::int64_t{number})});
  }

  tracer& trace_;
};

// Waits until at most the last `Pending` groups of the warpgroup are in flight (wgmma.wait_group).
template <std::uint32_t Pending>
constexpr void wgmma_wait(const thread& t, std::uint32_t line = __builtin_LINE(),
                          const char* file = __builtin_FILE()) {
  static_assert(Pending < 8, "kaio: at most 7 groups of wgmma are left pending");
  detail::require_warpgroups(t);
  tracer& trace = t.trace();
  trace.statement(line, file);
  if (trace.wgmma_batch_is_open)
    trace.fail("kaio: wgmma_wait inside a wgmma_batch, which is committed at its end; wait after it");
  if (trace.probing()) return;
  trace.begin(opcode::wgmma_wait_group, 0, ptx::type::none);
  trace.add({operand_kind::immediate, ptx::type::s32, 0, Pending});
}

}  // namespace kaio::dsl

namespace kaio {
using dsl::wgmma_batch;
using dsl::wgmma_options;
using dsl::wgmma_wait;
}  // namespace kaio

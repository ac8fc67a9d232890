#pragma once
// The matrix D of wgmma: 64 rows and N columns of f32, f16 or i32 in the registers of a warpgroup. Once the
// products are waited for, its elements are vars. first_row() and first_column() of the thread, plus row(i)
// and column(i) of the element, give their places.
//
//   wgmma_accumulator<f32, 128> acc(t);          // 64 registers of each thread
//   const auto own = c.from(acc.first_row(t) * 128 + acc.first_column(t));
//   for (u32 i = 0; i < acc.size(); ++i) own[acc.row(i) * 128 + acc.column(i)] = acc[i] * alpha;

#include <kaio/dsl/control/thread.hpp>
#include <kaio/dsl/expression/array.hpp>
#include <kaio/dsl/expression/packed.hpp>
#include <kaio/dsl/memory/location.hpp>
#include <kaio/dsl/mma/wgmma_shape.hpp>

#include <cstdint>

namespace kaio::dsl {

template <class D, std::uint32_t N>
class wgmma_accumulator {
 public:
  using element_type = D;
  // A register holds f32, i32, or two f16 of neighbouring columns.
  using register_type = std::conditional_t<std::is_same_v<D, f16>, f16x2, D>;
  static constexpr std::uint32_t rows = wgmma_rows;
  static constexpr std::uint32_t columns = N;
  static constexpr std::uint32_t per_register = std::is_same_v<D, f16> ? 2 : 1;

  // Registers of a thread.
  static constexpr std::uint32_t size() { return N / 2 / per_register; }

  // It has no value yet: start with clear(), or with a product that adds to nothing,
  // multiply_add(acc, a, b, false).
  template <is_thread Thread>
  constexpr explicit wgmma_accumulator(const Thread& t)
      : trace_((detail::require_accumulator<D, N>(), &t.trace())),
        first_(trace_->probing() ? trace_->new_identity()
                                 : trace_->new_variables(ptx_type<register_type>, size())),
        registers_(array_of<size()>(
            [&](std::uint32_t i) { return var<register_type>::unwritten(*trace_, first_ + i); })) {}

  template <class V = D>
  constexpr wgmma_accumulator() {
    static_assert(never<V>,
                  "kaio: an accumulator needs its thread; write wgmma_accumulator<f32, 128> name(t)");
  }

  wgmma_accumulator(const wgmma_accumulator&) = delete;
  wgmma_accumulator& operator=(const wgmma_accumulator&) = delete;

  // The first `Columns` columns: the same registers.
  template <std::uint32_t Columns>
  constexpr wgmma_accumulator<D, Columns> first() const {
    static_assert(Columns <= N, "kaio: an accumulator has fewer columns");
    return {*trace_, first_, has_value_};
  }

  // Register i of this thread.
  constexpr var<register_type>& operator[](std::uint32_t i) {
    has_value_ = true;
    return registers_[checked_register(i)];
  }
  constexpr const var<register_type>& operator[](std::uint32_t i) const {
    return registers_[checked_register(i)];
  }

  // Sets all elements to 0.
  constexpr void clear(std::uint32_t line = __builtin_LINE(), const char* file = __builtin_FILE()) {
    trace_->statement(line, file);
    has_value_ = true;
    if (trace_->probing()) return trace_->see(first_);
    const value zero = trace_->constant(ptx_type<register_type>, 0);
    for (std::uint32_t i = 0; i < size(); ++i)
      trace_->assign(registers_[i].variable(), zero, trace_->position());
  }

  // Row and column of register i (of its first f16), relative to first_row() and first_column() of the
  // thread.
  static constexpr std::uint32_t row(std::uint32_t i) { return i * per_register / 2 % 2 * 8; }
  static constexpr std::uint32_t column(std::uint32_t i) {
    return i * per_register / 4 * 8 + i * per_register % 2;
  }

  // The thread's first row among the 64 of its warpgroup, and its first of the N columns.
  template <is_thread Thread>
  static constexpr val<u32> first_row(const Thread& t, std::uint32_t line = __builtin_LINE(),
                                      const char* file = __builtin_FILE()) {
    const val rank = t.thread_rank(line, file);
    return t.let(((rank >> 5) & 3) * 16 + ((rank >> 2) & 7), line, file);
  }
  template <is_thread Thread>
  static constexpr val<u32> first_column(const Thread& t, std::uint32_t line = __builtin_LINE(),
                                         const char* file = __builtin_FILE()) {
    return t.let((t.thread_rank(line, file) & 3) * 2, line, file);
  }

  // Two neighbouring elements of a row, rounded to a pair of 16 bits: pair j has row(2 j) and column(2 j) of
  // an accumulator of f32. Pairs 4 q to 4 q + 3 are a block of 16 columns: a fragment of A, and the operands
  // of stmatrix of four matrices (rows 0 to 7 and 8 to 15 of the left eight columns, then of the right).
  static constexpr std::uint32_t pairs() { return N / 4; }
  template <packed P>
  constexpr val<P> pair(std::uint32_t j, std::uint32_t line = __builtin_LINE(),
                        const char* file = __builtin_FILE()) const {
    static_assert(!std::is_same_v<D, i32>,
                  "kaio: the elements of this accumulator are integers; read acc[i]");
    static_assert(!std::is_same_v<D, f16> || std::is_same_v<P, f16x2>,
                  "kaio: the pairs of an accumulator of f16 are f16x2");
    if constexpr (per_register == 2)
      return val<P>((*this)[j], line, file);
    else
      return val<P>(pack<P>((*this)[2 * j], (*this)[2 * j + 1]), line, file);
  }

  // For multiplications: whether there is a value to add to, and the registers.
  constexpr bool has_value() const { return has_value_; }
  constexpr void set_value() { has_value_ = true; }
  // The first of the size() variables of the registers.
  constexpr std::uint32_t first_variable() const { return first_; }
  constexpr std::uint64_t hash() const { return first_; }

 private:
  template <class, std::uint32_t>
  friend class wgmma_accumulator;
  constexpr wgmma_accumulator(tracer& t, std::uint32_t first_register, bool has_value)
      : trace_((detail::require_accumulator<D, N>(), &t)),
        first_(first_register),
        registers_(array_of<size()>(
            [&](std::uint32_t i) { return var<register_type>::unwritten(*trace_, first_ + i); })),
        has_value_(has_value) {}

  constexpr std::uint32_t checked_register(std::uint32_t i) const {
    if (i < size()) return i;
    trace_->fail_next(
        "kaio: an accumulator has fewer registers; they go from 0 to size() - 1, N / 2 of f32 and i32");
    return 0;
  }

  tracer* trace_;
  std::uint32_t first_;
  register_array<var<register_type>, size()> registers_;
  bool has_value_ = false;
};

}  // namespace kaio::dsl

namespace kaio {
using dsl::wgmma_accumulator;
}

#pragma once
// The epilogue of the prebuilt matmul: alpha, beta * C, a bias, an activation and a residual. Numbers that
// are uniform across threads choose each at run time, so that one kernel serves every combination and type.
//
//   y = activation(alpha * x + beta * C + bias) + residual

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/term_values.hpp>
#include <kaio/ops/matmul/common/terms.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {
// A term that is chosen in the kernel, with the members of matmul_term.
struct chosen_term {
  val<u64> address;
  val<i64> batch, row, column;
  val<u32> type;

  constexpr const val<u64>& operator[](u64 matmul_term::*) const { return address; }
  constexpr const val<u32>& operator[](u32 matmul_term::*) const { return type; }
  constexpr const val<i64>& operator[](i64 matmul_term::*member) const {
    return member == &matmul_term::batch ? batch : member == &matmul_term::row ? row : column;
  }
};

template <class At>
inline constexpr bool is_strip_of_fours = false;
template <std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes>
inline constexpr bool is_strip_of_fours<strip<Rows, Apart, Lanes>> = true;
}  // namespace detail

struct general {
  static constexpr fixed_string name = "general";
  static constexpr bool takes_strips = true;

  // `x`: sums at any places, or of a strip.
  template <std::uint32_t N, class At>
  static constexpr dsl::register_array<val<f32>, N> several(thread t,
                                                            const dsl::register_array<val<f32>, N>& x,
                                                            const At& at, const val<matmul_terms>& terms) {
    auto y = array_of<N>([&](u32 i) { return var(t, x[i] * terms[&matmul_terms::alpha]); });
    if (auto more = t.when(terms[&matmul_terms::plain] == 0u)) {
      if constexpr (detail::is_strip_of_fours<At>)
        add_to_strip(t, y, at, terms);
      else
        add_in_turn(t, y, at, terms, val<bool>(false));
    }
    return array_of<N>([&](u32 i) { return val<f32>(t.let(y[i])); });
  }

  // Prefetches to L2 what a warp's part of C needs of the tensors as large as C: `rows` x `columns` from
  // `first` on.
  static constexpr void prefetch(thread t, const place& first, const val<u32>& rows, const val<u32>& columns,
                                 const val<matmul_terms>& terms) {
    constexpr std::uint32_t line_bytes = 128;
    if (auto more = t.when(terms[&matmul_terms::plain] == 0u))
      for (auto turn : t.range(0u, 3u, 2u).no_unroll()) {
        const detail::chosen_term term = term_of_turn(t, terms, turn);
        if (auto reads = t.when(all_of(term.type != 0u, term.column == i64{1}))) {
          const val size = t.let(select(term.type == static_cast<u32>(term_type::f32), 4u, 2u));
          const val address =
              t.let(term.address + cast<u64>(detail::term_offset(t, term, first)) * cast<u64>(size));
          const val lines = t.let((columns * size + (line_bytes - 1)) / line_bytes);
          for (auto row : t.range(0u, rows).no_unroll())
            if (auto exists = t.when(lane_id() < lines)) {
              const val line = t.let(address + cast<u64>(term.row) * cast<u64>(size) * cast<u64>(row) +
                                     cast<u64>(lane_id() * line_bytes));
              dsl::prefetch(pointer_at<in<u8>>(t, line)[0], cache_level::l2);
            }
        }
      }
  }

 private:
  // Adds terms that are read by fours without a branch per term; add_in_turn adds the others.
  template <std::uint32_t N, class At>
  static constexpr void add_to_strip(thread t, dsl::register_array<var<f32>, N>& y, const At& at,
                                     const val<matmul_terms>& terms) {
    const val by_four = t.let(all_of(terms[&matmul_terms::by_four] != 0u, at.is_whole));
    const auto& residual = terms[&matmul_terms::residual];
    const val has_residual = t.let(all_of(by_four, residual[&matmul_term::type] != 0u));
    const auto words = words_of_residual(t, residual, at, has_residual);
    if (auto fours = t.when(by_four)) {
      const auto bias = four_of_bias(t, terms[&matmul_terms::bias], at.first);
      for (u32 i = 0; i < N; ++i) y[i] += bias[i % 4];
    }
    add_in_turn(t, y, at, terms, by_four);
    if (auto fours = t.when(has_residual)) {
      const val is_f16 = t.let(residual[&matmul_term::type] == static_cast<u32>(term_type::f16));
      for (u32 i = 0; i < N; ++i) y[i] += number_of_half(t, is_f16, t.let(words[i / 2]), i % 2);
    }
  }

  // Adds the terms one after another, so that the code that reads a tensor is emitted once. A product with 1
  // is exact. `activates_alone`: only the activation is left to do.
  template <std::uint32_t N, class At>
  static constexpr void add_in_turn(thread t, dsl::register_array<var<f32>, N>& y, const At& at,
                                    const val<matmul_terms>& terms, const val<bool>& activates_alone) {
    const val first = t.let(select(activates_alone, 1u, 0u)), last = t.let(select(activates_alone, 2u, 3u));
    for (auto turn : t.range(first, last).no_unroll()) {
      if (auto adds = t.when(!activates_alone)) {
        const detail::chosen_term term = term_of_turn(t, terms, turn);
        if (auto exists = t.when(term.type != 0u)) {
          const auto added = term_values(t, term, at);
          const val factor = t.let(select(turn == 0u, terms[&matmul_terms::beta], 1.0f));
          for (u32 i = 0; i < N; ++i) y[i] = fma(factor, added[i], y[i]);
        }
      }
      if (auto between = t.when(turn == 1u)) activate(t, y, t.let(terms[&matmul_terms::activation]));
    }
  }

  // The term of a turn: C, bias, residual.
  static constexpr detail::chosen_term term_of_turn(thread t, const val<matmul_terms>& terms,
                                                    const val<u32>& turn) {
    const auto chosen = [&](auto member) {
      return t.let(select(
          turn == 0u, terms[&matmul_terms::c][member],
          select(turn == 1u, terms[&matmul_terms::bias][member], terms[&matmul_terms::residual][member])));
    };
    return {chosen(&matmul_term::address), chosen(&matmul_term::batch), chosen(&matmul_term::row),
            chosen(&matmul_term::column), chosen(&matmul_term::type)};
  }

  template <std::uint32_t N>
  static constexpr void activate(thread t, dsl::register_array<var<f32>, N>& y, const val<u32>& which) {
    const auto is = [&](matmul_activation a) { return which == static_cast<u32>(a); };
    if (auto any = t.when(which != 0u)) {
      if (auto f = t.when(is(matmul_activation::relu)))
        for (u32 i = 0; i < N; ++i) y[i] = activation::relu{}(t, t.let(y[i]));
      if (auto smooth = t.otherwise())
        in_turn(t, y, [&]<std::uint32_t M>(const dsl::register_array<val<f32>, M>& x) {
          auto result = array_of<M>([&](u32 i) { return var(t, x[i]); });
          const auto apply = [&](const auto& function) {
            for (u32 i = 0; i < M; ++i) result[i] = function(t, x[i]);
          };
          if (auto f = t.when(is(matmul_activation::gelu))) apply(activation::gelu{});
          if (auto f = t.when(is(matmul_activation::gelu_tanh))) apply(activation::gelu_tanh{});
          if (auto f = t.when(is(matmul_activation::silu))) apply(activation::silu{});
          return array_of<M>([&](u32 i) { return val<f32>(t.let(result[i])); });
        });
    }
  }

  // Applies f to a few elements of y at a time, so that a long f is emitted once. Registers have constant
  // numbers, so selects over all of them pick the elements.
  template <std::uint32_t N, class F>
  static constexpr void in_turn(thread t, dsl::register_array<var<f32>, N>& y, const F& f) {
    constexpr std::uint32_t few = N % 4 == 0 ? 4 : 1;
    if constexpr (N == few) {
      const auto result = f(array_of<N>([&](u32 i) { return val<f32>(t.let(y[i])); }));
      for (u32 i = 0; i < N; ++i) y[i] = result[i];
      return;
    }
    for (auto turn : t.range(0u, N / few).no_unroll()) {
      const auto x = array_of<few>([&](u32 i) {
        var chosen(t, y[i]);
        for (u32 known = 1; known < N / few; ++known)
          chosen = select(turn == known, y[few * known + i], chosen);
        return val<f32>(t.let(chosen));
      });
      const auto result = f(x);
      for (u32 i = 0; i < N; ++i) y[i] = select(turn == i / few, result[i % few], y[i]);
    }
  }

 public:
  // Defined last: clang evaluates a kernel where its image is asked for, and knows only the templates defined
  // up to there.
  constexpr val<f32> operator()(thread t, val<f32> x, place at, val<matmul_terms> terms) const {
    return several(t, dsl::register_array<val<f32>, 1>{{x}}, places<1>{{at}}, terms)[0];
  }
};

}  // namespace kaio::ops

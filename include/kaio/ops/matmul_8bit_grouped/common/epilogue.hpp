#pragma once
// The epilogue of grouped products of 8 bits. The call gives its arguments, so that one kernel serves every
// combination of scales, zero points, bias and gate:
//
//   s = sum over k of a * b - zero_a[row] * column_sums[g][column]      in i32, for integers
//   y = f32(s) * scale_a[row] * scale_b[g][column] + bias[g][column]    from left to right
//   c = s for i32, else y; with a gate: activation(min(y of the gate, limit)) * (clamp(y of the value) + offset)
//
// grouped_fp8 also scales the sums of 128 along K before they become s.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/general.hpp>
#include <kaio/ops/matmul/common/output.hpp>
#include <kaio/ops/matmul/common/term_values.hpp>
#include <kaio/ops/matmul_8bit_grouped/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/gate.hpp>

#include <cstdint>
#include <type_traits>

namespace kaio::ops {

// The result of integers at one place, before C's element type is known.
struct grouped_int8_result {
  val<i32> sum;
  val<f32> value;
};
template <scalar Out>
constexpr val<Out> rounded(thread t, const grouped_int8_result& x) {
  if constexpr (std::is_same_v<Out, i32>)
    return x.sum;
  else
    return t.let(cast<Out>(x.value));
}
constexpr const val<f32>& number_in(const grouped_int8_result& x) { return x.value; }

template <class Sum>
using grouped_bytes_output =
    std::conditional_t<std::is_same_v<Sum, i32>, output_among<f32, f16, bf16, i32>, any_output>;

template <class Sum>
struct grouped_bytes_epilogue {
  static constexpr bool is_int8 = std::is_same_v<Sum, i32>;
  static constexpr fixed_string name = "grouped";
  static constexpr bool takes_strips = true;
  using p = grouped_bytes_terms;

  template <std::uint32_t N, class At>
  static constexpr auto several(thread t, const dsl::register_array<val<Sum>, N>& x, const At& at,
                                const val<p>& terms) {
    const auto columns = at.of_columns();
    const auto rows = rows_of_a(t, at, terms[&p::gather]);
    auto sums = array_of<N>([&](u32 i) { return var(t, x[i]); });
    if constexpr (is_int8)
      if (auto asymmetric = t.when(terms[&p::zero_a][&matmul_term::type] != 0u)) {
        const auto zero = term_integers(t, terms[&p::zero_a], rows.at);
        const auto of_columns = term_integers(t, terms[&p::column_sums], columns);
        for (u32 i = 0; i < N; ++i)
          sums[i] -= select(rows.exists[i / At::columns], zero[i / At::columns], i32{0}) *
                     of_columns[i % At::columns];
      }
    auto y = array_of<N>([&](u32 i) { return var(t, cast<f32>(sums[i])); });
    if (auto scaled = t.when(terms[&p::scale_a][&matmul_term::type] != 0u)) {
      const auto scale = term_values(t, terms[&p::scale_a], rows.at);
      for (u32 i = 0; i < N; ++i) y[i] *= scale[i / At::columns];
    }
    // A loop over the terms of columns, so that the code that reads one is emitted once.
    for (auto turn : t.range(0u, 2u).no_unroll()) {
      const val is_bias = t.let(turn == 1u);
      const auto chosen = [&](auto member) {
        return t.let(select(is_bias, terms[&p::bias][member], terms[&p::scale_b][member]));
      };
      const detail::chosen_term term{chosen(&matmul_term::address), chosen(&matmul_term::batch),
                                     chosen(&matmul_term::row), chosen(&matmul_term::column),
                                     chosen(&matmul_term::type)};
      if (auto exists = t.when(term.type != 0u)) {
        const auto number = term_values(t, term, columns);
        for (u32 i = 0; i < N; ++i)
          y[i] = select(is_bias, y[i] + number[i % At::columns], y[i] * number[i % At::columns]);
      }
    }
    if constexpr (At::columns == 4)
      if (auto gated = t.when(terms[&p::gates] != 0u)) multiply_gate(t, y, terms[&p::gate]);
    return array_of<N>([&](u32 i) {
      const val<f32> value = t.let(y[i]);
      if constexpr (is_int8)
        return grouped_int8_result{t.let(sums[i]), value};
      else
        return value;
    });
  }

  // Where the results of a strip go. With a gate, lanes of gates have them.
  template <std::uint32_t Rows, std::uint32_t Apart, std::uint32_t Lanes>
  static constexpr strip<Rows, Apart> stored(thread t, const strip<Rows, Apart, Lanes>& at,
                                             const val<p>& terms) {
    const val is_gated = t.let(terms[&p::gates] != 0u);
    const val column = t.let(select(is_gated, at.first.column / 2u, at.first.column));
    const val left = t.let(select(all_of(is_gated, (at.first.column & 4u) != 0u), 0u, at.columns_left));
    return {{at.first.batch, at.first.row, column},
            array_of<Rows>([&](u32 i) { return t.let(all_of(at.exists[i], left != 0u)); }),
            left,
            at.is_whole};
  }

  constexpr val<f32> operator()(thread t, val<Sum> x, place at, val<p> terms) const {
    const auto result = several(t, dsl::register_array<val<Sum>, 1>{{x}}, single_place(t, at), terms);
    return number_in(result[0]);
  }

 private:
  // The rows of A for those of a strip. Rows that do not exist have the numbers of others.
  template <std::uint32_t Rows>
  struct places_of_rows {
    places<Rows> at;
    dsl::register_array<val<bool>, Rows> exists;
  };
  template <class At, class Gather>
  static constexpr auto rows_of_a(thread t, const At& at, const Gather& gather) {
    const val none = t.let(0u), last = t.let(gather[&grouped_gather::count] - 1u);
    const auto sources = array_of<At::rows>([&](u32 i) {
      var source(t, ~0u);
      if (auto exists = t.when(at.exists[i]))
        source = grouped_gather::source(t, gather, t.let(at.first.row + i * At::apart));
      return val<u32>(t.let(source));
    });
    return places_of_rows<At::rows>{array_of<At::rows>([&](u32 i) {
                                      return place{none, t.let(min(sources[i], last)), none};
                                    }),
                                    array_of<At::rows>([&](u32 i) { return t.let(sources[i] <= last); })};
  }

  // y of a gate times y of the next lane's value.
  template <class Y, class Gate>
  static constexpr void multiply_gate(thread t, Y& y, const Gate& gate) {
    constexpr u32 n = Y::size();
    auto values = array_of<n>([&](u32 i) { return var<f32>(t, shfl_xor(t.let(y[i]), 1u)); });
    for (u32 i = 0; i < n; ++i) limit_gate(t, y[i], values[i], gate);
    activate_in_turns<n, (n < 4 ? n : 4u)>(t, y, gate);
    for (u32 i = 0; i < n; ++i) y[i] = y[i] * values[i];
  }
};

using grouped_int8 = grouped_bytes_epilogue<i32>;
using grouped_fp8_whole = grouped_bytes_epilogue<f32>;

// Optional: also serves calls without scales of parts, which count as 1. Fragments: threads have the columns of a
// matrix instruction, else four neighbours.
template <bool Optional, bool Fragments>
struct grouped_fp8 : grouped_bytes_epilogue<f32> {
  static constexpr fixed_string name = "parts";
  static constexpr bool promotes = true;

  // Scales of a row, or of 128 columns, indexed by part.
  struct line {
    val<u64> address;
    val<i64> first, step;
    val<bool> exists;

    constexpr val<f32> at(thread t, const val<u32>& part) const {
      const auto load = [&] { return pointer_at<in<f32>>(t, address)[first + cast<i64>(part) * step]; };
      if constexpr (Optional) {
        var result(t, 1.0f);
        if (auto one = t.when(exists)) result = load();
        return t.let(result);
      } else {
        return t.let(load());
      }
    }
  };
  static constexpr line line_of_row(thread t, const val<u32>&, const val<u32>& row, const val<p>& terms) {
    const auto gather = terms[&p::gather];
    const val source =
        t.let(min(grouped_gather::source(t, gather, row), gather[&grouped_gather::count] - 1u));
    const auto term = terms[&p::groups_a];
    return {t.let(term[&matmul_term::address]), t.let(cast<i64>(source) * term[&matmul_term::row]),
            t.let(term[&matmul_term::column]), t.let(term[&matmul_term::type] != 0u)};
  }
  static constexpr line line_of_columns(thread t, const val<u32>& batch, const val<u32>& column,
                                        const val<p>& terms) {
    const auto of_thread = [&] {
      if constexpr (Fragments)
        return t.let(column + (lane_id() & 2u) * 2u);
      else
        return column;
    }();
    const auto term = terms[&p::blocks_b];
    const val block = t.let(column_by_halves(t, of_thread, t.let(terms[&p::gates])) / promoted_k);
    const val first =
        t.let(cast<i64>(batch) * term[&matmul_term::batch] + cast<i64>(block) * term[&matmul_term::column]);
    return {t.let(term[&matmul_term::address]), first, t.let(term[&matmul_term::row]),
            t.let(term[&matmul_term::type] != 0u)};
  }
  static constexpr val<u32> groups(thread t, const val<p>& terms) { return t.let(terms[&p::groups]); }
};

}  // namespace kaio::ops

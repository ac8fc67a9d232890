#pragma once
// A grouped product on any device, of operands with any strides: a block has 64 x 64 of C, in steps of 16 along K,
// and a thread 4 x 4, sixteen rows and columns apart. gate_up_grouped computes two such products in turn, and keeps the
// sums of the first.

#include <kaio/ops/matmul_grouped/common/gate.hpp>
#include <kaio/ops/matmul_grouped/common/terms.hpp>
#include <kaio/ops/matmul_grouped/common/tiles.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <type_traits>

namespace kaio::ops {

// The matrices of the groups, and their strides in elements.
struct grouped_matrices {
  u64 address;
  i64 group, k, n;
  u32 along_n;  // 1: neighbours are along N
  u32 unused = 0;
};

// Terms: grouped_bias, or grouped_gate.
template <class Terms>
struct grouped_simt_problem {
  grouped_tiles tiles;
  grouped_gather gather;
  u64 a, c;
  i64 a_row, a_k, c_row, c_n;  // strides in elements
  grouped_matrices b, second;
  Terms terms;
  u32 n, k;
  u32 type, out_type;  // an element_type
};

struct grouped_simt_tile {
  static constexpr u32 m = 64, n = 64;
};

template <bool Paired>
struct grouped_simt_body : grouped_simt_tile {
  using problem_type = grouped_simt_problem<std::conditional_t<Paired, grouped_gate, grouped_bias>>;
  using p = problem_type;
  static constexpr u32 k = 16, threads = 256;
  using tile = shared<f32, k, 65>;  // rows of 65: columns of 16 steps are in different banks

  static constexpr val<f32> element(thread t, const val<u64>& base, const val<i64>& at,
                                    const val<u32>& type) {
    const val bits = t.let(pointer_at<in<u16>>(t, base)[at]);
    const val half = t.let(cast<f32>(bit_cast<f16>(bits)));
    const val brain = t.let(bit_cast<f32>(cast<u32>(bits) << 16));
    return t.let(select(type == static_cast<u32>(element_type::f16), half, brain));
  }

  static constexpr void store(thread t, const val<u64>& base, const val<i64>& at, const val<u32>& type,
                              const val<f32>& x) {
    if (auto single = t.when(type == static_cast<u32>(element_type::f32)))
      pointer_at<out<f32>>(t, base)[at] = x;
    if (auto half = t.when(type == static_cast<u32>(element_type::f16)))
      pointer_at<out<f16>>(t, base)[at] = cast<f16>(x);
    if (auto brain = t.when(type == static_cast<u32>(element_type::bf16))) {
      const val bits = detail::stored_bf16::write(t, x);
      pointer_at<out<u16>>(t, base)[at] = bits;
    }
  }

  template <class Problem>
  static constexpr void run(thread t, const Problem& problem) {
    tile a(t), b(t);  // [k][row], [k][column]
    const auto tiles = problem[&p::tiles];
    grouped_walk<m, decltype(tiles)> walk(t, tiles);
    const grouped_tile own = walk.find(t.let(block_idx_x() + 0u));
    if (auto exists = t.when(own.exists)) {
      const val rank = t.let(t.thread_rank());
      const val x = t.let(rank % 16u), y = t.let(rank / 16u);
      const val size_n = t.let(problem[&p::n]), size_k = t.let(problem[&p::k]);
      const val type = t.let(problem[&p::type]);
      const val a_base = t.let(problem[&p::a]), c_base = t.let(problem[&p::c]);
      const val first_column = t.let(own.n * n);
      const val none = t.let(~0u);
      auto sources = array_of<4>([&](u32) { return var(t, none); });
      const auto gather = problem[&p::gather];
      for (u32 i = 0; i < 4; ++i) {
        const val row = t.let(own.row + y + 16u * i);
        if (auto inside = t.when(row < own.end)) {
          const val source = grouped_gather::source(t, gather, row);
          if (auto is_row = t.when(source < gather[&grouped_gather::count])) sources[i] = source;
        }
      }
      const auto product = [&](auto& sums, const auto& matrices) {
        const val b_base =
            t.let(matrices[&grouped_matrices::address] +
                  (cast<u64>(cast<i64>(own.group) * matrices[&grouped_matrices::group]) << 1u));
        const val along_n = t.let(matrices[&grouped_matrices::along_n] != 0u);
        for (auto step : t.range(0u, size_k, k).no_unroll()) {
          const val from = t.let(step);
          for (u32 i = 0; i < m * k / threads; ++i) {
            var value(t, 0.0f);
            if (auto inside = t.when(all_of(sources[i] != none, from + x < size_k)))
              value = element(
                  t, a_base,
                  t.let(cast<i64>(sources[i]) * problem[&p::a_row] + cast<i64>(from + x) * problem[&p::a_k]),
                  type);
            a[x][t.let(y + 16u * i)] = value;
          }
          for (u32 i = 0; i < n * k / threads; ++i) {
            const val place = t.let(rank + threads * i);
            const val step_of_k = t.let(select(along_n, place / n, place % k));
            const val column = t.let(select(along_n, place % n, place / k));
            var value(t, 0.0f);
            if (auto inside = t.when(all_of(first_column + column < size_n, from + step_of_k < size_k)))
              value = element(t, b_base,
                              t.let(cast<i64>(from + step_of_k) * matrices[&grouped_matrices::k] +
                                    cast<i64>(first_column + column) * matrices[&grouped_matrices::n]),
                              type);
            b[step_of_k][column] = value;
          }
          t.barrier();
          for (auto j : t.range(0u, k).template unroll<4>()) {
            const auto of_a = array_of<4>([&](u32 i) { return t.let(a[j][y + 16u * i]); });
            const auto of_b = array_of<4>([&](u32 i) { return t.let(b[j][x + 16u * i]); });
            for (u32 i = 0; i < 16; ++i) sums[i] = fma(of_a[i / 4], of_b[i % 4], sums[i]);
          }
          t.barrier();
        }
      };
      const auto zeros = [&] { return array_of<16>([&](u32) { return var(t, 0.0f); }); };
      const auto add = [&](auto& sums, const auto& bias) {
        for (u32 j = 0; j < 4; ++j) {
          const val column = t.let(min(first_column + x + 16u * j, size_n - 1u));
          const val term = grouped_bias::at(t, bias, own.group, column);
          for (u32 i = 0; i < 4; ++i) sums[4 * i + j] += term;
        }
      };
      auto sums = zeros();
      if constexpr (Paired) {
        auto up = zeros();
        var<grouped_matrices> matrices(t, t.let(problem[&p::second]));
        for (auto part : t.range(0u, 2u).no_unroll()) {
          if (auto gate = t.when(part == 1u)) {
            for (u32 i = 0; i < 16; ++i) up[i] = sums[i];
            for (u32 i = 0; i < 16; ++i) sums[i] = 0.0f;
            matrices = t.let(problem[&p::b]);
          }
          product(sums, t.let(matrices));
        }
        const val<grouped_gate> terms = t.let(problem[&p::terms]);
        add(sums, terms[&grouped_gate::gate]);
        add(up, terms[&grouped_gate::up]);
        gate_products(t, sums, up, terms);
      } else {
        product(sums, problem[&p::b]);
        add(sums, problem[&p::terms]);
      }
      const val out_type = t.let(problem[&p::out_type]);
      for (u32 i = 0; i < 16; ++i) {
        const val row = t.let(own.row + y + 16u * (i / 4));
        const val column = t.let(first_column + x + 16u * (i % 4));
        if (auto inside = t.when(all_of(row < own.end, column < size_n))) {
          const val at = t.let(cast<i64>(row) * problem[&p::c_row] + cast<i64>(column) * problem[&p::c_n]);
          store(t, c_base, at, out_type, t.let(sums[i]));
        }
      }
    }
  }
};

// Launched with a block for each tile that the groups may have.
template <bool Paired>
inline constexpr auto grouped_simt_name = [] {
  if constexpr (Paired)
    return fixed_string("gate_up_grouped_any");
  else
    return fixed_string("matmul_grouped_any");
}();
template <bool Paired>
inline constexpr auto grouped_simt =
    kaio::kernel<grouped_simt_name<Paired>, grouped_simt_body<Paired>::threads,
                 kernel_options{.target = {70}, .min_blocks = 1}>(
        [](thread t, val<typename grouped_simt_body<Paired>::problem_type> problem) {
          grouped_simt_body<Paired>::run(t, problem);
        });

}  // namespace kaio::ops

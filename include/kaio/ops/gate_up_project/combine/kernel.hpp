#pragma once
// The end of gate_up_project, on products in memory: y = activation(gate + bias) * (up + bias). A thread has
// eight consecutive elements of a row.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/matmul/common/epilogue.hpp>
#include <kaio/ops/matmul/common/terms.hpp>
#include <kaio/ops/shared/divisor.hpp>
#include <kaio/ops/shared/element_run.hpp>

#include <cstdint>

namespace kaio::ops {

// Addresses of elements of `type`; strides in elements. A row of both products has the gate first, and up
// `apart` elements after it.
struct gate_up_problem {
  u64 product;
  i64 row, apart;
  u64 gate_bias, up_bias;  // 0: none
  u64 out;
  i64 out_batch, out_row;
  divisor rows;  // rows of a batch
  u32 columns;
  u32 type;                                        // an element_type
  u32 activation;                                  // a matmul_activation
  u32 product_aligned, bias_aligned, out_aligned;  // runs begin at multiples of 16 bytes
};

inline constexpr u32 gate_up_threads = 128;
constexpr u32 gate_up_blocks_of_row(u32 columns) {
  return (columns + (run_size * gate_up_threads - 1)) / (run_size * gate_up_threads);
}

namespace detail {

template <class Vars>
constexpr void activate_run(thread t, const val<u32>& which, Vars& y) {
  const auto each = [&](matmul_activation a, const auto& f) {
    if (auto chosen = t.when(which == static_cast<u32>(a)))
      for (auto& one : y) one = f(t, t.let(one));
  };
  each(matmul_activation::silu, activation::silu{});
  each(matmul_activation::gelu_tanh, activation::gelu_tanh{});
  each(matmul_activation::relu, activation::relu{});
  each(matmul_activation::gelu, activation::gelu{});
}

}  // namespace detail

// Launched with gate_up_blocks_of_row consecutive blocks for each row. From sm_90 on programmatically, before
// the products have ended.
template <std::uint32_t Sm>
inline constexpr auto gate_up_combine =
    kaio::kernel<"gate_up_combine_sm" + decimal<Sm>, gate_up_threads, kernel_options{.target = {Sm, false}}>(
        [](thread t, val<gate_up_problem> problem) {
          const val columns = t.let(problem[&gate_up_problem::columns]);
          const val of_row =
              t.let((columns + (run_size * gate_up_threads - 1)) / (run_size * gate_up_threads));
          const val row = t.let(block_idx_x() / of_row);
          const val of_block = t.let(block_idx_x() - row * of_row);
          const val column = t.let((of_block * gate_up_threads + t.thread_rank()) * run_size);
          const val type = t.let(problem[&gate_up_problem::type]);
          const val shift = t.let(select(type == static_cast<u32>(element_type::f32), 2u, 1u));
          if constexpr (Sm >= 90) grid_dependency_wait(t);
          if (auto exists = t.when(column < columns)) {
            const auto load = [&](const val<u64>& line, const val<bool>& aligned, auto& x) {
              load_run(t, type, run_of(t, line, shift, column, columns, aligned), x, 0);
            };
            const auto zeros = [&] { return array_of<run_size>([&](u32) { return var(t, 0.0f); }); };
            const val product_aligned = t.let(problem[&gate_up_problem::product_aligned] != 0u);
            const val bias_aligned = t.let(problem[&gate_up_problem::bias_aligned] != 0u);
            const val offset = t.let(cast<i64>(row) * problem[&gate_up_problem::row]);
            const val line = t.let(problem[&gate_up_problem::product] + (cast<u64>(offset) << shift));
            const val apart = t.let(cast<u64>(problem[&gate_up_problem::apart]) << shift);
            auto gate = zeros(), up = zeros();
            load(line, product_aligned, gate);
            load(t.let(line + apart), product_aligned, up);
            const auto add = [&](auto member, auto& to) {
              const val bias = t.let(problem[member]);
              if (auto some = t.when(bias != 0u)) {
                auto terms = zeros();
                load(bias, bias_aligned, terms);
                for (u32 i = 0; i < run_size; ++i) to[i] += terms[i];
              }
            };
            add(&gate_up_problem::gate_bias, gate);
            add(&gate_up_problem::up_bias, up);
            detail::activate_run(t, t.let(problem[&gate_up_problem::activation]), gate);
            for (u32 i = 0; i < run_size; ++i) gate[i] = gate[i] * up[i];
            const quotient place = divide(t, row, problem[&gate_up_problem::rows]);
            const val to = t.let(cast<i64>(place.whole) * problem[&gate_up_problem::out_batch] +
                                 cast<i64>(place.rest) * problem[&gate_up_problem::out_row]);
            const val out_line = t.let(problem[&gate_up_problem::out] + (cast<u64>(to) << shift));
            const val out_aligned = t.let(problem[&gate_up_problem::out_aligned] != 0u);
            store_run(t, type, run_of(t, out_line, shift, column, columns, out_aligned), gate, 0);
          }
        });

}  // namespace kaio::ops

#pragma once
// Sums over rows for the gradients of weight and bias: for columns that do not fit shared memory, from
// statistics of rows in memory; and the last step of all, from partial sums.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/cluster.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/norm/backward/problem.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>

namespace kaio::ops {

// A thread has a column, and block y the rows of a partial sum.
inline constexpr auto norm_backward_columns =
    kaio::kernel<"norm_backward_columns", row_threads>([](thread t, val<norm_columns_problem> problem) {
      using p_ = norm_columns_problem;
      const auto rows = problem[&p_::rows];
      const val size = t.let(rows[&rows_problem::size]);
      const val column = t.let(block_idx_x() * row_threads + t.thread_rank());
      const val first = t.let(block_idx_y() * problem[&p_::rows_of_partial]);
      const val end = t.let(min(first + problem[&p_::rows_of_partial], rows[&rows_problem::rows]));
      if (auto inside = t.when(column < size)) {
        var products(t, 0.0f), gradients(t, 0.0f);
        const auto statistics = pointer_at<in<f32x2>>(t, problem[&p_::statistics]);
        with_any_element(t, t.let(problem[&p_::type]), [&]<class Access>(Access) {
          using element = typename Access::stored;
          for (auto row : t.range(first, end).unroll<2>()) {
            const quotient of_heads = divide(t, row, rows[&rows_problem::heads]);
            const quotient of_tokens = divide(t, of_heads.whole, rows[&rows_problem::tokens]);
            const auto in_row = [&](const auto& tensor) {
              const val offset = t.let(cast<i64>(of_tokens.whole) * tensor[&row_strides::batch] +
                                       cast<i64>(of_tokens.rest) * tensor[&row_strides::token] +
                                       cast<i64>(of_heads.rest) * tensor[&row_strides::head]);
              const val at = t.let(tensor[&row_strides::address] + cast<u64>(offset) * u64{sizeof(element)});
              const val one = t.let(pointer_at<in<element>>(t, at)[column]);
              return t.let(Access::read(one));
            };
            const val x = in_row(problem[&p_::x]);
            const val dy = in_row(problem[&p_::dy]);
            const val of_row = statistics[row];
            const val y = t.let((x - of_row[0]) * of_row[1]);
            products = fma(dy, y, products);
            gradients += dy;
          }
        });
        const val at = t.let(cast<u64>(block_idx_y()) * cast<u64>(partial_pitch(size)) + cast<u64>(column));
        const auto keep = [&](const val<u64>& sums, const val<f32>& sum) {
          if (auto wanted = t.when(sums != u64{0})) pointer_at<out<f32>>(t, sums)[at] = sum;
        };
        const val of_weight = t.let(problem[&p_::weight_sums]), of_bias = t.let(problem[&p_::bias_sums]);
        const val product = t.let(products), gradient = t.let(gradients);
        keep(of_weight, product);
        keep(of_bias, gradient);
      }
    });

// A block adds the partial sums of 32 columns. A thread has 4 neighbouring columns, and every 32nd partial sum:
//
//   warp w, lane l    columns 4 (l % 8) to 4 (l % 8) + 3    partial sums 4 w + l / 8, 32 more, ...
//
// It adds those of its warp's lanes, and then the warps' in order. Block y is 0 for the weight, 1 for the bias.
template <std::uint32_t Sm>
inline constexpr auto norm_backward_partials =
    kaio::kernel<"norm_backward_partials_sm" + decimal<Sm>, row_threads,
                 kernel_options{.target = {Sm, false}}>([](thread t, val<norm_partials_problem> problem) {
      using p_ = norm_partials_problem;
      constexpr u32 warps = row_threads / 32, quads = 8;
      shared<f32, row_threads> of_warps(t);
      const val is_bias = t.let(block_idx_y() == 1u);
      const auto of = [&](auto weight, auto bias) {
        const val first = t.let(problem[weight]), second = t.let(problem[bias]);
        return t.let(select(is_bias, second, first));
      };
      const val sums = of(&p_::weight_sums, &p_::bias_sums), to = of(&p_::dweight, &p_::dbias);
      const val size = t.let(problem[&p_::size]);
      const val pitch = t.let(partial_pitch(size));
      const val begin = t.let(block_idx_x() * 32u);
      const val warp = t.let(t.warp_rank()), lane = t.let(t.lane_rank());
      const val quad = t.let(lane % quads);
      const val first = t.let(begin + 4 * quad);
      if constexpr (Sm >= 90) grid_dependency_wait(t);
      auto own = array_of<4>([&](u32) { return var(t, 0.0f); });
      if (auto reads = t.when(all_of(to != u64{0}, first < size))) {
        constexpr u32 at_once = 9, step = row_threads / quads;  // 288 partial sums in one round
        const val partials = t.let(problem[&p_::partials]);
        for (auto begin_of_round : t.range(t.let(t.thread_rank() / quads), partials, at_once * step)) {
          const auto row = [&](u32 k) { return t.let(begin_of_round + k * step); };
          const auto fours = array_of<at_once>([&](u32 k) {
            const val p = t.let(min(row(k), partials - 1u));
            const val at =
                t.let(sums + (cast<u64>(p) * cast<u64>(pitch) + cast<u64>(first)) * u64{sizeof(f32)});
            return val(pointer_at<in<f32x4>>(t, at)[0]);
          });
          for (u32 k = 0; k < at_once; ++k) {
            const val exists = t.let(row(k) < partials);
            for (u32 i = 0; i < 4; ++i) own[i] += select(exists, fours[k][i], 0.0f);
          }
        }
      }
      for (u32 distance = quads; distance < 32; distance *= 2)
        for (u32 i = 0; i < 4; ++i) {
          const val other = shfl_xor(own[i], distance);
          own[i] += other;
        }
      if (auto one = t.when(lane < quads))
        for (u32 i = 0; i < 4; ++i) of_warps[warp * 32 + 4 * quad + i] = own[i];
      t.barrier();
      const val column = t.let(begin + lane);
      if (auto writes = t.when(all_of(to != u64{0}, column < size, warp == 0u))) {
        var total(t, 0.0f);
        for (u32 w = 0; w < warps; ++w) {
          const val one = t.let(of_warps[lane + 32 * w]);
          total += one;
        }
        const val type = of(&p_::dweight_type, &p_::dbias_type);
        const val whole = t.let(total);
        with_any_element(t, type, [&]<class Access>(Access) {
          const val one = Access::write(t, whole);
          pointer_at<out<typename Access::stored>>(t, to)[column] = one;
        });
      }
    });

}  // namespace kaio::ops

#pragma once
// The first and the last kernel of attention_backward. The first computes two numbers per query, which every
// tile of the query's scores needs. It also resets the turns of adding to dq (turns.hpp).
//
//   shift = lse as an exponent of two       delta = sum over d of dO[d] * O[d], less dlse
//
// Eight lanes share a query. If rows begin at multiples of 16 bytes, each lane reads 16 bytes of every 128 of
// a row. A thread has two queries, so that the loads of both are in flight together.
//
// The last kernel is that of the sinks: dsink_h = - sum over queries of exp(sink_h - lse) * delta. One block
// sums a head. Its threads add up queries 256 apart, in the same order every time.
//
// Source: Dao, "FlashAttention-2: Faster Attention with Better Parallelism and Work Partitioning", 2023.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/early.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/common/block.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kaio::ops {

struct attention_prepare_config {
  static constexpr std::uint32_t threads = 256, queries = 64;       // per block
  static constexpr std::uint32_t lanes = 8;                         // neighbouring lanes per query
  static constexpr std::uint32_t each = queries * lanes / threads;  // queries per thread
};

namespace detail {

// Where rows of dO or O begin, for each of a thread's queries.
template <std::uint32_t Each>
struct prepare_rows {
  val<u64> address;
  dsl::register_array<val<i64>, Each> at;  // elements
};

// sum[i] += the products of a lane's share of row i: every eighth element.
template <class OfGradient, class OfOut, class Sums, std::uint32_t Each>
constexpr void add_products(thread t, Sums& sum, const prepare_rows<Each>& dout,
                            const prepare_rows<Each>& out, const val<u32>& lane, const val<u32>& size) {
  using from_dout = in<typename OfGradient::stored>;
  using from_out = in<typename OfOut::stored>;
  for (u32 i = 0; i < Each; ++i) {
    const auto x = pointer_at<from_dout>(t, dout.address).from(dout.at[i]);
    const auto y = pointer_at<from_out>(t, out.address).from(out.at[i]);
    for (auto d : t.range(lane, size, attention_prepare_config::lanes).no_unroll())
      sum[i] += OfGradient::read(x[d]) * OfOut::read(y[d]);
  }
}

// The number of elements in a run of 16 bytes. A run begins at a multiple of 16 bytes.
template <class Of>
inline constexpr u32 run_size = 16 / sizeof(typename Of::stored);
template <class Of>
constexpr auto read_run(thread t, const val<u64>& address) {
  const auto words = load_vec<4>(pointer_at<in<u32>>(t, address)[0]);
  return array_of<run_size<Of>>([&](u32 i) -> val<f32> {
    if constexpr (std::is_same_v<Of, stored_f32>) {
      return t.let(bit_cast<f32>(words[i]));
    } else if constexpr (std::is_same_v<Of, stored_f16>) {
      const val both = t.let(bit_cast<f16x2>(words[i / 2]));
      return i % 2 == 0 ? t.let(cast<f32>(low(both))) : t.let(cast<f32>(high(both)));
    } else {
      return i % 2 == 0 ? t.let(bit_cast<f32>(words[i / 2] << 16))
                        : t.let(bit_cast<f32>(words[i / 2] & 0xffff0000u));
    }
  });
}

// add_products for rows of one type, whose addresses and lengths are multiples of 16 bytes: a lane has every
// eighth run.
template <class Of, class Sums, std::uint32_t Each>
constexpr void add_products_of_runs(thread t, Sums& sum, const prepare_rows<Each>& dout,
                                    const prepare_rows<Each>& out, const val<u32>& lane,
                                    const val<u32>& size) {
  constexpr u32 run = run_size<Of>, bytes = sizeof(typename Of::stored);
  const auto begins = [&](const prepare_rows<Each>& rows) {
    return array_of<Each>([&](u32 i) { return t.let(rows.address + cast<u64>(rows.at[i] * i64{bytes})); });
  };
  const auto x_begins = begins(dout), y_begins = begins(out);
  constexpr u32 apart = attention_prepare_config::lanes * run;  // a lane's next run
  for (auto d : t.range(lane * run, size, 2 * apart)) {
    // Two runs at once, so that the loads of both are in flight. The second one may not exist.
    const val has_second = t.let(d + apart < size);
    const auto read = [&](const auto& begin, const val<u64>& further) {
      return array_of<Each>([&](u32 i) { return read_run<Of>(t, t.let(begin[i] + further)); });
    };
    const val first = t.let(cast<u64>(d * bytes));
    const val second = t.let(cast<u64>(select(has_second, d + apart, u32{0}) * bytes));
    const auto x = read(x_begins, first), y = read(y_begins, first);
    const auto u = read(x_begins, second), v = read(y_begins, second);
    for (u32 i = 0; i < Each; ++i) {
      var further(t, 0.0f);
      for (u32 e = 0; e < run; ++e) {
        sum[i] += x[i][e] * y[i][e];
        further += u[i][e] * v[i][e];
      }
      sum[i] += select(has_second, further, 0.0f);
    }
  }
}

}  // namespace detail

// Launched with a grid of query_tiles * heads * batches blocks of 64 queries.
template <std::uint32_t Sm>
inline constexpr auto attention_backward_prepare =
    kaio::kernel<"attention_backward_prepare" + sm90_suffix<Sm>(),
                 block_size{attention_prepare_config::threads}, kernel_options{.target = {Sm}}>(
        [](thread t, val<attention_problem> problem, val<attention_gradients> gradients) {
          using config = attention_prepare_config;
          await_previous_kernel<Sm, false>(t);  // the next kernel reads Q, K, V and dO before this one ends
          const attention_block block =
              find_block(t, problem, t.let(block_idx_x()), config::queries, range_walks<int>{0});
          clear_turns(t, gradients);
          const val lane = t.let(t.thread_rank() % config::lanes);
          const val own = t.let(block.first_query + t.thread_rank() / config::lanes);
          const val v_size = t.let(problem[&attention_problem::v_size]);
          const auto of_out = problem[&attention_problem::o];
          const auto of_dout = gradients[&attention_gradients::dout];
          const val type = t.let(gradients[&attention_gradients::type]);
          const val same = t.let(type == gradients[&attention_gradients::out_type]);
          const val runs = t.let(all_of(same, of_out[&attention_strides::by_16] != 0u,
                                        of_dout[&attention_strides::by_16] != 0u));
          const val first = first_number(t, problem, gradients, block);
          if (auto some = t.when(block.first_query < block.query_limit)) {
            const auto query = array_of<config::each>(
                [&](u32 i) { return t.let(own + config::threads / config::lanes * i); });
            // Queries that do not exist read the last row.
            const auto rows_of = [&](const auto& strides) {
              const val head = head_offset(t, strides, block, block.head, block.first_q_row);
              return detail::prepare_rows<config::each>{
                  t.let(strides[&attention_strides::address]), array_of<config::each>([&](u32 i) {
                    const val row = t.let(cast<i64>(min(query[i], block.query_limit - 1u)));
                    return t.let(head + row * strides[&attention_strides::row]);
                  })};
            };
            const auto out = rows_of(of_out), dout = rows_of(of_dout);
            auto sum = array_of<config::each>([&](u32) { return var(t, 0.0f); });
            with_any_element(t, type, [&]<class A>(A) {
              if (auto fast = t.when(runs)) detail::add_products_of_runs<A>(t, sum, dout, out, lane, v_size);
              if (auto slow = t.otherwise()) {
                if (auto alike = t.when(same)) detail::add_products<A, A>(t, sum, dout, out, lane, v_size);
                if (auto wide = t.otherwise())
                  detail::add_products<A, detail::stored_f32>(t, sum, dout, out, lane, v_size);
              }
            });
            for (u32 i = 0; i < config::each; ++i) {
              var delta(t, warp_reduce<config::lanes>(t, sum[i], plus{}));
              if (auto leads = t.when(all_of(lane == 0u, query[i] < block.query_limit))) {
                const val q_row = t.let(cast<i64>(block.first_q_row + query[i]));
                const val lse_at =
                    t.let(cast<i64>(block.tensor_batch) * problem[&attention_problem::lse_batch] +
                          cast<i64>(block.head) * problem[&attention_problem::lse_head] +
                          q_row * problem[&attention_problem::lse_row]);
                const val lse =
                    t.let(pointer_at<in<f32>>(t, t.let(problem[&attention_problem::lse]))[lse_at]);
                const val empty = t.let(lse == -std::numeric_limits<f32>::infinity());
                const val dlse = t.let(gradients[&attention_gradients::dlse]);
                if (auto given = t.when(dlse != u64{0})) {
                  const val at =
                      t.let(cast<i64>(block.tensor_batch) * gradients[&attention_gradients::dlse_batch] +
                            cast<i64>(block.head) * gradients[&attention_gradients::dlse_head] +
                            q_row * gradients[&attention_gradients::dlse_row]);
                  delta -= pointer_at<in<f32>>(t, dlse)[at];
                }
                const val to = t.let(first + cast<u64>(query[i]));
                const auto shifts =
                    pointer_at<kaio::out<f32>>(t, t.let(gradients[&attention_gradients::shifts]));
                const auto deltas =
                    pointer_at<kaio::out<f32>>(t, t.let(gradients[&attention_gradients::deltas]));
                shifts[to] = select(empty, std::numeric_limits<f32>::infinity(), lse * log2_of_e);
                deltas[to] = delta;
              }
            }
          }
        });

// Launched with one block per query head, after attention_backward_prepare.
inline constexpr auto attention_backward_sinks = kaio::kernel<"attention_backward_sinks", 256>(
    [](thread t, val<attention_problem> problem, val<attention_gradients> gradients) {
      const val head = t.let(block_idx_x());
      const val shifts = t.let(gradients[&attention_gradients::shifts]);
      const val deltas = t.let(gradients[&attention_gradients::deltas]);
      var sum(t, 0.0f);
      for (auto b : t.range(0u, t.let(problem[&attention_problem::batches])).no_unroll()) {
        const val batch = t.let(b);
        const attention_sequence sequence(t, problem, batch);
        const val queries = t.let(sequence.queries), keys = t.let(sequence.keys);
        const attention_block block{batch,
                                    head,
                                    head,
                                    batch,
                                    queries,
                                    queries,
                                    keys,
                                    t.let(sequence.tensor_batch),
                                    t.let(sequence.first_q_row),
                                    t.let(sequence.first_k_row),
                                    t.let(cast<i32>(keys) - cast<i32>(queries))};
        const val sink = sink_of(t, problem, block);
        const val first = first_number(t, problem, gradients, block);
        for (auto i : t.block_stride(t.let(min(queries, problem[&attention_problem::queries])))) {
          const val at = t.let(first + cast<u64>(i));
          const val share = t.let(fast::ftz::exp2(sink - pointer_at<in<f32>>(t, shifts)[at]));
          sum -= select(share == 0.0f, 0.0f, share * pointer_at<in<f32>>(t, deltas)[at]);
        }
      }
      const val total = block_reduce(t, sum, plus{});
      if (auto leads = t.when(t.thread_rank() == 0u)) {
        const val at = t.let(cast<i64>(head) * gradients[&attention_gradients::dsink_head]);
        const val to = t.let(gradients[&attention_gradients::dsinks]);
        with_any_element(t, t.let(gradients[&attention_gradients::dsinks_type]), [&]<class A>(A) {
          pointer_at<kaio::out<typename A::stored>>(t, to)[at] = A::write(t, total);
        });
      }
    });

}  // namespace kaio::ops

#pragma once
// The kernel of merge_states: merges two results of one query, over different keys, into the result over all
// of them. A warp has a row, and a lane four neighbours of every 128.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/decode/common/store.hpp>

#include <cstdint>
#include <limits>

namespace kaio::ops {

// A result and its log-sum-exp, (batch, head, row).
struct attention_state {
  attention_strides out;
  u64 lse;
  i64 lse_batch, lse_head, lse_row;
};

struct attention_merge_problem {
  attention_state a, b, o;
  u32 rows, heads, size;
  u64 results;                   // batches * rows * heads
  u32 type_a, type_b, out_type;  // element_type
};

struct attention_merge_config {
  static constexpr std::uint32_t warps = 4, threads = warps * 32;
};

namespace detail {

// The offsets of a row, and of its log-sum-exp.
template <class State>
constexpr val<i64> state_row(thread t, const State& s, const val<u32>& batch, const decode_row& at) {
  const auto strides = s[&attention_state::out];
  return t.let(cast<i64>(batch) * strides[&attention_strides::batch] +
               cast<i64>(at.query) * strides[&attention_strides::row] +
               cast<i64>(at.head) * strides[&attention_strides::head]);
}
template <class State>
constexpr val<i64> state_lse(thread t, const State& s, const val<u32>& batch, const decode_row& at) {
  return t.let(cast<i64>(batch) * s[&attention_state::lse_batch] +
               cast<i64>(at.query) * s[&attention_state::lse_row] +
               cast<i64>(at.head) * s[&attention_state::lse_head]);
}

// x += four neighbours * weight. A weight of 0 adds nothing, whatever the neighbours are.
template <class Access, class State, class Four>
constexpr void add_state(thread t, const State& s, const val<i64>& at, const val<u32>& left,
                         const val<f32>& weight, Four& x) {
  const auto strides = s[&attention_state::out];
  using memory = inout<typename Access::stored>;
  const auto from = pointer_at<memory>(t, t.let(strides[&attention_strides::address])).from(at);
  if (auto counts = t.when(weight != 0.0f)) {
    const auto add = [&](u32 e, const auto& y) { x[e] += Access::read(y) * weight; };
    if (auto whole = t.when(strides[&attention_strides::by_16] != 0u)) {
      const val four = load_vec<4>(from[0]);
      for (u32 e = 0; e < 4; ++e) add(e, t.let(four[e]));
    }
    if (auto single = t.otherwise())
      for (u32 e = 0; e < 4; ++e)
        if (auto has = t.when(e < left)) add(e, t.let(from[e]));
  }
}

}  // namespace detail

// Launched with one block for every four rows. The output may be one of the inputs: a thread writes only what
// it has read.
inline constexpr auto attention_merge_states =
    kaio::kernel<"attention_merge_states", block_size{attention_merge_config::threads}>(
        [](thread t, val<attention_merge_problem> problem) {
          constexpr f32 nothing = -std::numeric_limits<f32>::infinity();
          const val index =
              t.let(cast<u64>(block_idx_x()) * u64{attention_merge_config::warps} + cast<u64>(t.warp_rank()));
          if (auto exists = t.when(index < problem[&attention_merge_problem::results])) {
            const val heads = t.let(problem[&attention_merge_problem::heads]);
            const val rows = t.let(problem[&attention_merge_problem::rows]);
            const val size = t.let(problem[&attention_merge_problem::size]);
            const val of_heads = t.let(index / cast<u64>(heads));
            const val batch = t.let(of_heads / cast<u64>(rows));
            const val batch_number = t.let(cast<u32>(batch));
            const decode_row at{t.let(cast<u32>(of_heads - batch * cast<u64>(rows))),
                                t.let(cast<u32>(index - of_heads * cast<u64>(heads)))};
            const auto a = problem[&attention_merge_problem::a], b = problem[&attention_merge_problem::b],
                       o = problem[&attention_merge_problem::o];
            const auto lse_of = [&](const auto& s) {
              return t.let(pointer_at<inout<f32>>(
                  t, t.let(s[&attention_state::lse]))[detail::state_lse(t, s, batch_number, at)]);
            };
            const val lse_a = lse_of(a), lse_b = lse_of(b);
            // NaN stays NaN: max would drop it.
            const val most = t.let(select(isnan(lse_a), lse_a, max(lse_a, lse_b)));
            const val shift = t.let(select(most == nothing, 0.0f, most));
            const val of_a = t.let(exp(lse_a - shift)), of_b = t.let(exp(lse_b - shift));
            const val sum = t.let(of_a + of_b);
            const val empty = t.let(sum == 0.0f);
            const val weight_a = t.let(select(empty, 0.0f, of_a / sum));
            const val weight_b = t.let(select(empty, 0.0f, of_b / sum));
            const val at_a = detail::state_row(t, a, batch_number, at);
            const val at_b = detail::state_row(t, b, batch_number, at);
            const val at_o = detail::state_row(t, o, batch_number, at);
            sync_warp(t);  // all lanes have read the lse, which may be the output's
            const val lse = t.let(o[&attention_state::lse]);
            if (auto wanted = t.when(all_of(lse != u64{0}, t.lane_rank() == 0u))) {
              const val to_lse = t.let(detail::state_lse(t, o, batch_number, at));
              pointer_at<inout<f32>>(t, lse)[to_lse] = select(empty, nothing, shift + log(sum));
            }
            const auto to = o[&attention_state::out];
            const val by_16 = t.let(to[&attention_strides::by_16] != 0u);
            for (auto column : t.range(t.lane_rank() * 4u, size, 128u).no_unroll()) {
              const val left = t.let(size - column);
              const val further = t.let(cast<i64>(column));
              auto x = array_of<4>([&](u32) { return var(t, 0.0f); });
              with_any_element(t, t.let(problem[&attention_merge_problem::type_a]), [&]<class A>(A) {
                detail::add_state<A>(t, a, t.let(at_a + further), left, weight_a, x);
              });
              with_any_element(t, t.let(problem[&attention_merge_problem::type_b]), [&]<class A>(A) {
                detail::add_state<A>(t, b, t.let(at_b + further), left, weight_b, x);
              });
              with_any_element(t, t.let(problem[&attention_merge_problem::out_type]), [&]<class A>(A) {
                const val address = t.let(to[&attention_strides::address]);
                store_four<A>(t, address, t.let(at_o + further), left, by_16, x);
              });
            }
          }
        });

}  // namespace kaio::ops

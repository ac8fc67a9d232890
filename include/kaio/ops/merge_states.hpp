#pragma once
// merge_states joins two attentions of the same queries over different keys into the attention over all of
// them: for ring and context parallel attention, a prefix that sequences share, a cache in two memories.
//
//   m = max(lse_a, lse_b);   w_a = exp(lse_a - m), w_b = exp(lse_b - m)
//   out = (w_a * out_a + w_b * out_b) / (w_a + w_b);   lse = m + ln(w_a + w_b)
//
//   merge_states(s, o1, lse1, o2, lse2, o, lse);
//
// A result whose lse is -inf had no keys, and counts for nothing, whatever it holds; with two of them the
// output is 0 and its lse -inf. Sinks belong to one of the two. Throws invalid_argument, which names the
// argument, before anything runs, and what a launch throws. Source: Dao et al., "FlashAttention", 2022.

#include <kaio/ops/shared/view_refusal.hpp>  // first: errors begin with the chain of includes

#include <kaio/ops/attention/common/arguments.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace kaio::runtime {
class device;
}

namespace kaio::ops {

namespace detail {
struct merge_states_arguments {
  attention_view out_a, lse_a, out_b, lse_b, out, lse;
};
void run_merge_states(const stream& s, const merge_states_arguments& arguments);
}  // namespace detail

// out_a, out_b: (B, S, H, D), each f32, f16 or bf16; lse_a, lse_b: (B, H, S), f32, natural logarithms.
// out: as out_a, of any of these types; lse: as lse_a, or a null view: it is not written. Strides are
// free, except that the last one of out_a, out_b and out is 1. For attention_varlen: (rows, H, D) and (H,
// rows). out may be out_a or out_b itself, lse likewise; otherwise they share no memory with another
// argument.
template <class A, class LseA, class B, class LseB, class O, class Lse, std::size_t Rank>
void merge_states(const stream& s, const tensor_view<A, Rank>& out_a,
                  const tensor_view<LseA, Rank - 1>& lse_a, const tensor_view<B, Rank>& out_b,
                  const tensor_view<LseB, Rank - 1>& lse_b, const tensor_view<O, Rank>& out,
                  const tensor_view<Lse, Rank - 1>& lse) {
  static_assert(
      Rank == 4 || Rank == 3,
      "kaio: the results of merge_states are (batches, queries, heads, size) or (rows, heads, size)");
  static_assert(std::is_same_v<std::remove_const_t<LseA>, f32> &&
                    std::is_same_v<std::remove_const_t<LseB>, f32> && std::is_same_v<Lse, f32>,
                "kaio: the log-sum-exp of an attention is f32, and the one that is written not const");
  static_assert(!std::is_const_v<O>,
                "kaio: the output of merge_states is a view of elements that are not const");
  detail::run_merge_states(s, {out_a, lse_a, out_b, lse_b, out,
                               lse.is_null() && lse.empty() ? attention_view() : attention_view(lse)});
}
// Refuses arguments that are no such views.
template <class A, class LseA, class B, class LseB, class O, class Lse>
  requires(!(detail::views<0, A, LseA, B, LseB, O, Lse>))
void merge_states(const stream&, const A&, const LseA&, const B&, const LseB&, const O&, const Lse&) {
  detail::refuse_views<A, LseA, B, LseB, O, Lse>();
}

// Loads what merge_states launches, ahead of its first use: calls may then be captured into a graph.
void merge_states_warmup(const runtime::device& gpu);

}  // namespace kaio::ops

namespace kaio {
using ops::merge_states;
using ops::merge_states_warmup;
}  // namespace kaio

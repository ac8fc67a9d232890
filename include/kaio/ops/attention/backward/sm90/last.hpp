#pragma once
// The last kernel of attention_backward on sm_90a. It adds up what the blocks of keys left (finish.hpp), and
// computes again, by multiply-adds, 64 rows and 64 columns with sums that are not finite. Keys whose sums were
// stored by their own block have flags. There is one kernel for all of this, which begins before the previous
// kernel has ended: mostly no sum is computed again, and a launch costs more than looking for them.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/choice/variant.hpp>
#include <kaio/ops/attention/backward/common/early.hpp>
#include <kaio/ops/attention/backward/simt/kernel.hpp>
#include <kaio/ops/attention/backward/sm90/finish.hpp>
#include <kaio/ops/attention/forward/choice/function_arguments.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

// Computes again what backward_finish found to be wrong.
template <attention_backward_simt_config C, class Functions>
class recomputed_backward {
  using body = attention_backward_simt_body<C>;
  static_assert(C.depth == backward_finish_columns && C.threads == backward_finish_threads);

 public:
  static constexpr bool divides = true;
  constexpr recomputed_backward(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients, const Functions& functions)
      : t_(t),
        problem_(problem),
        gradients_(gradients),
        functions_(functions),
        tile_(t, t.let(gradients[&attention_gradients::type])) {}

  // An item is as many flags as a block has threads.
  constexpr val<u32> items(const val<u32>& tiles) const {
    return t_.let((tiles + (C.threads - 1)) / C.threads);
  }
  constexpr void queries(const attention_block& block, const val<u32>& column, const val<bool>& wrong) const {
    if (auto some = t_.when(block_any(t_, wrong)))
      each_tile([&](const val<u32>& further) {
        const attention_block of{
            block.batch,       block.head,        block.group, t_.let(block.first_query + further),
            block.query_limit, block.queries,     block.keys,  block.tensor_batch,
            block.first_q_row, block.first_k_row, block.offset};
        body::compute_queries(t_, problem_, gradients_, functions_, tile_, of, t_.let(column * C.depth));
      });
  }
  constexpr void keys(const finished_keys& of, const val<bool>& wrong) const {
    const val address = t_.let(gradients_[&attention_gradients::key_flags]);
    const auto flag = [&](const val<u32>& i) { return t_.let(pointer_at<in<u32>>(t_, address)[i] != 0u); };
    var found(t_, wrong);
    const val own = t_.let(of.first + t_.thread_rank());
    grid_dependency_wait(t_);
    if (auto looks = t_.when(all_of(!of.added, own < of.last))) found = flag(own);
    if (auto some = t_.when(block_any(t_, found)))
      for (auto i : t_.range(of.first, of.last).no_unroll()) {
        const val index = t_.let(i);
        var has_to(t_, of.added);
        if (auto looks = t_.when(!of.added)) has_to = flag(index);
        if (auto wrong_tile = t_.when(has_to)) {
          const attention_key_block keys = backward_finish::keys_of(t_, problem_, gradients_, index);
          for (auto column : t_.range(of.column, of.last_column).no_unroll())
            each_tile([&](const val<u32>& further) {
              const attention_key_block at = keys.at(t_.let(keys.first_key + further));
              body::compute_keys(t_, problem_, gradients_, functions_, tile_, at, t_.let(column * C.depth));
            });
        }
      }
  }

 private:
  // f(row) for each tile of C.tile of 64 rows.
  template <class F>
  constexpr void each_tile(const F& f) const {
    for (auto row : t_.range(0u, rows_of_flag, C.tile).no_unroll()) {
      f(t_.let(row));
      t_.barrier();  // the next tile overwrites shared memory
    }
  }

  thread t_;
  const val<attention_problem>& problem_;
  const val<attention_gradients>& gradients_;
  const Functions& functions_;
  typename body::tiles tile_;
};

template <attention_backward_simt_config C, class Score, class Mask, class OfScore, class OfMask>
struct attention_backward_last_kernel;

template <attention_backward_simt_config C, class Score, class Mask, class... OfScore, class... OfMask>
struct attention_backward_last_kernel<C, Score, Mask, attention_parameters<OfScore...>,
                                      attention_parameters<OfMask...>> {
  static constexpr auto name = "attention_backward_last_" + decimal<C.tile> + "x" + decimal<C.tile> + "_" +
                               attention_function_name<Score> + "_" + attention_function_name<Mask> +
                               sm90_suffix<90>();
  static constexpr kernel_options options{.target = {90}, .large_shared = true, .min_blocks = 2};
  using functions = backward_functions_of<Score, Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{C.threads}, options>(
      [](thread t, val<attention_problem> problem, val<attention_gradients> gradients, OfScore... of_score,
         OfMask... of_mask) {
        launch_dependents(t);
        const auto bound = functions::of(t, gradients, of_score..., of_mask...);
        backward_finish(t, problem, gradients)
            .run(recomputed_backward<C, decltype(bound)>(t, problem, gradients, bound));
      });
};

// Its blocks take the items of backward_finish one after the other. It takes the arguments of
// attention_backward_simt, for tiles of 64 queries.
template <attention_backward_simt_config C, class Score, class Mask>
inline constexpr auto attention_backward_last =
    attention_backward_last_kernel<C, Score, Mask, parameters_of_score<Score>,
                                   parameters_of_mask<Mask>>::kernel;

// Launches it after the kernel of a call for sm_90a.
template <attention_backward_simt_config C, class Score, class Mask>
void launch_attention_backward_last(const stream& s, const attention_backward_call& call) {
  attention_call forward = call.forward;
  forward.bias.is_f32 = static_cast<u32>(detail::element_type_of(call.bias_type));
  const std::uint64_t items = backward_finish_items(call, C.threads, true);
  const std::uint32_t multiprocessors = s.properties().multiprocessors;
  with_function_arguments<Score, Mask>(forward, [&](const auto&... arguments) {
    attention_backward_last<C, Score, Mask>.launch(
        s, grid(std::min<std::uint64_t>(items, 2 * multiprocessors)).programmatic(),
        problem_of(call.forward, rows_of_dq_tile, multiprocessors), call.gradients, arguments...);
  });
}

}  // namespace kaio::ops

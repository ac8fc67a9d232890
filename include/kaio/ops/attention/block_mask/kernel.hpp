#pragma once
// Turns a mask into lists of blocks. A thread block makes both lists of one block of queries (or of keys) of
// one head. Each warp classifies one pair of blocks at a time: it evaluates the mask at every place until it
// has seen a kept and a dropped one.
//
//   blocks of keys    0  1  2  3  4  5  6  7 | 8 ...     a round: one block per warp
//   kind              -  p  f  f  p  -  -  f |           then each warp knows its place in the list:
//   partial           1, 4                               after the blocks of the warps before it
//   full              2, 3, 7
//
// Lists are in order, regardless of the order in which warps run.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/block_mask/arguments.hpp>
#include <kaio/ops/attention/common/mask.hpp>

#include <cstdint>

namespace kaio::ops {

namespace detail {

enum : u32 { block_skipped, block_partial, block_full };

// The kind of a block of keys for a block of queries, by all lanes of a warp. Places that do not exist are
// ignored.
template <class Mask, class... OfMask>
constexpr val<u32> classify_block(thread t, const val<block_mask_problem>& problem, const val<u32>& batch,
                                  const val<u32>& head, const val<u32>& query_block,
                                  const val<u32>& key_block, const OfMask&... of_mask) {
  const val queries = t.let(problem[&block_mask_problem::queries]);
  const val keys = t.let(problem[&block_mask_problem::keys]);
  const val offset = t.let(cast<i32>(keys) - cast<i32>(queries));
  const val block_queries = t.let(problem[&block_mask_problem::block_queries]);
  const val block_keys = t.let(problem[&block_mask_problem::block_keys]);
  const val first_query = t.let(query_block * block_queries);
  const val end_query = t.let(min(first_query + block_queries, queries));
  const val first_key = t.let(key_block * block_keys);
  const val end_key = t.let(min(first_key + block_keys, keys));
  const key_range range = keys_of<Mask>(t, first_query, t.let(end_query - 1u), keys, offset, of_mask...);

  var kept(t, 0u), dropped(t, 0u);
  const val outside = t.let(any_of(end_key <= range.first, range.last <= first_key));
  const val inside = t.let(all_of(range.whole_first <= first_key, end_key <= range.whole_last));
  if (auto none = t.when(outside)) dropped = 1u;
  if (auto some = t.otherwise()) {
    if (auto all = t.when(inside)) kept = 1u;
    if (auto mixed = t.otherwise())
      for (auto query : t.range(first_query, end_query).no_unroll()) {
        for (auto key : t.range(first_key + t.lane_rank(), end_key, 32u).no_unroll()) {
          const val keep =
              Mask{}(t, attention_place{batch, head, t.let(query), t.let(key), offset}, of_mask...);
          kept |= select(keep, 1u, 0u);
          dropped |= select(keep, 0u, 1u);
        }
        const val both = t.let(all_of(warp_any(kept != 0u), warp_any(dropped != 0u)));
        query.break_if(both);
      }
  }
  const val some = warp_any(kept != 0u), not_all = warp_any(dropped != 0u);
  return t.let(select(some, select(not_all, u32{block_partial}, u32{block_full}), u32{block_skipped}));
}

// Addresses of a block's list; 0 if it is not wanted.
struct written_list {
  val<u64> count, indices;
};
template <class List>
constexpr written_list find_written_list(thread t, const List& list, const val<u32>& batch,
                                         const val<u32>& head, const val<u32>& row) {
  const auto place = [&](auto of_batch, auto of_head, auto of_row) {
    return t.let(cast<u64>(cast<i64>(batch) * list[of_batch] + cast<i64>(head) * list[of_head] +
                           cast<i64>(row) * list[of_row]) *
                 sizeof(i32));
  };
  const val counts = t.let(list[&block_list::counts]);
  const val of_row = place(&block_list::counts_batch, &block_list::counts_head, &block_list::counts_row);
  return {t.let(select(counts != 0u, counts + of_row, counts)),
          t.let(list[&block_list::indices] +
                place(&block_list::indices_batch, &block_list::indices_head, &block_list::indices_row))};
}

}  // namespace detail

template <class Mask, class OfMask>
struct block_mask_kernel;

template <class Mask, class... OfMask>
struct block_mask_kernel<Mask, attention_parameters<OfMask...>> {
  static constexpr std::uint32_t warps = 8;
  static constexpr auto name = "block_mask_" + attention_function_name<Mask>;

  static constexpr auto kernel = kaio::kernel<name, block_size{warps * 32}>(
      [](thread t, val<block_mask_problem> problem, OfMask... of_mask) {
        const shared<u32, warps> kinds(t);
        const val of_keys = t.let(problem[&block_mask_problem::of_keys] != 0u);
        const val query_blocks = t.let(problem[&block_mask_problem::query_blocks]);
        const val key_blocks = t.let(problem[&block_mask_problem::key_blocks]);
        const val rows = t.let(select(of_keys, key_blocks, query_blocks));
        const val others = t.let(select(of_keys, query_blocks, key_blocks));
        const val heads = t.let(problem[&block_mask_problem::heads]);
        const val of_batches = t.let(block_idx_x() / rows);
        const val row = t.let(block_idx_x() - of_batches * rows);
        const val batch = t.let(of_batches / heads);
        const val head = t.let(of_batches - batch * heads);
        const auto partial =
            detail::find_written_list(t, problem[&block_mask_problem::partial], batch, head, row);
        const auto full = detail::find_written_list(t, problem[&block_mask_problem::full], batch, head, row);
        const val has_full = t.let(full.count != 0u);
        const val warp = t.warp_rank();
        const val leads = t.let(t.lane_rank() == 0u);

        var partials(t, 0u), fulls(t, 0u);  // blocks listed so far
        for (auto first : t.range(0u, others, warps).no_unroll()) {
          const val other = t.let(first + warp);
          var kind(t, u32{detail::block_skipped});
          if (auto exists = t.when(other < others)) {
            kind = detail::classify_block<Mask>(t, problem, batch, head, t.let(select(of_keys, other, row)),
                                                t.let(select(of_keys, row, other)), of_mask...);
            if (auto alone = t.when(!has_full)) kind = min(kind, u32{detail::block_partial});
          }
          if (auto one = t.when(leads)) kinds[warp] = kind;
          t.barrier();
          const auto all = array_of<warps>([&](u32 w) { return t.let(kinds[w]); });
          const auto count_of = [&](u32 which, bool before) {
            var count(t, 0u);
            for (u32 w = 0; w < warps; ++w)
              if (before)
                count += select(all_of(all[w] == which, warp > w), 1u, 0u);
              else
                count += select(all[w] == which, 1u, 0u);
            return t.let(count);
          };
          const val partial_at = t.let(partials + count_of(detail::block_partial, true));
          const val full_at = t.let(fulls + count_of(detail::block_full, true));
          if (auto listed = t.when(all_of(leads, kind != u32{detail::block_skipped}))) {
            const val is_full = t.let(kind == u32{detail::block_full});
            const val list = t.let(select(is_full, full.indices, partial.indices));
            pointer_at<out<i32>>(t, list)[t.let(select(is_full, full_at, partial_at))] = cast<i32>(other);
          }
          partials += count_of(detail::block_partial, false);
          fulls += count_of(detail::block_full, false);
          t.barrier();
        }
        if (auto one = t.when(t.thread_rank() == 0u)) {
          pointer_at<out<i32>>(t, partial.count)[0u] = cast<i32>(partials);
          if (auto wanted = t.when(has_full)) pointer_at<out<i32>>(t, full.count)[0u] = cast<i32>(fulls);
        }
      });
};

// Launched with one block per list of a kind, and with the problem and the arguments of the mask.
template <class Mask>
inline constexpr auto block_mask_lists = block_mask_kernel<Mask, parameters_of_mask<Mask>>::kernel;

}  // namespace kaio::ops

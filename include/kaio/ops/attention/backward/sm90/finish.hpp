#pragma once
// What the last kernel of attention_backward on sm_90a adds up: f32 sums that blocks of keys left in the
// workspace, rounded to T. The sums of dq are of each group of turns.hpp; those of dk and dv are of each part of
// parts.hpp, if there are several. They are added in order. A block has 64 rows of a head and 64 columns at a
// time, a warpgroup of it 32 columns:
//
//   in memory, for 64 rows x 64 columns     registers 0 to 3 of 128 threads, registers 4 to 7, ...
//
// Many groups mean few queries, and few blocks would read all sums. Then a block has 16 rows at a time. Its warps
// divide the groups, and add up their sums through shared memory.

#include <kaio/dsl/async.hpp>
#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/call/call.hpp>
#include <kaio/ops/attention/backward/common/flags.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>
#include <kaio/ops/attention/backward/common/turns.hpp>
#include <kaio/ops/attention/common/key_walk.hpp>
#include <kaio/ops/attention/forward/sm90/store.hpp>
#include <kaio/ops/shared/any_element.hpp>

#include <algorithm>
#include <cstdint>

namespace kaio::ops {

inline constexpr std::uint32_t backward_finish_threads = 256, backward_finish_columns = 64;

// The tiles of 64 keys of all heads that a block looks at. It has added them up, or only looks for flags.
struct finished_keys {
  val<u32> first, last;          // tiles, in the order of the flags
  val<u32> column, last_column;  // parts of 64 columns
  val<bool> added;
};

// What a warp adds: 16 of 64 rows, and every `step`-th sum from `first` on.
struct share_of_warp {
  val<u32> rows, first, step;
};

// Divides the groups of dq among the warps of a block, if there are many.
template <bool May>
class divided_groups {
  static constexpr std::uint32_t least = 8, quarters = 4, rows = rows_of_dq_tile / quarters;
  static constexpr std::uint32_t warps = backward_finish_threads / 32;

 public:
  constexpr divided_groups(thread t, const val<attention_gradients>& gradients)
      : divides_(t.let(gradients[&attention_gradients::dq_groups] >= u32{least})), sums_(t) {}

  // Items for 64 rows of queries.
  static constexpr std::uint32_t items_of_tile(std::uint32_t groups) {
    return groups >= least ? quarters : 1;
  }
  constexpr val<u32> items_of_tile() const { return select(divides_, u32{quarters}, 1u); }
  constexpr share_of_warp of(thread t, const val<u32>& item) const {
    const val number = t.let(t.warp_rank() % quarters);
    return {t.let(select(divides_, item % quarters, number)), t.let(select(divides_, number, 0u)),
            t.let(select(divides_, u32{quarters}, 1u))};
  }
  // The rows that a block has of its 64.
  constexpr attention_block rows_of(thread t, const attention_block& block, const val<u32>& item) const {
    const val first = t.let(block.first_query + select(divides_, item % quarters * rows, 0u));
    const val limit = t.let(select(divides_, min(block.query_limit, first + rows), block.query_limit));
    return {block.batch,
            block.head,
            block.group,
            first,
            limit,
            block.queries,
            block.keys,
            block.tensor_batch,
            block.first_q_row,
            block.first_k_row,
            block.offset};
  }
  // Adds the sums of the other warps of the same rows and columns, in order. Returns whether the warp has the
  // total.
  template <class Sums>
  constexpr val<bool> add(thread t, Sums& x) const {
    const val warp = t.warp_rank(), place = t.let(t.lane_rank() * 4u);
    const val leads = t.let(any_of(!divides_, warp % quarters == 0u));
    if (auto several = t.when(divides_)) {
      for (u32 i = 0; i < x.size(); i += 4)
        store_vec(sums_[warp][t.let(place + 32 * i)], make_vec(x[i], x[i + 1], x[i + 2], x[i + 3]));
      t.barrier();
      if (auto total = t.when(leads))
        for (u32 other = 1; other < quarters; ++other)
          for (u32 i = 0; i < x.size(); i += 4) {
            const auto four = load_vec<4>(sums_[t.let(warp + other)][t.let(place + 32 * i)]);
            for (u32 j = 0; j < 4; ++j) x[i + j] += four[j];
          }
    }
    return leads;
  }

 private:
  val<bool> divides_;
  shared<f32, warps, 512> sums_;  // 16 registers of each thread
};
template <>
class divided_groups<false> {
 public:
  constexpr divided_groups(thread t, const val<attention_gradients>&) : one_(t.let(1u)) {}
  constexpr val<u32> items_of_tile() const { return one_; }
  constexpr share_of_warp of(thread t, const val<u32>&) const {
    return {t.let(t.warp_rank() % 4u), t.let(0u), one_};
  }
  constexpr attention_block rows_of(thread, const attention_block& block, const val<u32>&) const {
    return block;
  }
  template <class Sums>
  constexpr val<bool> add(thread t, Sums&) const {
    return t.let(true);
  }

 private:
  val<u32> one_;
};

class backward_finish {
 public:
  constexpr backward_finish(thread t, const val<attention_problem>& problem,
                            const val<attention_gradients>& gradients)
      : t_(t),
        problem_(problem),
        gradients_(gradients),
        parts_(t.let(gradients[&attention_gradients::query_parts])),
        tiles_(t.let(gradients[&attention_gradients::flag_key_tiles] *
                     gradients[&attention_gradients::key_heads] * problem[&attention_problem::batches])) {}

  // Takes the block's items; the problem has tiles of 64 queries. For each item, `rest` gets what every thread
  // found out: whether a sum of its own is not finite.
  //
  //   rest.queries(block, column, wrong)
  //   rest.keys(finished_keys, wrong)
  //   rest.items(tiles)                  items for `tiles` tiles of keys that have no sums here
  //   Rest::divides                      whether a block may have 16 rows of queries
  template <class Rest>
  constexpr void run(const Rest& rest) const {
    const val dq_parts = t_.let(gradients_[&attention_gradients::flag_query_parts]);
    const val query_tiles =
        t_.let(problem_[&attention_problem::query_tiles] * problem_[&attention_problem::heads] *
               problem_[&attention_problem::batches]);
    const val wanted = t_.let(gradients_[&attention_gradients::dq][&attention_strides::address] != u64{0});
    const divided_groups<Rest::divides> divided(t_, gradients_);
    const val of_queries = t_.let(select(wanted, query_tiles * dq_parts * divided.items_of_tile(), 0u));
    const val columns =
        t_.let(max(problem_[&attention_problem::qk_size], problem_[&attention_problem::v_size]));
    const val key_parts = t_.let((columns + (backward_finish_columns - 1)) / backward_finish_columns);
    const val added = t_.let(parts_ > 1u);
    const val of_keys = t_.let(select(added, tiles_ * key_parts, rest.items(tiles_)));
    const val first_item = t_.let(block_idx_x()), items = t_.let(of_queries + of_keys),
              step = t_.let(grid_dim_x());
    for (auto i : t_.range(first_item, items, step).no_unroll()) {
      const val item = t_.let(i);
      const val has_keys = t_.let(item >= of_queries);
      if (auto keys = t_.when(has_keys)) {
        const val own = t_.let(item - of_queries), tile = t_.let(own / key_parts);
        const val column = t_.let(select(added, own - tile * key_parts, 0u));
        var wrong(t_, false);
        if (auto sums = t_.when(added)) wrong = add_keys(tile, column);
        const val first = t_.let(select(added, tile, own * backward_finish_threads));
        const val last = t_.let(min(select(added, tile + 1u, first + backward_finish_threads), tiles_));
        rest.keys({first, last, column, t_.let(select(added, column + 1u, key_parts)), added}, wrong);
      }
      if (auto queries = t_.otherwise()) {
        const val of_tile = t_.let(item / divided.items_of_tile());
        const val tile = t_.let(of_tile / dq_parts), column = t_.let(of_tile - tile * dq_parts);
        const attention_block block = find_block(t_, problem_, tile, rows_of_dq_tile, range_walks<int>{0});
        const share_of_warp own = divided.of(t_, item);
        const val wrong = add_queries(block, column, dq_parts, own, divided);
        rest.queries(divided.rows_of(t_, block, item), column, wrong);
      }
    }
  }

  // The tile of 64 keys at place `tile` in the order of the flags.
  static constexpr attention_key_block keys_of(thread t, const val<attention_problem>& problem,
                                               const val<attention_gradients>& gradients,
                                               const val<u32>& tile) {
    const val of_head = t.let(gradients[&attention_gradients::flag_key_tiles]);
    const val head = t.let(tile / of_head);
    return find_key_block(t, problem, gradients, {head, t.let(tile - head * of_head)}, rows_of_flag);
  }

 private:
  static constexpr std::uint32_t part_floats = rows_of_dq_tile * backward_finish_columns;
  static constexpr std::uint32_t warpgroup_columns = 32;

  // `count` sums of a thread, `apart` elements from each other, and where their total belongs.
  struct summands {
    val<u64> first, apart;
    val<u32> count;
  };

  constexpr val<u32> column_of_thread(const val<u32>& part) const {
    return t_.let(part * backward_finish_columns + t_.thread_rank() / 128u * warpgroup_columns);
  }
  // The place of the thread's first number in 16 of 64 rows, of columns from `column` on.
  constexpr val<u64> place_of_thread(const val<u32>& column, const val<u32>& rows) const {
    return cast<u64>(column * rows_of_dq_tile + (rows * 32u + t_.lane_rank()) * 4u);
  }

  template <class Divided>
  constexpr val<bool> add_queries(const attention_block& block, const val<u32>& part,
                                  const val<u32>& dq_parts, const share_of_warp& own,
                                  const Divided& divided) const {
    const val groups = t_.let(gradients_[&attention_gradients::group_tiles]);
    const val tile = dq_tile_of(t_, problem_, gradients_, block, t_.let(0u));
    const val column = column_of_thread(part), size = t_.let(problem_[&attention_problem::qk_size]);
    // If there is one part, the blocks of keys took tiles of 128 queries.
    const val of_turn = t_.let(select(dq_parts == 1u, tile - block.first_query / rows_of_dq_tile % 2u, tile));
    const val exists = t_.let(all_of(block.first_query < block.query_limit, column < size));
    const val apart = t_.let(groups * own.step);
    const summands all{t_.let(cast<u64>((tile + groups * own.first) * dq_parts) * u64{part_floats} +
                              place_of_thread(column, own.rows)),
                       t_.let(cast<u64>(apart * dq_parts) * u64{part_floats}),
                       t_.let(select(exists, gradients_[&attention_gradients::dq_groups] / own.step, 0u))};
    const val sums = t_.let(gradients_[&attention_gradients::dq_sums]);
    const attention_output rows = output_rows(t_, gradients_[&attention_gradients::dq], block, block.head,
                                              block.first_q_row, block.query_limit, size, 2);
    const val first_row = t_.let(block.first_query + own.rows * 16u);
    // Sums that nobody has added to are read in vain: the loads do not wait for the turn.
    return add(
        all, sums,
        [&](const val<u32>& n) {
          return t_.let(turn_of(t_, gradients_, t_.let(of_turn + groups * own.first + n * apart)) != 0u);
        },
        [&](auto& x) { return divided.add(t_, x); }, rows, first_row, column,
        t_.let(problem_[&attention_problem::scale]));
  }

  constexpr val<bool> add_keys(const val<u32>& tile, const val<u32>& part) const {
    const attention_key_block keys = keys_of(t_, problem_, gradients_, tile);
    const val head = t_.let(keys.batch * gradients_[&attention_gradients::key_heads] + keys.group);
    const val slot = t_.let(
        (head * gradients_[&attention_gradients::sum_key_tiles] + keys.first_key / rows_of_dq_tile) * parts_);
    const val depth = t_.let(gradients_[&attention_gradients::sum_depth]);
    const val column = column_of_thread(part), distance = t_.let(depth * (2 * rows_of_dq_tile));
    const attention_block block = keys.of_head(keys.group, keys.first_key);
    const val rows = t_.let(t_.warp_rank() % 4u);
    var wrong(t_, false);
    const auto add_one = [&](auto member, auto size, const val<f32>& by, const val<u32>& first) {
      const val of = t_.let(problem_[size]);
      const val wanted = t_.let(gradients_[member][&attention_strides::address] != u64{0});
      const val exists = t_.let(all_of(wanted, column < of));
      const summands all{
          t_.let(cast<u64>(slot) * cast<u64>(distance) + place_of_thread(t_.let(column + first), rows)),
          t_.let(cast<u64>(distance)), t_.let(select(exists, parts_, 0u))};
      const val sums = t_.let(gradients_[&attention_gradients::part_sums]);
      const val limit = t_.let(select(exists, keys.keys, 0u));
      const attention_output to =
          output_rows(t_, gradients_[member], block, keys.group, keys.first_k_row, limit, of, 2);
      const val first_row = t_.let(keys.first_key + rows * 16u);
      wrong |= add(
          all, sums, [&](const val<u32>&) { return t_.let(true); }, [&](auto&) { return t_.let(true); }, to,
          first_row, column, by);
    };
    const val scale = t_.let(problem_[&attention_problem::scale]);
    const val none = t_.let(0u);
    add_one(&attention_gradients::dk, &attention_problem::qk_size, scale, none);
    add_one(&attention_gradients::dv, &attention_problem::v_size, t_.let(1.0f), depth);
    return t_.let(wrong);
  }

  // Adds the summands that exist, and what `others` adds. Stores them times `by`, if the warp has the total.
  // Returns whether a sum is not finite.
  template <class Exists, class Others>
  constexpr val<bool> add(const summands& all, const val<u64>& address, const Exists& exists,
                          const Others& others, const attention_output& whole, const val<u32>& first_row,
                          const val<u32>& column, const val<f32>& by) const {
    const auto sums = pointer_at<in<f32>>(t_, address).from(all.first);
    auto x = array_of<warpgroup_columns / 2>(
        [&](u32) { return var(t_, 0.0f); });  // 16 rows of a warp x 32 columns
    grid_dependency_wait(t_);
    for (auto n : t_.range(0u, all.count)) {
      const val number = t_.let(n);
      const val has_sums = exists(number);
      const auto of = sums.from(cast<u64>(number) * all.apart);
      for (u32 i = 0; i < x.size(); i += 4) {
        const auto four = load_vec<4>(of[128 * i]);
        for (u32 j = 0; j < 4; ++j) x[i + j] += select(has_sums, four[j], 0.0f);
      }
    }
    const val has_total = others(x);
    var zero(t_, 0.0f);  // becomes NaN if a sum is NaN or infinite
    for (const auto& one : x) zero = fma(one, 0.0f, zero);
    const attention_output to{t_.let(whole.address + cast<u64>(column * 2u)), whole.pitch,
                              t_.let(select(has_total, whole.rows, 0u)),
                              t_.let(max(whole.columns, column) - column)};
    const val row = t_.let(first_row + t_.lane_rank() / 4u);
    const val is_bf16 =
        t_.let(gradients_[&attention_gradients::type] == static_cast<u32>(element_type::bf16));
    with_half(t_, is_bf16, [&]<class T>(T) { store_quads<T>(t_, x, {{by, by}}, to, row); });
    return t_.let(all_of(has_total, isnan(zero)));
  }

  thread t_;
  const val<attention_problem>& problem_;
  const val<attention_gradients>& gradients_;
  val<u32> parts_, tiles_;
};

// Leaves flags of 64 rows and 64 columns, for kernels that follow.
class left_backward_flags {
 public:
  static constexpr bool divides = false;  // a flag is for 64 rows
  constexpr left_backward_flags(thread t, const val<attention_problem>& problem,
                                const val<attention_gradients>& gradients)
      : t_(t), problem_(problem), gradients_(gradients) {}

  constexpr val<u32> items(const val<u32>&) const { return t_.let(0u); }
  constexpr void queries(const attention_block& block, const val<u32>& column, const val<bool>& wrong) const {
    leave_flag(t_, flags_of_queries(t_, problem_, gradients_, block), column, t_.let(block_any(t_, wrong)));
  }
  constexpr void keys(const finished_keys& of, const val<bool>& wrong) const {
    const attention_key_block keys = backward_finish::keys_of(t_, problem_, gradients_, of.first);
    leave_flag(t_, flags_of_keys(t_, gradients_, keys), of.column, t_.let(block_any(t_, wrong)));
  }

 private:
  thread t_;
  const val<attention_problem>& problem_;
  const val<attention_gradients>& gradients_;
};

// The items of a call whose workspace has its place; `flags`: flags of an item of keys without sums here.
inline std::uint64_t backward_finish_items(const attention_backward_call& call, std::uint32_t flags,
                                           bool divides) {
  const attention_gradients& g = call.gradients;
  const attention_problem& p = call.forward.problem;
  const std::uint64_t of_queries = g.dq.address == 0
                                       ? 0
                                       : call.forward.blocks(rows_of_dq_tile) * g.flag_query_parts *
                                             (divides ? divided_groups<true>::items_of_tile(g.dq_groups) : 1);
  const std::uint64_t tiles = call.key_blocks(rows_of_flag);
  if (g.query_parts == 1) return of_queries + (tiles + flags - 1) / flags;
  const std::uint32_t columns = std::max(p.qk_size, p.v_size);
  return of_queries + tiles * ((columns + backward_finish_columns - 1) / backward_finish_columns);
}

// The sums alone; launch_attention_backward_sm90_finish launches it.
template <class = void>
inline constexpr auto attention_backward_sm90_finish =
    kaio::kernel<"attention_backward_sm90_finish", block_size{backward_finish_threads},
                 kernel_options{.target = {90}}>(
        [](thread t, val<attention_problem> problem, val<attention_gradients> gradients) {
          launch_dependents(t);
          backward_finish(t, problem, gradients).run(left_backward_flags(t, problem, gradients));
        });

}  // namespace kaio::ops

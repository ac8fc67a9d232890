#pragma once
// The steps of a block that owns keys, in the order in which each of its warps takes them. They are the tiles of
// queries that attend to the keys, from the last to the first, each for all heads of the group. With a causal
// mask, all tiles of keys thus reach a tile of queries equally late. If several blocks share the keys
// (parts.hpp), each has a run of these steps. The runs of all keys end at the same queries, so that no block
// waits for another part of the tile before its own; with a mask, some of them are empty.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>

#include <cstdint>

namespace kaio::ops {

// The steps of one part: where they begin, and their number.
struct backward_share {
  val<u32> head, end;  // of the first step; head: among those of the group; end: the tile after the step's
  val<u32> rounds;

  template <std::uint32_t Queries>
  static constexpr backward_share of(thread t, const attention_key_block& keys,
                                     const query_range_walk<Queries>& walk, const val<u32>& group_size,
                                     const val<u32>& parts, const val<u32>& part) {
    const val all = t.let((keys.query_limit + (Queries - 1)) / Queries * group_size);
    const val each = t.let((all + parts - 1u) / parts);
    const val before = t.let(all - walk.last * group_size);  // steps of queries after those of the keys
    const auto begin_of = [&](const val<u32>& number) {
      const val begin = t.let(max(each * number, before) - before);
      return t.let(min(begin, (walk.last - walk.first) * group_size));
    };
    const val begin = begin_of(part), end = begin_of(t.let(part + 1u));
    const val skipped = t.let(begin / group_size);
    return {t.let(begin - skipped * group_size), t.let(walk.last - skipped), t.let(end - begin)};
  }
};

template <std::uint32_t Queries>
class backward_steps {
 public:
  // group: the head of K; group_size: its query heads.
  constexpr backward_steps(thread t, const val<u32>& group, const val<u32>& group_size,
                           const backward_share& share)
      : t_(t), group_(group), group_size_(group_size), head_(t, share.head), end_(t, share.end) {}

  constexpr val<u32> head() const { return t_.let(group_ * group_size_ + head_); }
  constexpr val<u32> head_of_group() const { return t_.let(head_); }
  constexpr val<u32> first_query() const { return t_.let((end_ - 1u) * Queries); }
  constexpr void advance() {
    head_ += 1u;
    if (auto next_tile = t_.when(head_ == group_size_)) {
      head_ = 0u;
      end_ -= 1u;
    }
  }

 private:
  thread t_;
  val<u32> group_, group_size_;
  var<u32> head_, end_;
};

// The tiles of queries to which the previous tile of keys of the group has added dQ. To others this one adds
// first.
template <std::uint32_t Queries>
struct earlier_additions {
  thread t;
  val<u32> first, last;

  // `rows`: keys of a tile; groups: those of turns.hpp; of(block, first key, last key) is queries_of the mask.
  template <class Of>
  static constexpr earlier_additions to(thread t, const attention_key_block& keys, std::uint32_t rows,
                                        const val<u32>& groups, const Of& of) {
    const val distance = t.let(groups * rows);
    const auto before = query_range_walk<Queries>::over(
        t, keys.at(t.let(max(keys.first_key, distance) - distance)), rows, of);
    return {t, before.first, t.let(select(keys.first_key < distance, 0u, before.last))};
  }

  constexpr val<bool> reach(const val<u32>& first_query) const {
    const val of_walk = t.let(first_query / Queries);
    return t.let(all_of(of_walk >= first, of_walk < last));
  }
};

}  // namespace kaio::ops

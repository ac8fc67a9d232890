#pragma once
// The steps of a block that owns keys, in the order in which each of its warps takes them. For each head of
// the group, they are the tiles of queries that attend to the keys, from the last to the first. If several
// blocks share the keys (parts.hpp), each has a run of these steps.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>

#include <cstdint>

namespace kaio::ops {

// The steps of one part: where they begin, and their number.
struct backward_share {
  val<u32> head, end;  // of the first step; end: the tile after it
  val<u32> rounds;

  template <std::uint32_t Queries>
  static constexpr backward_share of(thread t, const attention_key_block& keys,
                                     const query_range_walk<Queries>& walk, const val<u32>& group_size,
                                     const val<u32>& parts, const val<u32>& part) {
    const val per_head = t.let(walk.last - walk.first), all = t.let(per_head * group_size);
    const val each = t.let(all / parts), longer = t.let(all - each * parts);
    const val begin = t.let(each * part + min(part, longer)), divisor = t.let(max(per_head, 1u));
    const val skipped = t.let(begin / divisor);
    return {t.let(keys.group * group_size + skipped), t.let(walk.last - (begin - skipped * divisor)),
            t.let(each + select(part < longer, 1u, 0u))};
  }
};

template <std::uint32_t Queries>
class backward_steps {
 public:
  // Tiles [first, last) of each head.
  constexpr backward_steps(thread t, const val<u32>& first, const val<u32>& last, const backward_share& share)
      : t_(t), first_(first), last_(last), head_(t, share.head), end_(t, share.end) {}

  constexpr val<u32> head() const { return t_.let(head_); }
  constexpr val<u32> first_query() const { return t_.let((end_ - 1u) * Queries); }
  constexpr void advance() {
    end_ -= 1u;
    if (auto next_head = t_.when(end_ == first_)) {
      end_ = last_;
      head_ += 1u;
    }
  }

 private:
  thread t_;
  val<u32> first_, last_;
  var<u32> head_, end_;  // end_: the tile after the current one
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

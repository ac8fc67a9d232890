#pragma once
// The steps of a block that owns keys, in the order in which each of its warps takes them. For each head of
// the group, they are the tiles of queries that attend to the keys, from the last to the first.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/attention/backward/common/key_block.hpp>

#include <cstdint>

namespace kaio::ops {

template <std::uint32_t Queries>
class backward_steps {
 public:
  // Tiles [first, last) of each of the group's heads.
  constexpr backward_steps(thread t, const attention_key_block& keys, const val<u32>& first,
                           const val<u32>& last, const val<u32>& group_size)
      : t_(t), first_(first), last_(last), head_(t, keys.group * group_size), end_(t, last) {}

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

// The tiles of queries to which the previous tile of keys has added dQ. To others this one adds first.
template <std::uint32_t Queries>
struct earlier_additions {
  thread t;
  val<u32> first, last;

  // `rows`: keys of a tile; of(block, first key, last key) is queries_of the mask.
  template <class Of>
  static constexpr earlier_additions to(thread t, const attention_key_block& keys, std::uint32_t rows,
                                        const Of& of) {
    const auto before =
        query_range_walk<Queries>::over(t, keys.at(t.let(max(keys.first_key, rows) - rows)), rows, of);
    return {t, before.first, t.let(select(keys.first_key / rows == 0u, 0u, before.last))};
  }

  constexpr val<bool> reach(const val<u32>& first_query) const {
    const val of_walk = t.let(first_query / Queries);
    return t.let(all_of(of_walk >= first, of_walk < last));
  }
};

}  // namespace kaio::ops

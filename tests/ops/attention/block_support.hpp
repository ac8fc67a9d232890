#pragma once
// Block masks drawn at random, their tensors, and the mask of each place on the host.
#include <algorithm>
#include <memory>
#include <numeric>

#include "tests/ops/attention/support.hpp"

namespace kaio::tests {

// How a block of queries treats a block of keys.
enum class block_kind : std::uint8_t { skipped, partial, full };

struct block_case {
  u32 query_size = 128, key_size = 128;  // of a block
  bool one_batch = false, one_head = false;
  bool full_lists = true;
  u32 room = 0;  // entries of a list beyond the largest number that could be needed
  std::uint64_t seed = 1;
};

// The lists of a block mask on the device: shuffled, with garbage past the counts.
class block_tensors {
 public:
  block_tensors(const attention_case& c, const block_case& in_blocks)
      : blocks_(in_blocks),
        batches_(in_blocks.one_batch ? 1 : c.batches),
        heads_(in_blocks.one_head ? 1 : c.heads),
        query_blocks_((c.queries + in_blocks.query_size - 1) / in_blocks.query_size),
        key_blocks_((c.keys + in_blocks.key_size - 1) / in_blocks.key_size) {
    std::mt19937_64 engine(in_blocks.seed);
    kinds_.resize(std::size_t{batches_} * heads_ * query_blocks_ * key_blocks_);
    for (block_kind& kind : kinds_) {
      const u64 drawn = engine() % 8;
      kind = drawn < 3 ? block_kind::skipped : drawn < 6 ? block_kind::partial : block_kind::full;
      if (!blocks_.full_lists && kind == block_kind::full) kind = block_kind::partial;
    }
    const std::size_t rows = std::size_t{batches_} * heads_ * query_blocks_;
    if (rows > 2)  // one row without any block
      for (u32 j = 0; j < key_blocks_; ++j) kinds_[key_blocks_ * (rows / 2) + j] = block_kind::skipped;
    upload_lists(engine);
  }

  block_kind kind(u32 b, u32 h, u32 query_block, u32 key_block) const {
    return kinds_[((std::size_t{batches_ == 1 ? 0 : b} * heads_ + (heads_ == 1 ? 0 : h)) * query_blocks_ +
                   query_block) *
                      key_blocks_ +
                  key_block];
  }
  // Whether query i attends to key j, where the mask itself says `kept`.
  bool keeps(u32 b, u32 h, u32 i, u32 j, bool kept) const {
    const block_kind k = kind(b, h, i / blocks_.query_size, j / blocks_.key_size);
    return k == block_kind::full || (k == block_kind::partial && kept);
  }
  block_mask mask() {
    block_mask result{.kv_num_blocks = counts_of(partial_counts_),
                      .kv_indices = indices_of(partial_indices_),
                      .size = {blocks_.query_size, blocks_.key_size}};
    if (blocks_.full_lists) {
      result.full_kv_num_blocks = counts_of(full_counts_);
      result.full_kv_indices = indices_of(full_indices_);
    }
    return result;
  }

 private:
  void upload_lists(std::mt19937_64& engine) {
    const u32 most = key_blocks_ + blocks_.room;
    std::vector<i32> counts[2], indices[2];
    for (std::size_t row = 0; row < std::size_t{batches_} * heads_ * query_blocks_; ++row)
      for (const u32 list : {0u, 1u}) {
        const block_kind wanted = list == 0 ? block_kind::partial : block_kind::full;
        std::vector<i32> found;
        for (u32 j = 0; j < key_blocks_; ++j)
          if (kinds_[row * key_blocks_ + j] == wanted) found.push_back(static_cast<i32>(j));
        std::shuffle(found.begin(), found.end(), engine);
        counts[list].push_back(static_cast<i32>(found.size()));
        while (found.size() < most) found.push_back(engine() % 2 == 0 ? -7 : 0x7fffff00);
        indices[list].insert(indices[list].end(), found.begin(), found.end());
      }
    most_ = most;
    partial_counts_ = upload(counts[0]);
    full_counts_ = upload(counts[1]);
    partial_indices_ = upload(indices[0]);
    full_indices_ = upload(indices[1]);
  }
  tensor_view<const i32, 3> counts_of(const buffer<i32>& memory) const {
    return tensor_view<const i32, 3>(memory, batches_, heads_, query_blocks_);
  }
  tensor_view<const i32, 4> indices_of(const buffer<i32>& memory) const {
    return tensor_view<const i32, 4>(memory, batches_, heads_, query_blocks_, most_);
  }

  block_case blocks_;
  u32 batches_, heads_, query_blocks_, key_blocks_, most_ = 0;
  std::vector<block_kind> kinds_;
  buffer<i32> partial_counts_, partial_indices_, full_counts_, full_indices_;
};

// attention with the case's causal mask and window in the partial blocks. run(q, k, v, out, options) calls
// the operation.
template <class T, class Run>
void check_in_blocks_by(const attention_case& c, const block_case& b, const Run& run) {
  CAPTURE(b.query_size, b.key_size, b.one_batch, b.one_head, b.full_lists, b.room, b.seed);
  block_tensors lists(c, b);
  const host_functions f{nullptr, [&](u32 batch, u32 head, u32 i, u32 j) {
                           return lists.keeps(batch, head, i, j, c.keeps(batch, head, i, j));
                         }};
  check_attention_by<T>(
      c,
      [&](const auto& q, const auto& k, const auto& v, const auto& o, attention_options options) {
        options.blocks = lists.mask();
        run(q, k, v, o, options);
      },
      f);
}

template <class T>
void check_in_blocks(const attention_case& c, const block_case& b) {
  check_in_blocks_by<T>(
      c, b, [](const auto& q, const auto& k, const auto& v, const auto& o, const attention_options& options) {
        attention_first_fit(under_test().stream(), q, k, v, o, options);
      });
}

}  // namespace kaio::tests

#include "ops/distributed/attention/packed.hpp"

#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <span>

#include "ops/distributed/common/views.hpp"

namespace kaio::ops::detail {

packed_numbers::packed_numbers(const context_call& call, tensor_memory& memory) {
  if (call.lengths.empty()) return;
  const auto add = [&](std::span<const std::int32_t> list) {
    any_view v;
    v.type = element_kind::i32;
    v.rank = 1;
    v.extents[0] = std::ssize(list);
    v.strides[0] = 1;
    v.bytes = list.size_bytes();
    v.address = numbers_.size() * sizeof(std::int32_t);  // from the first number on
    numbers_.insert(numbers_.end(), list.begin(), list.end());
    return v;
  };
  for (const ring_step& step : call.steps) {
    auto& of_step = items_.emplace_back();
    for (const ring_item& item : step.items) {
      const packed_rows rows = rows_of_packed(item);
      attention_sequences& a = of_step.emplace_back();
      a.cu_q.view = attention_view(add(rows.cu_q));
      a.cu_k.view = attention_view(add(rows.cu_k));
      a.max_q = rows.most_queries;
      a.max_k = rows.most_keys;
    }
  }
  if (call.mixes_rows()) {
    std::vector<std::int32_t> by_rank(static_cast<std::size_t>(call.group_rows())), by_group;
    for (int m = 0; m < call.head_ranks; ++m)
      for (const context_rows& r : call.in_group(m))
        for (std::int64_t i = r.begin; i < r.begin + r.count; ++i) {
          by_rank[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(by_group.size());
          by_group.push_back(static_cast<std::int32_t>(i));
        }
    by_rank_ = add(by_rank);
    by_group_ = add(by_group);
  }
  const attention_view whole = memory.take(element_kind::f32, {std::ssize(numbers_)});
  address_ = whole.address;
  const auto place = [&](any_view& v) {
    v.address += address_;
    v.device = whole.device;
  };
  for (auto& step : items_)
    for (attention_sequences& a : step) {
      place(a.cu_q.view);
      place(a.cu_k.view);
    }
  place(by_rank_);
  place(by_group_);
}

void packed_numbers::upload(const device& on, const stream& s) const {
  if (numbers_.empty()) return;
  // The driver takes up to 64 KB of ordinary memory at once, without waiting for the stream.
  constexpr std::size_t most = 65536 / sizeof(std::int32_t);
  auto memory = on.adopt<std::int32_t>(
      address_, numbers_.size(), [](void*, std::uint64_t) noexcept {}, nullptr);
  for (std::size_t first = 0; first < numbers_.size(); first += most)
    memory.copy_from(numbers_.data() + first, std::min(most, numbers_.size() - first), s, first);
}

attention_view without_batches(const attention_view& v) {
  attention_view result = v;
  result.rank = v.rank - 1;
  for (std::uint32_t d = 0; d < result.rank; ++d) {
    result.extents[d] = v.extents[d + 1];
    result.strides[d] = v.strides[d + 1];
  }
  return result;
}

}  // namespace kaio::ops::detail

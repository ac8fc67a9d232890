#pragma once
// Divides a workspace into tensors. Without memory it only counts the bytes.

#include <kaio/ops/attention/common/view.hpp>
#include <kaio/ops/shared/workspace.hpp>

#include <cstdint>
#include <initializer_list>

namespace kaio::ops::detail {

class tensor_memory {
 public:
  tensor_memory() = default;
  explicit tensor_memory(const workspace_view& memory) : memory_(memory) {}

  // A tensor without gaps.
  attention_view take(element_kind type, std::initializer_list<std::int64_t> extents) {
    attention_view v;
    v.type = type;
    v.rank = static_cast<std::uint32_t>(extents.size());
    std::uint32_t d = 0;
    for (const std::int64_t e : extents) v.extents[d++] = e;
    std::int64_t elements = 1;
    while (d-- > 0) {
      v.strides[d] = elements;
      elements *= v.extents[d];
    }
    v.bytes = static_cast<std::uint64_t>(elements) * v.element_bytes();
    v.address = memory_.address + used_;
    v.device = memory_.device;
    used_ += (v.bytes + 255) / 256 * 256;
    return v;
  }
  std::uint64_t take_bytes(std::uint64_t bytes) {
    const std::uint64_t address = memory_.address + used_;
    used_ += (bytes + 255) / 256 * 256;
    return address;
  }
  std::uint64_t used() const noexcept { return used_; }

 private:
  workspace_view memory_;
  std::uint64_t used_ = 0;
};

}  // namespace kaio::ops::detail

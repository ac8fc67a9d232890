#include "weights/base/checks.hpp"

#include <algorithm>

#include "host/printable.hpp"
#include "runtime/base/text.hpp"
#include "weights/base/failure.hpp"

namespace kaio::weights {

std::string_view problem_of_name(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > longest_name) return "is longer than 65535 bytes";
  while (!name.empty()) {
    const host::character first = host::first_character(name);
    if (!first.is_valid) return "is not UTF-8";
    if (first.is_control || first.point == '\n' || first.point == '\t') return "has a control character";
    name.remove_prefix(first.bytes);
  }
  return {};
}

std::optional<std::uint64_t> elements_of(std::span<const std::uint64_t> shape) {
  std::uint64_t others = 1;
  bool is_empty = false;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) {
      is_empty = true;
      continue;
    }
    const auto both = product(others, extent);
    if (!both) return std::nullopt;
    others = *both;
  }
  return is_empty ? 0 : others;
}

void check_overlaps(std::span<const tensor_entry> tensors, std::string_view file) {
  std::vector<const tensor_entry*> by_offset;
  for (const tensor_entry& t : tensors)
    if (!t.bytes.empty()) by_offset.push_back(&t);
  std::sort(by_offset.begin(), by_offset.end(),
            [](const tensor_entry* a, const tensor_entry* b) { return a->offset < b->offset; });
  for (std::size_t i = 1; i < by_offset.size(); ++i) {
    const tensor_entry &before = *by_offset[i - 1], &t = *by_offset[i];
    if (before.offset + before.bytes.size() > t.offset)
      fail_damaged(file, t.name, runtime::text("shares bytes with tensor '", before.name, "'"));
  }
}

name_index::name_index(std::span<const tensor_entry> tensors, std::string_view file) {
  sorted_.reserve(tensors.size());
  for (const tensor_entry& t : tensors) sorted_.push_back(&t);
  std::sort(sorted_.begin(), sorted_.end(),
            [](const tensor_entry* a, const tensor_entry* b) { return a->name < b->name; });
  for (std::size_t i = 1; i < sorted_.size(); ++i)
    if (sorted_[i - 1]->name == sorted_[i]->name) fail_damaged(file, sorted_[i]->name, "occurs twice");
}

const tensor_entry* name_index::find(std::string_view name) const noexcept {
  const auto at = std::lower_bound(sorted_.begin(), sorted_.end(), name,
                                   [](const tensor_entry* t, std::string_view n) { return t->name < n; });
  return at != sorted_.end() && (*at)->name == name ? *at : nullptr;
}

}  // namespace kaio::weights

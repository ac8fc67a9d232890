#include "ops/choice/measure.hpp"

#include <kaio/dsl/dsl.hpp>

namespace kaio::ops {

namespace {

inline constexpr auto repeat_pattern = kaio::kernel<"tune_fill", 256>(
    [](thread t, in<u32> pattern, out<u32> to, val<u32> length, val<u64> count) {
      const val i = t.let(cast<u64>(block_idx_x()) * 256ull + cast<u64>(t.thread_rank()));
      if (auto inside = t.when(i < count)) to[i] = pattern[i % cast<u64>(length)];
    });

}  // namespace

buffer<u32> make_pattern_of_bytes(const device& gpu) {
  std::mt19937 engine(1);
  std::vector<std::uint32_t> words(pattern_words);
  for (std::uint32_t& x : words) x = static_cast<std::uint32_t>(engine());
  return gpu.upload(words);
}

buffer<u32> make_pattern_of(const device& gpu, element_kind kind) {
  switch (kind) {
    case element_kind::f32: return make_pattern<f32>(gpu);
    case element_kind::f16: return make_pattern<f16>(gpu);
    case element_kind::bf16: return make_pattern<bf16>(gpu);
    case element_kind::e4m3: return make_pattern<e4m3>(gpu);
    case element_kind::e5m2: return make_pattern<e5m2>(gpu);
    default: break;
  }
  return make_pattern_of_bytes(gpu);
}

void stand_in::fill(const stream& s, const buffer<u32>& pattern) {
  const u64 count = memory_.size();
  repeat_pattern.launch(s, over(count), pattern, memory_, u32{pattern_words}, count);
}

void stand_in::put(const stream& s, std::uint64_t first, const std::vector<u32>& words) {
  memory_.copy_from(words.data(), words.size(), s, (offset_ + first) / sizeof(u32));
  s.synchronize();
}

stand_in& stand_ins::add(std::uint64_t address, std::uint64_t bytes, const buffer<u32>* pattern) {
  stand_in& added = memory_.emplace_back(*gpu_, address, bytes);
  if (pattern != nullptr) added.fill(gpu_->stream(), *pattern);
  return added;
}

void stand_ins::replace(const detail::view_facts& v, std::uint64_t& address, std::uint64_t& bytes,
                        const void*& device, const buffer<u32>* pattern) {
  if (v.rank == 0) return;
  std::uint64_t before = 0, after = v.element_bytes;  // bytes before element 0, and from element 0 on
  for (std::uint32_t d = 0; d < v.rank; ++d) {
    if (v.extents[d] == 0) return;
    const std::int64_t length = (v.extents[d] - 1) * v.strides[d] * v.element_bytes;
    (length < 0 ? before : after) += static_cast<std::uint64_t>(length < 0 ? -length : length);
  }
  const stand_in& by = add(v.address - before, before + after, pattern);
  address = by.address() + before;
  bytes = after;
  device = by.device();
}

workspace_view stand_ins::add_workspace(std::uint64_t bytes) {
  if (bytes == 0) return {};
  const stand_in& by = add(0, bytes);
  workspace_view workspace;
  workspace.address = by.address();
  workspace.bytes = bytes;
  workspace.device = by.device();
  return workspace;
}

std::uint64_t stand_ins::bytes() const {
  std::uint64_t sum = 0;
  for (const stand_in& m : memory_) sum += m.bytes();
  return sum;
}

void conclude(tune_report& report, const device_properties& device, std::string_view key,
              const tune_options& how) {
  std::stable_sort(report.entries.begin(), report.entries.end(),
                   [](const tune_entry& x, const tune_entry& y) { return x.seconds < y.seconds; });
  if (report.entries.empty()) return;
  report.variant = report.entries.front().variant;
  report.seconds = report.entries.front().seconds;
  if (how.remember) report.saved = remember_tuned(device, key, report.variant, how.use_files);
}

void list_tune_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&repeat_pattern.image());
}

}  // namespace kaio::ops

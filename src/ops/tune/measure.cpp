#include "ops/tune/measure.hpp"

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

void stand_in::fill(const stream& s, const buffer<u32>& pattern) {
  const u64 count = memory_.size();
  repeat_pattern.launch(s, over(count), pattern, memory_, u32{pattern_words}, count);
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

// Measures the variants of a call on memory of its own.

#include <kaio/dsl/dsl.hpp>
#include <kaio/ops/parity.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/event.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul/choice/table.hpp"
#include "ops/tune/tune_store.hpp"

namespace kaio::ops {

namespace {

// Words of a pattern, again and again: random numbers of any type, whose length is not a power of two so that
// rows do not repeat.
constexpr std::uint32_t pattern_words = 65521;

inline constexpr auto repeat_pattern = kaio::kernel<"matmul_tune_fill", 256>(
    [](thread t, in<u32> pattern, out<u32> to, val<u32> length, val<u64> count) {
      const val i = t.let(cast<u64>(block_idx_x()) * 256ull + cast<u64>(t.thread_rank()));
      if (auto inside = t.when(i < count)) to[i] = pattern[i % cast<u64>(length)];
    });

template <class T>
void add_numbers(std::vector<std::uint32_t>& words) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> numbers(words.size() * 4 / sizeof(T));
  for (T& x : numbers) x = T(any(engine));
  std::copy_n(reinterpret_cast<const unsigned char*>(numbers.data()), words.size() * 4,
              reinterpret_cast<unsigned char*>(words.data()));
}

buffer<u32> make_pattern(const device& gpu, matmul_type type) {
  std::vector<std::uint32_t> words(pattern_words);
  switch (type) {
    case matmul_type::f32: add_numbers<f32>(words); break;
    case matmul_type::f16: add_numbers<f16>(words); break;
    case matmul_type::bf16: add_numbers<bf16>(words); break;
    case matmul_type::e4m3: add_numbers<e4m3>(words); break;
    case matmul_type::e5m2: add_numbers<e5m2>(words); break;
  }
  return gpu.upload(words);
}

// Memory in place of that of an operand: as much, and as aligned.
struct stand_in {
  buffer<u32> memory;
  std::uint64_t offset = 0;

  stand_in(const device& gpu, std::uint64_t address, std::uint64_t bytes) : offset(address % 256) {
    memory = gpu.allocate<u32>((bytes + offset + 3) / 4 + 1);
  }
  void fill(const stream& s, const buffer<u32>& pattern) {
    const u64 count = memory.size();
    repeat_pattern.launch(s, over(count), pattern, memory, u32{pattern_words}, count);
  }
  void replace(matmul_operand& x) const {
    x.address = memory.address() + offset;
    x.bytes = memory.bytes() - offset;
    x.device = memory.as_argument().device;
  }
};

// From the first element of an operand to the end of its last one.
std::uint64_t bytes_spanned(const matmul_operand& x, std::uint64_t lines, std::uint64_t length,
                            std::uint64_t batches, std::uint64_t size) {
  return ((batches - 1) * x.batch_pitch + (lines - 1) * x.pitch + length) * size;
}
std::uint64_t bytes_spanned(const matmul_term& t, const matmul_call& call) {
  const auto at = [](std::uint64_t extent, i64 stride) {
    return (extent - 1) * static_cast<std::uint64_t>(stride);
  };
  const std::uint64_t size = t.type == static_cast<u32>(term_type::f32) ? 4 : 2;
  return (at(call.batches, t.batch) + at(call.m, t.row) + at(call.n, t.column) + 1) * size;
}

// A call on memory of its own.
class trial {
 public:
  trial(const device& gpu, const matmul_call& call, const buffer<u32>& pattern) : call_(call) {
    const std::uint64_t size = bytes_of(call.operand), c_size = bytes_of(call.output);
    const auto add_operand = [&](matmul_operand& x, std::uint64_t across) {
      const bool along = x.lines == line_direction::along_k;
      memory_.emplace_back(
          gpu, x.address,
          bytes_spanned(x, along ? across : call.k, along ? call.k : across, call.batches, size));
      memory_.back().fill(gpu.stream(), pattern);
      memory_.back().replace(x);
    };
    add_operand(call_.a, call.m);
    add_operand(call_.b, call.n);
    memory_.emplace_back(gpu, call.c.address, bytes_spanned(call.c, call.m, call.n, call.batches, c_size));
    memory_.back().replace(call_.c);
    for (matmul_term* t : {&call_.terms.c, &call_.terms.bias, &call_.terms.residual}) {
      if (t->type == 0) continue;
      memory_.emplace_back(gpu, t->address, bytes_spanned(*t, call));
      t->address = memory_.back().memory.address() + memory_.back().offset;
    }
    if (call.workspace.address != 0) {
      // What the largest split takes is enough.
      const std::uint64_t most = std::min(call.workspace.bytes, call.m * call.n * 16 * sizeof(f32));
      memory_.emplace_back(gpu, call.workspace.address, most);
      call_.workspace = matmul_workspace(memory_.back().memory);
      call_.workspace.address += memory_.back().offset;
      call_.workspace.bytes = most;
    }
  }
  const matmul_call& call() const { return call_; }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const stand_in& m : memory_) sum += m.memory.bytes();
    return sum;
  }

 private:
  matmul_call call_;
  std::vector<stand_in> memory_;
};

// The median of `repetitions` runs; each goes once through all trials, whose operands do not fit into the L2
// cache together, so that a run finds them where a program would: in memory.
double measure(const device& gpu, const std::vector<trial>& trials, const matmul_variant& v,
               std::uint32_t repetitions) {
  const stream& s = gpu.stream();
  for (const trial& t : trials) run_variant(s, t.call(), v);
  s.synchronize();
  std::vector<double> samples;
  event begin = gpu.create_event(), end = gpu.create_event();
  for (std::uint32_t i = 0; i < repetitions; ++i) {
    s.record(begin);
    for (const trial& t : trials) run_variant(s, t.call(), v);
    s.record(end);
    samples.push_back(elapsed_ms(begin, end) * 1e-3 / static_cast<double>(trials.size()));
  }
  std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2),
                   samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

tune_report tune(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                 const matmul_options& options, const tune_options& how) {
  const matmul_call call = detail::resolve_matmul(gpu.identity(), {"tune", a, b, c, &options});
  tune_report report;
  if (call.empty() || call.k == 0) return report;
  const device_properties& properties = gpu.properties();
  const matmul_variant& before = choose("tune", call, properties, {});

  const buffer<u32> pattern = make_pattern(gpu, call.operand);
  std::vector<trial> trials;
  trials.emplace_back(gpu, call, pattern);
  constexpr std::size_t most_trials = 16;
  const std::uint64_t wanted = gpu.is_emulator() ? 0 : 2 * std::uint64_t{properties.l2_bytes};
  while (trials.size() < most_trials && trials[0].bytes() * trials.size() < wanted)
    trials.emplace_back(gpu, call, pattern);
  gpu.stream().synchronize();

  for (const matmul_variant* v : variants_for(call)) {
    if (!accepts(*v, trials[0].call(), properties)) continue;
    const double seconds = measure(gpu, trials, *v, std::max(how.repetitions, 1u));
    report.entries.push_back({v->name(), seconds});
    if (v == &before) report.seconds_before = seconds;
  }
  std::stable_sort(report.entries.begin(), report.entries.end(),
                   [](const tune_entry& x, const tune_entry& y) { return x.seconds < y.seconds; });
  report.variant_before = before.name();
  if (report.entries.empty()) return report;
  report.variant = report.entries.front().variant;
  report.seconds = report.entries.front().seconds;
  if (how.remember)
    report.saved = remember_tuned(properties, call_signature::of(call).text(), report.variant, how.use_files);
  return report;
}

namespace {

template <class T>
std::string tune_compact(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  // One element is enough: memory is not read, and the views' extents are all that counts.
  const auto pointer = [&]<class U>(U, std::uint64_t elements) {
    constexpr std::uint64_t anywhere = 4096;
    return device_pointer<U>{anywhere, elements, gpu.identity()};
  };
  const auto a = pointer(T{}, std::uint64_t{m} * k), b = pointer(T{}, std::uint64_t{k} * n);
  auto c = pointer(f32{}, std::uint64_t{m} * n);
  // Three places that do not overlap.
  device_pointer<T> b_apart = b;
  b_apart.address += (std::uint64_t{m} * k * sizeof(T) + 255) / 256 * 256;
  c.address = b_apart.address + (std::uint64_t{k} * n * sizeof(T) + 255) / 256 * 256;
  return tune(gpu, tensor_view<const T, 2>(a, extents{m, k}), tensor_view<const T, 2>(b_apart, extents{k, n}),
              tensor_view<f32, 2>(c, extents{m, n}))
      .variant;
}

}  // namespace

std::string tune_matmul(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return tune_compact<f32>(gpu, m, n, k);
}
std::string tune_matmul_tc(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return tune_compact<f16>(gpu, m, n, k);
}

void list_tune_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&repeat_pattern.image());
}

}  // namespace kaio::ops

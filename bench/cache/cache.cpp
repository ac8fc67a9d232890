// The share of the device's copy bandwidth that the operations on caches reach, at the shapes of a prefill
// and of a decode step. Each run takes turns with a copy of equal size, in one program.
//
//   cache [--json] [--tokens N] [--sequences N] [--runs N]
//
// 32 heads of queries and 8 of keys of 128 bf16, in pages of 16 keys. Bandwidth counts the bytes that must
// move: rows read once and written once, not the tables of rotary. Exits with 77 where there is no GPU.

#include "bench/median.hpp"

#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/ops/rotary.hpp>
#include <kaio/showcase.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;

namespace {

struct settings {
  bool json = false;
  u32 tokens = 32768;   // of the prefill
  u32 sequences = 128;  // of the decode step
  int runs = 50;
};

class bench {
 public:
  bench(device& on, const settings& how)
      : gpu_(on), how_(how), begin_(on.create_event()), end_(on.create_event()) {}

  // Prints one row: the time of the call, its bandwidth, that of a copy of equal size, and their ratio.
  template <class Run>
  void compare(const std::string& name, double bytes, Run run) {
    const auto half = static_cast<std::size_t>(bytes / 2);
    auto source = gpu_.allocate<u8>(half), target = gpu_.allocate<u8>(half);
    std::vector<double> copies, runs;
    for (int i = -5; i < how_.runs; ++i) {
      const double copy = time([&] { target.copy_from(source, gpu_.stream()); });
      const double call = time(run);
      if (i < 0) continue;
      copies.push_back(copy);
      runs.push_back(call);
    }
    const double call = kaio::bench::median(runs), copy = kaio::bench::median(copies);
    const std::string device(gpu_.description());
    std::printf(
        how_.json
            ? "{\"benchmark\": \"cache\", \"device\": \"%s\", \"call\": \"%s\", \"runs\": %d, \"us\": %.2f, \"call_gbs\": %.1f, \"copy_gbs\": %.1f, \"ratio\": %.4f}\n"
            : "%s: %s, %d runs: %.2f us, %.1f GB/s, copy %.1f GB/s, ratio %.4f\n",
        device.c_str(), name.c_str(), how_.runs, call * 1e3, bytes / call * 1e-6, bytes / copy * 1e-6,
        copy / call);
  }

 private:
  template <class Run>
  double time(Run run) {
    gpu_.stream().record(begin_);
    run();
    gpu_.stream().record(end_);
    return elapsed_ms(begin_, end_);
  }

  device& gpu_;
  settings how_;
  event begin_, end_;
};

constexpr u32 query_heads = 32, key_heads = 8, size = 128, page_rows = 16, positions = 65536;

// New tokens of sequences whose keys so far are `length`, in shuffled pages.
struct problem {
  device& gpu;
  i64 sequences, tokens, length;
  i64 columns = (length + tokens + page_rows - 1) / page_rows, pages = columns * sequences;
  i64 rows = sequences * tokens;
  buffer<bf16> q_memory = gpu.allocate<bf16>(static_cast<std::size_t>(rows * query_heads * size));
  buffer<bf16> k_memory = gpu.allocate<bf16>(static_cast<std::size_t>(rows * key_heads * size));
  buffer<bf16> v_memory = gpu.allocate<bf16>(static_cast<std::size_t>(rows * key_heads * size));
  buffer<bf16> k_pages = gpu.allocate<bf16>(static_cast<std::size_t>(pages * page_rows * key_heads * size));
  buffer<bf16> v_pages = gpu.allocate<bf16>(static_cast<std::size_t>(pages * page_rows * key_heads * size));
  buffer<e4m3> k_small = gpu.allocate<e4m3>(static_cast<std::size_t>(pages * page_rows * key_heads * size));
  buffer<e4m3> v_small = gpu.allocate<e4m3>(static_cast<std::size_t>(pages * page_rows * key_heads * size));
  buffer<f32> scales = gpu.upload(std::vector<f32>(key_heads, 0.5f));
  buffer<f32> k_scales = gpu.allocate<f32>(static_cast<std::size_t>(pages * page_rows * key_heads));
  buffer<f32> v_scales = gpu.allocate<f32>(static_cast<std::size_t>(pages * page_rows * key_heads));
  buffer<i32> table = gpu.upload(shuffled()), halves = gpu.upload(shuffled());
  buffer<i32> lengths =
      gpu.upload(std::vector<i32>(static_cast<std::size_t>(sequences), static_cast<i32>(length)));
  buffer<i32> full =
      gpu.upload(std::vector<i32>(static_cast<std::size_t>(sequences), static_cast<i32>(length + tokens)));
  buffer<f32> cos_memory = gpu.allocate<f32>(positions * size / 2),
              sin_memory = gpu.allocate<f32>(positions * size / 2);
  tensor_view<f32, 2> cos{cos_memory, positions, size / 2}, sin{sin_memory, positions, size / 2};
  tensor_view<bf16, 4> q{q_memory, sequences, tokens, query_heads, size};
  tensor_view<bf16, 4> k{k_memory, sequences, tokens, key_heads, size},
      v{v_memory, sequences, tokens, key_heads, size};

  std::vector<i32> shuffled() const {
    std::vector<i32> result(static_cast<std::size_t>(pages));
    std::iota(result.begin(), result.end(), 0);
    std::shuffle(result.begin(), result.end(), std::mt19937_64(1));
    return result;
  }
  template <class T>
  kv_cache<T> cache(buffer<T>& of_k, buffer<T>& of_v, buffer<i32>& of_lengths) {
    kv_cache<T> result{.k = {of_k, pages, page_rows, key_heads, size},
                       .v = {of_v, pages, page_rows, key_heads, size}};
    result.table = tensor_view<const i32, 2>(table, sequences, columns);
    result.lengths = tensor_view<const i32, 1>(of_lengths, sequences);
    return result;
  }

  void measure(bench& all, const std::string& name) {
    const stream& s = gpu.stream();
    const double of_q = 2.0 * static_cast<double>(rows) * query_heads * size;  // bytes, once
    const double of_k = 2.0 * static_cast<double>(rows) * key_heads * size;
    const tensor_view<const i32, 1> offsets(lengths, sequences);
    const auto pages_16 = cache(k_pages, v_pages, lengths);
    const auto pages_8 = cache(k_small, v_small, lengths);
    all.compare(name + ", rotary of q", 2 * of_q, [&] { rotary(s, q, q, cos, sin, {.offsets = offsets}); });
    all.compare(name + ", rotary of q, interleaved", 2 * of_q,
                [&] { rotary(s, q, q, cos, sin, {.offsets = offsets, .interleaved = true}); });
    all.compare(name + ", append_kv", 4 * of_k, [&] { append_kv(s, k, v, pages_16); });
    all.compare(name + ", append_kv with rotary of q and k", 2 * of_q + 4 * of_k, [&] {
      append_kv(s, k, v, pages_16, {.rotary = {.cos = cos, .sin = sin, .q = {q, q}}});
    });
    const tensor_view<const f32, 1> given(scales, key_heads);
    all.compare(name + ", append_kv in e4m3", 3 * of_k,
                [&] { append_kv(s, k, v, pages_8, {.k_scale = given, .v_scale = given}); });
    const tensor_view<f32, 3> to_k(k_scales, pages, page_rows, key_heads),
        to_v(v_scales, pages, page_rows, key_heads);
    all.compare(name + ", append_kv in e4m3 with computed scales and rotary of k", 3 * of_k, [&] {
      append_kv(s, k, v, pages_8,
                {.rotary = {.cos = cos, .sin = sin}, .k_scale_out = to_k, .v_scale_out = to_v});
    });
  }

  void measure_pages(bench& all, const std::string& name) {
    const stream& s = gpu.stream();
    const double of_k = 2.0 * static_cast<double>(rows) * key_heads * size;
    const auto all_keys = cache(k_pages, v_pages, full);
    const tensor_view<const i32, 2> pairs(halves, pages / 2, 2);  // each page once
    all.compare(name + ", copy_pages of K", of_k, [&] { copy_pages(s, all_keys.k, pairs); });
    all.compare(name + ", gather_kv", 4 * of_k, [&] { gather_kv(s, all_keys, k, v); });
  }
};

int measure(const settings& how) {
  if (device::count() == 0) {
    std::puts("skipped: needs a GPU");
    return 77;
  }
  device gpu = device::open("cuda:0");
  bench all(gpu, how);
  problem prefill{gpu, 1, i64{how.tokens}, 0};
  rotary_table(gpu.stream(), prefill.cos, prefill.sin);
  prefill.measure(all, "prefill of " + std::to_string(how.tokens));
  prefill.measure_pages(all, "prefill of " + std::to_string(how.tokens));
  problem decode{gpu, i64{how.sequences}, 1, 1000};
  rotary_table(gpu.stream(), decode.cos, decode.sin);
  decode.measure(all, "decode of " + std::to_string(how.sequences));
  return 0;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const long number = i + 1 < count ? std::atol(words[i + 1]) : 0;
    if (word == "--json") {
      how.json = true;
    } else if (word == "--tokens" && number > 0 && number <= positions) {
      how.tokens = static_cast<u32>(number);
      ++i;
    } else if (word == "--sequences" && number > 0 && number <= 4096) {
      how.sequences = static_cast<u32>(number);
      ++i;
    } else if (word == "--runs" && number > 0 && number <= 1000000) {
      how.runs = static_cast<int>(number);
      ++i;
    } else {
      std::fprintf(stderr, "usage: cache [--json] [--tokens N] [--sequences N] [--runs N]\n");
      return 2;
    }
  }
  return showcase::guarded([&] { return measure(how); });
}

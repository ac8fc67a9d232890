// How long ops::attention takes, next to what PyTorch has (scaled_dot_product_attention by cuDNN and by
// FlashAttention), on random numbers.
//
//   attention [--json] [--seconds S] [--type f16|bf16|f32] [--shape BxSxHxHkvxD] [--causal|--full]
//             [--no-peers]
//
// Without --shape: B * S = 16384, H * D = 2048, S from 512 to 16384, D 64, 128 and 256, full and causal. TF
// counts 4 * B * H * S^2 * D operations, half of that where causal. Sampled elements are compared with double
// precision. The protocols, cold and burst, are those of bench/matmul/timing.hpp; peers.py has the peers'.

#include "bench/attention/kernels.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/driver_graph.hpp"
#include "bench/matmul/timing.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct shape {
  u32 batches, length, heads, key_heads, size;
  bool causal;
  double operations() const { return 4.0 * batches * heads * length * length * size * (causal ? 0.5 : 1.0); }
  std::string text() const {
    return std::to_string(batches) + "x" + std::to_string(length) + "x" + std::to_string(heads) + "x" +
           std::to_string(key_heads) + "x" + std::to_string(size);
  }
};

struct settings {
  bool json = false, peers = true, full = true, causal = true;
  double seconds = 0.5;
  std::string type = "f16";
  std::vector<shape> shapes;
};

void print(const settings& how, const shape& s, const std::string& contestant, const std::string& version,
           const char* protocol, double us, double error, double mhz) {
  const double tera = s.operations() / us * 1e-6;
  if (how.json)
    std::printf(
        "{\"benchmark\": \"attention\", \"type\": \"%s\", \"shape\": \"%s\", \"causal\": %s, \"contestant\": \"%s\", "
        "\"version\": \"%s\", \"protocol\": \"%s\", \"us\": %.3f, \"tflops\": %.1f, \"error\": %.2e, \"mhz\": %.0f}\n",
        how.type.c_str(), s.text().c_str(), s.causal ? "true" : "false", contestant.c_str(), version.c_str(),
        protocol, us, tera, error, mhz);
  else
    std::printf("%-5s %-22s %-7s %-6s %-10s %10.2f us %7.1f TF  %s\n", how.type.c_str(), s.text().c_str(),
                s.causal ? "causal" : "full", protocol, contestant.c_str(), us, tera,
                error > 0 ? ("error " + std::to_string(error)).c_str() : version.c_str());
  std::fflush(stdout);
}

template <class T>
class bench {
 public:
  bench(device& gpu, const settings& how, clock_sampler& clock)
      : gpu_(gpu), how_(how), clock_(clock), stream_(gpu.create_stream()), timing_(gpu, stream_) {}

  // Whether the result was right.
  bool measure(const shape& s) {
    const u64 q_size = u64{s.batches} * s.length * s.heads * s.size;
    const u64 k_size = u64{s.batches} * s.length * s.key_heads * s.size;
    const u64 cache = gpu_.is_emulator() ? 1 : 2 * gpu_.properties().l2_bytes;
    const u64 bytes = (2 * q_size + 2 * k_size) * sizeof(T);
    const auto sets = static_cast<std::size_t>(std::min<u64>((cache + bytes - 1) / bytes, 16));
    std::vector<buffer<T>> q, k, v, o;
    for (std::size_t i = 0; i < sets; ++i) {
      q.push_back(normal(q_size));
      k.push_back(normal(k_size));
      v.push_back(normal(k_size));
      o.push_back(gpu_.allocate<T>(q_size));
    }
    const extents of_q(s.batches, s.length, s.heads, s.size), of_k(s.batches, s.length, s.key_heads, s.size);
    const attention_options options{.causal =
                                        s.causal ? causal_alignment::bottom_right : causal_alignment::none};
    contestant kaio{"kaio", [&](std::size_t i) {
                      attention(stream_, tensor_view<const T, 4>(q[i], of_q),
                                tensor_view<const T, 4>(k[i], of_k), tensor_view<const T, 4>(v[i], of_k),
                                tensor_view<T, 4>(o[i], of_q), options);
                    }};
    const std::string name(ops::attention_choice(
        stream_, tensor_view<const T, 4>(q[0], of_q), tensor_view<const T, 4>(k[0], of_k),
        tensor_view<const T, 4>(v[0], of_k), tensor_view<T, 4>(o[0], of_q), options));
    poison<T>.launch(stream_, grid(blocks()), o[0], u64{q_size});
    kaio.run(0);
    const double error = distance(s, q[0], k[0], v[0], o[0]);

    const bool emulated = gpu_.is_emulator();
    timing_.cold({&kaio}, emulated ? 1 : 5);
    const double once = std::max(median(kaio.cold), 1.0);
    kaio.cold.clear();
    const double budget = how_.seconds * 1e6;
    clock_.begin();
    timing_.cold({&kaio}, emulated ? 1 : static_cast<int>(std::clamp(budget / (once + 50), 15.0, 300.0)));
    const double cold_mhz = clock_.end();
    const int length =
        static_cast<int>((std::clamp(2e4 / once, 4.0, 20.0) + double(sets) - 1) / double(sets)) *
        static_cast<int>(sets);
    clock_.begin();
    timing_.burst({&kaio}, static_cast<int>(sets), length,
                  emulated ? 1 : static_cast<int>(std::clamp(budget / 2 / (once * length), 5.0, 40.0)));
    const double burst_mhz = clock_.end();
    print(how_, s, "kaio", name, "cold", median(kaio.cold), error, cold_mhz);
    print(how_, s, "kaio", name, "burst", median(kaio.burst), error, burst_mhz);
    return error < (sizeof(T) == 4 ? 1e-4 : std::is_same_v<T, f16> ? 5e-3 : 4e-2);
  }

 private:
  unsigned blocks() const { return gpu_.is_emulator() ? 1 : 8 * gpu_.properties().multiprocessors; }
  buffer<T> normal(u64 n) {
    auto memory = gpu_.allocate<T>(n);
    fill_normal<T>.launch(stream_, grid(blocks()), memory, ++seed_, u64{n});
    return memory;
  }
  // The root of the mean square of the differences of sampled elements, relative to that of the elements.
  double distance(const shape& s, const buffer<T>& q, const buffer<T>& k, const buffer<T>& v,
                  const buffer<T>& o) {
    constexpr u32 samples = 512;
    auto want = gpu_.allocate<f64>(samples), got = gpu_.allocate<f64>(samples);
    const sampled_attention p{s.batches,
                              s.length,
                              s.length,
                              s.heads,
                              s.key_heads,
                              s.size,
                              std::numeric_limits<i32>::min(),
                              s.causal ? 0 : std::numeric_limits<i32>::max(),
                              1 / std::sqrt(double(s.size))};
    sample_attention<T>.launch(stream_, grid(samples), q, k, v, o, want, got, p);
    stream_.synchronize();
    const auto exact = want.download(), result = got.download();
    double difference = 0, all = 0;
    for (u32 i = 0; i < samples; ++i) {
      difference += (exact[i] - result[i]) * (exact[i] - result[i]);
      all += exact[i] * exact[i];
    }
    return std::isfinite(difference) ? std::sqrt(difference / all) : 1e30;
  }

  device& gpu_;
  const settings& how_;
  clock_sampler& clock_;
  stream stream_;
  timing timing_;
  u32 seed_ = 0;
};

void run_peers(const settings& how, const std::vector<shape>& shapes) {
  const std::filesystem::path program = std::filesystem::path(__FILE__).parent_path() / "peers.py";
  std::string command = "python3 '" + program.string() + "' --seconds " + std::to_string(how.seconds);
  for (const shape& s : shapes) command += " " + how.type + ":" + s.text() + (s.causal ? ":causal" : ":full");
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    char type[16], mask[16], name[32], version[64], protocol[16];
    shape s{};
    double us = 0;
    if (std::sscanf(line, "%15[^:]:%ux%ux%ux%ux%u:%15s %31s %63s %15s %lf", type, &s.batches, &s.length,
                    &s.heads, &s.key_heads, &s.size, mask, name, version, protocol, &us) != 11)
      continue;
    s.causal = std::string_view(mask) == "causal";
    print(how, s, name, version, protocol, us, 0, 0);
  }
  pclose(pipe);
}

bool parse(int count, char** words, settings& how) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const char* const next = i + 1 < count ? words[i + 1] : "";
    if (word == "--json") {
      how.json = true;
    } else if (word == "--no-peers") {
      how.peers = false;
    } else if (word == "--causal") {
      how.full = false;
    } else if (word == "--full") {
      how.causal = false;
    } else if (word == "--seconds" && std::atof(next) > 0) {
      how.seconds = std::atof(next);
      ++i;
    } else if (word == "--type" && (std::string_view(next) == "f16" || std::string_view(next) == "bf16" ||
                                    std::string_view(next) == "f32")) {
      how.type = next;
      ++i;
    } else if (word == "--shape") {
      shape s{};
      if (std::sscanf(next, "%ux%ux%ux%ux%u", &s.batches, &s.length, &s.heads, &s.key_heads, &s.size) != 5)
        return false;
      how.shapes.push_back(s);
      ++i;
    } else {
      return false;
    }
  }
  return how.full || how.causal;
}

std::vector<shape> shapes_of(const settings& how, bool emulated) {
  std::vector<shape> some = how.shapes;
  if (some.empty() && emulated) some = {{1, 200, 2, 1, 64, false}, {1, 200, 1, 1, 128, false}};
  if (some.empty())
    for (const u32 size : {128u, 64u, 256u})
      for (u32 length = 512; length <= 16384; length *= 2)
        some.push_back({16384 / length, length, 2048 / size, 2048 / size, size, false});
  std::vector<shape> result;
  for (shape s : some) {
    if (how.full) result.push_back(s);
    s.causal = true;
    if (how.causal) result.push_back(s);
  }
  return result;
}

template <class T>
bool run(device& gpu, const settings& how, const std::vector<shape>& shapes) {
  clock_sampler clock(gpu.is_emulator() ? "" : driver_functions().bus_id(gpu.properties().ordinal));
  bench<T> all(gpu, how, clock);
  bool right = true;
  for (const shape& s : shapes) {
    const bool one = all.measure(s);
    if (!one) std::fprintf(stderr, "%s %s: WRONG\n", how.type.c_str(), s.text().c_str());
    right = one && right;
  }
  return right;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  if (!parse(count, words, how)) {
    std::fprintf(
        stderr,
        "usage: attention [--json] [--seconds S] [--type f16|bf16|f32] [--shape BxSxHxHkvxD] [--causal|--full] "
        "[--no-peers]\n");
    return 2;
  }
  try {
    device gpu = device::open();
    const std::vector<shape> shapes = shapes_of(how, gpu.is_emulator());
    const bool right = how.type == "f16"    ? run<f16>(gpu, how, shapes)
                       : how.type == "bf16" ? run<bf16>(gpu, how, shapes)
                                            : run<f32>(gpu, how, shapes);
    if (how.peers && !gpu.is_emulator()) run_peers(how, shapes);
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

// The matrix product compared with its peers: kaio's ops::matmul, the best of cuBLASLt's algorithms, torch
// and Triton where they are installed, and KAIO's own design rewritten in this language. Random data; every
// output is poisoned before it is checked; the contestants of this program run in turn.
//
//   matmul [--json] [--quick] [--seconds S] [--type f16] [--layout NT] [--shape MxNxK[xBATCH]]
//          [--no-peers] [--no-python]
//   matmul --random N [--seed S] [--type f16]      # shapes that no list names; the peer is cuBLASLt alone
//   matmul --epilogue bias|gelu_bias|residual ...  # fused, of f16 and bf16; the peer is cuBLASLt alone
//   matmul --energy [--type f16] [--shape MxNxK]   # large products: joules and clock next to time
//
// --type and --shape may be given several times. --epilogue goes with --random too. --seconds: device time
// for each case and contestant, 1 by default. At the end the geometric mean of the ratios, and the worst.
// Columns: the median time; TFLOP/s, or TB/s where m or n is at most 128; per cent of the tensor cores' peak
// at the clock that was measured meanwhile; and `ratio`, how many times longer the fastest peer took. The
// exit code is 1 where a product of kaio was wrong. On the emulator: tiny shapes, without peers and without
// meaning as times.

#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/cublas_lt.hpp"
#include "bench/matmul/kaio_design.hpp"
#include "bench/matmul/kaio_product.hpp"
#include "bench/matmul/kernels.hpp"
#include "bench/matmul/problem.hpp"
#include "bench/matmul/timing.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <numbers>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct settings {
  bool json = false, quick = false, peers = true, python = true, energy = false;
  double seconds = 1;
  std::size_t random = 0;  // so many problems of random_problems
  std::uint64_t seed = 1;
  std::vector<element> types;
  std::vector<problem> shapes;  // of any type
  std::optional<std::string> layout;
  fused_epilogue epilogue = fused_epilogue::none;
};

// ---- the peers of Python, which a child process measures

struct peer_time {
  std::string contestant, version;
  double cold = 0, burst = 0;
};
using peer_table = std::map<std::string, std::vector<peer_time>>;

std::string key_of(const problem& p) {
  return std::string(name_of(p.type)) + ":" + p.layout() + ":" + std::to_string(p.m) + "x" +
         std::to_string(p.n) + "x" + std::to_string(p.k) + "x" + std::to_string(p.batch);
}

std::vector<std::string> lines_of(const std::string& command) {
  std::vector<std::string> result;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char line[1024];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    result.emplace_back(line);
    while (!result.back().empty() && (result.back().back() == '\n' || result.back().back() == '\r'))
      result.back().pop_back();
  }
  pclose(pipe);
  return result;
}

std::string peers_command(const std::string& arguments) {
  const std::filesystem::path program = std::filesystem::path(__FILE__).parent_path() / "peers.py";
  return "python3 '" + program.string() + "' " + arguments;
}

peer_table python_peers(const std::vector<problem>& problems, double seconds) {
  std::string words = "--plain --seconds " + std::to_string(seconds / 2);
  for (const problem& p : problems) words += " " + key_of(p);
  peer_table result;
  for (const std::string& line : lines_of(peers_command(words))) {
    char type[16], layout[8], name[32], version[64], protocol[16];
    long long m = 0, n = 0, k = 0, batch = 0;
    double us = 0;
    if (std::sscanf(line.c_str(), "%15s %7s %lld %lld %lld %lld %31s %63s %15s %lf", type, layout, &m, &n, &k,
                    &batch, name, version, protocol, &us) != 10)
      continue;
    const std::string key = std::string(type) + ":" + layout + ":" + std::to_string(m) + "x" +
                            std::to_string(n) + "x" + std::to_string(k) + "x" + std::to_string(batch);
    std::vector<peer_time>& row = result[key];
    if (row.empty() || row.back().contestant != name) row.push_back({name, version});
    (std::string_view(protocol) == "cold" ? row.back().cold : row.back().burst) = us;
  }
  return result;
}

// ---- the rows

// Operations of one multiprocessor in one clock; 0 where they are not known. Source: NVIDIA's architecture
// papers.
double operations_per_clock(ptx::target target, element e) {
  const bool dense = e != element::f32;
  switch (target.sm) {
    case 80: return !dense ? 128 : e == element::tf32 ? 1024 : e == element::e4m3 ? 0 : 2048;
    case 89: return !dense ? 256 : e == element::tf32 ? 512 : e == element::e4m3 ? 2048 : 1024;
    case 90: return !dense ? 256 : e == element::tf32 ? 2048 : e == element::e4m3 ? 8192 : 4096;
    default: return 0;
  }
}

struct row {
  std::string contestant, detail;
  double us = 0;
  double error = 0;
  std::size_t runs = 0;
};

class report {
 public:
  report(const device& on, const settings& how)
      : on_(on),
        json_(how.json),
        benchmark_(std::string("matmul") + (how.epilogue == fused_epilogue::none ? "" : "_epilogue") +
                   (how.random == 0 ? "" : "_random")) {
    if (json_) return;
    std::printf("%s\n", std::string(on.description()).c_str());
    if (how.epilogue != fused_epilogue::none)
      std::printf("epilogue %s\n", std::string(name_of(how.epilogue)).c_str());
    std::printf("%-5s %-2s %-22s %-6s %-7s %10s %8s %6s %6s %6s %9s  %s\n", "type", "", "m x n x k", "", "",
                "us", "rate", "", "% peak", "ratio", "error", "");
  }

  void print(const problem& p, std::string_view protocol, double mhz, const std::vector<row>& rows) {
    double best_peer = 0;
    for (const row& one : rows)
      if (is_peer(one) && one.us > 0 && (best_peer == 0 || one.us < best_peer)) best_peer = one.us;
    const double peak =
        operations_per_clock(on_.properties().target, p.type) * on_.properties().multiprocessors * mhz * 1e6;
    const std::string epilogue = p.epilogue == fused_epilogue::none
                                     ? ""
                                     : " \"epilogue\": \"" + std::string(name_of(p.epilogue)) + "\",";
    for (const row& one : rows) {
      if (one.us <= 0) continue;
      const double tflops = p.operations() / one.us * 1e-6, tbs = p.bytes() / one.us * 1e-6;
      const double percent = peak > 0 && !is_python(one) ? 1e14 * tflops / peak : 0;
      const double ratio = is_peer(one) || best_peer == 0 ? 0 : best_peer / one.us;
      if (one.contestant == "kaio" && ratio > 0)
        ratios_[std::string(protocol)].push_back(
            {ratio, std::string(name_of(p.type)) + " " + p.layout() + " " + p.shape()});
      if (json_) {
        std::printf(
            "{\"benchmark\": \"%s\", \"device\": \"%s\", \"type\": \"%s\", \"layout\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, \"batch\": %lld,%s \"protocol\": \"%s\", \"contestant\": \"%s\", \"detail\": \"%s\", \"us\": %.3f, \"tflops\": %.2f, \"tbs\": %.3f, \"mhz\": %.0f, \"percent\": %.1f, \"ratio\": %.4f, \"error\": %.3e, \"runs\": %zu}\n",
            benchmark_.c_str(), std::string(on_.description()).c_str(), std::string(name_of(p.type)).c_str(),
            p.layout().c_str(), static_cast<long long>(p.m), static_cast<long long>(p.n),
            static_cast<long long>(p.k), static_cast<long long>(p.batch), epilogue.c_str(),
            std::string(protocol).c_str(), one.contestant.c_str(), one.detail.c_str(), one.us, tflops, tbs,
            mhz, percent, ratio, finite(one.error), one.runs);
      } else {
        const bool skinny = p.is_skinny();
        std::printf("%-5s %-2s %-22s %-6s %-7s %10.2f %8.*f %-6s %6.1f %6.3f %9.1e  %s\n",
                    std::string(name_of(p.type)).c_str(), p.layout().c_str(), p.shape().c_str(),
                    std::string(protocol).c_str(), one.contestant.substr(0, 7).c_str(), one.us,
                    skinny ? 3 : 1, skinny ? tbs : tflops, skinny ? "TB/s" : "TF/s", percent, ratio,
                    one.error, one.detail.c_str());
      }
    }
    std::fflush(stdout);
  }

  void print_energy(const problem& p, const std::string& contestant, double us, double joules,
                    double mhz) const {
    const double tflops = p.operations() / us * 1e-6, gigaflops_a_joule = p.operations() / joules * 1e-9;
    if (json_)
      std::printf(
          "{\"benchmark\": \"matmul_energy\", \"device\": \"%s\", \"type\": \"%s\", \"layout\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, \"batch\": %lld, \"contestant\": \"%s\", \"us\": %.3f, \"tflops\": %.2f, \"joules\": %.5f, \"watts\": %.1f, \"mhz\": %.0f, \"gflop_per_joule\": %.1f}\n",
          std::string(on_.description()).c_str(), std::string(name_of(p.type)).c_str(), p.layout().c_str(),
          static_cast<long long>(p.m), static_cast<long long>(p.n), static_cast<long long>(p.k),
          static_cast<long long>(p.batch), contestant.c_str(), us, tflops, joules, 1e6 * joules / us, mhz,
          gigaflops_a_joule);
    else
      std::printf("%-5s %-2s %-22s %-6s %-7s %10.2f %8.1f TF/s   %7.3f J %6.0f W %6.0f MHz %8.0f GFLOP/J\n",
                  std::string(name_of(p.type)).c_str(), p.layout().c_str(), p.shape().c_str(), "energy",
                  contestant.substr(0, 7).c_str(), us, tflops, joules, 1e6 * joules / us, mhz,
                  gigaflops_a_joule);
    std::fflush(stdout);
  }

  // How kaio compares with the fastest peer over all problems.
  void summarise() const {
    for (const auto& [protocol, all] : ratios_) {
      double logarithms = 0;
      std::size_t behind = 0;
      for (const auto& [ratio, which] : all) {
        logarithms += std::log(ratio);
        behind += ratio < 0.9;
      }
      const auto worst = std::min_element(all.begin(), all.end());
      std::fprintf(
          stderr, "%s: ratio %.3f in the geometric mean of %zu problems, %zu below 0.9, the worst %.3f: %s\n",
          protocol.c_str(), std::exp(logarithms / static_cast<double>(all.size())), all.size(), behind,
          worst->first, worst->second.c_str());
    }
  }

 private:
  static bool is_python(const row& one) { return one.contestant == "torch" || one.contestant == "triton"; }
  static bool is_peer(const row& one) { return is_python(one) || one.contestant == "cublaslt"; }
  // JSON has no NaN; what is not finite is wrong by any measure.
  static double finite(double x) { return std::isfinite(x) ? x : 1e300; }

  const device& on_;
  bool json_;
  std::string benchmark_;
  std::map<std::string, std::vector<std::pair<double, std::string>>> ratios_;  // of kaio, by protocol
};

// What a product may be wrong by, in relative Frobenius norm: the rounding of the output and of the sums.
// fp8: sums of 14 bits, where a library chooses fast accumulation.
double bound_of(element e) {
  switch (e) {
    case element::f16: return 1e-3;
    case element::bf16: return 5e-3;
    case element::e4m3: return 2e-2;
    case element::tf32: return 2e-3;
    default: return 1e-5;
  }
}

// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", the approximation by tanh.
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// ---- one case

class bench {
 public:
  bench(device& on, const settings& how, const cublas_lt& library, clock_sampler& clock,
        const peer_table& peers)
      : gpu_(on),
        how_(how),
        library_(library),
        clock_(clock),
        peers_(peers),
        stream_(on.create_stream()),
        timing_(on, stream_),
        report_(on, how) {
    if (library_) {
      workspace_ = gpu_.allocate<u8>(workspace_bytes, uninitialised);
      scales_ = gpu_.upload(std::vector<f32>(4, 1.0f));
    }
  }

  // Whether kaio's product was right, or is not there.
  void summarise() const { report_.summarise(); }

  bool measure(const problem& p) {
    switch (p.type) {
      case element::f16: return measure<f16, f16>(p);
      case element::bf16: return measure<bf16, bf16>(p);
      case element::e4m3: return measure<e4m3, bf16>(p);
      default: return measure<f32, f32>(p);
    }
  }

 private:
  static constexpr std::size_t workspace_bytes = 64u << 20;
  static constexpr u32 samples = 1024;

  template <class T, class Out>
  bool measure(const problem& p) {
    const auto count = [&](std::int64_t rows, std::int64_t columns) {
      return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) *
             static_cast<std::size_t>(p.batch);
    };
    // So many sets of operands that L2 does not hold them.
    const double cache = gpu_.is_emulator() ? 0 : 2.5 * gpu_.properties().l2_bytes;
    const auto sets = static_cast<std::size_t>(std::clamp(std::ceil(cache / p.bytes()), 1.0, 32.0));
    std::vector<buffer<T>> a, b;
    std::vector<buffer<Out>> added, c;  // added: the bias or residual, empty where there is none
    for (u32 i = 0; i < sets; ++i) {
      a.push_back(gpu_.allocate<T>(count(p.m, p.k), uninitialised));
      b.push_back(gpu_.allocate<T>(count(p.k, p.n), uninitialised));
      c.push_back(gpu_.allocate<Out>(count(p.m, p.n), uninitialised));
      normal(a.back(), 2 * i + 1);
      normal(b.back(), 2 * i + 2);
      added.emplace_back();
      if (p.epilogue != fused_epilogue::none) {
        added.back() = gpu_.allocate<Out>(static_cast<std::size_t>(p.added()), uninitialised);
        normal(added.back(), 1000 + i);
        // A * B becomes as large as what is added: a missing epilogue shows in the error.
        const f32 factor = std::exp2(-std::round(0.5f * std::log2(static_cast<f32>(p.k))));
        const u64 n = a.back().size();
        scale_elements<T>.launch(stream_, whole_device(n), a.back(), factor, n);
      }
    }

    std::vector<contestant> all;
    bool right = true;
    try {
      contestant kaio{"kaio",
                      [&](std::size_t i) { kaio_product<T, Out>(stream_, p, a[i], b[i], added[i], c[i]); }};
      kaio.error = error_of<T, Out>(p, kaio, a[0], b[0], added[0], c[0]);
      right = kaio.error <= bound_of(p.type);
      if (!right) kaio.detail = "WRONG";
      all.push_back(std::move(kaio));
    } catch (const error& e) {
      std::fprintf(stderr, "kaio, %s: %s\n", key_of(p).c_str(), e.what());
      right = false;
    }
    std::optional<lt_plan> plan;
    if (library_) {
      plan.emplace(library_, p, workspace_.address(), workspace_bytes, scales_.address(), added[0].address());
      const auto run = [&](std::size_t algorithm, std::size_t i) {
        return plan->run(algorithm, a[i].address(), b[i].address(), added[i].address(), c[i].address(),
                         stream_.native_handle());
      };
      if (const auto best = fastest(*plan, run, sets)) {
        contestant peer{"cublaslt", [run, at = best->cold](std::size_t i) { run(at, i); },
                        plan->name(best->cold)};
        peer.run_in_burst = [run, at = best->burst](std::size_t i) { run(at, i); };
        if (best->burst != best->cold) peer.detail += "; burst: " + plan->name(best->burst);
        peer.error = error_of<T, Out>(p, peer, a[0], b[0], added[0], c[0]);
        if (!all.empty()) {
          all[0].detail += distance_from_peer(p, all[0], peer, c[0]);
          right = right && all[0].detail.find("WRONG") == std::string::npos;
        }
        all.push_back(std::move(peer));
      }
    }
    buffer<f32> design_output;
    if constexpr (std::is_same_v<T, f16> || std::is_same_v<T, bf16>) {
      const bool fits = p.layout() == "NN" && p.batch == 1 && p.k % 16 == 0 && p.m <= 4096 && p.n <= 16384 &&
                        p.epilogue == fused_epilogue::none;
      if (fits && (gpu_.is_emulator() || gpu_.properties().target.sm >= 80)) {
        design_output = gpu_.allocate<f32>(count(p.m, p.n), uninitialised);
        contestant design{
            "design",
            [&, p](std::size_t i) {
              const auto blocks = [](std::int64_t n) { return static_cast<std::uint64_t>((n + 63) / 64); };
              kaio_design<T>.launch(stream_, grid(blocks(p.n), blocks(p.m)), a[i], b[i], design_output,
                                    static_cast<u32>(p.m), static_cast<u32>(p.n), static_cast<u32>(p.k));
            },
            "64 x 64 x 16, f32 out"};
        design.is_yardstick = true;
        design.error = error_of<T, f32>(p, design, a[0], b[0], {}, design_output);
        all.push_back(std::move(design));
      }
    }
    time_all(p, all, static_cast<int>(sets));
    return right;
  }

  template <class T>
  void normal(buffer<T>& y, u32 seed) {
    const u64 n = y.size();
    fill_normal<T>.launch(stream_, whole_device(n), y, seed, n);
  }

  grid whole_device(u64 n) const {
    const u64 most = gpu_.is_emulator() ? 4 : u64{16} * gpu_.properties().multiprocessors;
    return grid(std::max<u64>(1, std::min<u64>(most, (n + 255) / 256)));
  }

  // |C - X| / |X| over sampled elements, X being A B with its epilogue, after a run into poisoned memory.
  template <class T, class Out>
  double error_of(const problem& p, const contestant& one, const buffer<T>& a, const buffer<T>& b,
                  const buffer<Out>& added, buffer<Out>& c) {
    const u64 n = c.size();
    poison<Out>.launch(stream_, whole_device(n), c, n);
    one.run(0);
    const u32 count = gpu_.is_emulator() ? 64 : samples;
    auto want = gpu_.allocate<f64>(count), got = gpu_.allocate<f64>(count);
    const auto size = [](std::int64_t x) { return static_cast<u64>(x); };
    const sampled_product where{size(p.m),
                                size(p.n),
                                size(p.k),
                                size(p.batch),
                                size(p.a_transposed ? 1 : p.k),
                                size(p.a_transposed ? p.m : 1),
                                size(p.b_transposed ? 1 : p.n),
                                size(p.b_transposed ? p.k : 1)};
    sample_product<T, Out>.launch(stream_, grid(count), a, b, c, want, got, where);
    if (p.epilogue != fused_epilogue::none) {
      const sampled_term strides =
          p.has_bias() ? sampled_term{0, 0, 1} : sampled_term{size(p.m) * size(p.n), size(p.n), 1};
      sample_term<Out>.launch(stream_, grid((count + 31) / 32), added, want, where, strides, u64{count});
    }
    stream_.synchronize();
    std::vector<f64> exact = want.download();
    const std::vector<f64> computed = got.download();
    if (p.epilogue == fused_epilogue::gelu_bias)
      for (f64& x : exact) x = gelu_tanh(x);
    double difference = 0, length = 0;
    for (u32 i = 0; i < count; ++i) {
      difference += (computed[i] - exact[i]) * (computed[i] - exact[i]);
      length += exact[i] * exact[i];
    }
    return std::sqrt(difference / length);
  }

  // Over all elements: kaio's product compared with the peer's, which is in c.
  template <class Out>
  std::string distance_from_peer(const problem& p, const contestant& kaio, const contestant& peer,
                                 buffer<Out>& c) {
    const u64 n = c.size();
    auto first = gpu_.allocate<Out>(n, uninitialised);
    peer.run(0);
    first.copy_from(c, stream_);
    poison<Out>.launch(stream_, whole_device(n), c, n);
    kaio.run(0);
    auto sums = gpu_.allocate<f64>(2);
    squared_distance<Out>.launch(stream_, whole_device(n), c, first, sums, n);
    stream_.synchronize();
    const std::vector<f64> got = sums.download();
    const double distance = std::sqrt(got[0] / got[1]);
    char text[64];
    std::snprintf(text, sizeof text, "%s%.1e from cublaslt",
                  distance <= 2 * bound_of(p.type) ? "" : "WRONG, ", distance);
    return text;
  }

  struct best_algorithms {
    std::size_t cold, burst;
  };

  // The algorithms with the least medians, of each protocol its own: each is tried, and the best few once
  // more.
  template <class Run>
  std::optional<best_algorithms> fastest(const lt_plan& plan, const Run& run, std::size_t sets) {
    using timed = std::pair<double, std::size_t>;
    std::vector<timed> cold, burst;
    for (std::size_t i = 0; i < plan.algorithms(); ++i) {
      if (!run(i, 0)) continue;
      contestant one{"", [&, i](std::size_t set) { run(i, set); }};
      cold.emplace_back(median_of(one, 5), i);
      timing_.burst({&one}, static_cast<int>(sets), static_cast<int>(std::max<std::size_t>(sets, 4)), 3);
      burst.emplace_back(median(one.burst), i);
    }
    if (cold.empty()) return std::nullopt;
    std::sort(cold.begin(), cold.end());
    cold.resize(std::min<std::size_t>(cold.size(), 4));
    for (auto& [us, i] : cold) us = median_of({"", [&, at = i](std::size_t set) { run(at, set); }}, 25);
    return best_algorithms{std::min_element(cold.begin(), cold.end())->second,
                           std::min_element(burst.begin(), burst.end())->second};
  }

  double median_of(contestant one, int runs) {
    one.run(0);
    timing_.cold({&one}, runs);
    return median(one.cold);
  }

  void time_all(const problem& p, std::vector<contestant>& all, int sets) {
    std::vector<contestant*> fast, slow;
    for (contestant& one : all) (one.is_yardstick ? slow : fast).push_back(&one);
    double longest = 1;
    for (contestant* one : fast) longest = std::max(longest, median_of({"", one->run}, 3));
    const bool emulated = gpu_.is_emulator();
    const double budget = how_.seconds * 1e6;
    const int runs = emulated ? 1 : static_cast<int>(std::clamp(budget / (longest + 50), 30.0, 400.0));
    const int length = (static_cast<int>(std::clamp(2e4 / longest, 4.0, 20.0)) + sets - 1) / sets * sets;
    const int rounds =
        emulated ? 1 : static_cast<int>(std::clamp(budget / 2 / (longest * length), 5.0, 40.0));

    if (!fast.empty()) timing_.cold(fast, std::max(1, runs / 10));  // clocks and temperatures settle
    for (contestant* one : fast) one->cold.clear();
    clock_.begin();
    if (!fast.empty()) timing_.cold(fast, runs);
    const double cold_mhz = clock_.end();
    if (!slow.empty()) timing_.cold(slow, emulated ? 1 : 10);
    clock_.begin();
    if (!fast.empty()) timing_.burst(fast, sets, length, rounds);
    const double burst_mhz = clock_.end();
    if (!slow.empty()) timing_.burst(slow, sets, 1, emulated ? 1 : 5);

    std::vector<row> cold, burst;
    for (const contestant& one : all) {
      cold.push_back({one.name, one.detail, median(one.cold), one.error, one.cold.size()});
      burst.push_back({one.name, one.detail, median(one.burst), one.error, one.burst.size()});
    }
    if (const auto found = peers_.find(key_of(p)); found != peers_.end())
      for (const peer_time& one : found->second) {
        cold.push_back({one.contestant, one.version, one.cold});
        burst.push_back({one.contestant, one.version, one.burst});
      }
    report_.print(p, "cold", cold_mhz, cold);
    report_.print(p, "burst", burst_mhz, burst);
    if (how_.energy && !emulated && longest > 100) measure_energy(p, fast, sets, length);
  }

  // Each alone for two seconds, of which the second counts.
  void measure_energy(const problem& p, const std::vector<contestant*>& all, int sets, int length) {
    for (const contestant* one : all) {
      double before = 0;
      const timing::settled got = timing_.sustained(*one, sets, length, 2, [&] {
        clock_.begin();
        before = clock_.joules();
      });
      const double joules = clock_.joules() - before;
      report_.print_energy(p, one->name, got.us, joules / static_cast<double>(got.runs), clock_.end());
    }
  }

  device& gpu_;
  const settings& how_;
  const cublas_lt& library_;
  clock_sampler& clock_;
  const peer_table& peers_;
  stream stream_;
  timing timing_;
  report report_;
  buffer<u8> workspace_;
  buffer<f32> scales_;
};

// ---- the command line

std::optional<element> element_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(element::tf32); ++i)
    if (name_of(static_cast<element>(i)) == name) return static_cast<element>(i);
  return std::nullopt;
}

std::optional<fused_epilogue> epilogue_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(fused_epilogue::residual); ++i)
    if (name_of(static_cast<fused_epilogue>(i)) == name) return static_cast<fused_epilogue>(i);
  return std::nullopt;
}

bool parse(int count, char** words, settings& how) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const char* const next = i + 1 < count ? words[i + 1] : "";
    if (word == "--json") {
      how.json = true;
    } else if (word == "--quick") {
      how.quick = true;
    } else if (word == "--energy") {
      how.energy = true;
    } else if (word == "--no-peers") {
      how.peers = false;
    } else if (word == "--no-python") {
      how.python = false;
    } else if (word == "--random" && std::atoll(next) > 0) {
      how.random = static_cast<std::size_t>(std::atoll(next));
      ++i;
    } else if (word == "--seed" && std::atoll(next) > 0) {
      how.seed = static_cast<std::uint64_t>(std::atoll(next));
      ++i;
    } else if (word == "--seconds" && std::atof(next) > 0) {
      how.seconds = std::atof(next);
      ++i;
    } else if (word == "--type" && element_named(next)) {
      how.types.push_back(*element_named(next));
      ++i;
    } else if (word == "--epilogue" && epilogue_named(next)) {
      how.epilogue = *epilogue_named(next);
      ++i;
    } else if (word == "--layout" && std::strlen(next) == 2 &&
               std::string_view(next).find_first_not_of("NT") == std::string_view::npos) {
      how.layout = next;
      ++i;
    } else if (word == "--shape") {
      long long m = 0, n = 0, k = 0, batch = 1;
      if (std::sscanf(next, "%lldx%lldx%lldx%lld", &m, &n, &k, &batch) < 3 || m < 1 || n < 1 || k < 1 ||
          batch < 1)
        return false;
      how.shapes.push_back({element::f16, m, n, k, batch});
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

// Throws where an epilogue is asked for together with what has none.
void require_epilogue(const settings& how) {
  if (how.epilogue == fused_epilogue::none) return;
  const std::string asked = "kaio: --epilogue " + std::string(name_of(how.epilogue));
  for (const element type : how.types)
    if (type != element::f16 && type != element::bf16)
      throw std::invalid_argument(asked + " is measured of f16 and bf16, not of " +
                                  std::string(name_of(type)) + "; leave that --type out");
  if (how.energy) throw std::invalid_argument(asked + " is not measured by --energy; leave one of them out");
}

std::vector<problem> problems_of(const settings& how, const device& on) {
  std::vector<element> types = how.types;
  const bool has_epilogue = how.epilogue != fused_epilogue::none;
  if (types.empty() && has_epilogue) types = {element::f16, element::bf16};
  if (types.empty()) types = {element::f16, element::bf16, element::e4m3, element::f32, element::tf32};
  std::vector<problem> result;
  if (how.random != 0) {
    result = random_problems(types, how.random, how.seed);
    for (problem& p : result) p.epilogue = how.epilogue;
    return result;
  }
  for (const element type : types) {
    std::vector<problem> some = on.is_emulator() ? tiny_problems(type) : standard_problems(type, how.quick);
    if (!how.shapes.empty()) some = how.shapes;
    for (problem p : some) {
      p.type = type;
      p.epilogue = how.epilogue;
      if (!how.shapes.empty()) p.b_transposed = type == element::e4m3;
      if (how.layout) {
        p.a_transposed = (*how.layout)[0] == 'T';
        p.b_transposed = (*how.layout)[1] == 'T';
      }
      result.push_back(p);
    }
  }
  return result;
}

int run(const settings& how) {
  require_epilogue(how);
  device gpu = device::open();
  const std::vector<problem> problems = problems_of(how, gpu);
  const bool alone = gpu.is_emulator() || !how.peers;
  const cublas_lt library(alone ? std::vector<std::string>{} : lines_of(peers_command("--libraries")),
                          !alone);
  if (!how.json && !alone) std::printf("%s\n", library.description().c_str());
  const bool with_python = !alone && how.python && how.random == 0 && how.epilogue == fused_epilogue::none;
  const peer_table peers = with_python ? python_peers(problems, how.seconds) : peer_table{};
  if (how.random != 0) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(how.seed));
  clock_sampler clock(gpu.is_emulator() ? "" : driver_functions().bus_id(gpu.properties().ordinal));
  bench all(gpu, how, library, clock, peers);
  bool right = true;
  for (const problem& p : problems) {
    try {
      right = all.measure(p) && right;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", key_of(p).c_str(), e.what());
      right = false;
    }
  }
  all.summarise();
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  if (!parse(count, words, how)) {
    std::fprintf(
        stderr,
        "usage: matmul [--json] [--quick] [--seconds S] [--type f16|bf16|e4m3|f32|tf32] [--layout NN|NT|TN|TT] [--shape MxNxK[xBATCH]] [--random N [--seed S]] [--epilogue none|bias|gelu_bias|residual] [--energy] [--no-peers] [--no-python]\n");
    return 2;
  }
  try {
    return run(how);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

#pragma once
// One case after the other: its operands, its contestants, their errors and their times.

#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/cublas_lt.hpp"
#include "bench/matmul/kaio_design.hpp"
#include "bench/matmul/kaio_product.hpp"
#include "bench/matmul/kernels.hpp"
#include "bench/matmul/problem.hpp"
#include "bench/matmul/python_peers.hpp"
#include "bench/matmul/report.hpp"
#include "bench/matmul/settings.hpp"
#include "bench/matmul/timing.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace kaio::bench {

// The allowed error of a product in relative Frobenius norm: the rounding of the output and of the sums.
// fp8: sums of 14 bits, if a library chooses fast accumulation.
inline double bound_of(element e) {
  switch (e) {
    case element::f16: return 1e-3;
    case element::bf16: return 5e-3;
    case element::e4m3: return 2e-2;
    case element::tf32: return 2e-3;
    default: return 1e-5;
  }
}

// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", the approximation by tanh.
inline double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

class matmul_cases {
 public:
  matmul_cases(device& on, const settings& how, const cublas_lt& library, clock_sampler& clock,
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

  void summarise() const { report_.summarise(); }

  // Returns whether kaio's product was right, or does not exist.
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
    // Enough sets of operands to exceed L2.
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
        // Makes A * B about as large as the added term, so that a missing epilogue shows in the error.
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

  // The algorithm with the least median, for each protocol. Each is tried, and the best few once more.
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

  // Runs each alone for two seconds, and measures the second one.
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

}  // namespace kaio::bench

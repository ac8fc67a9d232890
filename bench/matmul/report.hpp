#pragma once
// The rows of a case as text or JSON, and how kaio compares with the fastest peer over all cases.

#include "bench/matmul/problem.hpp"
#include "bench/matmul/settings.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::bench {

// Operations of one multiprocessor in one clock; 0 where they are not known. Source: NVIDIA's architecture
// papers.
inline double operations_per_clock(ptx::target target, element e) {
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
  // JSON has no NaN; a number that is not finite is wrong by any measure.
  static double finite(double x) { return std::isfinite(x) ? x : 1e300; }

  const device& on_;
  bool json_;
  std::string benchmark_;
  std::map<std::string, std::vector<std::pair<double, std::string>>> ratios_;  // of kaio, by protocol
};

}  // namespace kaio::bench

#pragma once
// What the benchmark of attention prints, and the times of the peers, which peers.py measures.

#include "bench/attention/problem.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace kaio::bench {

struct settings {
  bool json = false, no_peers = false, variants = false, model = false, kernels = false, backward = false;
  double seconds = 0.5;
  u32 random = 0, seed = 1;
  std::string type = "f16";
  std::string device;  // its name
  std::vector<std::string> shapes, works;

  const char* benchmark() const { return backward ? "attention_backward" : "attention"; }
  // The backward has five products where the forward has two.
  double operations(const problem& p) const { return p.operations() * (backward ? 2.5 : 1); }
};

// Of each problem and protocol: the times of kaio, and of the best peer.
struct times {
  double kaio = 0, peer = 0;
};
using ratios = std::map<std::pair<std::string, std::string>, times>;

inline void print(const settings& how, const problem& p, const std::string& contestant,
                  const std::string& version, const char* protocol, double us, double error, double mhz) {
  const double tera = how.operations(p) / us * 1e-6;
  const std::string name(p.work_name());
  if (how.json)
    std::printf(
        "{\"benchmark\": \"%s\", \"device\": \"%s\", \"type\": \"%s\", \"shape\": \"%s\", \"work\": \"%s\", \"contestant\": \"%s\", "
        "\"version\": \"%s\", \"protocol\": \"%s\", \"us\": %.3f, \"tflops\": %.1f, \"error\": %.2e, \"mhz\": %.0f}\n",
        how.benchmark(), how.device.c_str(), how.type.c_str(), p.shape().c_str(), name.c_str(),
        contestant.c_str(), version.c_str(), protocol, us, tera, error, mhz);
  else
    std::printf("%-5s %-22s %-13s %-6s %-10s %10.2f us %7.1f TF  %s\n", how.type.c_str(), p.shape().c_str(),
                name.c_str(), protocol, contestant.c_str(), us, tera,
                error > 0 ? ("error " + std::to_string(error)).c_str() : version.c_str());
  std::fflush(stdout);
}

inline std::string key_of(const problem& p) { return p.shape() + ":" + std::string(p.work_name()); }

inline void run_peers(const settings& how, const std::vector<problem>& problems, ratios& all) {
  const std::filesystem::path program = std::filesystem::path(__FILE__).parent_path() / "peers.py";
  std::string command = "python3 '" + program.string() + "'" + (how.backward ? " --backward" : "") +
                        " --seconds " + std::to_string(how.seconds);
  for (const problem& p : problems) command += " " + how.type + ":" + key_of(p);
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return;
  char line[512];
  while (std::fgets(line, sizeof line, pipe) != nullptr) {
    char shape[64], name[32], contestant[32], version[64], protocol[16];
    double us = 0;
    if (std::sscanf(line, "%*[^:]:%63[^:]:%31s %31s %63s %15s %lf", shape, name, contestant, version,
                    protocol, &us) != 6)
      continue;
    std::optional<problem> p = problem_of(shape);
    const std::optional<work> what = work_of(name);
    if (!p || !what) continue;
    p->what = *what;
    print(how, *p, contestant, version, protocol, us, 0, 0);
    double& best = all[{key_of(*p), protocol}].peer;
    best = best == 0 ? us : std::min(best, us);
  }
  pclose(pipe);
}

inline void print_summary(const settings& how, const ratios& all) {
  for (const char* const protocol : {"cold", "burst"}) {
    double sum = 0, worst = 1e30;
    u32 count = 0;
    std::string worst_case;
    for (const auto& [key, of] : all) {
      if (key.second != protocol || of.kaio == 0 || of.peer == 0) continue;
      const double ratio = of.peer / of.kaio;
      sum += std::log(ratio);
      ++count;
      if (ratio < worst) {
        worst = ratio;
        worst_case = key.first;
      }
    }
    if (count == 0) continue;
    if (how.json)
      std::printf(
          "{\"benchmark\": \"%s_random\", \"device\": \"%s\", \"type\": \"%s\", \"seed\": %u, \"protocol\": \"%s\", \"problems\": "
          "%u, \"ratio\": %.3f, \"worst\": %.3f, \"worst_case\": \"%s\"}\n",
          how.benchmark(), how.device.c_str(), how.type.c_str(), how.seed, protocol, count,
          std::exp(sum / count), worst, worst_case.c_str());
    else
      std::printf(
          "%u random problems, seed %u, %s: ratio to the best peer %.3f (geometric mean), worst %.3f: %s\n",
          count, how.seed, protocol, std::exp(sum / count), worst, worst_case.c_str());
  }
}

}  // namespace kaio::bench

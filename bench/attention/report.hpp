#pragma once
// The report of an attention benchmark: its own times, its peers' times from a script in Python, and the ratios.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kaio::bench {

// A case is its shape and its work, as texts. Times are in microseconds.
struct report {
  std::string benchmark, device, type;
  bool json = false;
  u32 seed = 1;                 // of random cases
  std::string rate = "tflops";  // printed next to a time: "tflops", or "tbs"
  // The operations, or bytes, of a case; nothing where there is no such case.
  std::function<std::optional<double>(const std::string& shape, const std::string& work)> amount{};

  // The times of kaio and of the fastest peer, for one case and protocol.
  struct both {
    double kaio = 0, peer = 0;
  };
  std::map<std::pair<std::string, std::string>, both> all{};

  void add(const std::string& shape, const std::string& work, const std::string& contestant,
           const std::string& version, const std::string& protocol, double us, double error = 0,
           double mhz = 0) {
    const std::optional<double> done = amount(shape, work);
    if (!done) return;
    const double tera = *done / us * 1e-6;
    if (json)
      std::printf(
          "{\"benchmark\": \"%s\", \"device\": \"%s\", \"type\": \"%s\", \"shape\": \"%s\", \"work\": \"%s\", \"contestant\": \"%s\", "
          "\"version\": \"%s\", \"protocol\": \"%s\", \"us\": %.3f, \"%s\": %.3f, \"error\": %.2e, \"mhz\": %.0f}\n",
          benchmark.c_str(), device.c_str(), type.c_str(), shape.c_str(), work.c_str(), contestant.c_str(),
          version.c_str(), protocol.c_str(), us, rate.c_str(), tera, error, mhz);
    else
      std::printf("%-5s %-22s %-13s %-6s %-10s %10.2f us %8.2f %s  %s\n", type.c_str(), shape.c_str(),
                  work.c_str(), protocol.c_str(), contestant.c_str(), us, tera, rate.c_str(),
                  error > 0 ? ("error " + std::to_string(error)).c_str() : version.c_str());
    std::fflush(stdout);
    both& of = all[{shape + ":" + work, protocol}];
    if (contestant == "kaio")
      of.kaio = us;
    else if (!contestant.starts_with("kaio"))  // other kernels of it
      of.peer = of.peer == 0 ? us : std::min(of.peer, us);
  }

  // Adds the peers' times of the cases, each "shape:work". The script prints a line for each time:
  // TYPE:SHAPE:WORK NAME VERSION PROTOCOL US.
  void run_peers(const std::filesystem::path& script, const std::string& options,
                 const std::vector<std::string>& cases) {
    std::string command = "python3 '" + script.string() + "' " + options;
    for (const std::string& one : cases) command += " '" + type + ":" + one + "'";
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return;
    char line[512];
    while (std::fgets(line, sizeof line, pipe) != nullptr) {
      char shape[64], work[32], contestant[32], version[64], protocol[16];
      double us = 0;
      if (std::sscanf(line, "%*[^:]:%63[^:]:%31s %31s %63s %15s %lf", shape, work, contestant, version,
                      protocol, &us) == 6)
        add(shape, work, contestant, version, protocol, us);
    }
    pclose(pipe);
  }

  // Prints for each protocol the geometric mean and the worst of the ratios to the fastest peer.
  void print_summary() const {
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
      if (json)
        std::printf(
            "{\"benchmark\": \"%s_random\", \"device\": \"%s\", \"type\": \"%s\", \"seed\": %u, \"protocol\": \"%s\", \"problems\": "
            "%u, \"ratio\": %.3f, \"worst\": %.3f, \"worst_case\": \"%s\"}\n",
            benchmark.c_str(), device.c_str(), type.c_str(), seed, protocol, count, std::exp(sum / count),
            worst, worst_case.c_str());
      else
        std::printf(
            "%u random problems, seed %u, %s: ratio to the best peer %.3f (geometric mean), worst %.3f: %s\n",
            count, seed, protocol, std::exp(sum / count), worst, worst_case.c_str());
    }
  }
};

}  // namespace kaio::bench

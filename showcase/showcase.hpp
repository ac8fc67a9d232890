#pragma once
// Shared by the showcases: random input, timing, the comparison with a double-precision reference, and the
// report. The kernels themselves are in the folders, each readable alone.
//
// A showcase can be copied into another project: its folder's files, and this file next to them (docs/install.md).

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kaio::showcase {

inline std::vector<f32> random_normal(std::size_t count, unsigned seed, f32 deviation = 1.0f) {
  std::mt19937 engine(seed);
  std::normal_distribution<f32> distribution(0.0f, deviation);
  std::vector<f32> values(count);
  for (f32& v : values) v = distribution(engine);
  return values;
}

// The median time of one run, in milliseconds, on the device's stream: events around each run, after warm-up.
template <class Run>
double median_ms(device& on, Run run) {
  const int warm_up = on.is_emulator() ? 0 : 5;
  const int repeats = on.is_emulator() ? 3 : 50;
  for (int i = 0; i < warm_up; ++i) run();
  std::vector<double> times;
  event begin = on.create_event();
  event end = on.create_event();
  for (int i = 0; i < repeats; ++i) {
    on.stream().record(begin);
    run();
    on.stream().record(end);
    times.push_back(elapsed_ms(begin, end));
  }
  std::nth_element(times.begin(), times.begin() + repeats / 2, times.end());
  return times[static_cast<std::size_t>(repeats / 2)];
}

// The largest |got - want| / max(|want|, floor). NaN on one side only is an infinite error.
class largest_error {
 public:
  explicit largest_error(double floor) : floor_(floor) {}
  void compare(double got, double want) {
    if (std::isnan(got) != std::isnan(want)) error_ = std::numeric_limits<double>::infinity();
    if (!std::isnan(got) && got != want)
      error_ = std::max(error_, std::abs(got - want) / std::max(std::abs(want), floor_));
  }
  double value() const { return error_; }

 private:
  double floor_;
  double error_ = 0;
};

struct outcome {
  std::string size;
  double error;
  double bound;
  double milliseconds;
  double bytes;           // moved by one run: inputs read once, outputs written once
  double operations = 0;  // of one run, where they bound it: multiplications and additions
};

// Prints the report; returns the exit code of the program. The emulator does not have a GPU's speed, so the report
// shows its own time instead.
inline int report(const device& on, const outcome& o) {
  const bool pass = o.error <= o.bound;
  const std::string where(on.description());
  std::printf("  device          %s\n  size            %s\n", where.c_str(), o.size.c_str());
  std::printf("  largest error   %.2e (bound %.0e)  %s\n", o.error, o.bound, pass ? "PASS" : "FAIL");
  if (on.is_emulator()) {
    std::printf("  emulated in     %.1f ms\n", o.milliseconds);
    return pass ? 0 : 1;
  }
  std::printf("  median latency  %.4f ms\n  bandwidth       %.1f GB/s\n", o.milliseconds,
              o.bytes / o.milliseconds * 1e-6);
  if (o.operations != 0)
    std::printf("  throughput      %.3f TFLOP/s\n", o.operations / o.milliseconds * 1e-9);
  return pass ? 0 : 1;
}

// The message and the exit code of a program that this device cannot run.
inline int skipped(const char* needs) {
  std::printf("  skipped         needs %s\n", needs);
  return 0;
}

// Runs a showcase; an error of kaio is printed and makes the program fail.
template <class Main>
int guarded(Main main) {
  try {
    return main();
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

}  // namespace kaio::showcase

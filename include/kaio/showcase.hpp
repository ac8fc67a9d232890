#pragma once
// What a small program needs around its kernels: random input, the median time of a run, the comparison with a reference
// in double precision, and a report that ends in an exit code. The showcases use it; so can a first program of your own:
//
//   int main() {
//     return kaio::showcase::run("saxpy", [](kaio::device& gpu) {
//       ...
//       return kaio::showcase::report(gpu, {"1000 elements", error.value(), 1e-6, milliseconds, bytes});
//     });
//   }
//
// Programs alone include this header: it needs more of the standard library than kaio's other headers.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kaio::showcase {

// Numbers of a normal distribution. Those after the first 16777213 repeat them, since each takes 20 ns to draw; the period
// is a prime, so that no row or block of a kernel has the numbers of another one.
inline std::vector<f32> random_normal(std::size_t count, unsigned seed, f32 deviation = 1.0f) {
  constexpr std::size_t period = 16777213;
  std::mt19937 engine(seed);
  std::normal_distribution<f32> distribution(0.0f, deviation);
  std::vector<f32> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = i < period ? distribution(engine) : values[i - period];
  return values;
}

// The median time of one run, in milliseconds, on the device's stream: events around each of 100 runs, after 5 to
// warm up. The emulator, whose times mean nothing, makes 3 runs.
template <class Run>
double median_ms(device& on, Run run) {
  const int warm_up = on.is_emulator() ? 0 : 5;
  const int repeats = on.is_emulator() ? 3 : 100;
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

// The largest |got - want| / max(|want|, floor): with a floor above every |want| an absolute error. NaN on one side only
// is an infinite error.
class largest_error {
 public:
  explicit largest_error(double floor) : floor_(floor) {}
  void compare(double got, double want) {
    if (std::isnan(got) != std::isnan(want)) error_ = std::numeric_limits<double>::infinity();
    if (!std::isnan(got) && got != want) {
      const double size = std::abs(want) > floor_ ? std::abs(want) : floor_;
      const double error = std::abs(got - want) / size;
      if (!(error <= error_)) error_ = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
    }
  }
  double value() const { return error_; }

 private:
  double floor_;
  double error_ = 0;
};

struct outcome {
  std::string size;
  double error;
  double bound;  // 0: the result must be exact
  double milliseconds;
  double bytes;           // moved by one run: inputs read once, outputs written once
  double operations = 0;  // of one run, where they bound it: multiplications and additions
};

// Prints the report; returns the exit code of the program. The emulator does not have a GPU's speed, so the report
// shows its own time instead.
inline int report(const device& on, const outcome& o) {
  const bool pass = o.error <= o.bound;
  std::printf("  size            %s\n  largest error   %.2e (", o.size.c_str(), o.error);
  o.bound == 0 ? std::printf("must be exact") : std::printf("bound %.0e", o.bound);
  std::printf(")  %s\n", pass ? "PASS" : "FAIL");
  if (on.is_emulator()) {
    std::printf("  emulated in     %.2f ms\n", o.milliseconds);
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

// Runs a program; an error of kaio is printed and makes the program fail.
template <class Main>
int guarded(Main main) {
  try {
    return main();
  } catch (const error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

// Opens the device, names it and the program, and runs `main` with it.
template <class Main>
int run(const char* name, Main main) {
  return guarded([&] {
    device gpu = device::open();
    std::printf("GPU: %s\nCompute capability: sm_%u\n=== %s ===\n", gpu.properties().name,
                gpu.properties().target.sm, name);
    return main(gpu);
  });
}

// FILE of the arguments `--plot FILE`; nullptr without arguments. Throws invalid_argument for others.
inline const char* plot_file(int count, char** words) {
  if (count == 1) return nullptr;
  if (count == 3 && std::string(words[1]) == "--plot") return words[2];
  throw invalid_argument(std::string("kaio: ") + words[0] + " takes --plot FILE.svg, or nothing");
}

}  // namespace kaio::showcase

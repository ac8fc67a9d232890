#pragma once
// The clock of a GPU's multiprocessors while something runs, and the energy that the GPU has taken. Both are
// read from NVML; another thread samples the clock every few milliseconds.
//
//   clock_sampler clock(bus_id);
//   clock.begin(); ...; const double mhz = clock.end();      // 0: unknown
//   const double before = clock.joules(); ...; const double used = clock.joules() - before;

#include "bench/matmul/shared_library.hpp"

#include <atomic>
#include <chrono>
#include <string>
#include <thread>

namespace kaio::bench {

class clock_sampler {
 public:
  // An empty bus id: no clock.
  explicit clock_sampler(const std::string& bus_id) : library_({"libnvidia-ml.so.1"}) {
    auto* const init = library_.function<int()>("nvmlInit_v2");
    auto* const find = library_.function<int(const char*, void**)>("nvmlDeviceGetHandleByPciBusId_v2");
    read_ = library_.function<int(void*, int, unsigned*)>("nvmlDeviceGetClockInfo");
    if (bus_id.empty() || init == nullptr || find == nullptr || init() != 0 ||
        find(bus_id.c_str(), &device_) != 0)
      read_ = nullptr;
    else
      energy_ = library_.function<int(void*, unsigned long long*)>("nvmlDeviceGetTotalEnergyConsumption");
  }
  ~clock_sampler() { end(); }
  clock_sampler(const clock_sampler&) = delete;
  clock_sampler& operator=(const clock_sampler&) = delete;

  void begin() {
    if (read_ == nullptr || thread_.joinable()) return;
    stop_ = false;
    sum_ = 0;
    samples_ = 0;
    thread_ = std::thread([this] {
      constexpr int sm_clock = 1;  // NVML_CLOCK_SM
      // The first reading comes when the work has begun.
      for (std::this_thread::sleep_for(pause); !stop_; std::this_thread::sleep_for(pause)) {
        unsigned mhz = 0;
        if (read_(device_, sm_clock, &mhz) != 0) continue;
        sum_ += mhz;
        ++samples_;
      }
    });
  }

  // The mean since begin(), in MHz.
  double end() {
    if (!thread_.joinable()) return 0;
    stop_ = true;
    thread_.join();
    return samples_ == 0 ? 0 : sum_ / samples_;
  }

  // Since the driver was loaded; 0: unknown. The counter moves every 0.1 seconds or so.
  double joules() const {
    unsigned long long millijoules = 0;
    return energy_ != nullptr && energy_(device_, &millijoules) == 0 ? 1e-3 * static_cast<double>(millijoules)
                                                                     : 0;
  }

 private:
  static constexpr std::chrono::milliseconds pause{4};

  shared_library library_;
  int (*read_)(void*, int, unsigned*) = nullptr;
  int (*energy_)(void*, unsigned long long*) = nullptr;
  void* device_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  double sum_ = 0;
  int samples_ = 0;
};

}  // namespace kaio::bench

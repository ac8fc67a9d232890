#pragma once
// Times all kernels of matmul_fp8 and matmul_int8 for random problems on this machine's GPU, as
// bench/matmul_choice/measure.hpp does. Operands have enough copies to exceed L2. A time is that of a CUDA
// graph of runs over the copies. The kernels take turns, and the median of the rounds counts.

#include "bench/matmul/kernels.hpp"
#include "bench/median.hpp"
#include "bench/quantised_choice/problem.hpp"
#include "ops/matmul/choice/cost.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace kaio::bench {

// A kernel that accepts a call: its work in the cost model, its time by the model, and the measured time.
struct timed_kernel {
  const ops::matmul_variant* variant = nullptr;
  ops::kernel_work work{};
  double model_us = 0, us = 0;
  bool dropped = false;  // so slow that it was run a few times only
};

class quantised_measurement {
 public:
  explicit quantised_measurement(const device& on)
      : gpu_(on), stream_(on.create_stream()), is_emulator_(on.is_emulator()) {
    const std::uint64_t operands = is_emulator_ ? std::uint64_t{1} << 22 : std::uint64_t{1} << 30;
    operands_[0] = filled<e4m3>(operands);
    operands_[1] = on.allocate<u8>(operands, uninitialised);
    fill_normal<f16>.launch(stream_, blocks(), whole<f16>(operands_[1]), u32{5}, u64{operands / 2});
    outputs_ = on.allocate<u8>(operands);
    residual_ = filled<f16>(operands / 4);
    scales_ = filled<f32>(operands / 16);
    for (int i = 0; i < 2; ++i) events_.push_back(on.create_event());
    stream_.synchronize();
  }

  bool fits(const quantised_problem& p) const {
    return copies_that_fit(p) > 0 && p.scale_count() * sizeof(f32) <= scales_.size() &&
           static_cast<std::uint64_t>(p.m * p.n) * sizeof(f16) <= residual_.size();
  }

  // The model's time of the kernel that it chooses.
  double model_us(const quantised_problem& p) const {
    const quantised_memory memory = memory_of(p, 0);
    return (p.is_fp8 ? accepting(p.fp8_call_of(memory)) : accepting(p.int8_call_of(memory))).front().model_us;
  }

  // The times of the kernels, the model's choice first.
  std::vector<timed_kernel> time(const quantised_problem& p) {
    if (p.is_fp8) return time_of(p, [&](const quantised_memory& memory) { return p.fp8_call_of(memory); });
    return time_of(p, [&](const quantised_memory& memory) { return p.int8_call_of(memory); });
  }

 private:
  static constexpr int rounds = 5;
  static constexpr double drop_beyond = 3;  // times the best one so far
  static constexpr double hopeless = 30;    // times the model's best; such kernels are not run

  template <class Resolve>
  std::vector<timed_kernel> time_of(const quantised_problem& p, const Resolve& resolve) {
    std::vector<decltype(resolve(quantised_memory{}))> calls;
    const std::size_t copies = std::min(copies_that_fit(p), copies_beyond_cache(p));
    for (std::size_t i = 0; i < copies; ++i) calls.push_back(resolve(memory_of(p, i)));
    std::vector<timed_kernel> all = accepting(calls[0]);
    const auto run = [&](const timed_kernel& one, std::size_t i) {
      one.variant->run(stream_, calls[i % copies], *one.variant);
    };
    double best = 1e30;
    for (timed_kernel& one : all) {
      run(one, 0);  // loads it
      if (is_emulator_) continue;
      one.us = between_events([&] { run(one, 1); });
      best = std::min(best, one.us);
    }
    if (is_emulator_) return all;
    measure_rounds(all, best, copies, run);
    return all;
  }

  template <class Call>
  std::vector<timed_kernel> accepting(const Call& call) const {
    std::vector<timed_kernel> all;
    const device_properties& device = gpu_.properties();
    for (const ops::matmul_variant* const v : ops::variants_for(call)) {
      if (!ops::accepts(*v, call, device)) continue;
      const ops::kernel_work work = ops::work_of(*v, call, device);
      all.push_back({v, work, 1e6 * ops::seconds_of(work, *v, device), 0, false});
    }
    std::sort(all.begin(), all.end(),
              [](const timed_kernel& x, const timed_kernel& y) { return x.model_us < y.model_us; });
    std::erase_if(all,
                  [&](const timed_kernel& one) { return one.model_us > hopeless * all.front().model_us; });
    return all;
  }

  template <class Run>
  void measure_rounds(std::vector<timed_kernel>& all, double best, std::size_t copies, const Run& run) {
    struct running {
      timed_kernel* kernel;
      executable_graph runs;
      std::size_t length;
      std::vector<double> us;
    };
    std::vector<running> graphs;
    for (timed_kernel& one : all) {
      one.dropped = one.us > drop_beyond * best;
      if (one.dropped) continue;
      const std::size_t length =
          std::clamp(static_cast<std::size_t>(200 / std::max(one.us, 1.0)), copies, copies + 16);
      const auto enqueue = [&] {
        for (std::size_t i = 0; i < length; ++i) run(one, i);
      };
      graphs.push_back({&one, capture_graph(stream_, enqueue).instantiate(), length, {}});
    }
    for (int round = -1; round < rounds; ++round)  // the first warms up
      for (running& one : graphs) {
        const double us = between_events([&] { one.runs.launch(stream_); }) / static_cast<double>(one.length);
        if (round >= 0) one.us.push_back(us);
      }
    for (const running& one : graphs) one.kernel->us = median(one.us);
  }

  template <class Work>
  double between_events(const Work& work) {
    stream_.record(events_[0]);
    work();
    stream_.record(events_[1]);
    return 1e3 * elapsed_ms(events_[0], events_[1]);
  }

  grid blocks() const { return grid(is_emulator_ ? 4 : u64{16} * gpu_.properties().multiprocessors); }
  template <class T>
  device_pointer<T> whole(const buffer<u8>& memory) const {
    return {memory.address(), memory.size() / sizeof(T), gpu_.identity()};
  }
  template <class T>
  buffer<u8> filled(std::uint64_t bytes) {
    auto memory = gpu_.allocate<u8>(bytes, uninitialised);
    fill_normal<T>.launch(stream_, blocks(), whole<T>(memory), u32{7}, u64{bytes / sizeof(T)});
    return memory;
  }

  static std::uint64_t rounded(std::uint64_t bytes) { return (bytes + 511) / 256 * 256; }
  static std::uint64_t inputs_of(const quantised_problem& p) {
    return rounded(p.bytes_of_a()) + rounded(p.bytes_of_b());
  }
  std::size_t copies_that_fit(const quantised_problem& p) const {
    return static_cast<std::size_t>(
        std::min(operands_[0].size() / inputs_of(p), outputs_.size() / rounded(p.bytes_of_c())));
  }
  std::size_t copies_beyond_cache(const quantised_problem& p) const {
    const double cache = is_emulator_ ? 0 : 2.5 * gpu_.properties().l2_bytes;
    const auto bytes = static_cast<double>(inputs_of(p) + p.bytes_of_c());
    return static_cast<std::size_t>(std::clamp(std::ceil(cache / bytes), 1.0, 32.0));
  }
  quantised_memory memory_of(const quantised_problem& p, std::size_t copy) const {
    quantised_memory result;
    result.device = gpu_.identity();
    result.a = operands_[p.is_fp8 ? 0 : 1].address() + copy * inputs_of(p);
    result.b = result.a + rounded(p.bytes_of_a());
    result.c = outputs_.address() + copy * rounded(p.bytes_of_c());
    result.scales = scales_.address();
    result.residual = residual_.address();
    return result;
  }

  device gpu_;
  stream stream_;
  bool is_emulator_;
  buffer<u8> operands_[2];  // e4m3, i8
  buffer<u8> outputs_, residual_, scales_;
  std::vector<event> events_;
};

}  // namespace kaio::bench

#pragma once
// Times all variants for random problems on this machine's GPU. Memory of the operands is allocated once,
// with enough copies to exceed L2. A time is that of a CUDA graph of runs over the copies, divided by the
// number of runs. The graphs of the variants take turns, and the median of the rounds counts.

#include "bench/matmul/kernels.hpp"
#include "bench/matmul/timing.hpp"
#include "bench/matmul_choice/choice.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <thread>
#include <vector>

namespace kaio::bench {

struct measure_settings {
  double seconds = 400;    // of wall clock, from the start of the program
  double most_us = 500;    // of a problem, as the model sees its best variant
  double drop_beyond = 3;  // times the best one so far
  int rounds = 7;
};

class measurement {
 public:
  measurement(const device& on, const measure_settings& how)
      : gpu_(on), how_(how), stream_(on.create_stream()) {
    const std::uint64_t free = on.memory_info().free;
    const auto share = [&](std::uint64_t most) {
      return on.is_emulator() ? std::uint64_t{1} << 22 : std::min(most, free / 12) / 256 * 256;
    };
    operands_[0] = make_operands<f32>(share(std::uint64_t{2} << 30));
    operands_[1] = make_operands<f16>(share(std::uint64_t{1} << 30));
    operands_[2] = make_operands<bf16>(share(std::uint64_t{1} << 30));
    operands_[3] = make_operands<e4m3>(share(std::uint64_t{1} << 30));
    operands_[4] = make_operands<e5m2>(share(std::uint64_t{1} << 30));
    outputs_ = on.allocate<u8>(share(std::uint64_t{2} << 30));
    workspace_ = on.allocate<u8>(share(std::uint64_t{256} << 20));
    for (int i = 0; i < 2; ++i) events_.push_back(on.create_event());
    stream_.synchronize();
  }

  // Loads the kernels ahead, in as many threads as there are processors.
  void load(const std::vector<const ptx::kernel_image*>& images) const {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next++; i < images.size(); i = next++) try {
          gpu_.warmup(*images[i]);
        } catch (const error&) {  // of another architecture
        }
    };
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i)
      threads.emplace_back(work);
    for (std::thread& t : threads) t.join();
  }

  // False where the problem is too large to be measured.
  bool fits(const random_problem& p, const std::vector<timed_variant>& variants) const {
    return !variants.empty() && variants.front().model_us <= how_.most_us && places(p) > 0;
  }

  // Replaces the model's times by measured ones. A variant that fails is taken out of the list, and reported.
  void time(const random_problem& p, std::vector<timed_variant>& variants) {
    const std::size_t copies = std::min(places(p), copies_beyond_cache(p));
    std::vector<ops::matmul_call> calls;
    for (std::size_t i = 0; i < copies; ++i) calls.push_back(p.call_of(memory_of(p, i)));

    double best = 1e30;
    std::erase_if(variants, [&](timed_variant& v) {
      try {
        v.us = quick(calls, *v.variant);
      } catch (const error& e) {
        std::fprintf(stderr, "seed %llu, %s: %s\n", static_cast<unsigned long long>(p.seed),
                     v.variant->name().c_str(), e.what());
        stream_.synchronize();  // throws where the device is lost
        return true;
      }
      best = std::min(best, v.us);
      return false;
    });
    for (timed_variant& v : variants) v.dropped = v.us > how_.drop_beyond * best;
    if (gpu_.is_emulator()) return;

    struct running {
      timed_variant* variant;
      executable_graph runs;
      std::size_t length;
      std::vector<double> us;
    };
    std::vector<running> all;
    for (timed_variant& v : variants) {
      if (v.dropped) continue;
      const std::size_t length =
          std::clamp(static_cast<std::size_t>(300 / std::max(v.us, 1.0)), copies, copies + 32);
      const auto enqueue = [&] {
        for (std::size_t i = 0; i < length; ++i) ops::run_variant(stream_, calls[i % copies], *v.variant);
      };
      all.push_back({&v, capture_graph(stream_, enqueue).instantiate(), length, {}});
    }
    for (int round = -1; round < how_.rounds; ++round)  // the first warms up
      for (running& one : all) {
        stream_.record(events_[0]);
        one.runs.launch(stream_);
        stream_.record(events_[1]);
        const double us = 1e3 * elapsed_ms(events_[0], events_[1]) / static_cast<double>(one.length);
        if (round >= 0) one.us.push_back(us);
      }
    for (running& one : all) one.variant->us = median(one.us);
  }

 private:
  template <class T>
  buffer<u8> make_operands(std::uint64_t bytes) {
    auto memory = gpu_.allocate<u8>(bytes, uninitialised);
    auto numbers = device_pointer<T>{memory.address(), bytes / sizeof(T), gpu_.identity()};
    const u64 n = bytes / sizeof(T);
    const u64 blocks = gpu_.is_emulator() ? 4 : u64{16} * gpu_.properties().multiprocessors;
    fill_normal<T>.launch(stream_, grid(blocks), numbers, u32{7}, n);
    return memory;
  }

  static std::uint64_t whole(std::uint64_t bytes) { return (bytes + 511) / 256 * 256; }
  std::uint64_t inputs_of(const random_problem& p) const {
    return whole(p.bytes_of_a()) + whole(p.bytes_of_b());
  }

  // How many copies of a problem there is room for.
  std::size_t places(const random_problem& p) const {
    const buffer<u8>& inputs = operands_[static_cast<std::size_t>(p.operand)];
    const buffer<u8>& terms = operands_[static_cast<std::size_t>(p.output)];
    if (p.bytes_of_workspace() > workspace_.size() || whole(p.bytes_of_c()) > terms.size()) return 0;
    return static_cast<std::size_t>(
        std::min(inputs.size() / inputs_of(p), outputs_.size() / whole(p.bytes_of_c())));
  }
  std::size_t copies_beyond_cache(const random_problem& p) const {
    const double cache = gpu_.is_emulator() ? 0 : 2.5 * gpu_.properties().l2_bytes;
    const auto bytes = static_cast<double>(inputs_of(p) + p.bytes_of_c());
    return static_cast<std::size_t>(std::clamp(std::ceil(cache / bytes), 1.0, 32.0));
  }
  problem_memory memory_of(const random_problem& p, std::size_t copy) const {
    problem_memory result;
    result.device = gpu_.identity();
    result.a = operands_[static_cast<std::size_t>(p.operand)].address() + copy * inputs_of(p);
    result.b = result.a + whole(p.bytes_of_a());
    result.c = outputs_.address() + copy * whole(p.bytes_of_c());
    result.bias = result.residual = operands_[static_cast<std::size_t>(p.output)].address();
    result.workspace = workspace_.address();
    return result;
  }

  // The time of a few runs, launches included.
  double quick(const std::vector<ops::matmul_call>& calls, const ops::matmul_variant& v) {
    ops::run_variant(stream_, calls[0], v);
    if (gpu_.is_emulator()) return 1;
    double least = 1e30;
    for (int i = 0; i < 2; ++i) {
      stream_.record(events_[0]);
      for (std::size_t run = 0; run < 2; ++run) ops::run_variant(stream_, calls[run % calls.size()], v);
      stream_.record(events_[1]);
      least = std::min(least, 1e3 * elapsed_ms(events_[0], events_[1]) / 2);
    }
    return least;
  }

  device gpu_;
  measure_settings how_;
  stream stream_;
  buffer<u8> operands_[5];  // by the numbers of element_kind
  buffer<u8> outputs_, workspace_;
  std::vector<event> events_;
};

}  // namespace kaio::bench

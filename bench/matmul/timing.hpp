#pragma once
// The two protocols in which products are timed, the contestants in turn so that all of them see the same
// clocks and temperatures. Times are of the device, from events.
//
//   cold    before each run the L2 cache is displaced by reading something else; the device never rests, so its clock is
//           that of sustained load. The read also keeps the device busy while the host puts the run into the queue.
//   burst   runs of one contestant back to back, captured as one CUDA graph. Each run has the next set of operands,
//           and the sets exceed L2, as for a caller that runs the layers of a network. The time is that of the
//           graph divided by its number of runs.
//
// sustained() runs one of them for as long as the clock and the power take to settle.

#include "bench/matmul/kernels.hpp"
#include "bench/median.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace kaio::bench {

struct contestant {
  std::string name;
  std::function<void(std::size_t)> run;  // puts one product into the stream, of the operands of this number
  std::string detail = {};
  std::function<void(std::size_t)> run_in_burst = {};  // where another algorithm is the fastest there
  double error = 0;                                    // relative, of sampled elements against f64
  bool is_yardstick = false;                           // much slower: fewer runs
  std::vector<double> cold = {}, burst = {};           // microseconds
};

class timing {
 public:
  timing(device& on, const stream& s) : on_(on), stream_(s) {
    const std::size_t cache =
        on.is_emulator() ? 4096 : std::max<std::size_t>(2 * on.properties().l2_bytes, 128u << 20);
    displaced_ = on.allocate<f32x4>(cache / sizeof(f32x4));
    sink_ = on.allocate<f32>(1);
  }

  // One run of each in turn, `runs` times.
  void cold(std::vector<contestant*> all, int runs) {
    const std::size_t together = std::max<std::size_t>(1, 192 / std::max<std::size_t>(1, all.size()));
    for (std::size_t done = 0; done < static_cast<std::size_t>(runs);) {
      const std::size_t now = std::min(together, static_cast<std::size_t>(runs) - done);
      reserve(2 * now * all.size());
      std::size_t e = 0;
      for (std::size_t i = 0; i < now; ++i)
        for (contestant* one : all) {
          displace();
          stream_.record(events_[e++]);
          one->run(0);
          stream_.record(events_[e++]);
        }
      e = 0;
      for (std::size_t i = 0; i < now; ++i)
        for (contestant* one : all) {
          one->cold.push_back(1e3 * elapsed_ms(events_[e], events_[e + 1]));
          e += 2;
        }
      done += now;
    }
  }

  // `rounds` graphs of `length` runs of each in turn, which go through `sets` sets of operands.
  void burst(std::vector<contestant*> all, int sets, int length, int rounds) {
    reserve(2);
    std::vector<executable_graph> graphs;  // none on the emulator: a run of each is enough there
    const auto runs_of = [&](const contestant& one) {
      return one.is_yardstick || on_.is_emulator() ? 1 : length;
    };
    const auto run = [&](const contestant& one, int i) {
      (one.run_in_burst ? one.run_in_burst : one.run)(static_cast<std::size_t>(i % sets));
    };
    for (contestant* one : all) {
      if (on_.is_emulator()) break;
      const auto enqueue = [&] {
        for (int i = 0; i < runs_of(*one); ++i) run(*one, i);
      };
      graphs.push_back(capture_graph(stream_, enqueue).instantiate());
    }
    for (int round = -1; round < rounds; ++round)  // the first warms up
      for (std::size_t c = 0; c < all.size(); ++c) {
        stream_.record(events_[0]);
        if (graphs.empty())
          run(*all[c], 0);
        else
          graphs[c].launch(stream_);
        stream_.record(events_[1]);
        const double us = 1e3 * elapsed_ms(events_[0], events_[1]) / runs_of(*all[c]);
        if (round >= 0) all[c]->burst.push_back(us);
      }
  }

  // Runs a contestant alone for `seconds` or a little more, and calls begin() after half of that time. Returns
  // the time of a run in microseconds, and the number of runs, both after begin().
  struct settled {
    double us;
    std::size_t runs;
  };
  template <class Begin>
  settled sustained(const contestant& one, int sets, int length, double seconds, const Begin& begin) {
    const auto& run = one.run_in_burst ? one.run_in_burst : one.run;
    const auto enqueue = [&] {
      for (int i = 0; i < length; ++i) run(static_cast<std::size_t>(i % sets));
    };
    const executable_graph many = capture_graph(stream_, enqueue).instantiate();
    using clock = std::chrono::steady_clock;
    const auto run_for = [&](double time) {
      const auto start = clock::now();
      std::size_t graphs = 0;
      double spent = 0;
      for (; spent < time; spent = std::chrono::duration<double>(clock::now() - start).count()) {
        for (int i = 0; i < 4; ++i) many.launch(stream_);
        stream_.synchronize();
        graphs += 4;
      }
      const std::size_t runs = graphs * static_cast<std::size_t>(length);
      return settled{1e6 * spent / static_cast<double>(runs), runs};
    };
    run_for(seconds / 2);
    begin();
    return run_for(seconds / 2);
  }

 private:
  void reserve(std::size_t count) {
    while (events_.size() < count) events_.push_back(on_.create_event());
  }
  void displace() {
    const u64 n = displaced_.size();
    displace_cache.launch(stream_, grid(on_.is_emulator() ? 1 : 8 * on_.properties().multiprocessors),
                          displaced_, sink_, n);
  }

  device& on_;
  const stream& stream_;
  buffer<f32x4> displaced_;
  buffer<f32> sink_;
  std::vector<event> events_;
};

}  // namespace kaio::bench

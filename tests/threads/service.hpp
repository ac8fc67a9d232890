#pragma once
// A program like a service: threads with streams of their own, pools that they share, graphs that are captured and
// replayed, copies across two devices, buffers that cross threads, devices that are opened and closed meanwhile. Calls
// may fail; results may not be wrong.

#include <array>
#include <exception>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "unit/runtime/support.hpp"

namespace service_test {

inline constexpr unsigned workers = 8;
inline constexpr std::uint32_t n = 100;

// A buffer that another thread takes over: its work is done.
struct parcel {
  kaio::buffer<float> content;
  float value = 0;
  std::size_t device = 0;
};

// What came of a shift: the first wrong result, and the errors of kaio.
class outcome {
 public:
  void note_wrong(const std::string& what) {
    const std::scoped_lock lock(changing_);
    if (wrong_.empty()) wrong_ = what;
  }
  void note_error(const kaio::error& e) {
    if (!std::string_view(e.what()).starts_with("kaio: ")) note_wrong(e.what());
    const std::scoped_lock lock(changing_);
    if (errors_++ == 0) first_ = e.what();
  }
  const std::string& wrong() const { return wrong_; }
  const std::string& first_error() const { return first_; }
  long errors() const { return errors_; }

 private:
  std::mutex changing_;
  std::string wrong_, first_;
  long errors_ = 0;
};

// The devices of a shift, and what its threads share.
struct shift {
  explicit shift(const std::array<const char*, 2>& names)
      : gpus{kaio::device::open(names[0]), kaio::device::open(names[1])},
        pools{gpus[0].create_pool(), gpus[1].create_pool({.kind = kaio::pool_kind::caching})} {
    for (const kaio::device& gpu : gpus) gpu.warmup(runtime_test::scale);
  }
  std::array<kaio::device, 2> gpus;
  std::array<kaio::memory_pool, 2> pools;
  std::mutex changing;
  std::vector<parcel> parcels;
};

class worker {
 public:
  worker(shift& at, outcome& found, unsigned number, unsigned seed)
      : at_(at),
        found_(found),
        random_(seed * workers + number),
        value_(static_cast<float>(number + 1)),
        own_{at.gpus[0].create_stream(), at.gpus[1].create_stream()} {}

  void run(unsigned rounds) {
    for (unsigned round = 0; round < rounds; ++round) try {
        work(round);
      } catch (const kaio::error& e) {
        found_.note_error(e);
      } catch (const std::exception& e) {
        found_.note_wrong(e.what());
      }
  }

 private:
  void expect(const std::vector<float>& values, float wanted, const char* where) {
    if (values == std::vector<float>(n, wanted)) return;
    found_.note_wrong(std::string(where) + ": " + std::to_string(values.empty() ? -1 : values[0]) +
                      " in place of " + std::to_string(wanted));
  }

  void work(unsigned round) {
    const std::size_t d = random_() % 2;
    const kaio::device& gpu = at_.gpus[d];
    // The thread's own stream, the same one as another library would hand it over, or the driver's one per thread.
    const kaio::stream borrowed =
        kaio::stream::borrow(gpu, round % 3 == 1 ? own_[d].native_handle() : reinterpret_cast<void*>(2));
    const kaio::stream& s = round % 3 == 0 ? own_[d] : borrowed;
    const auto x = at_.pools[d].allocate<float>(n, s, kaio::uninitialised);
    auto y = at_.pools[d].allocate<float>(n, s);
    fill(s, x.view(), value_);
    runtime_test::launch_scale(s, x, y, 2.0f, n);
    switch (random_() % 4) {
      case 0: expect(y.download(s), 2 * value_, "a launch"); break;
      case 1: copy_across(d, y, s); break;
      case 2:
        s.synchronize();
        replay(own_[d], x, y);
        break;
      default:
        s.synchronize();
        exchange({std::move(y), 2 * value_, d});
        break;
    }
    if (round % 4 == 0) open_and_close(gpu);
  }

  void copy_across(std::size_t d, const kaio::buffer<float>& y, const kaio::stream& s) {
    const kaio::stream& there = own_[1 - d];
    const auto z = at_.pools[1 - d].allocate<float>(n, there, kaio::uninitialised);
    kaio::event ready = at_.gpus[d].create_event();
    s.record(ready);
    there.wait(ready);
    copy(there, z.view(), y.view());
    expect(z.download(there), 2 * value_, "a copy across devices");
  }

  void replay(const kaio::stream& s, const kaio::buffer<float>& x, const kaio::buffer<float>& y) {
    const kaio::graph recorded = capture_graph(s, [&] {
      runtime_test::launch_scale(s, x, y, 3.0f, n);
      copy(s, x.view(), y.view());
    });
    const kaio::executable_graph step = recorded.instantiate();
    step.launch(s);
    step.launch(s);
    expect(y.download(s), 9 * value_, "two replays");
  }

  // Leaves a buffer to others, and takes one from them.
  void exchange(parcel mine) {
    parcel taken;
    {
      const std::scoped_lock lock(at_.changing);
      at_.parcels.push_back(std::move(mine));
      std::swap(at_.parcels.front(), at_.parcels.back());
      if (at_.parcels.size() < workers) return;
      taken = std::move(at_.parcels.back());
      at_.parcels.pop_back();
    }
    const kaio::stream& s = own_[taken.device];
    expect(taken.content.download(s), taken.value, "a buffer of another thread");
    taken.content.release(s);
  }

  void open_and_close(const kaio::device& gpu) {
    const kaio::device same =
        gpu.is_emulator() ? kaio::device::open("emulator:" + std::to_string(gpu.properties().emulator))
                          : kaio::device::open("cuda:" + std::to_string(gpu.properties().ordinal));
    const kaio::device alone = kaio::device::open("emulator");
    expect(alone.upload(std::vector<float>(n, value_)).download(), value_, "a device of one thread");
    // One that was lost is opened anew.
    if (!gpu.is_emulator() && same != gpu) found_.note_wrong("a GPU is two devices");
  }

  shift& at_;
  outcome& found_;
  std::mt19937 random_;
  float value_;
  std::array<kaio::stream, 2> own_;
};

// Runs a shift with all its threads. `intruder(shift)` runs beside them.
template <class Intruder>
void run_shift(const std::array<const char*, 2>& names, outcome& found, unsigned rounds, unsigned seed,
               Intruder intruder) {
  try {
    shift at(names);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < workers; ++t)
      threads.emplace_back([&, t] {
        try {
          worker(at, found, t, seed).run(rounds);
        } catch (const kaio::error& e) {
          found.note_error(e);
        }
      });
    intruder(at);
    for (std::thread& t : threads) t.join();
  } catch (const kaio::error& e) {
    found.note_error(e);
  }
}

}  // namespace service_test

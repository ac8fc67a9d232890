#pragma once
// Threads that begin at once and repeat a body, for tests of what may be shared.

#include <atomic>
#include <barrier>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "catch.hpp"

namespace threads_test {

inline constexpr unsigned workers = 8;
inline constexpr unsigned rounds = 50;

// Calls body(thread, round) in `workers` threads, `rounds` times each; all threads begin each round together, so that
// first uses meet. Fails the test with the first text that a body returns or throws.
template <class Body>
void storm(Body body, unsigned times = rounds) {
  std::barrier together(workers);
  std::mutex mutex;
  std::string first;
  const auto note = [&](std::string what) {
    const std::lock_guard lock(mutex);
    if (first.empty()) first = std::move(what);
  };
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < workers; ++t)
    threads.emplace_back([&, t] {
      for (unsigned round = 0; round < times; ++round) {
        together.arrive_and_wait();
        try {
          if (!body(t, round)) note("a body has a wrong result");
        } catch (const std::exception& e) {
          note(e.what());
        }
      }
    });
  for (std::thread& t : threads) t.join();
  INFO(first);
  CHECK(first.empty());
}

}  // namespace threads_test

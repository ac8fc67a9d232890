#pragma once
// Ranks of tests: threads, each with an emulated device and a communicator. On a machine with GPUs the emulators are used
// too: their number does not depend on the machine.

#include "catch.hpp"
#include "tests/ops/support.hpp"

#include <kaio/kaio.hpp>
#include <kaio/ops/distributed/communicator.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace kaio::tests {

inline std::vector<device> emulated_devices(int count) {
  std::vector<device> all;
  for (int r = 0; r < count; ++r) all.push_back(device::open("emulator:" + std::to_string(r)));
  return all;
}

// Fails the rank: Catch2's checks belong to the main thread.
inline void must(bool holds, std::string_view what) {
  if (!holds) throw std::runtime_error("not so: " + std::string(what));
}

// How a rank ended.
struct rank_outcome {
  std::string error;  // its text; empty: none
  errc code = errc::invalid_argument;
  bool says(std::string_view part) const { return error.find(part) != std::string::npos; }
};

// Calls body(rank, communicator, stream) in a thread for each rank. The communicator of a rank goes with its thread.
template <class Body>
std::vector<rank_outcome> run_ranks(std::vector<communicator> group, const Body& body) {
  std::vector<rank_outcome> outcomes(group.size());
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < group.size(); ++r)
    threads.emplace_back([&, r, own = std::move(group[r])]() mutable {
      const communicator c = std::move(own);
      try {
        const stream s = c.on().create_stream();
        body(static_cast<int>(r), c, s);
        s.synchronize();
      } catch (const error& e) {
        outcomes[r] = {std::string(e.message()), e.code()};
      } catch (const std::exception& e) {
        outcomes[r] = {e.what(), errc::driver_error};
      }
    });
  for (std::thread& t : threads) t.join();
  return outcomes;
}

// As run_ranks; no rank may fail.
template <class Body>
void run_all(std::vector<communicator> group, const Body& body) {
  for (const rank_outcome& o : run_ranks(std::move(group), body)) {
    INFO(o.error);
    REQUIRE(o.error.empty());
  }
}

inline std::vector<communicator> group_of(int ranks, bool direct = true, double time_limit = 20,
                                          std::uint64_t staging = 1 << 16) {
  const std::vector<device> devices = emulated_devices(ranks);
  const communicator_options options{.time_limit = time_limit, .staging_bytes = staging};
  return direct ? communicator::peers(devices, options) : communicator::in_process(devices, options);
}

}  // namespace kaio::tests

#pragma once
// Whether a program that runs for long grows: the resident memory of the process and the used memory of the device,
// before and after many calls. The first calls are not counted: kaio and the driver make their queues and lists in
// them.
//
//   const growth of = growth_of(gpu, "launch", 1'000'000, [&](std::size_t i) { ... });
//
// The emulator's free memory is that of the host, which other programs take too. What a program of the emulator
// holds is resident memory of its process. The emulator remembers 65,536 freed buffers: until then, allocations
// add some 50 bytes each.

#include <kaio/runtime/runtime.hpp>

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <vector>

#include "bench/launch/raw_calls.hpp"

namespace kaio::bench {

struct growth {
  const char* call;
  std::size_t count;
  std::int64_t resident, device;  // bytes

  static constexpr std::int64_t most = 1 << 20;
  static std::size_t warm_up(std::size_t calls) { return calls / 10 + 100; }
  bool is_small() const { return resident < most && device < most; }
};

// Bytes of this process in memory.
inline std::int64_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  long all = 0, resident = 0;
  const bool read = file != nullptr && std::fscanf(file, "%ld %ld", &all, &resident) == 2;
  if (file != nullptr) std::fclose(file);
  if (!read) throw std::runtime_error("kaio: /proc/self/statm cannot be read; mount /proc");
  return std::int64_t{resident} * sysconf(_SC_PAGESIZE);
}

template <class Call>
growth growth_of(const device& gpu, const char* name, std::size_t count, const Call& call) {
  const auto run = [&](std::size_t calls) {
    for (std::size_t i = 0; i < calls; ++i) {
      call(i);
      if (i % 100 == 99) gpu.synchronize();  // the queue stays as long as it was in the first calls
    }
    gpu.synchronize();
  };
  const bool is_emulator = gpu.name().starts_with("kaio emulator");
  const auto used = [&] {
    const memory_info memory = gpu.memory_info();
    return is_emulator ? 0 : static_cast<std::int64_t>(memory.total - memory.free);
  };
  run(growth::warm_up(count));
  const std::int64_t device = used(), resident = resident_bytes();
  run(count);
  return {name, count, resident_bytes() - resident, used() - device};
}

// `launches` launches on borrowed streams; a tenth as many replays of a graph, and allocations of each kind of pool.
// Throws if a launch did not run.
inline std::vector<growth> all_growth(const device& gpu, std::size_t launches) {
  constexpr std::size_t owners = 4, nodes = 10;
  std::vector<stream> streams;
  for (std::size_t i = 0; i < owners; ++i) streams.push_back(gpu.create_stream());
  gpu.warmup(count_one);
  const auto counter = gpu.allocate<std::uint32_t>(1);
  const ptx::argument arguments[] = {counter.as_argument()};
  const auto count_on = [&](const stream& s) { s.launch(count_one, {1, 1, 1}, arguments, 1); };

  std::vector<growth> all;
  all.push_back(growth_of(gpu, "launch on a borrowed stream", launches, [&](std::size_t i) {
    count_on(stream::borrow(gpu, streams[i % owners].native_handle()));
  }));
  const stream& s = streams[0];
  const auto enqueue = [&] {
    for (std::size_t i = 0; i < nodes; ++i) count_on(s);
  };
  const executable_graph replayed = capture_graph(s, enqueue).instantiate();
  const std::size_t fewer = launches / 10;
  all.push_back(growth_of(gpu, "replay of a graph", fewer, [&](std::size_t) { replayed.launch(s); }));
  const auto allocate_from = [&](pool_kind kind, const char* name) {
    const memory_pool pool = gpu.create_pool({.kind = kind});
    all.push_back(growth_of(gpu, name, fewer, [&](std::size_t i) {
      pool.allocate<float>((i % 16 + 1) * 1024, s);  // released at once, in the order of s
    }));
  };
  allocate_from(pool_kind::stream_ordered, "allocation from a stream-ordered pool");
  allocate_from(pool_kind::caching, "allocation from a caching pool");

  const std::uint32_t ran = counter.download()[0];
  const std::size_t expected =
      launches + growth::warm_up(launches) + nodes * (fewer + growth::warm_up(fewer));
  if (ran != expected)
    throw std::runtime_error("kaio: " + std::to_string(ran) + " kernels ran of " + std::to_string(expected) +
                             "; the launches of this benchmark were lost");
  return all;
}

}  // namespace kaio::bench

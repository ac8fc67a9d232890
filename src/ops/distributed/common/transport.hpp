#pragma once
// How one rank reaches the others: the interface below communicator. A call of any function is made by all ranks. It
// compares the calls first, and throws invalid_argument on all ranks if they differ, communication_error if a rank is
// missing.

#include <kaio/runtime/event.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/distributed/common/call.hpp"

namespace kaio::ops::detail {

// Memory of all ranks; peer_buffer refers to it.
class shared_memory {
 public:
  struct part {
    runtime::device_pointer<u8> memory;
    runtime::device_pointer<u32> signals;
    // In the rank's own memory: (ranks) u64, the address of each rank's memory as this one uses it. 0: of another process.
    std::uint64_t addresses = 0;
  };
  // The parts are memory of `owner`.
  shared_memory(std::vector<part> parts, std::uint64_t bytes, std::uint32_t words,
                std::shared_ptr<const void> owner)
      : parts_(std::move(parts)), bytes_(bytes), words_(words), owner_(std::move(owner)) {}
  const part& of(int rank) const;
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint32_t words() const noexcept { return words_; }

 private:
  friend void retain(shared_memory* m) noexcept;
  friend void release(shared_memory* m) noexcept;
  std::vector<part> parts_;
  std::uint64_t bytes_;
  std::uint32_t words_;
  std::shared_ptr<const void> owner_;
  std::atomic<std::size_t> references_{1};
};

class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  virtual std::string_view name() const noexcept = 0;
  virtual int ranks() const noexcept = 0;
  virtual bool has_direct_access() const noexcept = 0;

  virtual void agree(const call_of_rank& mine) = 0;
  // Moves the memory of `mine`, in its stream.
  virtual void exchange(const call_of_rank& mine) = 0;
  virtual void barrier(const call_of_rank& mine) = 0;
  // Puts the numbers of all ranks, rank 0 first, into mine.gathered. Counts are equal, numbers may differ.
  virtual void gather(const call_of_rank& mine) = 0;
  // Puts a handle into mine.memory.
  virtual void allocate(const call_of_rank& mine, std::uint64_t bytes, std::uint32_t words) = 0;
  virtual void abort(std::string_view why) noexcept = 0;
};

// What a communicator refers to.
class group_rank {
 public:
  group_rank(std::unique_ptr<transport> with, const device& gpu, int number,
             const communicator_options& given)
      : by(std::move(with)),
        on(gpu),
        rank(number),
        options(given),
        staging(gpu.allocate<u8>(given.staging_bytes, uninitialised)),
        arrivals(gpu.create_stream()) {
    for (event& e : marks) e = gpu.create_event();
  }

  const std::unique_ptr<transport> by;
  const device on;
  const int rank;
  const communicator_options options;
  const buffer<u8> staging;
  // For operations that receive while they compute.
  const stream arrivals;
  std::array<event, 8> marks;

 private:
  friend void retain(group_rank* r) noexcept;
  friend void release(group_rank* r) noexcept;
  std::atomic<std::size_t> references_{1};
};

class rank_access {
 public:
  // Throws invalid_argument: the communicator is null.
  static group_rank& of(const communicator& c, std::string_view operation);
  static communicator make(std::unique_ptr<transport> by, const device& on, int rank,
                           const communicator_options& options);
};

}  // namespace kaio::ops::detail

#pragma once
// Global memory of an emulated device: an address space of buffers. Addresses are numbers of the device, never
// host pointers. Each buffer has its exact size, starts at a multiple of 256 and has a gap before the next. So
// every access outside it is detected. Freed addresses are not reused until the whole address space has been used
// up once. The buffers of all memories together fit the host's memory (host_memory.hpp). All functions may be
// called from any thread.
//
//   memory global;
//   std::uint64_t x = global.allocate(4 * n);
//   global.write(x, host, 4 * n);

#include "emulator/memory/device_heap.hpp"
#include "emulator/memory/host_memory.hpp"
#include "emulator/memory/image.hpp"
#include "emulator/program/error.hpp"
#include "emulator/program/scalar.hpp"

#include <atomic>
#include <cstddef>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace kaio::emulator {

// The windows of the generic address space; everything below them is global memory.
inline constexpr u64 shared_window = u64{1} << 47;
inline constexpr u64 local_window = shared_window + (u64{1} << 32);
inline constexpr u64 constant_window = shared_window + (u64{2} << 32);
inline constexpr u64 param_window = shared_window + (u64{3} << 32);
inline constexpr u64 window_bytes = u64{1} << 32;

inline constexpr u64 buffer_alignment = 256;

// A live buffer as the interpreter sees it.
struct region {
  u64 address = 0;
  u64 bytes = 0;
  std::byte* data = nullptr;
  u8* defined = nullptr;  // a bit per byte, set once it is written; nullptr: all are defined
};

// The state of a new buffer, always zero-filled; the sanitizer reports reads of bytes never written.
enum class contents : u8 { zeroed, undefined };

// The live buffers at one moment, by address. It keeps their storage alive.
struct memory_snapshot {
  std::vector<region> regions;
  std::vector<std::shared_ptr<std::byte>> storage;
  std::vector<std::shared_ptr<u8>> defined;

  // The buffer with the greatest address that is at most `address`; nullptr if there is none.
  const region* at_or_below(u64 address) const;
};

struct buffer {
  u64 address = 0;
  u64 bytes = 0;
};

class memory {
 public:
  // `capacity`: the most bytes allocated at a time. `host` outlives the buffers and snapshots of them.
  explicit memory(u64 capacity = std::numeric_limits<u64>::max(),
                  host_reservation& host = host_reservation::shared())
      : capacity_(capacity), host_(host) {}
  memory(const memory&) = delete;
  memory& operator=(const memory&) = delete;

  // Throws memory_error: zero_size, out_of_memory.
  u64 allocate(u64 bytes, contents initial = contents::zeroed);
  // Makes host memory a buffer too, like mapped and managed memory: at its own address, or elsewhere if that
  // one is taken or no global address. It does not count as used. The caller owns it, and keeps it alive
  // until it is freed here. Throws memory_error: zero_size, out_of_memory.
  u64 attach(void* host, u64 bytes);
  // Allocates zero-filled memory that the host sees at the same address, as attach does. Throws memory_error:
  // zero_size, out_of_memory.
  u64 allocate_for_host(u64 bytes);
  // Throws memory_error: not_a_buffer, double_free.
  void free(u64 address);

  // Host access. If the range is not within one live buffer, throws memory_error: out_of_bounds.
  void read(void* to, u64 from, u64 bytes) const;
  void write(u64 to, const void* from, u64 bytes);
  void copy(u64 to, u64 from, u64 bytes);
  void fill(u64 to, u8 value, u64 bytes);
  // Writes `count` copies of the low `unit` bytes of `value`; unit is 1, 2, 4 or 8.
  void fill(u64 to, u64 value, unsigned unit, u64 count);

  // The live buffer that contains the address.
  std::optional<buffer> find(u64 address) const;
  // An address relative to the nearest buffer, live or recently freed.
  nearest_object nearest(u64 address) const;
  u64 used() const;
  // Bytes that could be allocated now, limited by the capacity and the host.
  u64 left() const;
  // The memory for malloc in kernels.
  device_heap& heap() { return heap_; }
  // The texture and surface objects whose texels are in this memory.
  image_objects& images() { return images_; }
  const image_objects& images() const { return images_; }
  u64 capacity() const { return capacity_; }

  std::shared_ptr<const memory_snapshot> snapshot() const;
  // From here on every byte counts as written, as after a kernel without an observer.
  void assume_defined();

  // How often the host has read or written memory, or waited for a device. A step between two grids orders them.
  u64 host_steps() const { return host_steps_.load(std::memory_order_relaxed); }
  void note_host_step() const { host_steps_.fetch_add(1, std::memory_order_relaxed); }

 private:
  struct live {
    u64 bytes;
    std::shared_ptr<std::byte> storage;
    std::shared_ptr<u8> defined;  // for an undefined buffer
    bool counted = true;          // included in used()
  };
  // Bytes of a live buffer. Its storage stays alive while this is held.
  struct piece {
    std::shared_ptr<std::byte> storage;
    std::shared_ptr<u8> defined;
    std::byte* data = nullptr;
    u64 offset = 0;
  };

  u64 place(u64 bytes);
  u64 attach(std::shared_ptr<std::byte> storage, u64 bytes);
  u64 free_bytes() const;
  piece range(u64 address, u64 bytes) const;

  u64 capacity_;
  host_reservation& host_;
  device_heap heap_;
  image_objects images_;
  mutable std::mutex mutex_;
  std::map<u64, live> buffers_;
  std::map<u64, u64> freed_;  // address -> bytes, recently freed
  std::deque<u64> freed_order_;
  u64 next_ = first_address;
  u64 used_ = 0;
  bool some_undefined_ = false;
  mutable std::atomic<u64> host_steps_{0};
  mutable std::shared_ptr<const memory_snapshot> snapshot_;  // nullptr after a change

  static constexpr u64 first_address = u64{1} << 32;
};

}  // namespace kaio::emulator

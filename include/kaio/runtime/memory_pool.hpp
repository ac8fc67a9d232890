#pragma once
// Pools of device memory. Allocating from one and releasing to it takes place in the order of a stream, and waits
// for nothing: a loop may allocate its temporaries anew in each iteration.
//
//   memory_pool pool = gpu.create_pool({.limit = 2'000'000'000});
//   buffer<f32> temporary = pool.allocate<f32>(n, s);        // or, from gpu.pool(): gpu.allocate<f32>(n, s)
//   saxpy.launch(s, over(n), x, temporary, a, n);
//                                                            // released in the order of s
//
// | kind           | memory comes from                    | a released block is reused                            |
// | stream_ordered | the driver's pool (cuMemAllocAsync)  | in the same stream at once, in others when it is free |
// | caching        | cuMemAlloc, kept in lists by kaio    | in the same stream, for a size of the same class      |
//
// A stream outlives the buffers that were allocated in it, or they are released with buffer::release(stream). If
// a stream of kaio is gone, the release waits for the device instead. If it is captured into a graph, the release
// takes place with a later call on the pool. The stream per thread is a stream of each thread: a buffer of it that
// another thread releases waits for the device, too. Unused blocks of a stream of kaio that is gone go back to the
// device with the next new block; call trim() before another library destroys a stream that it lent. Several threads
// may use a pool at once. On the emulator all of this takes place at once.

#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/detail/context_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace kaio::runtime {

class device;
class stream;

enum class pool_kind : std::uint8_t { stream_ordered, caching };

struct memory_pool_options {
  pool_kind kind = pool_kind::stream_ordered;
  std::uint64_t limit = 0;                 // the most bytes in use at a time; 0: what the device has
  std::uint64_t keep = ~std::uint64_t{0};  // bytes that stay in the pool after their release
};

// Bytes, and the number of allocations so far. `reserved` is what the pool has taken from the device.
struct memory_pool_statistics {
  std::uint64_t in_use = 0, most_in_use = 0, reserved = 0, most_reserved = 0, allocations = 0;
};

// A handle: copies refer to the same pool. The pool stays while a handle or a buffer of it is there. A
// default-made handle is null, and its use throws invalid_argument.
class memory_pool {
 public:
  memory_pool() = default;
  memory_pool(const memory_pool&) = default;
  memory_pool(memory_pool&&) noexcept = default;
  // The pool that was held goes before its device.
  memory_pool& operator=(memory_pool other) noexcept {
    std::swap(context_, other.context_);
    std::swap(pool_, other.pool_);
    return *this;
  }

  // Memory for `count` elements, zero-filled in the order of `s`. Throws invalid_argument (a stream of another
  // device, or a size that overflows), out_of_memory (the device's, or the limit), stream_capturing.
  template <class T>
  buffer<T> allocate(std::size_t count, const stream& s) const {
    return buffer<T>(detail::allocation(pool_, count, sizeof(T), true, s));
  }
  template <class T>
  buffer<T> allocate(std::size_t count, const stream& s, uninitialised_memory) const {
    return buffer<T>(detail::allocation(pool_, count, sizeof(T), false, s));
  }

  memory_pool_statistics statistics() const;
  // Gives unused memory beyond `keep` bytes back to the device, after waiting for its work.
  void trim(std::uint64_t keep = 0) const;

 private:
  friend class device;
  memory_pool(detail::context_ref context, detail::pool_ref pool) noexcept
      : context_(std::move(context)), pool_(std::move(pool)) {}
  detail::context_ref context_;  // before the pool: the pool goes first
  detail::pool_ref pool_;
};

}  // namespace kaio::runtime

namespace kaio {
using runtime::memory_pool;
using runtime::memory_pool_options;
using runtime::memory_pool_statistics;
using runtime::pool_kind;
}  // namespace kaio

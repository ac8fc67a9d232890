#pragma once
// What a memory_pool handle refers to. The two kinds differ in where a block comes from and goes to; the limit and
// the statistics are common. A pool does not keep its device open: whoever holds one does. Source of the stream-ordered
// kind: CUDA driver API, "Stream Ordered Memory Allocator".

#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/memory_pool.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

#include "runtime/base/backend.hpp"

namespace kaio::runtime::detail {

// One allocation: the buffer that owns it keeps a pointer to this.
struct pool_block {
  pool_ref from;
  std::uint64_t bytes = 0;     // as asked for
  std::uint64_t reserved = 0;  // as taken
  backend::native_stream stream = nullptr;
  std::uint64_t serial = 0;  // of the stream: another one may get the handle later
  bool is_borrowed = false;  // kaio does not know when the stream ends

  // A pool does not keep itself.
  pool_block without_pool() const {
    pool_block result = *this;
    result.from = pool_ref();
    return result;
  }
};

class pool {
 public:
  static pool* make(context& device, const memory_pool_options& options);
  // Stream-ordered where the driver has it, else caching.
  static pool* make_default(context& device);
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;
  virtual ~pool() = default;

  context& device() const noexcept { return device_; }
  // Puts the uses of a block into the order of a stream. Called in the thread that uses the stream.
  void use_stream(pool_block& block, backend::native_stream stream, bool is_borrowed) const;
  // Throws out_of_memory, stream_capturing.
  std::uint64_t allocate(std::uint64_t bytes, pool_block& block);
  void free(std::uint64_t address, const pool_block& block) noexcept;
  memory_pool_statistics statistics();
  void trim(std::uint64_t keep);

 protected:
  pool(context& device, const memory_pool_options& options) : device_(device), options_(options) {}
  virtual std::uint64_t take(pool_block& block) = 0;
  // The stream is live, and not captured.
  virtual void give_back_in_order(std::uint64_t address, const pool_block& block) noexcept = 0;
  // The stream is gone: the block's work is done by now.
  virtual void give_back_idle(std::uint64_t address, const pool_block& block) noexcept = 0;
  // For destructors: the blocks that still wait.
  void give_back_at_the_end() noexcept;
  virtual void release_unused(std::uint64_t keep) = 0;
  // Bytes taken from the device: now, and at most so far. The lock is held.
  virtual std::pair<std::uint64_t, std::uint64_t> reserved() = 0;

  context& device_;
  const memory_pool_options options_;
  std::mutex changing_;
  memory_pool_statistics counted_;

 private:
  friend void retain(pool* p) noexcept;
  friend void release(pool* p) noexcept;
  bool has_room(std::uint64_t bytes) const noexcept;
  enum class stream_state : std::uint8_t { usable, captured, gone };
  stream_state state_of(const pool_block& block) noexcept;
  void give_back(std::uint64_t address, const pool_block& block, stream_state state) noexcept;
  // Blocks that were released while their stream was captured. The next call on the pool gives them back.
  void give_back_waiting() noexcept;
  struct waiting_block {
    std::uint64_t address;
    pool_block block;
  };
  std::list<waiting_block> waiting_;
  std::atomic<bool> has_waiting_{false};
  std::atomic<std::size_t> references_{1};
};

}  // namespace kaio::runtime::detail

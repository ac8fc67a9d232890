#pragma once
// Device memory that the kernels of all ranks can read and write, and words for signals between them.
//
//   peer_buffer shared = c.allocate(bytes, 64);           // every rank calls it
//   kernel.launch(s, grid, shared.pointer(next), ...);    // writes memory of rank `next`
//
// Signals are u32 words of each rank, zero at first. A kernel publishes data with st.release.sys or red.release.sys on a
// word, and waits with ld.acquire.sys. Numbers that only grow need no reset.

#include <kaio/dsl/number/scalar.hpp>
#include <kaio/runtime/buffer.hpp>
#include <kaio/runtime/detail/context_ref.hpp>

#include <cstdint>
#include <utility>

namespace kaio::ops {

namespace detail {
class group_rank;
class shared_memory;
class rank_access;
class peer_memory_access;
void retain(group_rank* r) noexcept;
void release(group_rank* r) noexcept;
void retain(shared_memory* m) noexcept;
void release(shared_memory* m) noexcept;
using rank_ref = runtime::detail::counted_ref<group_rank>;
using shared_memory_ref = runtime::detail::counted_ref<shared_memory>;
}  // namespace detail

// A handle of one rank; copies refer to the same memory. The memory of all ranks is released when the last handle of the
// last rank goes, after the work that uses it.
class peer_buffer {
 public:
  peer_buffer() = default;
  std::uint64_t bytes() const noexcept;         // of each rank
  std::uint32_t signal_words() const noexcept;  // of each rank
  // Memory of a rank. On that rank it is like its own buffer; other ranks have access. Throws invalid_argument: a null
  // buffer, no such rank.
  runtime::device_pointer<u8> pointer(int rank) const;
  runtime::device_pointer<u32> signals(int rank) const;

 private:
  friend class communicator;
  friend class detail::peer_memory_access;
  explicit peer_buffer(detail::shared_memory_ref memory) noexcept : memory_(std::move(memory)) {}
  detail::shared_memory_ref memory_;
};

}  // namespace kaio::ops

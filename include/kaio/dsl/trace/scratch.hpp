#pragma once
// Shared memory through which the threads of a block exchange values, reused by every exchange of a kernel.
// An exchange writes, passes a barrier and reads; the next one must not write while a thread still reads. So
// two buffers alternate: the barrier within one exchange frees the buffer of the one before it, and straight
// code needs no other barrier. If that barrier may have been skipped (a guarded body, a loop), the exchange
// has a barrier of its own.

#include <kaio/dsl/trace/recording.hpp>

#include <cstdint>

namespace kaio::dsl {

constexpr tracer::scratch tracer::take_scratch(std::uint32_t bytes, std::uint32_t alignment) {
  std::uint32_t chosen = 0;
  while (chosen < buffer_count_ && buffers_[chosen].is_read()) ++chosen;
  if (chosen == max_buffers) chosen = 0;
  if (chosen == buffer_count_) {
    buffers_[buffer_count_++].array = new_shared(bytes, alignment);
  } else {
    grow(program_.arrays[buffers_[chosen].array], bytes, alignment);
  }
  return {buffers_[chosen].array, buffers_[chosen].is_read(), chosen};
}

// The last read of an exchange has been emitted.
constexpr void tracer::return_scratch(const scratch& s) {
  buffer& b = buffers_[s.buffer];
  if (!b.is_read() || scope() < b.scope) b.scope = scope();
  b.is_lost = b.is_lost || b.last_read != 0;
  b.last_read = position();
}

// A barrier of the whole block has been emitted inside `loops` loops.
constexpr void tracer::barrier_passed(std::uint32_t loops) {
  for (buffer& b : buffers_) {
    // Outside of loops nothing leaves a scope early, so every thread that has read in it reaches the barrier.
    if (loops == 0 && b.scope >= scope()) b.is_lost = false;
    // Elsewhere the barrier surely follows a read only if no branch is between them.
    else if (b.last_read != 0 && branches_since(b.last_read))
      b.is_lost = true;
    b.last_read = 0;
  }
}

constexpr bool tracer::branches_since(std::uint32_t from) const {
  for (std::uint32_t i = from; i < position(); ++i)
    if (program_.instructions[i].op == opcode::bra) return true;
  return false;
}

constexpr void tracer::grow(ptx::memory_array& array, std::uint32_t bytes, std::uint32_t alignment) {
  if (array.bytes < bytes) array.bytes = bytes;
  if (array.alignment < alignment) array.alignment = alignment;
  if (ptx::bytes_of(program_, array.space) > (large_shared ? max_large_shared : max_shared))
    fail("kaio: the shared arrays of this kernel leave no room for its reductions and scans");
}

}  // namespace kaio::dsl

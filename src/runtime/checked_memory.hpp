#pragma once
// The checks of memory that is copied or filled, by a stream or by a node of a graph. All throw invalid_argument.

#include <kaio/ptx/kernel_image.hpp>

#include <cstdint>

#include "runtime/context.hpp"

namespace kaio::runtime::detail {

// The memory is not null, and `on` can access it. `which` is "into", "from" or "of".
void check_memory(const char* operation, const char* which, const ptx::argument& memory, const context& on);
// Both have the same size, and they are apart or the same.
void check_copy(const ptx::argument& to, const ptx::argument& from);
// The address is aligned to elements of `unit` bytes.
void check_fill(const ptx::argument& to, std::uint32_t unit);

}  // namespace kaio::runtime::detail

#pragma once
// Copies and fills in the one shape that all functions of the driver reduce to: rows of a box, between host
// and device memory. Source: CUDA driver API, cuMemcpy3D and cuGraphAddMemsetNode.

#include "driver_emulator/state/objects.hpp"

namespace kaio::driver_emulator {

// A copy of consecutive bytes.
CUDA_MEMCPY3D linear_copy(CUmemorytype to_type, CUdeviceptr to, CUmemorytype from_type, CUdeviceptr from,
                          std::size_t bytes);
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& rows);
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY3D_PEER& box);

// Fills in what may be left out, and decides whether each side is host or device memory; an array becomes the
// device memory that it is in. Throws failure: an impossible size, or device memory that does not exist.
CUDA_MEMCPY3D checked_copy(CUDA_MEMCPY3D shape);
CUDA_MEMSET_NODE_PARAMS checked_fill(CUDA_MEMSET_NODE_PARAMS shape);

// The shapes must be checked. Both throw memory_error: the memory is gone by now.
void copy(const CUDA_MEMCPY3D& shape);
void fill(const CUDA_MEMSET_NODE_PARAMS& shape);

// Whether a stream that waits for a word of memory may go on.
bool word_is_reached(const word_work& w, std::uint64_t now);

}  // namespace kaio::driver_emulator

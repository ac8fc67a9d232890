#pragma once
// Whether kernels of one device can access the memory of another, by the identities that buffers carry: the same
// device, or device::enable_access was called.

#include <kaio/ptx/standard.hpp>

namespace kaio::runtime::detail {

bool reaches(const void* device, const void* other) noexcept;

}  // namespace kaio::runtime::detail

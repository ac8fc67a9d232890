#pragma once
// Which device a name means: the grammar of KAIO_DEVICE, device::open and KAIO_EMULATOR_ARCH.

#include <kaio/ptx/target.hpp>

#include <string_view>

namespace kaio::runtime {

inline constexpr int emulator_ordinal = -1;

// `emulator` is emulator_ordinal, `cuda:N` is N. `origin` is the source of the name, for the error. Throws
// invalid_argument.
int ordinal_of(std::string_view name, std::string_view origin);

// The architecture that a value of KAIO_EMULATOR_ARCH means; null or empty: sm_90. Throws invalid_argument.
ptx::target emulator_architecture(const char* value);

}  // namespace kaio::runtime

#pragma once
// Which device a name means: the grammar of KAIO_DEVICE, device::open KAIO_EMULATOR_ARCH and KAIO_STRICT.

#include <kaio/ptx/target.hpp>

#include <string_view>
#include <vector>

namespace kaio::runtime {

inline constexpr int emulator_ordinal = -1;

// `emulator` is emulator_ordinal, `cuda:N` is N. `origin` is the source of the name, for the error. Throws
// invalid_argument.
int ordinal_of(std::string_view name, std::string_view origin);

// The names of the emulator's architectures, for an error.
inline constexpr std::string_view architecture_names =
    "sm_70, sm_75, sm_80, sm_86, sm_87, sm_88, sm_89, sm_90, sm_90a, or a newer one such as sm_100a or sm_120";

// The architecture that a value of KAIO_EMULATOR_ARCH names; null or empty: sm_90a. Any from sm_100 on is accepted,
// with `a` (sm_100a) or the `f` of a family, which has no effect. Throws invalid_argument.
ptx::target emulator_architecture(const char* value);

// The architectures that a value of KAIO_STRICT names, separated by commas; null, empty or 0: none; 1: one of each
// supported generation. Throws invalid_argument.
std::vector<ptx::target> strict_architectures(const char* value);

}  // namespace kaio::runtime

#pragma once
// Which device a name means: the grammar of KAIO_DEVICE, device::open KAIO_EMULATOR_ARCH and KAIO_STRICT.

#include <kaio/ptx/target.hpp>

#include <string_view>
#include <vector>

namespace kaio::runtime {

// What a name means: GPU `ordinal`, or, if that is -1, the emulator `emulator`, which is -1 for one without a number.
struct device_choice {
  int ordinal = -1;
  int emulator = -1;
  bool is_gpu() const noexcept { return ordinal >= 0; }
};

// The numbers of emulators are below.
inline constexpr int most_emulators = 16;

// The device of `emulator`, `emulator:N` or `cuda:N`. `origin` is the source of the name, for the error. Throws
// invalid_argument.
device_choice choice_of(std::string_view name, std::string_view origin);

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

#include "driver_emulator/module/jit_options.hpp"

#include "driver_emulator/state/entry.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kaio::driver_emulator {

jit_options::jit_options(unsigned count, const CUjit_option* options, void** values) {
  require(count == 0 || (options != nullptr && values != nullptr));
  // The driver takes numbers in the bits of a pointer.
  const auto number = [&](unsigned i) { return reinterpret_cast<std::uintptr_t>(values[i]); };
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_ERROR_LOG_BUFFER: error_.to = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER: info_.to = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.bytes = static_cast<unsigned>(number(i));
        error_.size_value = &values[i];
        break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = static_cast<unsigned>(number(i));
        info_.size_value = &values[i];
        break;
      case CU_JIT_LOG_VERBOSE: verbose_ = number(i) != 0; break;
      case CU_JIT_WALL_TIME: wall_time_ = &values[i]; break;
      case CU_JIT_OPTIMIZATION_LEVEL:
        require(number(i) <= 4);
        level_ = static_cast<int>(number(i));
        break;
      default: require(options[i] >= 0 && options[i] <= CU_JIT_SPLIT_COMPILE);
    }
  }
  for (log* l : {&error_, &info_})
    if (l->to != nullptr && l->bytes != 0) *l->to = '\0';
}

void jit_options::log::append(std::string_view line) {
  if (to == nullptr || bytes == 0) return;
  const auto put = [&](std::string_view text) {
    const std::size_t fits = std::min(text.size(), bytes - 1 - used);
    std::memcpy(to + used, text.data(), fits);
    used += fits;
    to[used] = '\0';
  };
  put(line);
  put("\n");
}

void jit_options::log::finish() {
  if (size_value == nullptr) return;
  const std::uintptr_t written = used == 0 ? 0 : used + 1;  // with the zero at its end
  *size_value = reinterpret_cast<void*>(written);
}

void jit_options::tell_error(std::string_view line) { error_.append(line); }
void jit_options::tell_info(std::string_view line) { info_.append(line); }

void jit_options::finish() {
  error_.finish();
  info_.finish();
  if (wall_time_ == nullptr) return;
  // A float in the bits of the value.
  const float milliseconds =
      std::chrono::duration<float, std::milli>(std::chrono::steady_clock::now() - begin_).count();
  std::uintptr_t bits = 0;
  std::memcpy(&bits, &milliseconds, sizeof milliseconds);
  *wall_time_ = reinterpret_cast<void*>(bits);
}

}  // namespace kaio::driver_emulator

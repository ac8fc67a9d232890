#pragma once
// The options with which programs load code: buffers for the compiler's messages, and settings for compiling,
// which an emulator ignores. Source: CUDA driver API, CUjit_option.

#include "driver_emulator/abi/types.hpp"

#include <chrono>
#include <string>
#include <string_view>

namespace kaio::driver_emulator {

class jit_options {
 public:
  // Throws failure: an unknown option, or null arrays. Sizes of logs are 0 until something is written.
  jit_options(unsigned count, const CUjit_option* options, void** values);

  // Appends a line. What does not fit is cut off; a log always ends in a zero.
  void tell_error(std::string_view line);
  void tell_info(std::string_view line);
  bool has_error_log() const { return error_.to != nullptr && error_.bytes != 0; }
  bool verbose() const { return verbose_; }
  int level() const { return level_; }  // CU_JIT_OPTIMIZATION_LEVEL, -1 where it is not given
  // Writes the sizes of the logs and the time it took into the values.
  void finish();

 private:
  struct log {
    char* to = nullptr;
    std::size_t bytes = 0, used = 0;
    void** size_value = nullptr;
    void append(std::string_view line);
    void finish();
  };
  log error_, info_;
  bool verbose_ = false;
  int level_ = -1;
  void** wall_time_ = nullptr;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace kaio::driver_emulator

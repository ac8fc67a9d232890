#include "emulator/run/progress_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "host/system/terminal.hpp"

namespace kaio::emulator {
namespace {

constexpr std::chrono::milliseconds between_two{250};
constexpr std::string_view erase = "\r\033[K";

// One launch at a time owns the line.
std::atomic<bool> taken{false};

}  // namespace

progress_line::progress_line(std::string_view kernel, u64 blocks, std::chrono::nanoseconds after)
    : kernel_(kernel), blocks_(blocks), next_(after.count()) {}

progress_line::~progress_line() {
  if (place_ != place::terminal) return;
  host::write_to_error_stream(erase);
  taken = false;
}

void progress_line::write(u64 done, std::chrono::nanoseconds elapsed) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || elapsed.count() < next_.load(std::memory_order_relaxed)) return;
  if (place_ == place::undecided)
    place_ = host::takes_escape_sequences() && !taken.exchange(true) ? place::terminal : place::none;
  if (place_ == place::none) {
    next_ = std::numeric_limits<std::chrono::nanoseconds::rep>::max();
    return;
  }
  next_ = (elapsed + between_two).count();
  const std::string line = fmt::format("kaio: kernel '{}': {} of {} blocks in {} s", kernel_, done, blocks_,
                                       std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
  // A line wider than the terminal could not be erased.
  host::write_to_error_stream(std::string(erase) + line.substr(0, host::terminal_columns() - 1));
}

}  // namespace kaio::emulator

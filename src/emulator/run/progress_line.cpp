#include "emulator/run/progress_line.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace kaio::emulator {
namespace {

constexpr std::chrono::milliseconds between_two{250};
constexpr std::string_view erase = "\r\033[K";

// One launch at a time owns the line.
std::atomic<bool> taken{false};

bool takes_escape_sequences() {
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDERR_FILENO) == 1 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

// A line wider than the terminal could not be erased.
std::size_t columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

void write_to_terminal(std::string_view text) {
  // If the terminal is gone or takes no more, the launch continues.
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

progress_line::progress_line(std::string_view kernel, u64 blocks, std::chrono::nanoseconds after)
    : kernel_(kernel), blocks_(blocks), next_(after.count()) {}

progress_line::~progress_line() {
  if (place_ != place::terminal) return;
  write_to_terminal(erase);
  taken = false;
}

void progress_line::write(u64 done, std::chrono::nanoseconds elapsed) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || elapsed.count() < next_.load(std::memory_order_relaxed)) return;
  if (place_ == place::undecided)
    place_ = takes_escape_sequences() && !taken.exchange(true) ? place::terminal : place::none;
  if (place_ == place::none) {
    next_ = std::numeric_limits<std::chrono::nanoseconds::rep>::max();
    return;
  }
  next_ = (elapsed + between_two).count();
  const std::string line = fmt::format("kaio: kernel '{}': {} of {} blocks in {} s", kernel_, done, blocks_,
                                       std::chrono::duration_cast<std::chrono::seconds>(elapsed).count());
  write_to_terminal(std::string(erase) + line.substr(0, columns() - 1));
}

}  // namespace kaio::emulator

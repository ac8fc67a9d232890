#include "host/system/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace kaio::host {

bool is_terminal(stream which) {
  return ::isatty(which == stream::output ? STDOUT_FILENO : STDERR_FILENO) == 1;
}

bool takes_escape_sequences() {
  const char* const terminal = std::getenv("TERM");
  return is_terminal(stream::error) && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb";
}

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : 80;
}

void write_to_error_stream(std::string_view text) {
  while (!text.empty()) {
    const ::ssize_t done = ::write(STDERR_FILENO, text.data(), text.size());
    if (done < 0 && errno != EINTR) return;
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
  }
}

}  // namespace kaio::host

#include "host/system/terminal.hpp"

#include "host/windows/system.hpp"

namespace kaio::host {
namespace {

HANDLE handle_of(stream which) {
  return GetStdHandle(which == stream::output ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
}

}  // namespace

bool is_terminal(stream which) {
  DWORD mode = 0;
  return GetConsoleMode(handle_of(which), &mode) != 0;
}

bool takes_escape_sequences() {
  const HANDLE console = handle_of(stream::error);
  DWORD mode = 0;
  return GetConsoleMode(console, &mode) != 0 &&
         ((mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0 ||
          SetConsoleMode(console, mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING) != 0);
}

std::size_t terminal_columns() {
  CONSOLE_SCREEN_BUFFER_INFO info{};
  if (!GetConsoleScreenBufferInfo(handle_of(stream::error), &info)) return 80;
  const int columns = info.srWindow.Right - info.srWindow.Left + 1;
  return columns > 0 ? static_cast<std::size_t>(columns) : 80;
}

void write_to_error_stream(std::string_view text) {
  constexpr std::size_t most_at_once = std::size_t{1} << 20;
  while (!text.empty()) {
    const auto bytes = static_cast<DWORD>(text.size() < most_at_once ? text.size() : most_at_once);
    DWORD done = 0;
    if (!WriteFile(handle_of(stream::error), text.data(), bytes, &done, nullptr) || done == 0) return;
    text.remove_prefix(done);
  }
}

}  // namespace kaio::host

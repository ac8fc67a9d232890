#pragma once
// <windows.h> without its macros of common words, and texts for it: kaio's are UTF-8.

#if !defined(WIN32_LEAN_AND_MEAN)
#define WIN32_LEAN_AND_MEAN
#endif
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <windows.h>

#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace kaio::host {

// Bytes that are no UTF-8 become U+FFFD.
std::wstring wide(std::string_view utf8);
std::string narrow(std::wstring_view utf16);

// A path for the system's calls: with '\' and, if it is long, in full with the prefix that lifts the limit of 260
// characters.
std::wstring system_path(std::string_view utf8);

// The system's text for a code, without an end of line.
std::string message_of(DWORD code);
// A code as the C++ library knows it: ERROR_FILE_NOT_FOUND becomes no_such_file_or_directory.
std::error_code error_of(DWORD code);

// A handle that closes itself.
class handle {
 public:
  handle() = default;
  explicit handle(HANDLE from) noexcept : handle_(from == INVALID_HANDLE_VALUE ? nullptr : from) {}
  handle(handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~handle() { close(); }
  HANDLE get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  void close() noexcept {
    if (handle_ != nullptr) CloseHandle(std::exchange(handle_, nullptr));
  }

 private:
  HANDLE handle_ = nullptr;
};

}  // namespace kaio::host

#include "host/windows/system.hpp"

#include <algorithm>

namespace kaio::host {
namespace {

// A folder's path may be 12 characters shorter than a file's: it must have room for a name.
constexpr std::size_t longest_plain_path = MAX_PATH - 13;

}  // namespace

std::wstring wide(std::string_view utf8) {
  if (utf8.empty()) return {};
  const int bytes = static_cast<int>(utf8.size());
  std::wstring to(utf8.size(), L'\0');  // UTF-16 never has more units than UTF-8 has bytes
  const int units = MultiByteToWideChar(CP_UTF8, 0, utf8.data(), bytes, to.data(), bytes);
  to.resize(static_cast<std::size_t>(std::max(units, 0)));
  return to;
}

std::string narrow(std::wstring_view utf16) {
  if (utf16.empty()) return {};
  const int units = static_cast<int>(utf16.size());
  const int bytes = WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, nullptr, 0, nullptr, nullptr);
  std::string to(static_cast<std::size_t>(std::max(bytes, 0)), '\0');
  WideCharToMultiByte(CP_UTF8, 0, utf16.data(), units, to.data(), bytes, nullptr, nullptr);
  return to;
}

std::wstring system_path(std::string_view utf8) {
  std::wstring path = wide(utf8);
  std::replace(path.begin(), path.end(), L'/', L'\\');
  if (path.starts_with(LR"(\\?\)") || path.starts_with(LR"(\\.\)")) return path;
  // The prefix takes a path as it is: without . and .., and from the root on.
  const DWORD size = GetFullPathNameW(path.c_str(), 0, nullptr, nullptr);
  std::wstring full(size, L'\0');
  if (size != 0) full.resize(GetFullPathNameW(path.c_str(), size, full.data(), nullptr));
  if (full.size() <= longest_plain_path) return path;
  if (full.starts_with(LR"(\\)")) return LR"(\\?\UNC)" + full.substr(1);
  return LR"(\\?\)" + full;
}

std::string message_of(DWORD code) {
  wchar_t text[512];
  DWORD units = FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, nullptr, code, 0,
                               text, static_cast<DWORD>(std::size(text)), nullptr);
  while (units != 0 && (text[units - 1] <= L' ' || text[units - 1] == L'.')) --units;
  const std::string number = "code " + std::to_string(code);
  return units == 0 ? number : narrow({text, units}) + " (" + number + ")";
}

std::error_code error_of(DWORD code) {
  const auto known = [code] {
    switch (code) {
      case ERROR_FILE_NOT_FOUND:
      case ERROR_PATH_NOT_FOUND:
      case ERROR_INVALID_NAME:
      case ERROR_BAD_NETPATH:
      case ERROR_INVALID_DRIVE: return std::errc::no_such_file_or_directory;
      case ERROR_ACCESS_DENIED:
      case ERROR_SHARING_VIOLATION:
      case ERROR_LOCK_VIOLATION:
      case ERROR_WRITE_PROTECT: return std::errc::permission_denied;
      case ERROR_FILE_EXISTS:
      case ERROR_ALREADY_EXISTS: return std::errc::file_exists;
      case ERROR_DISK_FULL:
      case ERROR_HANDLE_DISK_FULL: return std::errc::no_space_on_device;
      case ERROR_FILE_TOO_LARGE: return std::errc::file_too_large;
      case ERROR_DIRECTORY: return std::errc::not_a_directory;
      case ERROR_NOT_ENOUGH_MEMORY:
      case ERROR_COMMITMENT_LIMIT:
      case ERROR_OUTOFMEMORY: return std::errc::not_enough_memory;
      case ERROR_TOO_MANY_OPEN_FILES: return std::errc::too_many_files_open;
      case ERROR_FILENAME_EXCED_RANGE:
      case ERROR_BUFFER_OVERFLOW: return std::errc::filename_too_long;
      case ERROR_INVALID_PARAMETER: return std::errc::invalid_argument;
      default: return std::errc::io_error;
    }
  }();
  return std::make_error_code(known);
}

}  // namespace kaio::host

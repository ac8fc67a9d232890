#include "host/system/files.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>

#include "host/windows/system.hpp"

namespace kaio::host {
namespace {

[[noreturn]] void fail(DWORD code) { throw std::system_error(error_of(code)); }

// The file that a path leads to: links are followed.
std::wstring target_of(const std::string& path, HANDLE file) {
  std::wstring found(GetFinalPathNameByHandleW(file, nullptr, 0, FILE_NAME_NORMALIZED), L'\0');
  const DWORD units =
      GetFinalPathNameByHandleW(file, found.data(), static_cast<DWORD>(found.size()), FILE_NAME_NORMALIZED);
  if (units == 0 || units > found.size()) return system_path(path);
  found.resize(units);
  return found;
}

// A name for a temporary file next to `target`; another one each time.
std::wstring temporary_name(const std::wstring& target) {
  static std::atomic<unsigned> count{0};
  const std::size_t folder = target.find_last_of(L"\\/:");
  return (folder == std::wstring::npos ? std::wstring() : target.substr(0, folder + 1)) + L".kaio-" +
         std::to_wstring(GetCurrentProcessId()) + L"-" + std::to_wstring(count++);
}

// Zero, or why not.
DWORD write_all(HANDLE file, std::initializer_list<std::string_view> pieces) {
  constexpr std::size_t most_at_once = std::size_t{1} << 30;
  for (std::string_view rest : pieces) {
    while (!rest.empty()) {
      DWORD count = 0;
      if (!WriteFile(file, rest.data(), static_cast<DWORD>(std::min(rest.size(), most_at_once)), &count,
                     nullptr))
        return GetLastError();
      rest.remove_prefix(count);
    }
  }
  return 0;
}

}  // namespace

std::FILE* open_to_read(const std::string& path) { return _wfopen(system_path(path).c_str(), L"rbN"); }

std::filesystem::path path_of(const std::string& path) { return system_path(path); }

void replace_file(const std::string& path, std::initializer_list<std::string_view> pieces, bool flush) {
  std::wstring target = system_path(path);
  constexpr DWORD others = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
  const DWORD old = GetFileAttributesW(target.c_str());
  if (old != INVALID_FILE_ATTRIBUTES && (old & FILE_ATTRIBUTE_DIRECTORY) != 0)
    throw std::system_error(std::make_error_code(std::errc::is_a_directory));
  if (old != INVALID_FILE_ATTRIBUTES) {
    // Refused for a read-only file, though its folder would permit the exchange. Wine opens it for an administrator.
    if ((old & FILE_ATTRIBUTE_READONLY) != 0) fail(ERROR_ACCESS_DENIED);
    handle there(CreateFileW(target.c_str(), GENERIC_WRITE, others, nullptr, OPEN_EXISTING, 0, nullptr));
    if (!there) fail(GetLastError());
    if (GetFileType(there.get()) != FILE_TYPE_DISK) {  // NUL, CON, a pipe
      if (const DWORD code = write_all(there.get(), pieces)) fail(code);
      return;
    }
    target = target_of(path, there.get());
  }
  std::wstring temporary;
  handle file;
  constexpr int most_names = 1000;  // of temporary files that others left
  for (int i = 0; i < most_names && !file; ++i) {
    temporary = temporary_name(target);
    file = handle(CreateFileW(temporary.c_str(), GENERIC_WRITE, 0, nullptr, CREATE_NEW, FILE_ATTRIBUTE_NORMAL,
                              nullptr));
    if (!file && GetLastError() != ERROR_FILE_EXISTS) break;
  }
  if (!file) fail(GetLastError());
  DWORD code = write_all(file.get(), pieces);
  if (code == 0 && flush && !FlushFileBuffers(file.get())) code = GetLastError();
  file.close();
  DWORD how = MOVEFILE_REPLACE_EXISTING;
  if (flush) how |= MOVEFILE_WRITE_THROUGH;
  if (code == 0 && !MoveFileExW(temporary.c_str(), target.c_str(), how)) code = GetLastError();
  if (code == 0) return;
  DeleteFileW(temporary.c_str());
  fail(code);
}

}  // namespace kaio::host

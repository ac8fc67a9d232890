#include "host/system/private_folder.hpp"

#include <algorithm>

#include "host/system/rights.hpp"
#include "host/windows/system.hpp"
#include "host/write_file.hpp"

namespace kaio::host {
namespace {

constexpr DWORD others = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

bool is_folder(const std::string& path) {
  const DWORD what = GetFileAttributesW(system_path(path).c_str());
  // A junction or a link could lead anywhere.
  return what != INVALID_FILE_ATTRIBUTES && (what & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
         (what & FILE_ATTRIBUTE_REPARSE_POINT) == 0;
}

bool open_folder(const std::string& path, bool create) {
  if (create) CreateDirectoryW(system_path(path).c_str(), nullptr);
  return is_folder(path);
}

// %LOCALAPPDATA%, an absolute path.
std::string data_home() {
  const std::string value = runs_elevated() ? std::string() : environment_text("LOCALAPPDATA");
  const bool is_absolute = (value.size() > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/')) ||
                           value.starts_with("\\\\");
  return is_absolute ? value : std::string();
}

// Takes the lock of the folder's writers. Gives up after five seconds, because a program must not hang.
bool lock(HANDLE file) {
  constexpr int attempts = 1000;
  for (int i = 0; i < attempts; ++i) {
    OVERLAPPED first_byte{};
    if (LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &first_byte))
      return true;
    if (GetLastError() != ERROR_LOCK_VIOLATION) return false;
    Sleep(5);
  }
  return false;
}

}  // namespace

struct private_folder::inside {
  std::string path;
};

private_folder::private_folder(const std::string& name, bool create) {
  const std::string home = data_home(), ours = home + "\\kaio", whole = ours + "\\" + name;
  if (!home.empty() && open_folder(home, create) && open_folder(ours, create) && open_folder(whole, create))
    inside_ = std::make_unique<inside>(inside{whole});
}
private_folder::~private_folder() = default;
private_folder::private_folder(private_folder&&) noexcept = default;

std::string private_folder::path() const { return is_open() ? inside_->path : std::string(); }

std::string private_folder::read(const std::string& file_name) const {
  if (!is_open()) return {};
  const std::wstring path = system_path(inside_->path + "\\" + file_name);
  const handle file(CreateFileW(path.c_str(), GENERIC_READ, others, nullptr, OPEN_EXISTING,
                                FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  LARGE_INTEGER size{};
  if (!file || GetFileType(file.get()) != FILE_TYPE_DISK || !GetFileSizeEx(file.get(), &size) ||
      size.QuadPart > static_cast<LONGLONG>(most_bytes))
    return {};
  std::string text(static_cast<std::size_t>(size.QuadPart), '\0');
  DWORD got = 0;
  if (!text.empty() && !ReadFile(file.get(), text.data(), static_cast<DWORD>(text.size()), &got, nullptr))
    return {};
  text.resize(got);
  return text;
}

bool private_folder::update(const std::string& file_name,
                            const std::function<std::string(const std::string&)>& change) const {
  if (!is_open()) return false;
  const handle gate(CreateFileW(system_path(inside_->path + "\\lock").c_str(), GENERIC_READ | GENERIC_WRITE,
                                others, nullptr, OPEN_ALWAYS, FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!gate || !lock(gate.get())) return false;
  const std::string text = change(read(file_name));
  if (text.empty() || text.size() > most_bytes) return false;
  try {
    write_file(inside_->path + "\\" + file_name, {text});
    return true;
  } catch (const write_error&) {
    return false;
  }
}

}  // namespace kaio::host

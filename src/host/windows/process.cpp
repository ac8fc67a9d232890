#include "host/system/process.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

#include <process.h>

#include "host/system/terminal.hpp"
#include "host/windows/system.hpp"

#include <tlhelp32.h>

namespace kaio::host {
namespace {

// A word as the C runtime of the other program splits it again.
void append_quoted(std::wstring& line, const std::wstring& word) {
  if (!line.empty()) line += L' ';
  if (!word.empty() && word.find_first_of(L" \t\n\v\"") == std::wstring::npos) {
    line += word;
    return;
  }
  line += L'"';
  std::size_t slashes = 0;
  for (const wchar_t c : word) {
    // Before a quotation mark each backslash counts twice.
    if (c == L'"') line.append(slashes + 1, L'\\');
    slashes = c == L'\\' ? slashes + 1 : 0;
    line += c;
  }
  line.append(slashes, L'\\');
  line += L'"';
}

// Names of variables are equal in any case.
struct by_name {
  bool operator()(const std::wstring& a, const std::wstring& b) const {
    return CompareStringOrdinal(a.c_str(), -1, b.c_str(), -1, TRUE) == CSTR_LESS_THAN;
  }
};

// The block of a changed environment: NAME=VALUE texts, each with a zero, and a zero at the end.
std::wstring merged(const variables& changes) {
  std::map<std::wstring, std::wstring, by_name> all;
  const std::unique_ptr<wchar_t, decltype(&FreeEnvironmentStringsW)> block(GetEnvironmentStringsW(),
                                                                           &FreeEnvironmentStringsW);
  for (const wchar_t* at = block.get(); at != nullptr && *at != L'\0';) {
    const std::wstring text = at;
    at += text.size() + 1;
    const std::size_t equal = text.find(L'=', 1);  // names like =C: hold the folders of drives
    if (equal != std::wstring::npos) all[text.substr(0, equal)] = text.substr(equal + 1);
  }
  for (const auto& [name, value] : changes) all[wide(name)] = wide(value);
  std::wstring result;
  for (const auto& [name, value] : all) result.append(name).append(1, L'=').append(value).append(1, L'\0');
  return result.append(1, L'\0');
}

void watch_stream(HANDLE from, const std::function<void(std::string_view)>& on_line) {
  std::array<char, 65536> buffer;
  std::string line;
  DWORD got = 0;
  while (ReadFile(from, buffer.data(), static_cast<DWORD>(buffer.size()), &got, nullptr) && got != 0) {
    const std::string_view part(buffer.data(), got);
    write_to_error_stream(part);
    for (const char c : part) {
      if (c != '\n') {
        line += c;
        continue;
      }
      if (line.ends_with('\r')) line.pop_back();
      on_line(line);
      line.clear();
    }
  }
  if (!line.empty()) on_line(line);
}

[[noreturn]] void fail(const char* what, DWORD code) { throw std::system_error(error_of(code), what); }

}  // namespace

int process_number() noexcept { return _getpid(); }
std::uint64_t thread_number() noexcept { return GetCurrentThreadId(); }

int thread_count() {
  const handle all(CreateToolhelp32Snapshot(TH32CS_SNAPTHREAD, 0));
  THREADENTRY32 thread{};
  thread.dwSize = sizeof thread;
  if (!all || !Thread32First(all.get(), &thread)) return std::numeric_limits<int>::max();
  int count = 0;
  do count += thread.th32OwnerProcessID == GetCurrentProcessId();
  while (Thread32Next(all.get(), &thread));
  return count;
}

std::string program_file() {
  std::wstring path(MAX_PATH, L'\0');
  for (;;) {
    const DWORD units = GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size()));
    if (units < path.size()) return narrow({path.data(), units});
    path.resize(2 * path.size());
  }
}

// The C runtime has a copy of the environment, which getenv reads.
void set_environment(const char* name, const std::string& value) { _putenv_s(name, value.c_str()); }
void unset_environment(const char* name) { _putenv_s(name, ""); }

outcome run_process(const std::vector<std::string>& command, const variables& environment,
                    const std::function<void(std::string_view)>& on_line) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  HANDLE read_end = nullptr, write_end = nullptr;
  if (on_line && !CreatePipe(&read_end, &write_end, &inherited, 0)) fail("no pipe", GetLastError());
  const handle errors_in(read_end);
  handle errors_out(write_end);
  if (on_line) SetHandleInformation(errors_in.get(), HANDLE_FLAG_INHERIT, 0);

  std::wstring line, block = merged(environment);
  for (const std::string& word : command) append_quoted(line, wide(word));
  STARTUPINFOW start{};
  start.cb = sizeof start;
  if (on_line) {
    start.dwFlags = STARTF_USESTDHANDLES;
    start.hStdInput = GetStdHandle(STD_INPUT_HANDLE);
    start.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    start.hStdError = errors_out.get();
  }
  PROCESS_INFORMATION made{};
  if (!CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, CREATE_UNICODE_ENVIRONMENT, block.data(),
                      nullptr, &start, &made))
    fail("it cannot be executed", GetLastError());
  const handle process(made.hProcess), thread(made.hThread);
  errors_out.close();
  if (on_line) watch_stream(errors_in.get(), on_line);
  WaitForSingleObject(process.get(), INFINITE);
  DWORD code = 0;
  GetExitCodeProcess(process.get(), &code);
  return {static_cast<int>(code), 0};
}

}  // namespace kaio::host

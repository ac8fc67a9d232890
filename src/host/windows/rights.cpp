#include "host/system/rights.hpp"

#include "host/windows/system.hpp"

namespace kaio::host {

namespace {

bool has_user_account_control() {
  DWORD value = 1, size = sizeof value;
  const LSTATUS found =
      RegGetValueW(HKEY_LOCAL_MACHINE, LR"(SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System)",
                   L"EnableLUA", RRF_RT_REG_DWORD, nullptr, &value, &size);
  return found != ERROR_SUCCESS || value != 0;
}

}  // namespace

bool runs_elevated() noexcept {
  HANDLE opened = nullptr;
  if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &opened)) return true;
  const handle token(opened);
  // Full: the same user's other programs have fewer rights, and may have written this environment. Without UAC all
  // programs of a user have the same rights.
  TOKEN_ELEVATION_TYPE type = TokenElevationTypeDefault;
  DWORD size = 0;
  if (!GetTokenInformation(token.get(), TokenElevationType, &type, sizeof type, &size)) return true;
  return type == TokenElevationTypeFull && has_user_account_control();
}

std::string environment_text(const char* name) {
  const std::wstring variable = wide(name);
  std::wstring value;
  for (DWORD size = 128;;) {
    value.resize(size);
    const DWORD units = GetEnvironmentVariableW(variable.c_str(), value.data(), size);
    if (units < size) return narrow({value.data(), units});
    size = units;
  }
}

}  // namespace kaio::host

// NVRTC's machine code, in whose place programs get the PTX that NVRTC makes as well: the emulator takes PTX wherever
// the driver takes machine code. A preloaded library comes before libnvrtc, so that calls of a program linked with
// NVRTC come here; a program that looks NVRTC's functions up in its handle (dlsym) gets machine code, which is refused
// when it is loaded. Source: NVRTC documentation, "Compilation".

#include <cstddef>

#include <dlfcn.h>

namespace {

using program = void*;
constexpr int internal_error = 11;  // NVRTC_ERROR_INTERNAL_ERROR

template <class To>
int real(const char* name, program p, To* to) {
  const auto function = reinterpret_cast<int (*)(program, To*)>(dlsym(RTLD_NEXT, name));
  return function != nullptr ? function(p, to) : internal_error;
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) int nvrtcGetCUBINSize(program p, std::size_t* bytes);
__attribute__((visibility("default"))) int nvrtcGetCUBIN(program p, char* to);
}

int nvrtcGetCUBINSize(program p, std::size_t* bytes) { return real("nvrtcGetPTXSize", p, bytes); }
int nvrtcGetCUBIN(program p, char* to) { return real("nvrtcGetPTX", p, to); }

// The driver itself: starting it, its version, the names and texts of its results, its functions by name.

#include "driver_emulator/abi/results.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "host/lasting.hpp"
#include "runtime/base/log.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::driver_emulator {

// A list of types (A, B) as named parameters (A a, B aa), and the names alone (a, aa).
#define KAIO_AGAIN ()
#define KAIO_EXPAND(...) KAIO_EXPAND_1(KAIO_EXPAND_1(__VA_ARGS__))
#define KAIO_EXPAND_1(...) KAIO_EXPAND_2(KAIO_EXPAND_2(__VA_ARGS__))
#define KAIO_EXPAND_2(...) KAIO_EXPAND_3(KAIO_EXPAND_3(__VA_ARGS__))
#define KAIO_EXPAND_3(...) KAIO_EXPAND_4(KAIO_EXPAND_4(__VA_ARGS__))
#define KAIO_EXPAND_4(...) __VA_ARGS__
#define KAIO_PARAMETER(name, type, ...) \
  type name __VA_OPT__(, KAIO_NEXT_PARAMETER KAIO_AGAIN(name##a, __VA_ARGS__))
#define KAIO_NEXT_PARAMETER() KAIO_PARAMETER
#define KAIO_ARGUMENT(name, type, ...) name __VA_OPT__(, KAIO_NEXT_ARGUMENT KAIO_AGAIN(name##a, __VA_ARGS__))
#define KAIO_NEXT_ARGUMENT() KAIO_ARGUMENT
#define KAIO_PARAMETERS(...) KAIO_EXPAND(KAIO_PARAMETER(a, __VA_ARGS__))
#define KAIO_ARGUMENTS(...) KAIO_EXPAND(KAIO_ARGUMENT(a, __VA_ARGS__))

// The exported symbols that differ from another one in the default stream only.
#define KAIO_DRIVER_PER_THREAD_FUNCTION(symbol, base, types) \
  CUresult symbol(KAIO_PARAMETERS types) {                   \
    const per_thread_default_stream scope;                   \
    return base(KAIO_ARGUMENTS types);                       \
  }
#include "driver_abi/functions.def"

namespace {

// A program may ask for what it can do without, so that only the log has it, once.
CUresult unsupported(const char* name, std::atomic<bool>& said) noexcept {
  try {
    if (!said.exchange(true, std::memory_order_relaxed))
      runtime::log().debug("{} is not supported by the emulator of the CUDA driver", name);
  } catch (const std::exception&) {
    // The result says it as well.
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

#define KAIO_DRIVER_UNSUPPORTED_FUNCTION(symbol) \
  KAIO_CUDA_API CUresult KAIO_CUDAAPI symbol() { \
    static std::atomic<bool> said{false};        \
    return unsupported(#symbol, said);           \
  }
#include "driver_abi/functions.def"

namespace {

struct symbol {
  std::string_view name;
  void* address;
};

const std::vector<symbol>& symbols() {
  static const auto* const all = [] {
    auto* list = host::make_lasting<std::vector<symbol>>();
#define KAIO_DRIVER_FUNCTION(symbol, types) list->push_back({#symbol, reinterpret_cast<void*>(&symbol)});
#define KAIO_DRIVER_PER_THREAD_FUNCTION(symbol, base, types) KAIO_DRIVER_FUNCTION(symbol, types)
#define KAIO_DRIVER_UNSUPPORTED_FUNCTION(symbol) KAIO_DRIVER_FUNCTION(symbol, ())
#include "driver_abi/functions.def"
    std::sort(list->begin(), list->end(), [](const symbol& a, const symbol& b) { return a.name < b.name; });
    return list;
  }();
  return *all;
}

void* find_symbol(std::string_view name) {
  const auto& all = symbols();
  const auto found = std::lower_bound(all.begin(), all.end(), name,
                                      [](const symbol& s, std::string_view n) { return s.name < n; });
  return found != all.end() && found->name == name ? found->address : nullptr;
}

// The function that a name without a version suffix means to a program written for this version.
struct form {
  std::string_view name;
  int version;
  function_id symbol;
};
constexpr form forms[] = {
#define KAIO_DRIVER_FORM(name, version, symbol) {#name, version, function_id::symbol},
#include "driver_abi/functions.def"
};

constexpr std::uint64_t legacy_default_stream = 1, per_thread_default = 2;

void* find_versioned(const std::string& name, int version, std::uint64_t flags, bool& too_old) {
  std::string best;
  bool listed = false;
  for (const form& f : forms) {
    if (f.name != name) continue;
    listed = true;
    if (f.version <= version) best = name_of(f.symbol);
  }
  too_old = listed && best.empty();
  if (too_old) return nullptr;
  if (!listed) {
    best = name;
    // The second form of a function replaced its first when addresses became 64 bits wide.
    if (find_symbol(name + "_v2") != nullptr) best += "_v2";
  }
  if ((flags & per_thread_default) != 0)
    for (const char* suffix : {"_ptsz", "_ptds"})
      if (void* own = find_symbol(best + suffix)) return own;
  return find_symbol(best);
}

CUresult proc_address(function_id id, const char* name, void** address, int version, std::uint64_t flags,
                      CUdriverProcAddressQueryResult* status) {
  return anytime_call(id, [&] {
    require(name != nullptr && address != nullptr && *name != '\0');
    require((flags & ~(legacy_default_stream | per_thread_default)) == 0 &&
            flags != (legacy_default_stream | per_thread_default));
    bool too_old = false;
    *address = find_versioned(name, version, flags, too_old);
    if (*address == nullptr)
      runtime::log().debug("there is no {} of version {} in the emulator of the CUDA driver", name, version);
    if (status != nullptr)
      *status = *address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                : too_old           ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (*address == nullptr && status == nullptr) refuse(CUDA_ERROR_NOT_FOUND);
  });
}

}  // namespace

CUresult cuInit(unsigned flags) {
  return anytime_call(function_id::cuInit, [&] {
    require(flags == 0);
    initialise();
    require(!state().devices.empty(), CUDA_ERROR_NO_DEVICE);
  });
}
CUresult cuDriverGetVersion(int* version) {
  return anytime_call(function_id::cuDriverGetVersion, [&] {
    require(version != nullptr);
    *version = state().initialised ? state().driver_version : described_machine().driver_version;
  });
}

// These two explain failures: they are not counted, and never fail themselves.
CUresult cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = name_of_result(code);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuGetErrorString(CUresult code, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = text_of_result(code);
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetProcAddress(const char* name, void** address, int version, std::uint64_t flags) {
  return proc_address(function_id::cuGetProcAddress, name, address, version, flags, nullptr);
}
CUresult cuGetProcAddress_v2(const char* name, void** address, int version, std::uint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return proc_address(function_id::cuGetProcAddress_v2, name, address, version, flags, status);
}

CUresult cuProfilerStart() {
  return call(function_id::cuProfilerStart, [](context&) {});
}
CUresult cuProfilerStop() {
  return call(function_id::cuProfilerStop, [](context&) {});
}

}  // namespace kaio::driver_emulator

// The driver itself: starting it, its version, the names and texts of its results, its functions by name.

#include "driver_emulator/abi/per_thread_functions.hpp"
#include "driver_emulator/abi/results.hpp"
#include "driver_emulator/abi/unsupported_functions.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::driver_emulator {

// The exported symbols that differ from another one in the default stream only.
#define KAIO_CUDA_DEFINE(name, base, parameters, arguments) \
  CUresult name parameters {                                \
    const per_thread_default_stream scope;                  \
    return base arguments;                                  \
  }
KAIO_CUDA_PER_THREAD_FUNCTIONS(KAIO_CUDA_DEFINE)
#undef KAIO_CUDA_DEFINE

namespace {

CUresult unsupported(const char* name) noexcept {
  std::fprintf(stderr, "kaio: %s is not supported by the emulator of the CUDA driver\n", name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

struct symbol {
  std::string_view name;
  void* address;
};

const std::vector<symbol>& symbols() {
  static const auto* const all = [] {
    auto* list = new std::vector<symbol>;
#define KAIO_CUDA_SYMBOL(name, parameters) list->push_back({#name, reinterpret_cast<void*>(&name)});
    KAIO_CUDA_FUNCTIONS(KAIO_CUDA_SYMBOL)
#undef KAIO_CUDA_SYMBOL
#define KAIO_CUDA_SYMBOL(name, base, parameters, arguments) \
  list->push_back({#name, reinterpret_cast<void*>(&name)});
    KAIO_CUDA_PER_THREAD_FUNCTIONS(KAIO_CUDA_SYMBOL)
#undef KAIO_CUDA_SYMBOL
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

// Names without a version mean the newest form that a program written for `version` knows: that of the row
// with the greatest version not above. Names that are not here have one form. Source: the macros of cuda.h.
struct versioned {
  std::string_view name;
  int version;
  std::string_view symbol;
};
constexpr versioned versions[] = {
    {"cuGetProcAddress", 11030, "cuGetProcAddress"},
    {"cuGetProcAddress", 12000, "cuGetProcAddress_v2"},
    {"cuDeviceGetUuid", 9020, "cuDeviceGetUuid"},
    {"cuDeviceGetUuid", 11040, "cuDeviceGetUuid_v2"},
    {"cuCtxCreate", 3020, "cuCtxCreate_v2"},
    {"cuCtxCreate", 11040, "cuCtxCreate_v3"},
    {"cuCtxCreate", 12050, "cuCtxCreate_v4"},
    {"cuCtxGetDevice", 2000, "cuCtxGetDevice"},
    {"cuCtxSynchronize", 2000, "cuCtxSynchronize"},
    {"cuEventElapsedTime", 2000, "cuEventElapsedTime"},
    {"cuEventElapsedTime", 12080, "cuEventElapsedTime_v2"},
    {"cuMemPrefetchAsync", 8000, "cuMemPrefetchAsync"},
    {"cuMemPrefetchAsync", 12020, "cuMemPrefetchAsync_v2"},
    {"cuMemAdvise", 8000, "cuMemAdvise"},
    {"cuMemAdvise", 12020, "cuMemAdvise_v2"},
    {"cuStreamGetCaptureInfo", 10010, "cuStreamGetCaptureInfo"},
    {"cuStreamGetCaptureInfo", 11030, "cuStreamGetCaptureInfo_v2"},
    {"cuStreamGetCaptureInfo", 12030, "cuStreamGetCaptureInfo_v3"},
    {"cuStreamUpdateCaptureDependencies", 11030, "cuStreamUpdateCaptureDependencies"},
    {"cuStreamUpdateCaptureDependencies", 12030, "cuStreamUpdateCaptureDependencies_v2"},
    {"cuGraphInstantiate", 10000, "cuGraphInstantiate"},
    {"cuGraphInstantiate", 11000, "cuGraphInstantiate_v2"},
    {"cuGraphInstantiate", 12000, "cuGraphInstantiateWithFlags"},
    {"cuGraphExecUpdate", 10020, "cuGraphExecUpdate"},
    {"cuGraphExecUpdate", 12000, "cuGraphExecUpdate_v2"},
    {"cuGraphAddNode", 12020, "cuGraphAddNode"},
    {"cuGraphAddNode", 12030, "cuGraphAddNode_v2"},
    {"cuGraphGetEdges", 10000, "cuGraphGetEdges"},
    {"cuGraphGetEdges", 12030, "cuGraphGetEdges_v2"},
    {"cuGraphNodeGetDependencies", 10000, "cuGraphNodeGetDependencies"},
    {"cuGraphNodeGetDependencies", 12030, "cuGraphNodeGetDependencies_v2"},
    {"cuGraphNodeGetDependentNodes", 10000, "cuGraphNodeGetDependentNodes"},
    {"cuGraphNodeGetDependentNodes", 12030, "cuGraphNodeGetDependentNodes_v2"},
    {"cuGraphAddDependencies", 10000, "cuGraphAddDependencies"},
    {"cuGraphAddDependencies", 12030, "cuGraphAddDependencies_v2"},
    {"cuGraphRemoveDependencies", 10000, "cuGraphRemoveDependencies"},
    {"cuGraphRemoveDependencies", 12030, "cuGraphRemoveDependencies_v2"},
    {"cuGraphAddKernelNode", 10000, "cuGraphAddKernelNode"},
    {"cuGraphAddKernelNode", 12000, "cuGraphAddKernelNode_v2"},
    {"cuGraphKernelNodeGetParams", 10000, "cuGraphKernelNodeGetParams"},
    {"cuGraphKernelNodeGetParams", 12000, "cuGraphKernelNodeGetParams_v2"},
    {"cuGraphKernelNodeSetParams", 10000, "cuGraphKernelNodeSetParams"},
    {"cuGraphKernelNodeSetParams", 12000, "cuGraphKernelNodeSetParams_v2"},
    {"cuGraphExecKernelNodeSetParams", 10000, "cuGraphExecKernelNodeSetParams"},
    {"cuGraphExecKernelNodeSetParams", 12000, "cuGraphExecKernelNodeSetParams_v2"},
};

constexpr std::uint64_t legacy_default_stream = 1, per_thread_default = 2;

void* find_versioned(const std::string& name, int version, std::uint64_t flags, bool& too_old) {
  std::string best;
  bool listed = false;
  for (const versioned& v : versions) {
    if (v.name != name) continue;
    listed = true;
    if (v.version <= version) best = v.symbol;
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
    if (status != nullptr)
      *status = *address != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
                : too_old           ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (*address == nullptr && status == nullptr) refuse(CUDA_ERROR_NOT_FOUND);
  });
}

}  // namespace

#define KAIO_CUDA_DEFINE(name) \
  KAIO_CUDA_API CUresult KAIO_CUDAAPI name() { return unsupported(#name); }
KAIO_CUDA_UNSUPPORTED_FUNCTIONS(KAIO_CUDA_DEFINE)
#undef KAIO_CUDA_DEFINE

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

// Private tables of the driver, by which the CUDA runtime library reaches into it.
CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  return anytime_call(function_id::cuGetExportTable, [&] {
    require(table != nullptr && id != nullptr);
    *table = nullptr;
    refuse(CUDA_ERROR_NOT_FOUND);
  });
}

CUresult cuProfilerStart() {
  return call(function_id::cuProfilerStart, [](context&) {});
}
CUresult cuProfilerStop() {
  return call(function_id::cuProfilerStop, [](context&) {});
}

}  // namespace kaio::driver_emulator

// The driver's private tables, by which the CUDA runtime library (libcudart) reaches into it. A table is an array of
// functions; its first entry is usually its size in bytes. What the entries do is public through the ZLUDA project
// (github.com/vosen/ZLUDA, dark_api/src/lib.rs); names follow it.

#include "driver_emulator/runtime_library/context_storage.hpp"
#include "driver_emulator/runtime_library/validity.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "host/system/process.hpp"
#include "runtime/base/log.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

namespace kaio::driver_emulator {
namespace {

enum class table_id {
  runtime_interface,
  runtime_hooks,
  tools_storage,
  context_storage,
  context_creation,
  heap_access,
  extended_device,
  validity,
  context_checks,
  context_identity,
};

constexpr std::size_t most_entries = 95;
using entries = std::array<const void*, most_entries>;

struct table {
  table_id id;
  const char* name;
  std::uint8_t uuid[16];
  std::size_t length;  // entries
  bool has_size;       // the first entry is the size in bytes
};
constexpr table tables[] = {
    {table_id::runtime_interface,
     "CUDART_INTERFACE",
     {0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9},
     13,
     true},
    {table_id::runtime_hooks,
     "TOOLS_RUNTIME_CALLBACK_HOOKS",
     {0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
     7,
     true},
    {table_id::tools_storage,
     "TOOLS_TLS",
     {0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc},
     4,
     true},
    {table_id::context_storage,
     "CONTEXT_LOCAL_STORAGE",
     {0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
     4,
     false},
    {table_id::context_creation,
     "CTX_CREATE_BYPASS",
     {0x0c, 0xa5, 0x0b, 0x8c, 0x10, 0x04, 0x92, 0x9a, 0x89, 0xa7, 0xd0, 0xdf, 0x10, 0xe7, 0x72, 0x86},
     2,
     true},
    {table_id::heap_access,
     "HEAP_ACCESS",
     {0x19, 0x5b, 0xcb, 0xf4, 0xd6, 0x7d, 0x02, 0x4a, 0xac, 0xc5, 0x1d, 0x29, 0xce, 0xa6, 0x31, 0xae},
     3,
     true},
    {table_id::extended_device,
     "DEVICE_EXTENDED_RT",
     {0xb1, 0x05, 0x41, 0xe1, 0xf7, 0xc7, 0xc7, 0x4a, 0x9f, 0x64, 0xf2, 0x23, 0xbe, 0x99, 0xf1, 0xe2},
     26,
     true},
    {table_id::validity,
     "INTEGRITY_CHECK",
     {0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2},
     3,
     true},
    {table_id::context_checks,
     "CONTEXT_CHECKS",
     {0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e},
     4,
     true},
    {table_id::context_identity,
     "TOOLS_CONTEXT",  // libcudart from 13.4 on
     {0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2},
     95,
     true},
};
constexpr std::size_t table_count = std::size(tables);

const entries& table_of(table_id id);

// An entry that is not implemented reports which one it is.
template <std::size_t Table, std::size_t Index>
CUresult unsupported_entry() noexcept {
  std::fprintf(stderr, "kaio: entry %zu of the driver's private table %s is not supported by the emulator\n",
               Index, tables[Table].name);
  return CUDA_ERROR_NOT_SUPPORTED;
}

template <std::size_t Table, std::size_t... Index>
constexpr auto unsupported_entries(std::index_sequence<Index...>) {
  return std::array{&unsupported_entry<Table, Index>...};
}

// ---- CUDART_INTERFACE

CUresult load_module_of_image(CUmodule* to, const void* image) noexcept {
  return cuModuleLoadFatBinary(to, image);
}
CUresult load_module_of_wrapper(CUmodule* to, const void* wrapper, void* first, void* second,
                                unsigned third) noexcept {
  if (first != nullptr || second != nullptr || third != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return cuModuleLoadFatBinary(to, wrapper);
}
CUresult load_module_of_header(const void* image, CUmodule* to, void* first, void* second,
                               unsigned third) noexcept {
  return load_module_of_wrapper(to, image, first, second, third);
}
// The handle of a primary context, which need not be retained.
CUresult primary_context(CUcontext* to, CUdevice ordinal) noexcept {
  return call(function_id::cuGetExportTable, [&] {
    require(to != nullptr);
    *to = primary_context_of(find_device(ordinal)).handle;
  });
}
void ignored(std::size_t) noexcept {}
CUresult no_compilers_to_load() noexcept { return CUDA_SUCCESS; }

// ---- TOOLS_RUNTIME_CALLBACK_HOOKS

// Tools mark here which calls of the runtime they want to see: none, as there are no tools.
constexpr std::size_t call_hooks = 1024, domain_hooks = 14;
std::uint32_t hooks_of_calls[call_hooks], hooks_of_domains[domain_hooks];
void give_hooks_of_calls(void** to, std::size_t* count) noexcept {
  *to = hooks_of_calls;
  *count = call_hooks;
}
void give_hooks_of_domains(void** to, std::size_t* count) noexcept {
  *to = hooks_of_domains;
  *count = domain_hooks;
}

// ---- CONTEXT_CHECKS

CUresult check_context(CUcontext, std::uint32_t* result, const void**) noexcept {
  *result = 0;
  return CUDA_SUCCESS;
}
std::uint32_t check_process() noexcept { return 0; }

// ---- TOOLS_CONTEXT

CUresult number_of_context(CUcontext of, std::uint64_t* number) noexcept {
  if (number == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *number = 0;
  return of == nullptr ? CUDA_SUCCESS : cuCtxGetId(of, reinterpret_cast<unsigned long long*>(number));
}

// ---- INTEGRITY_CHECK

std::vector<device_identity> identities_of_devices() {
  int count = 0;
  if (cuDeviceGetCount(&count) != CUDA_SUCCESS) return {};
  std::vector<device_identity> all(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    device_identity& d = all[static_cast<std::size_t>(i)];
    cuDeviceGetUuid_v2(&d.uuid, i);
    cuDeviceGetAttribute(&d.pci_domain, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, i);
    cuDeviceGetAttribute(&d.pci_bus, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, i);
    cuDeviceGetAttribute(&d.pci_device, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, i);
  }
  return all;
}

CUresult establish_validity(std::uint32_t version, std::uint64_t seconds, validity_answer* answer) noexcept {
  if (answer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  int driver_version = 0;
  if (const CUresult result = cuDriverGetVersion(&driver_version); result != CUDA_SUCCESS) return result;
  const entries& own = table_of(table_id::validity);
  try {
    *answer = answer_of({static_cast<std::uint32_t>(driver_version), version,
                         static_cast<std::uint32_t>(host::process_number()),
                         static_cast<std::uint32_t>(host::thread_number()),
                         table_of(table_id::runtime_interface).data(), own.data(), own[1], seconds},
                        identities_of_devices());
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

// ---- All tables

template <class Function>
const void* address(Function* f) {
  return reinterpret_cast<const void*>(f);
}

void put_functions(table_id id, entries& to) {
  switch (id) {
    case table_id::runtime_interface:
      to[1] = address(&load_module_of_image);
      to[2] = address(&primary_context);
      to[6] = address(&load_module_of_wrapper);
      to[7] = address(&ignored);
      to[8] = address(&load_module_of_header);
      to[12] = address(&no_compilers_to_load);
      break;
    case table_id::runtime_hooks:
      to[2] = address(&give_hooks_of_calls);
      to[6] = address(&give_hooks_of_domains);
      break;
    case table_id::context_storage:
      to[0] = address(&put_in_storage);
      to[1] = address(&take_from_storage);
      to[2] = address(&get_from_storage);
      to[3] = nullptr;  // the end of a table without a size
      break;
    case table_id::context_creation: to[1] = address(&cuCtxCreate_v2); break;
    case table_id::validity: to[1] = address(&establish_validity); break;
    case table_id::context_checks:
      to[2] = address(&check_context);
      to[3] = address(&check_process);
      break;
    case table_id::context_identity: to[4] = address(&number_of_context); break;
    case table_id::tools_storage:
    case table_id::heap_access:
    case table_id::extended_device: break;
  }
}

template <std::size_t Table>
entries made_table() {
  constexpr table t = tables[Table];
  static_assert(t.length <= most_entries && static_cast<std::size_t>(t.id) == Table);
  static constexpr auto unsupported = unsupported_entries<Table>(std::make_index_sequence<t.length>());
  entries e{};
  for (std::size_t i = 0; i < t.length; ++i) e[i] = address(unsupported[i]);
  if (t.has_size) e[0] = reinterpret_cast<const void*>(t.length * sizeof(void*));
  put_functions(t.id, e);
  return e;
}

template <std::size_t... Table>
std::array<entries, table_count> made_tables(std::index_sequence<Table...>) {
  return {made_table<Table>()...};
}

const entries& table_of(table_id id) {
  static const auto all = made_tables(std::make_index_sequence<table_count>());
  return all[static_cast<std::size_t>(id)];
}

// A newer libcudart may ask for tables whose meaning is not public. It can do without some.
void log_missing(const CUuuid& id) {
  std::string text;
  for (const char byte : id.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  runtime::log().debug("there is no private table {} in the emulator of the CUDA driver", text);
}

}  // namespace

CUresult cuGetExportTable(const void** to, const CUuuid* id) {
  return anytime_call(function_id::cuGetExportTable, [&] {
    require(to != nullptr && id != nullptr);
    *to = nullptr;
    for (const table& t : tables)
      if (std::memcmp(t.uuid, id->bytes, sizeof t.uuid) == 0) *to = table_of(t.id).data();
    if (*to == nullptr) log_missing(*id);
    require(*to != nullptr, CUDA_ERROR_NOT_FOUND);
  });
}

}  // namespace kaio::driver_emulator

// The driver's functions on modules, libraries and linking.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/module/images.hpp"
#include "driver_emulator/module/linked_text.hpp"
#include "driver_emulator/module/modules.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>
#include <span>

namespace kaio::driver_emulator {
namespace {

// Where code comes from: the memory of the program, or a file.
struct in_memory {
  const void* image;
  bool is_given() const { return image != nullptr; }
  std::string ptx(unsigned newest_sm) const { return ptx_of_memory(image, newest_sm); }
};
struct in_file {
  const char* path;
  bool is_given() const { return path != nullptr; }
  std::string ptx(unsigned newest_sm) const { return ptx_of_file(path, newest_sm); }
};

template <class Source>
emulator::module code_of(const device& d, const Source& from, jit_options& options) {
  return compile(from.ptx(d.architecture.sm), d, options);
}

template <class Source>
void load(context& c, CUmodule* to, const Source& from, jit_options& options) {
  require(to != nullptr && from.is_given());
  forbid_in_capture();
  *to = load_module(c, code_of(*c.where, from, options));
  count_load(options.level());
}
template <class Source>
void load(context& c, CUmodule* to, const Source& from) {
  jit_options none(0, nullptr, nullptr);
  load(c, to, from, none);
}

void give_variable(const loaded_module& m, const char* name, CUdeviceptr* address, std::size_t* bytes) {
  require(name != nullptr && (address != nullptr || bytes != nullptr));
  const auto found = m.variables.find(name);
  require(found.has_value(), CUDA_ERROR_NOT_FOUND);
  const emulator::buffer variable = found.value_or(emulator::buffer{});
  if (address != nullptr) *address = variable.address;
  if (bytes != nullptr) *bytes = variable.bytes;
}

template <class Source>
void load_library(CUlibrary* to, const Source& from, unsigned count, CUjit_option* options, void** values) {
  require(to != nullptr && from.is_given());
  forbid_in_capture();
  jit_options jit(count, options, values);
  // A library belongs to no context; all devices are of one architecture.
  *to = state().libraries.add(std::make_shared<library>(code_of(find_device(0), from, jit)));
  count_load(jit.level());
}

// A program may bring hundreds of fat binaries and call few of their kernels. One that the emulator cannot run is refused when
// a part of it is asked for, as by a driver that loads lazily.
void load_linked_library(CUlibrary* to, const void* image, unsigned count, CUjit_option* options,
                         void** values) {
  require(to != nullptr && image != nullptr);
  forbid_in_capture();
  jit_options jit(count, options, values);
  const device& d = find_device(0);
  const linked_image from = ptx_of_linked_image(image, d.architecture.sm);
  constexpr const char* nothing = ".version 6.0\n.target sm_70\n.address_size 64\n";
  auto made = std::make_shared<library>(compile(from.refusal.empty() ? from.ptx : nothing, d, jit));
  made->refusal = from.refusal;
  *to = state().libraries.add(std::move(made));
  count_load(jit.level());
}

void require_code(const library& l, const char* part) {
  if (l.refusal.empty()) return;
  std::fprintf(stderr, "kaio: '%s' cannot be run by the emulator: %s\n", part, l.refusal.c_str());
  refuse(CUDA_ERROR_NO_BINARY_FOR_GPU);
}

std::shared_ptr<library> find_library(CUlibrary handle) {
  std::shared_ptr<library> l = state().libraries.find(handle);
  require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return l;
}

CUkernel kernel_of(library& l, const std::string& name) {
  const auto known = l.kernels.find(name);
  if (known != l.kernels.end()) return known->second;
  require_code(l, name.c_str());
  require(l.code.find(name) != nullptr, CUDA_ERROR_NOT_FOUND);
  auto k = std::make_shared<kernel>();
  k->library = l.handle;
  k->name = name;
  const CUkernel handle = state().kernels.add(std::move(k));
  l.kernels.emplace(name, handle);
  return handle;
}

const emulator::entry& entry_of(const kernel& k) {
  const emulator::entry* e = find_library(k.library)->code.find(k.name);
  require(e != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return *e;
}

CUresult create_linker(function_id id, unsigned count, CUjit_option* options, void** values,
                       CUlinkState* to) {
  return call(id, [&](context&) {
    require(to != nullptr);
    const jit_options checked(count, options, values);
    *to = state().linkers.add(std::make_shared<linker>());
  });
}

std::shared_ptr<linker> find_linker(CUlinkState handle) {
  std::shared_ptr<linker> l = state().linkers.find(handle);
  require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return l;
}

void add_to_linker(context& c, CUlinkState handle, CUjitInputType type, image_bytes image) {
  const std::shared_ptr<linker> l = find_linker(handle);
  require(type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY, CUDA_ERROR_NO_BINARY_FOR_GPU);
  if (type == CU_JIT_INPUT_PTX) {
    const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
    l->texts.emplace_back(text.substr(0, text.find('\0')));
  } else {
    l->texts.push_back(ptx_of_image(image, c.where->architecture.sm));
  }
}

void require_input_type(CUjitInputType type) { require(type >= 0 && type <= CU_JIT_INPUT_NVVM); }

CUresult add_data(function_id id, CUlinkState handle, CUjitInputType type, void* data, std::size_t bytes,
                  unsigned count, CUjit_option* options, void** values) {
  return call(id, [&](context& c) {
    const jit_options checked(count, options, values);
    require(data != nullptr && bytes != 0);
    require_input_type(type);
    add_to_linker(c, handle, type, {static_cast<const std::byte*>(data), bytes});
  });
}
CUresult add_file(function_id id, CUlinkState handle, CUjitInputType type, const char* path, unsigned count,
                  CUjit_option* options, void** values) {
  return call(id, [&](context& c) {
    const jit_options checked(count, options, values);
    require(path != nullptr);
    require_input_type(type);
    const std::string contents = read_image(path);
    add_to_linker(c, handle, type, std::as_bytes(std::span(contents)));
  });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* to, const char* file) {
  return call(function_id::cuModuleLoad, [&](context& c) { load(c, to, in_file{file}); });
}
CUresult cuModuleLoadData(CUmodule* to, const void* image) {
  return call(function_id::cuModuleLoadData, [&](context& c) { load(c, to, in_memory{image}); });
}
CUresult cuModuleLoadDataEx(CUmodule* to, const void* image, unsigned count, CUjit_option* options,
                            void** values) {
  return call(function_id::cuModuleLoadDataEx, [&](context& c) {
    jit_options jit(count, options, values);
    load(c, to, in_memory{image}, jit);
  });
}
CUresult cuModuleLoadFatBinary(CUmodule* to, const void* image) {
  return call(function_id::cuModuleLoadFatBinary, [&](context& c) { load(c, to, in_memory{image}); });
}
CUresult cuModuleUnload(CUmodule handle) {
  return release_call(function_id::cuModuleUnload, [&] {
    forbid_in_capture();
    const std::shared_ptr<loaded_module> m = find_module(handle);
    const std::shared_ptr<context> owner = m->owner.lock();
    if (owner != nullptr) drain(*owner);
    unload_module(handle);
    if (owner != nullptr && owner->lost != CUDA_SUCCESS) refuse(owner->lost);
  });
}
CUresult cuModuleGetLoadingMode(int* mode) {
  return anytime_call(function_id::cuModuleGetLoadingMode, [&] {
    require(mode != nullptr);
    *mode = 2;  // CU_MODULE_LAZY_LOADING
  });
}
CUresult cuModuleGetFunction(CUfunction* to, CUmodule handle, const char* name) {
  return call(function_id::cuModuleGetFunction, [&](context&) {
    require(to != nullptr && name != nullptr && *name != '\0');
    *to = function_of(find_module(handle), name);
  });
}
CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return call(function_id::cuModuleGetFunctionCount, [&](context&) {
    require(count != nullptr);
    *count = static_cast<unsigned>(find_module(handle)->code.decoded().entries.size());
  });
}
CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return call(function_id::cuModuleEnumerateFunctions, [&](context&) {
    require(functions != nullptr && count != 0);
    const std::shared_ptr<loaded_module> m = find_module(handle);
    for (const emulator::entry& e : m->code.decoded().entries) {
      if (count-- == 0) break;
      *functions++ = function_of(m, e.name);
    }
  });
}
CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule handle, const char* name) {
  return call(function_id::cuModuleGetGlobal_v2,
              [&](context&) { give_variable(*find_module(handle), name, address, bytes); });
}

CUresult cuLibraryLoadData(CUlibrary* to, const void* image, CUjit_option* options, void** values,
                           unsigned count, int*, void**, unsigned) {
  return call(function_id::cuLibraryLoadData,
              [&] { load_linked_library(to, image, count, options, values); });
}
CUresult cuLibraryLoadFromFile(CUlibrary* to, const char* file, CUjit_option* options, void** values,
                               unsigned count, int*, void**, unsigned) {
  return call(function_id::cuLibraryLoadFromFile,
              [&] { load_library(to, in_file{file}, count, options, values); });
}
CUresult cuLibraryUnload(CUlibrary handle) {
  return release_call(function_id::cuLibraryUnload, [&] {
    driver_state& s = state();
    forbid_in_capture();
    const std::shared_ptr<library> l = s.libraries.take(handle);
    require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
    for (const auto& [c, m] : l->modules) {
      if (const std::shared_ptr<context> owner = s.contexts.find(c)) drain(*owner);
      unload_module(m);
    }
    for (const auto& [name, k] : l->kernels) s.kernels.take(k);
  });
}
CUresult cuLibraryGetKernel(CUkernel* to, CUlibrary handle, const char* name) {
  return call(function_id::cuLibraryGetKernel, [&] {
    require(to != nullptr && name != nullptr);
    *to = kernel_of(*find_library(handle), name);
  });
}
CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return call(function_id::cuLibraryGetKernelCount, [&] {
    require(count != nullptr);
    *count = static_cast<unsigned>(find_library(handle)->code.decoded().entries.size());
  });
}
CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
  return call(function_id::cuLibraryEnumerateKernels, [&] {
    require(kernels != nullptr && count != 0);
    const std::shared_ptr<library> l = find_library(handle);
    for (const emulator::entry& e : l->code.decoded().entries) {
      if (count-- == 0) break;
      *kernels++ = kernel_of(*l, e.name);
    }
  });
}
CUresult cuLibraryGetModule(CUmodule* to, CUlibrary handle) {
  return call(function_id::cuLibraryGetModule, [&](context& c) {
    require(to != nullptr);
    const std::shared_ptr<library> l = find_library(handle);
    require_code(*l, "a library");
    *to = module_of(*l, c)->handle;
  });
}
CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle, const char* name) {
  return call(function_id::cuLibraryGetGlobal, [&](context& c) {
    const std::shared_ptr<library> l = find_library(handle);
    require_code(*l, name == nullptr ? "a variable" : name);
    give_variable(*module_of(*l, c), name, address, bytes);
  });
}
// Programs ask before they have a context. The variable is then that of the first device's primary context.
CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle, const char* name) {
  return call(function_id::cuLibraryGetManaged, [&] {
    require(name != nullptr);
    const std::shared_ptr<library> l = find_library(handle);
    const auto& variables = l->code.decoded().variables;
    require(std::any_of(variables.begin(), variables.end(),
                        [&](const emulator::variable& v) { return v.managed && v.where.name == name; }),
            CUDA_ERROR_NOT_FOUND);
    const std::shared_ptr<context> current = current_context();
    context& c = current != nullptr ? *current : primary_context_of(find_device(0));
    give_variable(*module_of(*l, c), name, address, bytes);
  });
}

CUresult cuKernelGetFunction(CUfunction* to, CUkernel handle) {
  return call(function_id::cuKernelGetFunction, [&](context&) {
    require(to != nullptr);
    *to = find_function(reinterpret_cast<CUfunction>(handle))->handle;
  });
}
CUresult cuKernelGetLibrary(CUlibrary* to, CUkernel handle) {
  return call(function_id::cuKernelGetLibrary, [&] {
    require(to != nullptr);
    *to = find_kernel(handle)->library;
  });
}
CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return call(function_id::cuKernelGetName, [&] {
    require(name != nullptr);
    *name = entry_of(*find_kernel(handle)).name.c_str();
  });
}
CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return call(function_id::cuKernelGetParamInfo, [&] {
    require(offset != nullptr);
    const emulator::entry& e = entry_of(*find_kernel(handle));
    require(index < e.parameters.size());
    *offset = e.parameters[index].offset;
    if (bytes != nullptr) *bytes = e.parameters[index].bytes;
  });
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle, CUdevice where) {
  return call(function_id::cuKernelGetAttribute, [&](context&) {
    require(value != nullptr);
    find_device(where);
    *value = attribute_of(*find_function(reinterpret_cast<CUfunction>(handle)), attribute);
  });
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle, CUdevice where) {
  return call(function_id::cuKernelSetAttribute, [&](context&) {
    find_device(where);
    set_attribute(*find_function(reinterpret_cast<CUfunction>(handle)), attribute, value);
    find_kernel(handle)->attributes[attribute] = value;
  });
}
CUresult cuKernelSetCacheConfig(CUkernel handle, int config, CUdevice where) {
  return call(function_id::cuKernelSetCacheConfig, [&] {
    find_kernel(handle);
    find_device(where);
    require(config >= 0 && config <= 3);
  });
}

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* to) {
  return create_linker(function_id::cuLinkCreate, count, options, values, to);
}
CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values, CUlinkState* to) {
  return create_linker(function_id::cuLinkCreate_v2, count, options, values, to);
}
CUresult cuLinkAddData(CUlinkState l, CUjitInputType type, void* data, std::size_t bytes, const char*,
                       unsigned count, CUjit_option* options, void** values) {
  return add_data(function_id::cuLinkAddData, l, type, data, bytes, count, options, values);
}
CUresult cuLinkAddData_v2(CUlinkState l, CUjitInputType type, void* data, std::size_t bytes, const char*,
                          unsigned count, CUjit_option* options, void** values) {
  return add_data(function_id::cuLinkAddData_v2, l, type, data, bytes, count, options, values);
}
CUresult cuLinkAddFile(CUlinkState l, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  return add_file(function_id::cuLinkAddFile, l, type, path, count, options, values);
}
CUresult cuLinkAddFile_v2(CUlinkState l, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  return add_file(function_id::cuLinkAddFile_v2, l, type, path, count, options, values);
}
// The linked image is the joined text, which the functions that load modules take like any other.
CUresult cuLinkComplete(CUlinkState handle, void** image, std::size_t* bytes) {
  return call(function_id::cuLinkComplete, [&](context& c) {
    require(image != nullptr);
    const std::shared_ptr<linker> l = find_linker(handle);
    require(!l->texts.empty(), CUDA_ERROR_INVALID_IMAGE);
    l->image = linked_text(l->texts);
    jit_options none(0, nullptr, nullptr);
    compile(l->image, *c.where, none);
    *image = l->image.data();
    if (bytes != nullptr) *bytes = l->image.size() + 1;
  });
}
CUresult cuLinkDestroy(CUlinkState handle) {
  return release_call(function_id::cuLinkDestroy,
                      [&] { require(state().linkers.take(handle) != nullptr, CUDA_ERROR_INVALID_HANDLE); });
}

}  // namespace kaio::driver_emulator

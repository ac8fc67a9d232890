#include "driver_emulator/module/modules.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"
#include "emulator/decode/decoder.hpp"
#include "emulator/parse/parser.hpp"
#include "emulator/program/requirements.hpp"
#include "host/printable.hpp"
#include "runtime/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace kaio::driver_emulator {
namespace {

constexpr int shared_without_asking = 48 * 1024;

// The `.version` of a text that may be invalid otherwise; 0.0: none.
ptx::isa_version version_of(std::string_view text) {
  constexpr std::string_view directive = ".version";
  const std::size_t at = text.find(directive);
  if (at == std::string_view::npos) return {0, 0};
  text.remove_prefix(std::min(text.find_first_not_of(" \t", at + directive.size()), text.size()));
  ptx::isa_version v{0, 0};
  const char* const end = text.data() + text.size();
  const auto [point, failed] = std::from_chars(text.data(), end, v.major);
  if (failed != std::errc() || point == end || *point != '.') return {0, 0};
  std::from_chars(point + 1, end, v.minor);
  return v;
}

// The reason for refusing a text: it is for another device, needs a newer PTX ISA, or is wrong.
CUresult result_of_refusal(const std::string& text, const device& d) {
  try {
    if (!emulator::runs_on(emulator::parse_header(text), d.architecture)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
  } catch (const emulator::ptx_error&) {
    // The text is not even PTX.
  }
  return emulator::newest_known_version < version_of(text) ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION
                                                           : CUDA_ERROR_INVALID_PTX;
}

}  // namespace

emulator::module compile(const std::string& text, const device& d, jit_options& options) {
  try {
    emulator::module code = emulator::parse_module(text, d.architecture);
    if (options.verbose())
      for (const emulator::entry& e : code.decoded().entries) {
        options.tell_info(runtime::text("ptxas info    : Compiling entry function '", e.name, "' for 'sm_",
                                        d.architecture.sm, d.architecture.arch_specific ? "a'" : "'"));
        options.tell_info(runtime::text("ptxas info    : Used ", registers_of(e, d.architecture),
                                        " registers, ", e.shared_bytes, " bytes smem, ", e.local_bytes,
                                        " bytes lmem, ", code.decoded().constant_bytes, " bytes cmem[3]"));
      }
    options.finish();
    return code;
  } catch (const emulator::ptx_error& e) {
    const std::string line = runtime::text("ptxas application ptx input, line ", e.line(),
                                           "; error   : ", e.reason(), " (column ", e.column(), ')');
    if (!options.has_error_log()) std::fprintf(stderr, "kaio: %s\n", host::printable(line).c_str());
    options.tell_error(line);
    options.tell_error("ptxas fatal   : Ptx assembly aborted due to errors");
    options.finish();
    refuse(result_of_refusal(text, d));
  }
}

std::shared_ptr<loaded_module> find_module(CUmodule handle) {
  std::shared_ptr<loaded_module> m = state().modules.find(handle);
  require(m != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return m;
}

CUmodule load_module(context& c, const emulator::module& code) {
  driver_state& s = state();
  auto m = std::make_shared<loaded_module>(code, s.memory);
  m->owner = s.contexts.find(c.handle);
  return s.modules.add(std::move(m));
}

void unload_module(CUmodule handle) {
  driver_state& s = state();
  const std::shared_ptr<loaded_module> m = s.modules.take(handle);
  if (m == nullptr) return;
  for (const auto& [name, f] : m->functions) s.functions.take(f);
}

CUfunction function_of(const std::shared_ptr<loaded_module>& m, std::string_view name) {
  const auto known = m->functions.find(name);
  if (known != m->functions.end()) return known->second;
  const emulator::entry* e = m->code.find(name);
  require(e != nullptr, CUDA_ERROR_NOT_FOUND);
  auto f = std::make_shared<function>();
  f->module = m;
  f->entry = e;
  f->dynamic_shared = std::max(0, shared_without_asking - static_cast<int>(e->shared_bytes));
  const CUfunction handle = state().functions.add(std::move(f));
  m->functions.emplace(name, handle);
  return handle;
}

std::shared_ptr<loaded_module> module_of(library& l, context& c) {
  driver_state& s = state();
  const auto known = l.modules.find(c.handle);
  if (known != l.modules.end())
    if (std::shared_ptr<loaded_module> m = s.modules.find(known->second)) return m;
  // The host has one address of a managed variable, whatever the context.
  const auto& variables = l.code.decoded().variables;
  const bool managed =
      std::any_of(variables.begin(), variables.end(), [](const auto& v) { return v.managed; });
  const bool elsewhere = std::any_of(l.modules.begin(), l.modules.end(), [&](const auto& made) {
    return made.first != c.handle && s.modules.find(made.second) != nullptr;
  });
  if (managed && elsewhere) {
    std::fprintf(
        stderr,
        "kaio: a module with __managed__ variables is used in two contexts; the emulator has it in one\n");
    refuse(CUDA_ERROR_NOT_SUPPORTED);
  }
  const CUmodule handle = load_module(c, l.code);
  std::shared_ptr<loaded_module> m = s.modules.find(handle);
  m->library = l.handle;
  l.modules[c.handle] = handle;
  return m;
}

std::shared_ptr<kernel> find_kernel(CUkernel handle) {
  std::shared_ptr<kernel> k = state().kernels.find(handle);
  require(k != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return k;
}

std::shared_ptr<function> find_function(CUfunction handle) {
  driver_state& s = state();
  if (std::shared_ptr<function> f = s.functions.find(handle)) return f;
  const std::shared_ptr<kernel> k = find_kernel(reinterpret_cast<CUkernel>(handle));
  const std::shared_ptr<context> c = context_or_current(nullptr);
  const std::shared_ptr<library> l = s.libraries.find(k->library);
  require(l != nullptr, CUDA_ERROR_INVALID_HANDLE);
  const std::shared_ptr<loaded_module> m = module_of(*l, *c);
  const bool fresh = !m->functions.contains(k->name);
  std::shared_ptr<function> f = s.functions.find(function_of(m, k->name));
  if (fresh)
    for (const auto& [attribute, value] : k->attributes)
      set_attribute(*f, static_cast<CUfunction_attribute>(attribute), value);
  return f;
}

int most_threads(const emulator::entry& e, const emulator::architecture& a) {
  std::uint64_t most = a.threads_per_block;
  if (e.maximum_threads.x != 0) most = std::min(most, e.maximum_threads.count());
  if (e.required_threads.x != 0) most = std::min(most, e.required_threads.count());
  return static_cast<int>(most);
}

// A GPU's compiler chooses a kernel's registers. Here it is the number that the text names, bounded by the
// registers that the kernel's largest block leaves to each thread.
int registers_of(const emulator::entry& e, const emulator::architecture& a) {
  constexpr int all = 65536, most_of_thread = 255, unit = 8;
  const int fits = all / std::max(most_threads(e, a), 1) / unit * unit;
  return std::clamp(static_cast<int>(std::min(e.registers, 255u)), 1, std::min(fits, most_of_thread));
}

int attribute_of(const function& f, CUfunction_attribute attribute) {
  const emulator::entry& e = *f.entry;
  const emulator::decoded_module& m = f.module->code.decoded();
  const emulator::architecture& a = f.module->code.device();
  const ptx::dim3& cluster = e.required_cluster.x != 0 ? e.required_cluster : f.required_cluster;
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return most_threads(e, a);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return static_cast<int>(e.shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return static_cast<int>(m.constant_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return static_cast<int>(e.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return registers_of(e, a);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: return m.target.sm;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: return static_cast<int>(a.sm);
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: return 0;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: return f.dynamic_shared;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return f.carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: return e.explicit_cluster && cluster.x == 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: return static_cast<int>(cluster.x);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: return static_cast<int>(cluster.y);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: return static_cast<int>(cluster.z);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: return f.non_portable_cluster;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: return f.scheduling_policy;
  }
  refuse(CUDA_ERROR_INVALID_VALUE);
}

void set_attribute(function& f, CUfunction_attribute attribute, int value) {
  const emulator::architecture& a = f.module->code.device();
  const auto set_cluster = [&](std::uint32_t& extent) {
    require(value >= 0 && f.entry->required_cluster.x == 0);
    extent = static_cast<std::uint32_t>(value);
  };
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      require(value >= 0 && f.entry->shared_bytes + static_cast<std::uint64_t>(value) <= a.shared_per_block);
      f.dynamic_shared = value;
      break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      require(value >= -1 && value <= 100);
      f.carveout = value;
      break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: set_cluster(f.required_cluster.x); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: set_cluster(f.required_cluster.y); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: set_cluster(f.required_cluster.z); break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      require(value == 0 || value == 1);
      f.non_portable_cluster = value;
      break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      require(value >= 0 && value <= 2);
      f.scheduling_policy = value;
      break;
    default: refuse(CUDA_ERROR_INVALID_VALUE);
  }
}

}  // namespace kaio::driver_emulator

#include "driver_emulator/module/launches.hpp"

#include "driver_emulator/module/modules.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "runtime/emulator/environment.hpp"

#include <cstdio>
#include <cstring>
#include <limits>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint64_t portable_cluster = 8;

void take_buffer(kernel_work& w, void** extra) {
  const void* from = nullptr;
  std::size_t bytes = 0;
  bool sized = false;
  for (std::size_t i = 0; reinterpret_cast<std::uintptr_t>(extra[i]) != launch_parameters_end; i += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(extra[i]);
    if (what == launch_parameters_buffer_pointer) {
      from = extra[i + 1];
    } else {
      require(what == launch_parameters_buffer_size && extra[i + 1] != nullptr);
      std::memcpy(&bytes, extra[i + 1], sizeof bytes);
      sized = true;
    }
  }
  require((from != nullptr && sized) || w.parameters.empty());
  // The buffer may be padded after the last parameter.
  require(bytes >= w.parameters.size());
  if (!w.parameters.empty()) std::memcpy(w.parameters.data(), from, w.parameters.size());
}

void take_pointers(kernel_work& w, void** parameters) {
  const auto& places = w.code->entry->parameters;
  require(places.empty() || parameters != nullptr);
  for (std::size_t i = 0; i < places.size(); ++i) {
    require(parameters[i] != nullptr);
    std::memcpy(w.parameters.data() + places[i].offset, parameters[i], places[i].bytes);
  }
}

void take_attributes(kernel_work& w, const launch_request& r) {
  require(r.attribute_count == 0 || r.attributes != nullptr);
  for (unsigned i = 0; i < r.attribute_count; ++i) {
    const CUlaunchAttribute& a = r.attributes[i];
    switch (a.id) {
      case CU_LAUNCH_ATTRIBUTE_IGNORE: continue;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: w.cooperative = a.value.cooperative != 0; break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        w.cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
        require(w.cluster.count() != 0);
        break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        w.programmatic = a.value.programmatic_stream_serialization != 0;
        break;
      // A grid runs only after the one before it has ended. All these attributes allow that.
      case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
      case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
      case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
      case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING: break;
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE: refuse(CUDA_ERROR_NOT_SUPPORTED);
      default: refuse(CUDA_ERROR_INVALID_VALUE);
    }
    w.attributes.push_back(a);
  }
}

void check_block(const kernel_work& w, const emulator::architecture& a) {
  const emulator::entry& e = *w.code->entry;
  require(w.grid.x != 0 && w.grid.y != 0 && w.grid.z != 0);
  require(w.grid.x <= a.grid_x && w.grid.y <= a.grid_y && w.grid.z <= a.grid_z);
  require(w.block.x != 0 && w.block.y != 0 && w.block.z != 0);
  require(w.block.x <= a.block_x && w.block.y <= a.block_y && w.block.z <= a.block_z);
  require(w.block.count() <= a.threads_per_block);
  require(e.required_threads.x == 0 || w.block == e.required_threads);
  require(w.block.count() <= static_cast<std::uint64_t>(most_threads(e, a)),
          CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  require(w.shared <= static_cast<std::uint64_t>(w.code->dynamic_shared));
}

void check_cluster(kernel_work& w, const emulator::architecture& a) {
  const function& f = *w.code;
  const emulator::entry& e = *f.entry;
  if (w.cluster.x == 0 && e.required_cluster.x == 0 && f.required_cluster.x != 0) {
    w.cluster = f.required_cluster;
    w.cluster.y = w.cluster.y == 0 ? 1 : w.cluster.y;
    w.cluster.z = w.cluster.z == 0 ? 1 : w.cluster.z;
  }
  if (w.cluster.x == 0 && e.required_cluster.x == 0) {
    require(!e.explicit_cluster, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    return;
  }
  const ptx::dim3& c = w.cluster.x != 0 ? w.cluster : e.required_cluster;
  require(e.required_cluster.x == 0 || c == e.required_cluster, CUDA_ERROR_INVALID_CLUSTER_SIZE);
  const std::uint64_t most = f.non_portable_cluster != 0 ? a.blocks_per_cluster : portable_cluster;
  require(c.count() <= std::min<std::uint64_t>(most, a.blocks_per_cluster), CUDA_ERROR_INVALID_CLUSTER_SIZE);
  require(w.grid.x % c.x == 0 && w.grid.y % c.y == 0 && w.grid.z % c.z == 0);
}

}  // namespace

std::uint64_t resident_blocks(const function& f, const ptx::dim3& block, unsigned shared) {
  return emulator::resident_blocks(*f.entry, block, shared, f.module->code.device());
}

kernel_work checked_launch(const launch_request& r) {
  kernel_work w;
  w.code = find_function(r.function);
  const std::shared_ptr<context> current = current_context();
  require(w.code->module->owner.lock() == current, CUDA_ERROR_INVALID_HANDLE);
  const emulator::architecture& a = w.code->module->code.device();
  w.grid = r.grid;
  w.block = r.block;
  w.shared = r.shared;
  w.cooperative = r.cooperative;
  w.parameters.resize(w.code->entry->parameter_bytes);
  require(r.parameters == nullptr || r.extra == nullptr);
  if (r.extra != nullptr)
    take_buffer(w, r.extra);
  else
    take_pointers(w, r.parameters);
  take_attributes(w, r);
  check_block(w, a);
  check_cluster(w, a);
  require(!w.cooperative || w.grid.count() <= resident_blocks(*w.code, w.block, w.shared),
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  // Mistakes in the environment are reported before anything is launched.
  try {
    emulator::launch probe;
    runtime::apply_environment(probe);
  } catch (const emulator::launch_error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    refuse(CUDA_ERROR_INVALID_VALUE);
  }
  return w;
}

}  // namespace kaio::driver_emulator

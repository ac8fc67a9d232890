// The driver's functions on functions: their attributes, launches and occupancy.

#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/module/launches.hpp"
#include "driver_emulator/module/modules.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/streams.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

void launch(const context& c, const launch_request& request, CUstream where) {
  kernel_work w = checked_launch(request);
  const std::shared_ptr<stream> s = find_stream(where);
  require(s->owner.lock().get() == &c, CUDA_ERROR_INVALID_HANDLE);
  note_launch(w, where, c.handle);
  submit(s, std::move(w), CU_GRAPH_NODE_TYPE_KERNEL);
}

launch_request request_of(const CUlaunchConfig& c, CUfunction f) {
  launch_request r;
  r.function = f;
  r.grid = {c.grid_x, c.grid_y, c.grid_z};
  r.block = {c.block_x, c.block_y, c.block_z};
  r.shared = c.shared_bytes;
  r.attributes = c.attributes;
  r.attribute_count = c.attribute_count;
  return r;
}

// The number of blocks of `threads` threads on one multiprocessor.
int blocks_of_multiprocessor(const function& f, int threads, std::size_t shared) {
  const emulator::architecture& a = f.module->code.device();
  if (threads > most_threads(*f.entry, a) || f.entry->shared_bytes + shared > a.shared_per_block) return 0;
  const std::uint64_t all =
      resident_blocks(f, {static_cast<std::uint32_t>(threads), 1, 1}, static_cast<unsigned>(shared));
  return static_cast<int>(all / a.multiprocessors);
}

CUresult active_blocks(function_id id, int* blocks, CUfunction handle, int threads, std::size_t shared,
                       unsigned flags) {
  return call(id, [&](context&) {
    require(blocks != nullptr && threads > 0 && flags <= 1);
    *blocks = blocks_of_multiprocessor(*find_function(handle), threads, shared);
  });
}

// Finds the block size with the most threads on a multiprocessor; among equals the largest.
CUresult potential_block(function_id id, int* grid, int* block, CUfunction handle,
                         CUoccupancyB2DSize shared_of, std::size_t shared, int limit, unsigned flags) {
  return call(id, [&](context&) {
    require(grid != nullptr && block != nullptr && limit >= 0 && flags <= 1);
    const std::shared_ptr<function> f = find_function(handle);
    const emulator::architecture& a = f->module->code.device();
    int most = most_threads(*f->entry, a);
    if (limit != 0) most = std::min(most, limit);
    int best_threads = 0;
    *grid = *block = 0;
    constexpr int step = emulator::warp_lanes;
    for (int threads = (most + step - 1) / step * step; threads > 0; threads -= step) {
      const int size = std::min(threads, most);
      std::size_t bytes = shared;
      if (shared_of != nullptr) {
        const program_callback scope;
        bytes = shared_of(size);
      }
      const int blocks = blocks_of_multiprocessor(*f, size, bytes);
      if (blocks * size <= best_threads) continue;
      best_threads = blocks * size;
      *block = size;
      *grid = blocks * static_cast<int>(a.multiprocessors);
    }
  });
}

}  // namespace

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return call(function_id::cuFuncGetAttribute, [&](context&) {
    require(value != nullptr);
    *value = attribute_of(*find_function(handle), attribute);
  });
}
CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return call(function_id::cuFuncSetAttribute,
              [&](context&) { set_attribute(*find_function(handle), attribute, value); });
}
CUresult cuFuncSetCacheConfig(CUfunction handle, int config) {
  return call(function_id::cuFuncSetCacheConfig, [&](context&) {
    find_function(handle);
    require(config >= 0 && config <= 3);
  });
}
CUresult cuFuncSetSharedMemConfig(CUfunction handle, int config) {
  return call(function_id::cuFuncSetSharedMemConfig, [&](context&) {
    find_function(handle);
    require(config >= 0 && config <= 2);
  });
}
CUresult cuFuncGetModule(CUmodule* to, CUfunction handle) {
  return call(function_id::cuFuncGetModule, [&](context&) {
    require(to != nullptr);
    *to = find_function(handle)->module->handle;
  });
}
CUresult cuFuncGetName(const char** name, CUfunction handle) {
  return call(function_id::cuFuncGetName, [&] {
    require(name != nullptr);
    *name = find_function(handle)->entry->name.c_str();
  });
}
CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  return call(function_id::cuFuncGetParamInfo, [&] {
    require(offset != nullptr);
    const emulator::entry& e = *find_function(handle)->entry;
    require(index < e.parameters.size());
    *offset = e.parameters[index].offset;
    if (bytes != nullptr) *bytes = e.parameters[index].bytes;
  });
}
CUresult cuFuncIsLoaded(int* loaded, CUfunction handle) {
  return call(function_id::cuFuncIsLoaded, [&] {
    require(loaded != nullptr);
    find_function(handle);
    *loaded = 1;
  });
}
CUresult cuFuncLoad(CUfunction handle) {
  return call(function_id::cuFuncLoad, [&] { find_function(handle); });
}

CUresult cuLaunchKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream where,
                        void** parameters, void** extra) {
  return call(function_id::cuLaunchKernel, [&](context& c) {
    const CUlaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, where, nullptr, 0};
    launch_request r = request_of(config, f);
    r.parameters = parameters;
    r.extra = extra;
    launch(c, r, where);
  });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  return call(function_id::cuLaunchKernelEx, [&](context& c) {
    require(config != nullptr);
    launch_request r = request_of(*config, f);
    r.parameters = parameters;
    r.extra = extra;
    launch(c, r, config->stream);
  });
}
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                   CUstream where, void** parameters) {
  return call(function_id::cuLaunchCooperativeKernel, [&](context& c) {
    const CUlaunchConfig config{grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, where, nullptr, 0};
    launch_request r = request_of(config, f);
    r.parameters = parameters;
    r.cooperative = true;
    launch(c, r, where);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int threads,
                                                     std::size_t shared) {
  return active_blocks(function_id::cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, f, threads, shared,
                       0);
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int threads,
                                                              std::size_t shared, unsigned flags) {
  return active_blocks(function_id::cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, blocks, f, threads,
                       shared, flags);
}
CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction f, CUoccupancyB2DSize shared_of,
                                          std::size_t shared, int limit) {
  return potential_block(function_id::cuOccupancyMaxPotentialBlockSize, grid, block, f, shared_of, shared,
                         limit, 0);
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction f,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared,
                                                   int limit, unsigned flags) {
  return potential_block(function_id::cuOccupancyMaxPotentialBlockSizeWithFlags, grid, block, f, shared_of,
                         shared, limit, flags);
}
CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction handle, int blocks,
                                                 int threads) {
  return call(function_id::cuOccupancyAvailableDynamicSMemPerBlock, [&](context&) {
    require(bytes != nullptr && blocks > 0 && threads > 0);
    const std::shared_ptr<function> f = find_function(handle);
    const emulator::architecture& a = f->module->code.device();
    const std::uint64_t each = a.shared_per_multiprocessor / static_cast<unsigned>(blocks);
    const std::uint64_t taken = f->entry->shared_bytes + a.shared_kept_per_block;
    *bytes = each <= taken
                 ? 0
                 : std::min<std::uint64_t>(each - taken, a.shared_per_block - f->entry->shared_bytes);
  });
}
CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle, const CUlaunchConfig* config) {
  return call(function_id::cuOccupancyMaxPotentialClusterSize, [&](context&) {
    require(size != nullptr && config != nullptr);
    const std::shared_ptr<function> f = find_function(handle);
    const emulator::architecture& a = f->module->code.device();
    require(a.sm >= 90, CUDA_ERROR_NOT_SUPPORTED);
    *size = f->non_portable_cluster != 0 ? static_cast<int>(a.blocks_per_cluster) : 8;
  });
}
CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle, const CUlaunchConfig* config) {
  return call(function_id::cuOccupancyMaxActiveClusters, [&](context&) {
    require(clusters != nullptr && config != nullptr);
    const std::shared_ptr<function> f = find_function(handle);
    require(f->module->code.device().sm >= 90, CUDA_ERROR_NOT_SUPPORTED);
    ptx::dim3 cluster = f->entry->required_cluster.x != 0 ? f->entry->required_cluster : ptx::dim3{1, 1, 1};
    require(config->attribute_count == 0 || config->attributes != nullptr);
    for (unsigned i = 0; i < config->attribute_count; ++i) {
      const CUlaunchAttribute& a = config->attributes[i];
      if (a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        cluster = {a.value.cluster.x, a.value.cluster.y, a.value.cluster.z};
    }
    require(cluster.count() != 0, CUDA_ERROR_INVALID_CLUSTER_SIZE);
    const ptx::dim3 block{config->block_x, config->block_y, config->block_z};
    require(block.count() != 0);
    *clusters = static_cast<int>(resident_blocks(*f, block, config->shared_bytes) / cluster.count());
  });
}

}  // namespace kaio::driver_emulator

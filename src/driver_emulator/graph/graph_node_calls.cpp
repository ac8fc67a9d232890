// The driver's functions that add the nodes of graphs, and look at and change what they do.

#include "driver_emulator/graph/graphs.hpp"
#include "driver_emulator/module/launches.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/copies.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/memory_objects.hpp"

#include <algorithm>

namespace kaio::driver_emulator {
namespace {

// The parameters of kernel nodes have two forms: the second adds a kernel of a library and a context.
CUDA_KERNEL_NODE_PARAMS widened(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  return {p.function, p.grid_x,       p.grid_y,     p.grid_z, p.block_x, p.block_y,
          p.block_z,  p.shared_bytes, p.parameters, p.extra,  nullptr,   nullptr};
}

kernel_work kernel_of(const CUDA_KERNEL_NODE_PARAMS& p, const std::vector<CUlaunchAttribute>& attributes) {
  launch_request r;
  r.function = p.function != nullptr ? p.function : reinterpret_cast<CUfunction>(p.kernel);
  r.grid = {p.grid_x, p.grid_y, p.grid_z};
  r.block = {p.block_x, p.block_y, p.block_z};
  r.shared = p.shared_bytes;
  r.parameters = p.parameters;
  r.extra = p.extra;
  r.attributes = attributes.data();
  r.attribute_count = static_cast<unsigned>(attributes.size());
  return checked_launch(r);
}

host_work host_of(const CUDA_HOST_NODE_PARAMS& p) {
  require(p.function != nullptr);
  return {p.function, p.data};
}

std::shared_ptr<event> event_of(CUevent handle) {
  std::shared_ptr<event> e = state().events.find(handle);
  require(e != nullptr, CUDA_ERROR_INVALID_HANDLE);
  return e;
}

template <class Work>
Work& work_of(graph_node& n) {
  Work* w = std::get_if<Work>(&n.what);
  require(w != nullptr);
  return *w;
}

template <class Make>
CUresult add(function_id id, CUgraphNode* to, CUgraph into, const CUgraphNode* after, std::size_t count,
             CUgraphNodeType type, Make make) {
  return call(id, [&](context&) {
    require(to != nullptr);
    const std::shared_ptr<graph> g = find_graph(into);
    *to = add_node(*g, type, make(), after, count);
  });
}

CUDA_KERNEL_NODE_PARAMS described(kernel_work& w) {
  w.pointers.clear();
  for (const emulator::layout& place : w.code->entry->parameters)
    w.pointers.push_back(w.parameters.data() + place.offset);
  const std::shared_ptr<context> owner = w.code->module->owner.lock();
  return {w.code->handle, w.grid.x, w.grid.y,          w.grid.z, w.block.x, w.block.y,
          w.block.z,      w.shared, w.pointers.data(), nullptr,  nullptr,   owner ? owner->handle : nullptr};
}

// Returns the work of a node of any type, from the parameters of cuGraphAddNode.
work work_of_any(CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_of(p.of.kernel, {});
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_work{checked_copy(p.of.memcpy.copy)};
    case CU_GRAPH_NODE_TYPE_MEMSET: return fill_work{checked_fill(p.of.memset.fill)};
    case CU_GRAPH_NODE_TYPE_HOST: return host_of(p.of.host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return clone_graph(*find_graph(p.of.graph.graph), true);
    case CU_GRAPH_NODE_TYPE_EMPTY: return empty_work{};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return wait_work{event_of(p.of.event)};
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return record_work{event_of(p.of.event)};
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
      allocate_work w = make_allocation(p.of.alloc);
      p.of.alloc.address = w.parameters.address;
      return w;
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE: require(is_device_range(p.of.free, 1)); return free_work{p.of.free};
    default: refuse(CUDA_ERROR_NOT_SUPPORTED);
  }
}

CUresult add_any(function_id id, CUgraphNode* to, CUgraph into, const CUgraphNode* after, std::size_t count,
                 CUgraphNodeParams* p) {
  return call(id, [&](context&) {
    require(to != nullptr && p != nullptr);
    const std::shared_ptr<graph> g = find_graph(into);
    *to = add_node(*g, p->type, work_of_any(*p), after, count);
  });
}

void set_kernel(graph_node& n, const CUDA_KERNEL_NODE_PARAMS& p) {
  kernel_work& w = work_of<kernel_work>(n);
  w = kernel_of(p, w.attributes);
}

std::shared_ptr<executable_graph> find_executable(CUgraphExec handle) {
  std::shared_ptr<executable_graph> e = state().executables.find(handle);
  require(e != nullptr, CUDA_ERROR_INVALID_VALUE);
  return e;
}

// Finds the node of an executable graph that was made from a node of its graph.
executable_node& find_executable_node(CUgraphExec executable, CUgraphNode handle) {
  const std::shared_ptr<executable_graph> e = find_executable(executable);
  const auto found = std::find_if(e->nodes.begin(), e->nodes.end(),
                                  [&](const executable_node& n) { return n.original == handle; });
  require(found != e->nodes.end(), CUDA_ERROR_INVALID_VALUE);
  return *found;
}

template <class Make>
CUresult update(function_id id, CUgraphExec executable, CUgraphNode handle, CUgraphNodeType type, Make make) {
  return call(id, [&](context&) {
    executable_node& n = find_executable_node(executable, handle);
    require(n.type == type);
    n.what = make(n);
  });
}

CUresult update_kernel(function_id id, CUgraphExec executable, CUgraphNode handle,
                       const CUDA_KERNEL_NODE_PARAMS& p) {
  return update(id, executable, handle, CU_GRAPH_NODE_TYPE_KERNEL, [&](const executable_node& n) -> work {
    return kernel_of(p, std::get<kernel_work>(n.what).attributes);
  });
}

}  // namespace

CUresult cuGraphAddKernelNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                              const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return add(function_id::cuGraphAddKernelNode, to, g, after, count, CU_GRAPH_NODE_TYPE_KERNEL,
             [&]() -> work {
               require(p != nullptr);
               return kernel_of(widened(*p), {});
             });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* p) {
  return add(function_id::cuGraphAddKernelNode_v2, to, g, after, count, CU_GRAPH_NODE_TYPE_KERNEL,
             [&]() -> work {
               require(p != nullptr);
               return kernel_of(*p, {});
             });
}
CUresult cuGraphAddMemcpyNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                              const CUDA_MEMCPY3D* p, CUcontext) {
  return add(function_id::cuGraphAddMemcpyNode, to, g, after, count, CU_GRAPH_NODE_TYPE_MEMCPY,
             [&]() -> work {
               require(p != nullptr);
               return copy_work{checked_copy(*p)};
             });
}
CUresult cuGraphAddMemsetNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* p, CUcontext) {
  return add(function_id::cuGraphAddMemsetNode, to, g, after, count, CU_GRAPH_NODE_TYPE_MEMSET,
             [&]() -> work {
               require(p != nullptr);
               return fill_work{checked_fill(*p)};
             });
}
CUresult cuGraphAddHostNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                            const CUDA_HOST_NODE_PARAMS* p) {
  return add(function_id::cuGraphAddHostNode, to, g, after, count, CU_GRAPH_NODE_TYPE_HOST, [&]() -> work {
    require(p != nullptr);
    return host_of(*p);
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                                  CUgraph child) {
  return add(function_id::cuGraphAddChildGraphNode, to, g, after, count, CU_GRAPH_NODE_TYPE_GRAPH,
             [&]() -> work { return clone_graph(*find_graph(child), true); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count) {
  return add(function_id::cuGraphAddEmptyNode, to, g, after, count, CU_GRAPH_NODE_TYPE_EMPTY,
             [&]() -> work { return empty_work{}; });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                                   CUevent e) {
  return add(function_id::cuGraphAddEventRecordNode, to, g, after, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
             [&]() -> work { return record_work{event_of(e)}; });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                                 CUevent e) {
  return add(function_id::cuGraphAddEventWaitNode, to, g, after, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
             [&]() -> work { return wait_work{event_of(e)}; });
}
CUresult cuGraphAddMemAllocNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return add(function_id::cuGraphAddMemAllocNode, to, g, after, count, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
             [&]() -> work {
               require(p != nullptr);
               allocate_work w = make_allocation(*p);
               p->address = w.parameters.address;
               return w;
             });
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                               CUdeviceptr address) {
  return add(function_id::cuGraphAddMemFreeNode, to, g, after, count, CU_GRAPH_NODE_TYPE_MEM_FREE,
             [&]() -> work {
               require(is_device_range(address, 1));
               return free_work{address};
             });
}
CUresult cuGraphAddNode(CUgraphNode* to, CUgraph g, const CUgraphNode* after, std::size_t count,
                        CUgraphNodeParams* p) {
  return add_any(function_id::cuGraphAddNode, to, g, after, count, p);
}
CUresult cuGraphAddNode_v2(CUgraphNode* to, CUgraph g, const CUgraphNode* after, const CUgraphEdgeData*,
                           std::size_t count, CUgraphNodeParams* p) {
  return add_any(function_id::cuGraphAddNode_v2, to, g, after, count, p);
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return call(function_id::cuGraphKernelNodeGetParams, [&] {
    require(p != nullptr);
    const CUDA_KERNEL_NODE_PARAMS all = described(work_of<kernel_work>(*find_node(n)));
    *p = {all.function, all.grid_x,  all.grid_y,       all.grid_z,     all.block_x,
          all.block_y,  all.block_z, all.shared_bytes, all.parameters, all.extra};
  });
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode n, CUDA_KERNEL_NODE_PARAMS* p) {
  return call(function_id::cuGraphKernelNodeGetParams_v2, [&] {
    require(p != nullptr);
    *p = described(work_of<kernel_work>(*find_node(n)));
  });
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  return call(function_id::cuGraphKernelNodeSetParams, [&](context&) {
    require(p != nullptr);
    set_kernel(*find_node(n), widened(*p));
  });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  return call(function_id::cuGraphKernelNodeSetParams_v2, [&](context&) {
    require(p != nullptr);
    set_kernel(*find_node(n), *p);
  });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode n, CUlaunchAttributeID id, CUlaunchAttributeValue* value) {
  return call(function_id::cuGraphKernelNodeGetAttribute, [&] {
    require(value != nullptr);
    *value = {};
    for (const CUlaunchAttribute& a : work_of<kernel_work>(*find_node(n)).attributes)
      if (a.id == id) *value = a.value;
  });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode n, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue* value) {
  return call(function_id::cuGraphKernelNodeSetAttribute, [&](context&) {
    require(value != nullptr);
    const std::shared_ptr<graph_node> node = find_node(n);
    kernel_work& w = work_of<kernel_work>(*node);
    std::vector<CUlaunchAttribute> attributes = w.attributes;
    std::erase_if(attributes, [&](const CUlaunchAttribute& a) { return a.id == id; });
    CUlaunchAttribute added{};
    added.id = id;
    added.value = *value;
    attributes.push_back(added);
    w = kernel_of(described(w), attributes);
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return call(function_id::cuGraphKernelNodeCopyAttributes, [&](context&) {
    kernel_work& w = work_of<kernel_work>(*find_node(to));
    w = kernel_of(described(w), work_of<kernel_work>(*find_node(from)).attributes);
  });
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode n, CUDA_MEMCPY3D* p) {
  return call(function_id::cuGraphMemcpyNodeGetParams, [&] {
    require(p != nullptr);
    *p = work_of<copy_work>(*find_node(n)).shape;
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode n, const CUDA_MEMCPY3D* p) {
  return call(function_id::cuGraphMemcpyNodeSetParams, [&](context&) {
    require(p != nullptr);
    work_of<copy_work>(*find_node(n)).shape = checked_copy(*p);
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode n, CUDA_MEMSET_NODE_PARAMS* p) {
  return call(function_id::cuGraphMemsetNodeGetParams, [&] {
    require(p != nullptr);
    *p = work_of<fill_work>(*find_node(n)).shape;
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS* p) {
  return call(function_id::cuGraphMemsetNodeSetParams, [&](context&) {
    require(p != nullptr);
    work_of<fill_work>(*find_node(n)).shape = checked_fill(*p);
  });
}
CUresult cuGraphHostNodeGetParams(CUgraphNode n, CUDA_HOST_NODE_PARAMS* p) {
  return call(function_id::cuGraphHostNodeGetParams, [&] {
    require(p != nullptr);
    const host_work& w = work_of<host_work>(*find_node(n));
    *p = {w.function, w.data};
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode n, const CUDA_HOST_NODE_PARAMS* p) {
  return call(function_id::cuGraphHostNodeSetParams, [&] {
    require(p != nullptr);
    work_of<host_work>(*find_node(n)) = host_of(*p);
  });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode n, CUgraph* child) {
  return call(function_id::cuGraphChildGraphNodeGetGraph, [&] {
    require(child != nullptr);
    *child = work_of<std::shared_ptr<graph>>(*find_node(n))->handle;
  });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode n, CUevent* e) {
  return call(function_id::cuGraphEventRecordNodeGetEvent, [&] {
    require(e != nullptr);
    *e = work_of<record_work>(*find_node(n)).target->handle;
  });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode n, CUevent e) {
  return call(function_id::cuGraphEventRecordNodeSetEvent,
              [&] { work_of<record_work>(*find_node(n)).target = event_of(e); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode n, CUevent* e) {
  return call(function_id::cuGraphEventWaitNodeGetEvent, [&] {
    require(e != nullptr);
    *e = work_of<wait_work>(*find_node(n)).target->handle;
  });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode n, CUevent e) {
  return call(function_id::cuGraphEventWaitNodeSetEvent,
              [&] { work_of<wait_work>(*find_node(n)).target = event_of(e); });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode n, CUDA_MEM_ALLOC_NODE_PARAMS* p) {
  return call(function_id::cuGraphMemAllocNodeGetParams, [&] {
    require(p != nullptr);
    *p = work_of<allocate_work>(*find_node(n)).parameters;
  });
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode n, CUdeviceptr* address) {
  return call(function_id::cuGraphMemFreeNodeGetParams, [&] {
    require(address != nullptr);
    *address = work_of<free_work>(*find_node(n)).address;
  });
}
CUresult cuGraphNodeSetParams(CUgraphNode handle, CUgraphNodeParams* p) {
  return call(function_id::cuGraphNodeSetParams, [&](context&) {
    require(p != nullptr);
    const std::shared_ptr<graph_node> n = find_node(handle);
    require(n->type == p->type && p->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            p->type != CU_GRAPH_NODE_TYPE_MEM_FREE && p->type != CU_GRAPH_NODE_TYPE_GRAPH);
    n->what = work_of_any(*p);
  });
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS_v1* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return update_kernel(function_id::cuGraphExecKernelNodeSetParams, e, n, widened(*p));
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec e, CUgraphNode n, const CUDA_KERNEL_NODE_PARAMS* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return update_kernel(function_id::cuGraphExecKernelNodeSetParams_v2, e, n, *p);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_MEMCPY3D* p, CUcontext) {
  return update(function_id::cuGraphExecMemcpyNodeSetParams, e, n, CU_GRAPH_NODE_TYPE_MEMCPY,
                [&](const executable_node&) -> work {
                  require(p != nullptr);
                  return copy_work{checked_copy(*p)};
                });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_MEMSET_NODE_PARAMS* p,
                                        CUcontext) {
  return update(function_id::cuGraphExecMemsetNodeSetParams, e, n, CU_GRAPH_NODE_TYPE_MEMSET,
                [&](const executable_node&) -> work {
                  require(p != nullptr);
                  return fill_work{checked_fill(*p)};
                });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec e, CUgraphNode n, const CUDA_HOST_NODE_PARAMS* p) {
  return update(function_id::cuGraphExecHostNodeSetParams, e, n, CU_GRAPH_NODE_TYPE_HOST,
                [&](const executable_node&) -> work {
                  require(p != nullptr);
                  return host_of(*p);
                });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec e, CUgraphNode n, CUgraph child) {
  return update(function_id::cuGraphExecChildGraphNodeSetParams, e, n, CU_GRAPH_NODE_TYPE_GRAPH,
                [&](const executable_node&) -> work {
                  auto run = std::make_shared<graph_run_work>();
                  for (const auto& step : in_order(*find_graph(child)))
                    run->steps.push_back(executable_work(*step));
                  return run;
                });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent recorded) {
  return update(function_id::cuGraphExecEventRecordNodeSetEvent, e, n, CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                [&](const executable_node&) -> work { return record_work{event_of(recorded)}; });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec e, CUgraphNode n, CUevent waited) {
  return update(function_id::cuGraphExecEventWaitNodeSetEvent, e, n, CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                [&](const executable_node&) -> work { return wait_work{event_of(waited)}; });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec e, CUgraphNode handle, CUgraphNodeParams* p) {
  return call(function_id::cuGraphExecNodeSetParams, [&](context&) {
    require(p != nullptr);
    executable_node& n = find_executable_node(e, handle);
    require(n.type == p->type && p->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
            p->type != CU_GRAPH_NODE_TYPE_MEM_FREE && p->type != CU_GRAPH_NODE_TYPE_GRAPH);
    n.what = work_of_any(*p);
  });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec e, CUgraphNode handle, unsigned enabled) {
  return call(function_id::cuGraphNodeSetEnabled, [&] {
    executable_node& n = find_executable_node(e, handle);
    require(n.type == CU_GRAPH_NODE_TYPE_KERNEL || n.type == CU_GRAPH_NODE_TYPE_MEMCPY ||
            n.type == CU_GRAPH_NODE_TYPE_MEMSET);
    n.enabled = enabled != 0;
  });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec e, CUgraphNode handle, unsigned* enabled) {
  return call(function_id::cuGraphNodeGetEnabled, [&] {
    require(enabled != nullptr);
    *enabled = find_executable_node(e, handle).enabled;
  });
}

}  // namespace kaio::driver_emulator

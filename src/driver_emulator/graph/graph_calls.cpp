// The driver's functions on whole graphs: their nodes and edges, instantiating, launching, updating.

#include "driver_emulator/graph/captures.hpp"
#include "driver_emulator/graph/graphs.hpp"
#include "driver_emulator/graph/submission.hpp"
#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"
#include "driver_emulator/state/fault_injection.hpp"
#include "driver_emulator/state/streams.hpp"
#include "host/write_file.hpp"

#include <algorithm>
#include <sstream>

namespace kaio::driver_emulator {
namespace {

constexpr std::uint64_t instantiate_flags = 15;  // free on launch, upload, from the device, priorities

// Fills the program's array and pads it with null. Without an array, returns the length that it must have.
template <class Handle>
void give_list(const std::vector<Handle>& from, Handle* to, std::size_t* count) {
  require(count != nullptr);
  if (to != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) to[i] = i < from.size() ? from[i] : nullptr;
    *count = std::min(*count, from.size());
  } else {
    *count = from.size();
  }
}

void instantiate(CUgraphExec* to, CUgraph handle, std::uint64_t flags) {
  forbid_in_capture();
  require(to != nullptr && (flags & ~instantiate_flags) == 0);
  auto e = std::make_shared<executable_graph>();
  e->flags = flags;
  e->nodes = executable_nodes(*find_graph(handle));
  *to = state().executables.add(std::move(e));
}

CUresult instantiate_call(function_id id, CUgraphExec* to, CUgraph g, std::uint64_t flags) {
  return call(id, [&](context&) { instantiate(to, g, flags); });
}

std::shared_ptr<executable_graph> find_executable(CUgraphExec handle) {
  std::shared_ptr<executable_graph> e = state().executables.find(handle);
  require(e != nullptr, CUDA_ERROR_INVALID_VALUE);
  return e;
}

// Why an executable graph cannot take over another graph: what differs, and at which node.
struct difference {
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  CUgraphNode node = nullptr, from = nullptr;
};
difference apply(executable_graph& e, const graph& g) {
  std::vector<executable_node> fresh = executable_nodes(g);
  if (fresh.size() != e.nodes.size()) return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nullptr, nullptr};
  const auto place_of = [](const std::vector<executable_node>& nodes, CUgraphNode n) {
    return std::find_if(nodes.begin(), nodes.end(), [&](const auto& known) { return known.original == n; }) -
           nodes.begin();
  };
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const executable_node &now = e.nodes[i], &next = fresh[i];
    if (now.type != next.type) return {CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, next.original, nullptr};
    if (now.after.size() != next.after.size())
      return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, next.original, nullptr};
    for (std::size_t k = 0; k < now.after.size(); ++k)
      if (place_of(e.nodes, now.after[k]) != place_of(fresh, next.after[k]))
        return {CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, next.original, next.after[k]};
  }
  for (std::size_t i = 0; i < fresh.size(); ++i) e.nodes[i].what = std::move(fresh[i].what);
  return {};
}

CUresult exec_update(function_id id, CUgraphExec e, CUgraph g, difference& d) {
  return call(id, [&](context&) -> CUresult {
    d = apply(*find_executable(e), *find_graph(g));
    return d.result == CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  });
}

CUresult edges(function_id id, CUgraph g, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
               std::size_t* count) {
  return call(id, [&] {
    require(count != nullptr && (from == nullptr) == (to == nullptr));
    const auto all = edges_of(*find_graph(g));
    if (from != nullptr) {
      for (std::size_t i = 0; i < *count; ++i) {
        from[i] = i < all.size() ? all[i].first : nullptr;
        to[i] = i < all.size() ? all[i].second : nullptr;
        if (data != nullptr) data[i] = {};
      }
      *count = std::min(*count, all.size());
    } else {
      *count = all.size();
    }
  });
}

CUresult dependencies(function_id id, CUgraphNode n, CUgraphNode* to, CUgraphEdgeData* data,
                      std::size_t* count) {
  return call(id, [&] {
    give_list(find_node(n)->after, to, count);
    if (to != nullptr && data != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  });
}
CUresult dependents(function_id id, CUgraphNode handle, CUgraphNode* to, CUgraphEdgeData* data,
                    std::size_t* count) {
  return call(id, [&] {
    std::vector<CUgraphNode> behind;
    for (const auto& [from, next] : edges_of(*graph_of(*find_node(handle))))
      if (from == handle) behind.push_back(next);
    give_list(behind, to, count);
    if (to != nullptr && data != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
  });
}

CUresult change_edges(function_id id, CUgraph handle, const CUgraphNode* from, const CUgraphNode* to,
                      std::size_t count, bool adds) {
  return call(id, [&] {
    const std::shared_ptr<graph> g = find_graph(handle);
    require(count == 0 || (from != nullptr && to != nullptr));
    for (std::size_t i = 0; i < count; ++i) {
      const std::shared_ptr<graph_node> before = find_node(from[i]), behind = find_node(to[i]);
      require(graph_of(*before) == g && graph_of(*behind) == g);
      const bool known =
          std::find(behind->after.begin(), behind->after.end(), from[i]) != behind->after.end();
      require(known != adds);
      if (adds) {
        behind->after.push_back(from[i]);
        try {
          in_order(*g);
        } catch (const failure&) {
          behind->after.pop_back();
          throw;
        }
      } else {
        std::erase(behind->after, from[i]);
      }
    }
  });
}

}  // namespace

CUresult cuGraphCreate(CUgraph* to, unsigned flags) {
  return call(function_id::cuGraphCreate, [&](context&) {
    require(to != nullptr && flags == 0);
    *to = make_graph()->handle;
  });
}
CUresult cuGraphDestroy(CUgraph handle) {
  return release_call(function_id::cuGraphDestroy, [&] {
    const std::shared_ptr<graph> g = find_graph(handle);
    require(!g->is_child);
    destroy_graph(g);
  });
}
CUresult cuGraphClone(CUgraph* to, CUgraph from) {
  return call(function_id::cuGraphClone, [&] {
    require(to != nullptr);
    *to = clone_graph(*find_graph(from), false)->handle;
  });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* to, CUgraphNode original, CUgraph clone) {
  return call(function_id::cuGraphNodeFindInClone, [&] {
    require(to != nullptr);
    for (const auto& n : find_graph(clone)->nodes) {
      if (n->cloned_from != original) continue;
      *to = n->handle;
      return;
    }
    refuse(CUDA_ERROR_INVALID_VALUE);
  });
}
CUresult cuGraphNodeGetType(CUgraphNode n, CUgraphNodeType* type) {
  return call(function_id::cuGraphNodeGetType, [&] {
    require(type != nullptr);
    *type = find_node(n)->type;
  });
}
CUresult cuGraphGetNodes(CUgraph g, CUgraphNode* to, std::size_t* count) {
  return call(function_id::cuGraphGetNodes, [&] {
    std::vector<CUgraphNode> all;
    for (const auto& n : find_graph(g)->nodes) all.push_back(n->handle);
    give_list(all, to, count);
  });
}
CUresult cuGraphGetRootNodes(CUgraph g, CUgraphNode* to, std::size_t* count) {
  return call(function_id::cuGraphGetRootNodes, [&] {
    std::vector<CUgraphNode> roots;
    for (const auto& n : find_graph(g)->nodes)
      if (n->after.empty()) roots.push_back(n->handle);
    give_list(roots, to, count);
  });
}
CUresult cuGraphGetEdges(CUgraph g, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  return edges(function_id::cuGraphGetEdges, g, from, to, nullptr, count);
}
CUresult cuGraphGetEdges_v2(CUgraph g, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                            std::size_t* count) {
  return edges(function_id::cuGraphGetEdges_v2, g, from, to, data, count);
}
CUresult cuGraphNodeGetDependencies(CUgraphNode n, CUgraphNode* to, std::size_t* count) {
  return dependencies(function_id::cuGraphNodeGetDependencies, n, to, nullptr, count);
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode n, CUgraphNode* to, CUgraphEdgeData* data,
                                       std::size_t* count) {
  return dependencies(function_id::cuGraphNodeGetDependencies_v2, n, to, data, count);
}
CUresult cuGraphNodeGetDependentNodes(CUgraphNode n, CUgraphNode* to, std::size_t* count) {
  return dependents(function_id::cuGraphNodeGetDependentNodes, n, to, nullptr, count);
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode n, CUgraphNode* to, CUgraphEdgeData* data,
                                         std::size_t* count) {
  return dependents(function_id::cuGraphNodeGetDependentNodes_v2, n, to, data, count);
}
CUresult cuGraphAddDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to,
                                std::size_t count) {
  return change_edges(function_id::cuGraphAddDependencies, g, from, to, count, true);
}
CUresult cuGraphAddDependencies_v2(CUgraph g, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, std::size_t count) {
  return change_edges(function_id::cuGraphAddDependencies_v2, g, from, to, count, true);
}
CUresult cuGraphRemoveDependencies(CUgraph g, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
  return change_edges(function_id::cuGraphRemoveDependencies, g, from, to, count, false);
}
CUresult cuGraphRemoveDependencies_v2(CUgraph g, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, std::size_t count) {
  return change_edges(function_id::cuGraphRemoveDependencies_v2, g, from, to, count, false);
}
CUresult cuGraphDestroyNode(CUgraphNode handle) {
  return release_call(function_id::cuGraphDestroyNode, [&] {
    const std::shared_ptr<graph_node> n = find_node(handle);
    const std::shared_ptr<graph> g = graph_of(*n);
    std::erase(g->nodes, n);
    for (const auto& other : g->nodes) std::erase(other->after, handle);
    state().nodes.take(handle);
    if (const auto* child = std::get_if<std::shared_ptr<graph>>(&n->what)) destroy_graph(*child);
  });
}

CUresult cuGraphInstantiate(CUgraphExec* to, CUgraph g, CUgraphNode* wrong, char* log, std::size_t bytes) {
  if (wrong != nullptr) *wrong = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return instantiate_call(function_id::cuGraphInstantiate, to, g, 0);
}
CUresult cuGraphInstantiate_v2(CUgraphExec* to, CUgraph g, CUgraphNode* wrong, char* log, std::size_t bytes) {
  if (wrong != nullptr) *wrong = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return instantiate_call(function_id::cuGraphInstantiate_v2, to, g, 0);
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* to, CUgraph g, unsigned long long flags) {
  return instantiate_call(function_id::cuGraphInstantiateWithFlags, to, g, flags);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* to, CUgraph g, CUDA_GRAPH_INSTANTIATE_PARAMS* p) {
  return call(function_id::cuGraphInstantiateWithParams, [&](context&) {
    require(p != nullptr);
    p->error_node = nullptr;
    p->result = CUDA_GRAPH_INSTANTIATE_ERROR;
    instantiate(to, g, p->flags);
    p->result = CUDA_GRAPH_INSTANTIATE_SUCCESS;
  });
}
CUresult cuGraphExecGetFlags(CUgraphExec e, std::uint64_t* flags) {
  return call(function_id::cuGraphExecGetFlags, [&] {
    require(flags != nullptr);
    *flags = find_executable(e)->flags;
  });
}
CUresult cuGraphUpload(CUgraphExec e, CUstream where) {
  return call(function_id::cuGraphUpload, [&](context&) {
    find_executable(e);
    forbid_captured(*find_stream(where));
  });
}
CUresult cuGraphLaunch(CUgraphExec handle, CUstream where) {
  return call(function_id::cuGraphLaunch, [&](context& c) {
    const std::shared_ptr<executable_graph> e = find_executable(handle);
    const std::shared_ptr<stream> s = find_stream(where);
    forbid_captured(*s);
    auto run = std::make_shared<graph_run_work>();
    for (const executable_node& n : e->nodes) {
      if (!n.enabled) continue;
      run->steps.push_back(n.what);
      if (const auto* k = std::get_if<kernel_work>(&n.what)) note_launch(*k, where, c.handle);
    }
    submit(s, run, CU_GRAPH_NODE_TYPE_GRAPH);
  });
}
CUresult cuGraphExecDestroy(CUgraphExec e) {
  return release_call(function_id::cuGraphExecDestroy,
                      [&] { require(state().executables.take(e) != nullptr, CUDA_ERROR_INVALID_VALUE); });
}
CUresult cuGraphExecUpdate(CUgraphExec e, CUgraph g, CUgraphNode* wrong, CUgraphExecUpdateResult* result) {
  difference d{CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const CUresult code = exec_update(function_id::cuGraphExecUpdate, e, g, d);
  if (wrong != nullptr) *wrong = d.node;
  if (result != nullptr) *result = d.result;
  return code;
}
CUresult cuGraphExecUpdate_v2(CUgraphExec e, CUgraph g, CUgraphExecUpdateResultInfo* info) {
  difference d{CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
  const CUresult code = exec_update(function_id::cuGraphExecUpdate_v2, e, g, d);
  if (info != nullptr) *info = {d.result, d.node, d.from};
  return code;
}

CUresult cuGraphDebugDotPrint(CUgraph handle, const char* path, unsigned) {
  return call(function_id::cuGraphDebugDotPrint, [&] {
    require(path != nullptr);
    const std::shared_ptr<graph> g = find_graph(handle);
    static constexpr const char* names[] = {"kernel",   "memcpy",     "memset",          "host", "graph",
                                            "empty",    "wait event", "record event",    "",     "",
                                            "allocate", "free",       "memory operation"};
    std::ostringstream out;
    out << "digraph graph_" << handle << " {\n";
    for (const auto& n : g->nodes) {
      out << "  \"" << n->handle << "\" [label=\"" << names[n->type];
      if (const auto* k = std::get_if<kernel_work>(&n->what)) out << ' ' << k->code->entry->name;
      out << "\"];\n";
    }
    for (const auto& [from, to] : edges_of(*g)) out << "  \"" << from << "\" -> \"" << to << "\";\n";
    out << "}\n";
    try {
      host::write_file(path, {out.str()}, host::durability::made_again);
    } catch (const host::write_error&) {
      require(false, CUDA_ERROR_OPERATING_SYSTEM);
    }
  });
}

CUresult cuUserObjectCreate(CUuserObject* to, void* data, CUhostFn destroy, unsigned references,
                            unsigned flags) {
  return call(function_id::cuUserObjectCreate, [&] {
    require(to != nullptr && destroy != nullptr && references != 0 && flags == 1);
    auto o = std::make_shared<user_object>();
    o->data = data;
    o->destroy = destroy;
    o->references = references;
    *to = state().user_objects.add(std::move(o));
  });
}
CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  return call(function_id::cuUserObjectRetain, [&] {
    const std::shared_ptr<user_object> o = state().user_objects.find(handle);
    require(o != nullptr && count != 0);
    o->references += count;
  });
}
CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  return release_call(function_id::cuUserObjectRelease, [&] {
    require(count != 0);
    release_user_object(handle, count);
  });
}
CUresult cuGraphRetainUserObject(CUgraph g, CUuserObject handle, unsigned count, unsigned flags) {
  return call(function_id::cuGraphRetainUserObject, [&] {
    const std::shared_ptr<user_object> o = state().user_objects.find(handle);
    require(o != nullptr && count != 0 && flags <= 1);
    find_graph(g)->user_objects[handle] += count;
    if (flags == 0) o->references += count;  // else the caller's own are moved to the graph
  });
}
CUresult cuGraphReleaseUserObject(CUgraph handle, CUuserObject object, unsigned count) {
  return release_call(function_id::cuGraphReleaseUserObject, [&] {
    const std::shared_ptr<graph> g = find_graph(handle);
    const auto kept = g->user_objects.find(object);
    require(kept != g->user_objects.end() && count != 0 && count <= kept->second);
    kept->second -= count;
    if (kept->second == 0) g->user_objects.erase(kept);
    release_user_object(object, count);
  });
}

}  // namespace kaio::driver_emulator

#include "driver_emulator/graph/graphs.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "driver_emulator/state/entry.hpp"

#include <algorithm>
#include <unordered_set>

namespace kaio::driver_emulator {

std::shared_ptr<graph> find_graph(CUgraph handle) {
  std::shared_ptr<graph> g = state().graphs.find(handle);
  require(g != nullptr, CUDA_ERROR_INVALID_VALUE);
  return g;
}

std::shared_ptr<graph_node> find_node(CUgraphNode handle) {
  std::shared_ptr<graph_node> n = state().nodes.find(handle);
  require(n != nullptr, CUDA_ERROR_INVALID_VALUE);
  return n;
}

std::shared_ptr<graph> graph_of(const graph_node& n) {
  std::shared_ptr<graph> g = n.owner.lock();
  require(g != nullptr, CUDA_ERROR_INVALID_VALUE);
  return g;
}

std::shared_ptr<graph> make_graph() {
  auto g = std::make_shared<graph>();
  state().graphs.add(g);
  return g;
}

void release_user_object(CUuserObject handle, std::uint64_t count) {
  driver_state& s = state();
  const std::shared_ptr<user_object> o = s.user_objects.find(handle);
  require(o != nullptr && count <= o->references);
  o->references -= count;
  if (o->references != 0) return;
  s.user_objects.take(handle);
  const unlocked_state unlocked;
  const program_callback scope;
  o->destroy(o->data);
}

void destroy_graph(const std::shared_ptr<graph>& g) {
  driver_state& s = state();
  s.graphs.take(g->handle);
  for (const auto& n : g->nodes) {
    s.nodes.take(n->handle);
    if (const auto* child = std::get_if<std::shared_ptr<graph>>(&n->what)) destroy_graph(*child);
  }
  const auto objects = std::move(g->user_objects);
  for (const auto& [handle, count] : objects) release_user_object(handle, count);
}

CUgraphNode add_node(graph& g, CUgraphNodeType type, work what, const CUgraphNode* after, std::size_t count) {
  require(count == 0 || after != nullptr);
  auto n = std::make_shared<graph_node>();
  for (std::size_t i = 0; i < count; ++i) {
    require(graph_of(*find_node(after[i])).get() == &g);
    require(std::find(n->after.begin(), n->after.end(), after[i]) == n->after.end());
    n->after.push_back(after[i]);
  }
  n->owner = state().graphs.find(g.handle);
  n->type = type;
  n->what = std::move(what);
  g.nodes.push_back(n);
  return state().nodes.add(std::move(n));
}

std::shared_ptr<graph> clone_graph(const graph& g, bool as_child) {
  std::shared_ptr<graph> copy = make_graph();
  copy->is_child = as_child;
  std::map<CUgraphNode, CUgraphNode> copies;
  for (const auto& n : g.nodes) {
    work what = n->what;
    if (const auto* child = std::get_if<std::shared_ptr<graph>>(&what)) what = clone_graph(**child, true);
    copies[n->handle] = add_node(*copy, n->type, std::move(what), nullptr, 0);
    copy->nodes.back()->cloned_from = n->handle;
  }
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    for (const CUgraphNode before : g.nodes[i]->after) copy->nodes[i]->after.push_back(copies.at(before));
  copy->user_objects = g.user_objects;
  for (const auto& [handle, count] : copy->user_objects)
    if (const auto o = state().user_objects.find(handle)) o->references += count;
  return copy;
}

std::vector<std::shared_ptr<graph_node>> in_order(const graph& g) {
  std::vector<std::shared_ptr<graph_node>> order;
  std::map<CUgraphNode, std::size_t> open;  // dependencies of a node that are not in the order yet
  std::map<CUgraphNode, std::vector<std::shared_ptr<graph_node>>> behind;
  for (const auto& n : g.nodes) {
    open[n->handle] = n->after.size();
    for (const CUgraphNode before : n->after) behind[before].push_back(n);
    if (n->after.empty()) order.push_back(n);
  }
  for (std::size_t i = 0; i < order.size(); ++i)
    for (const auto& next : behind[order[i]->handle])
      if (--open[next->handle] == 0) order.push_back(next);
  require(order.size() == g.nodes.size());
  return order;
}

work executable_work(const graph_node& n) {
  const auto* child = std::get_if<std::shared_ptr<graph>>(&n.what);
  if (child == nullptr) return n.what;
  auto run = std::make_shared<graph_run_work>();
  for (const auto& step : in_order(**child)) run->steps.push_back(executable_work(*step));
  return run;
}

std::vector<executable_node> executable_nodes(const graph& g) {
  std::vector<executable_node> nodes;
  for (const auto& n : in_order(g))
    nodes.push_back({n->handle, n->type, executable_work(*n), true, n->after});
  return nodes;
}

allocate_work make_allocation(const CUDA_MEM_ALLOC_NODE_PARAMS& parameters) {
  require(parameters.bytes != 0);
  allocate_work w;
  w.parameters = parameters;
  w.parameters.access = nullptr;
  w.parameters.access_count = 0;
  emulator::memory& memory = state().memory;
  const CUdeviceptr address = memory.allocate(parameters.bytes, emulator::contents::undefined);
  w.parameters.address = address;
  w.memory = std::shared_ptr<void>(nullptr, [&memory, address](void*) { memory.free(address); });
  return w;
}

std::vector<std::pair<CUgraphNode, CUgraphNode>> edges_of(const graph& g) {
  std::vector<std::pair<CUgraphNode, CUgraphNode>> edges;
  for (const auto& n : g.nodes)
    for (const CUgraphNode before : n->after) edges.emplace_back(before, n->handle);
  return edges;
}

}  // namespace kaio::driver_emulator

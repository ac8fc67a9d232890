// Graphs: nodes and edges, launches, updates, clones.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "driver_emulator/support.hpp"

using namespace driver_emulator_test;

namespace {

struct graph_handles {
  CUgraph graph = nullptr;
  CUgraphExec executable = nullptr;
  graph_handles() { MUST(cuGraphCreate(&graph, 0)); }
  ~graph_handles() {
    if (executable != nullptr) cuGraphExecDestroy(executable);
    cuGraphDestroy(graph);
  }
  graph_handles(const graph_handles&) = delete;
  graph_handles& operator=(const graph_handles&) = delete;
  void instantiate() { MUST(cuGraphInstantiateWithFlags(&executable, graph, 0)); }
  void run() {
    MUST(cuGraphLaunch(executable, nullptr));
    MUST(cuCtxSynchronize());
  }
};

// The parameters of an add node.
struct add_parameters {
  CUdeviceptr to;
  std::uint32_t value, n;
  void* pointers[3] = {&to, &value, &n};
  CUDA_KERNEL_NODE_PARAMS node{};
  add_parameters(CUfunction f, CUdeviceptr address, std::uint32_t v, std::uint32_t count)
      : to(address), value(v), n(count) {
    node.function = f;
    node.grid_x = (count + 127) / 128;
    node.grid_y = node.grid_z = 1;
    node.block_x = 128;
    node.block_y = node.block_z = 1;
    node.parameters = pointers;
  }
  add_parameters(const add_parameters&) = delete;
  add_parameters& operator=(const add_parameters&) = delete;
};

CUDA_MEMCPY3D to_host(void* to, CUdeviceptr from, std::size_t bytes) {
  CUDA_MEMCPY3D c{};
  c.source_type = CU_MEMORYTYPE_DEVICE;
  c.source_device = from;
  c.target_type = CU_MEMORYTYPE_HOST;
  c.target_host = to;
  c.width = bytes;
  c.height = c.depth = 1;
  return c;
}

}  // namespace

TEST_CASE("a graph of fills, kernels, copies and host functions runs in the order of its edges") {
  const session s;
  const loaded m(add_text);
  const numbers x(300);
  graph_handles g;
  CUgraphNode fill = nullptr, add = nullptr, copy = nullptr, host = nullptr, empty = nullptr;
  const CUDA_MEMSET_NODE_PARAMS fill_parameters{x.address, 0, 5, 4, 300, 1};
  std::vector<std::uint32_t> out(300);
  const CUDA_MEMCPY3D copy_parameters = to_host(out.data(), x.address, 1200);
  const add_parameters p(m["add"], x.address, 7, 300);
  // Added in another order than they run in.
  MUST(cuGraphAddMemcpyNode(&copy, g.graph, nullptr, 0, &copy_parameters, s.context));
  MUST(cuGraphAddKernelNode_v2(&add, g.graph, nullptr, 0, &p.node));
  MUST(cuGraphAddMemsetNode(&fill, g.graph, nullptr, 0, &fill_parameters, s.context));
  struct seen {
    std::vector<std::uint32_t>* out;
    std::uint32_t last = 0;
    int calls = 0;
  } data{&out};
  CUDA_HOST_NODE_PARAMS host_parameters{[](void* d) {
                                          auto* to = static_cast<seen*>(d);
                                          to->last = to->out->back();
                                          ++to->calls;
                                        },
                                        &data};
  MUST(cuGraphAddHostNode(&host, g.graph, &copy, 1, &host_parameters));
  MUST(cuGraphAddEmptyNode(&empty, g.graph, &host, 1));
  const CUgraphNode from[] = {fill, add}, to[] = {add, copy};
  MUST(cuGraphAddDependencies(g.graph, from, to, 2));
  REFUSED(cuGraphAddDependencies(g.graph, from, to, 1), CUDA_ERROR_INVALID_VALUE);       // there already
  REFUSED(cuGraphAddDependencies(g.graph, &empty, &fill, 1), CUDA_ERROR_INVALID_VALUE);  // a cycle
  std::size_t count = 0;
  MUST(cuGraphGetNodes(g.graph, nullptr, &count));
  CHECK(count == 5);
  CUgraphNode roots[8] = {};
  count = 8;
  MUST(cuGraphGetRootNodes(g.graph, roots, &count));
  CHECK(count == 1);
  CHECK(roots[0] == fill);
  CHECK(roots[1] == nullptr);
  MUST(cuGraphGetEdges(g.graph, nullptr, nullptr, &count));
  CHECK(count == 4);
  CUgraphNode before = nullptr, behind = nullptr;
  count = 1;
  MUST(cuGraphNodeGetDependencies(add, &before, &count));
  CHECK(before == fill);
  count = 1;
  MUST(cuGraphNodeGetDependentNodes(add, &behind, &count));
  CHECK(behind == copy);
  CUgraphNodeType type{};
  MUST(cuGraphNodeGetType(fill, &type));
  CHECK(type == CU_GRAPH_NODE_TYPE_MEMSET);
  CUDA_KERNEL_NODE_PARAMS got{};
  MUST(cuGraphKernelNodeGetParams_v2(add, &got));
  CHECK(got.function == m["add"]);
  CHECK(got.grid_x == 3);
  CHECK(*static_cast<std::uint32_t*>(got.parameters[1]) == 7);
  g.instantiate();
  CHECK(data.calls == 0);
  g.run();
  CHECK(data.last == 12);
  g.run();
  CHECK(data.calls == 2);
  CHECK(out == std::vector<std::uint32_t>(300, 12));
  // Without the fill the sum grows.
  MUST(cuGraphNodeSetEnabled(g.executable, fill, 0));
  unsigned enabled = 1;
  MUST(cuGraphNodeGetEnabled(g.executable, fill, &enabled));
  CHECK(enabled == 0);
  g.run();
  CHECK(data.last == 19);
}

TEST_CASE("an executable graph takes new parameters, one node or all at a time") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>(4, 0)), y(std::vector<std::uint32_t>(4, 0));
  graph_handles g, other;
  CUgraphNode add = nullptr, second = nullptr, changed = nullptr;
  add_parameters one(m["add"], x.address, 1, 4), ten(m["add"], y.address, 10, 4),
      hundred(m["add"], x.address, 100, 4);
  MUST(cuGraphAddKernelNode_v2(&add, g.graph, nullptr, 0, &one.node));
  g.instantiate();
  one.value = 77;  // the values were taken when the node was added
  g.run();
  CHECK(x.read()[3] == 1);
  MUST(cuGraphExecKernelNodeSetParams_v2(g.executable, add, &ten.node));
  g.run();
  CHECK(y.read()[3] == 10);
  CHECK(x.read()[3] == 1);
  MUST(cuGraphAddKernelNode_v2(&changed, other.graph, nullptr, 0, &hundred.node));
  CUgraphExecUpdateResultInfo info{};
  MUST(cuGraphExecUpdate_v2(g.executable, other.graph, &info));
  CHECK(info.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  g.run();
  CHECK(x.read()[3] == 101);
  MUST(cuGraphAddEmptyNode(&second, other.graph, &changed, 1));
  REFUSED(cuGraphExecUpdate_v2(g.executable, other.graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  CHECK(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  MUST(cuGraphKernelNodeSetParams_v2(add, &hundred.node));  // the graph, not its executable
  g.run();
  CHECK(x.read()[3] == 201);
  REFUSED(cuGraphExecKernelNodeSetParams_v2(g.executable, second, &ten.node), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("children and clones are copies") {
  const session s;
  const loaded m(add_text);
  const numbers x(std::vector<std::uint32_t>(4, 0));
  graph_handles inner, outer;
  CUgraphNode add = nullptr, child = nullptr, after = nullptr;
  const add_parameters one(m["add"], x.address, 1, 4), ten(m["add"], x.address, 10, 4);
  MUST(cuGraphAddKernelNode_v2(&add, inner.graph, nullptr, 0, &one.node));
  MUST(cuGraphAddChildGraphNode(&child, outer.graph, nullptr, 0, inner.graph));
  MUST(cuGraphAddKernelNode_v2(&after, outer.graph, &child, 1, &ten.node));
  MUST(cuGraphDestroyNode(add));  // of the inner graph alone
  CUgraph clone = nullptr, within = nullptr;
  MUST(cuGraphChildGraphNodeGetGraph(child, &within));
  std::size_t count = 0;
  MUST(cuGraphGetNodes(within, nullptr, &count));
  CHECK(count == 1);
  REFUSED(cuGraphDestroy(within), CUDA_ERROR_INVALID_VALUE);
  MUST(cuGraphClone(&clone, outer.graph));
  CUgraphNode found = nullptr;
  MUST(cuGraphNodeFindInClone(&found, after, clone));
  CHECK(found != after);
  REFUSED(cuGraphNodeFindInClone(&found, add, clone), CUDA_ERROR_INVALID_VALUE);
  outer.instantiate();
  outer.run();
  CHECK(x.read()[0] == 11);
  CUgraphExec of_clone = nullptr;
  MUST(cuGraphInstantiate_v2(&of_clone, clone, nullptr, nullptr, 0));
  MUST(cuGraphDestroy(clone));  // the executable one lives on
  MUST(cuGraphLaunch(of_clone, nullptr));
  CHECK(x.read()[0] == 22);
  MUST(cuGraphExecDestroy(of_clone));
  REFUSED(cuGraphLaunch(of_clone, nullptr), CUDA_ERROR_INVALID_VALUE);
  REFUSED(cuGraphDestroy(clone), CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("nodes of any type are added by one function, memory among them") {
  const session s;
  const loaded m(add_text);
  graph_handles g;
  CUgraphNodeParams p{};
  p.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  p.of.alloc.pool.allocation_type = 1;
  p.of.alloc.pool.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  p.of.alloc.bytes = 64;
  CUgraphNode allocate = nullptr, fill = nullptr, add = nullptr, copy = nullptr, free = nullptr,
              record = nullptr;
  MUST(cuGraphAddNode_v2(&allocate, g.graph, nullptr, nullptr, 0, &p));
  const CUdeviceptr memory = p.of.alloc.address;
  REQUIRE(memory != 0);
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEMSET;
  p.of.memset.fill = {memory, 0, 3, 4, 16, 1};
  MUST(cuGraphAddNode_v2(&fill, g.graph, &allocate, nullptr, 1, &p));
  const add_parameters four(m["add"], memory, 4, 16);
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_KERNEL;
  p.of.kernel = four.node;
  MUST(cuGraphAddNode(&add, g.graph, &fill, 1, &p));
  std::uint32_t out[16] = {};
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEMCPY;
  p.of.memcpy.copy = to_host(out, memory, 64);
  MUST(cuGraphAddNode_v2(&copy, g.graph, &add, nullptr, 1, &p));
  p = {};
  p.type = CU_GRAPH_NODE_TYPE_MEM_FREE;
  p.of.free = memory;
  MUST(cuGraphAddNode_v2(&free, g.graph, &copy, nullptr, 1, &p));
  CUevent e = nullptr;
  MUST(cuEventCreate(&e, 0));
  MUST(cuGraphAddEventRecordNode(&record, g.graph, &free, 1, e));
  g.instantiate();
  g.run();
  CHECK(out[15] == 7);
  MUST(cuEventQuery(e));
  float milliseconds = -1;
  MUST(cuEventElapsedTime(&milliseconds, e, e));
  CHECK(milliseconds == 0.0f);
  MUST(cuEventDestroy_v2(e));
}

TEST_CASE("a picture of a graph is a file of its own, or an error") {
  const session s;
  graph_handles g;
  CUgraphNode node = nullptr;
  MUST(cuGraphAddEmptyNode(&node, g.graph, nullptr, 0));
  const std::filesystem::path file = std::filesystem::temp_directory_path() / "kaio_graph_picture.dot";
  std::ofstream(file) << "an older and longer content, none of which is to be seen afterwards";
  MUST(cuGraphDebugDotPrint(g.graph, file.string().c_str(), 0));
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  CHECK(text.str().starts_with("digraph "));
  CHECK(text.str().ends_with("[label=\"empty\"];\n}\n"));
  std::filesystem::remove(file);
  REFUSED(cuGraphDebugDotPrint(g.graph, "/no/such/folder/g.dot", 0), CUDA_ERROR_OPERATING_SYSTEM);
}

TEST_CASE("an object of the program is destroyed with the last graph that keeps it") {
  const session s;
  int destroyed = 0;
  CUuserObject object = nullptr;
  MUST(cuUserObjectCreate(
      &object, &destroyed, [](void* d) { ++*static_cast<int*>(d); }, 1, 1));
  CUgraph g = nullptr, clone = nullptr;
  MUST(cuGraphCreate(&g, 0));
  MUST(cuGraphRetainUserObject(g, object, 1, 1));
  MUST(cuGraphClone(&clone, g));
  MUST(cuGraphDestroy(g));
  CHECK(destroyed == 0);
  MUST(cuGraphDestroy(clone));
  CHECK(destroyed == 1);
  REFUSED(cuUserObjectRelease(object, 1), CUDA_ERROR_INVALID_VALUE);
}

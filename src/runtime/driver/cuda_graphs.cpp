// Graphs of a GPU. Source: CUDA driver API, "Graph Management" and cuStreamBeginCapture.

#include <kaio/runtime/error.hpp>

#include <string>

#include "runtime/base/failure.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/driver/cuda_kernel.hpp"
#include "runtime/driver/cuda_scopes.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime::driver {

namespace {

CUgraph graph_of(void* native) { return static_cast<CUgraph>(native); }
CUgraphExec executable_of(void* native) { return static_cast<CUgraphExec>(native); }
const CUgraphNode* nodes_of(backend::node_list nodes) {
  static_assert(sizeof(CUgraphNode) == sizeof(backend::native_node));
  return reinterpret_cast<const CUgraphNode*>(nodes.data());
}

// The first call on this thread, since the last capture began on it, that was not allowed. The text is cut to its array:
// a variable of a thread with a destructor would be gone before the objects that the program destroys at its end.
struct capture_mistake {
  char message[1024] = {};  // empty: none
  bool is_refusal = false;  // the runtime refused a call: the driver does not know of it
  bool exists() const noexcept { return message[0] != '\0'; }
};
capture_mistake& mistake_of_thread() {
  thread_local capture_mistake first;
  return first;
}

void require(bool present, const char* function, std::string_view device) {
  if (!present)
    throw unsupported_device(
        text("kaio: the driver of ", device, " has no ", function, "; install NVIDIA driver 525 or newer"));
}

const char* difference(CUgraphExecUpdateResult result) {
  switch (result) {
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED: return "it has other nodes or dependencies";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED: return "a node is of another kind";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED:
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE: return "a node has another kernel";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED: return "a kernel has other launch attributes";
    default: return "a node has parameters that cannot be changed";
  }
}

}  // namespace

void cuda_backend::remember_capture_mistake(const std::string& message) {
  capture_mistake& first = mistake_of_thread();
  if (!first.exists()) message.copy(first.message, sizeof first.message - 1);
}

void cuda_backend::note_refused_in_capture(native_stream, const std::string& message) {
  remember_capture_mistake(message);
  mistake_of_thread().is_refusal = true;
}

void cuda_backend::begin_capture(native_stream stream) {
  const current scope(*this);
  const CUresult result =
      call_.cuStreamBeginCapture_v2(stream_of(stream), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  // A capture of the stream goes on, so that the call is no mistake in it.
  if (result == CUDA_ERROR_ILLEGAL_STATE)
    throw stream_capturing(explain(result, "cuStreamBeginCapture", "capturing a stream on"));
  if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
    throw stream_capturing(text("kaio: capturing a stream on ", description_,
                                " failed: the legacy default stream cannot be captured (",
                                name_of(call_, result),
                                " from cuStreamBeginCapture); use a stream of your own"));
  check(result, "cuStreamBeginCapture", "capturing a stream on");
  mistake_of_thread() = {};
}

backend::native_graph cuda_backend::end_capture(native_stream stream) {
  const current scope(*this);
  CUgraph graph = nullptr;
  const CUresult result = call_.cuStreamEndCapture(stream_of(stream), &graph);
  const capture_mistake mistake = std::exchange(mistake_of_thread(), {});
  if (result == CUDA_SUCCESS && !mistake.is_refusal) return graph;
  if (result == CUDA_SUCCESS) {
    destroy_graph(graph);
    throw_mistake_in_capture(mistake.message, description_);
  }
  if (mistake.exists() && meaning_of(result).code == errc::stream_capturing)
    throw_mistake_in_capture(mistake.message, description_);
  fail(result, "cuStreamEndCapture", "ending a capture on");
}

backend::native_graph cuda_backend::create_graph() {
  const current scope(*this);
  CUgraph graph = nullptr;
  check(call_.cuGraphCreate(&graph, 0), "cuGraphCreate", "creating a graph on");
  return graph;
}

void cuda_backend::destroy_graph(native_graph graph) noexcept {
  const current scope(*this, std::nothrow);
  note(call_.cuGraphDestroy(graph_of(graph)), "cuGraphDestroy", "destroying a graph on");
}

backend::native_graph cuda_backend::clone_graph(native_graph graph) {
  const current scope(*this);
  CUgraph copy = nullptr;
  check(call_.cuGraphClone(&copy, graph_of(graph)), "cuGraphClone", "cloning a graph on");
  return copy;
}

backend::native_node cuda_backend::find_in_clone(native_graph clone, native_node original) {
  const current scope(*this);
  CUgraphNode node = nullptr;
  check(call_.cuGraphNodeFindInClone(&node, static_cast<CUgraphNode>(original), graph_of(clone)),
        "cuGraphNodeFindInClone", "finding a node of a graph on");
  return node;
}

std::size_t cuda_backend::graph_size(native_graph graph) {
  const current scope(*this);
  std::size_t count = 0;
  check(call_.cuGraphGetNodes(graph_of(graph), nullptr, &count), "cuGraphGetNodes",
        "counting the nodes of a graph on");
  return count;
}

CUDA_KERNEL_NODE_PARAMS cuda_backend::node_of(const loaded_kernel& code, const checked_launch& launch) {
  if (launch.dynamic_shared != 0) allow_shared(code, launch.kernel, launch.dynamic_shared);
  if (launch.cluster.x != 0) allow_cluster(code, launch.kernel, launch.cluster.count());
  const ptx::dim3 &grid = launch.grid, &block = launch.kernel.block;
  CUDA_KERNEL_NODE_PARAMS node{};
  node.function = function_of(code);
  node.grid_x = grid.x, node.grid_y = grid.y, node.grid_z = grid.z;
  node.block_x = block.x, node.block_y = block.y, node.block_z = block.z;
  node.shared_bytes = launch.dynamic_shared;
  node.parameters = launch.values;
  return node;
}

backend::native_node cuda_backend::add_kernel(native_graph graph, node_list after, const loaded_kernel& code,
                                              const checked_launch& launch) {
  require(call_.cuGraphAddKernelNode_v2 && call_.cuGraphKernelNodeSetAttribute, "cuGraphAddKernelNode_v2",
          description_);
  const current scope(*this);
  const CUDA_KERNEL_NODE_PARAMS parameters = node_of(code, launch);
  const std::string what = text("adding kernel ", display_name(launch.kernel), " to a graph on");
  CUgraphNode node = nullptr;
  check(call_.cuGraphAddKernelNode_v2(&node, graph_of(graph), nodes_of(after), after.size(), &parameters),
        "cuGraphAddKernelNode", what);
  const auto set = [&](CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
    const CUresult result = call_.cuGraphKernelNodeSetAttribute(node, id, &value);
    if (result == CUDA_SUCCESS) return;
    note(call_.cuGraphDestroyNode(node), "cuGraphDestroyNode", what);  // it would run without the attribute
    fail(result, "cuGraphKernelNodeSetAttribute", what);
  };
  CUlaunchAttributeValue value{};
  if (launch.kernel.needs.cooperative) {
    value.cooperative = 1;
    set(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, value);
  }
  if (launch.cluster.x != 0) {
    value = {};
    value.cluster = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
    set(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, value);
  }
  return node;
}

backend::native_node cuda_backend::add_copy(native_graph graph, node_list after, const row_copy& c) {
  const current scope(*this);
  CUDA_MEMCPY3D shape{};
  shape.source_type = c.host_from ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  shape.source_host = c.host_from;
  shape.source_device = c.from;
  shape.source_pitch = c.from_pitch;
  shape.target_type = c.host_to ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
  shape.target_host = c.host_to;
  shape.target_device = c.to;
  shape.target_pitch = c.to_pitch;
  shape.width = c.width;
  shape.height = c.rows;
  shape.depth = 1;
  CUgraphNode node = nullptr;
  check(call_.cuGraphAddMemcpyNode(&node, graph_of(graph), nodes_of(after), after.size(), &shape, context_),
        "cuGraphAddMemcpyNode", "adding a copy to a graph on");
  return node;
}

backend::native_node cuda_backend::add_fill(native_graph graph, node_list after, const row_fill& f) {
  const current scope(*this);
  CUDA_MEMSET_NODE_PARAMS shape{};
  shape.target = f.to;
  shape.value = f.value;
  shape.element_size = f.unit;
  shape.width = f.count;
  shape.height = 1;
  CUgraphNode node = nullptr;
  check(call_.cuGraphAddMemsetNode(&node, graph_of(graph), nodes_of(after), after.size(), &shape, context_),
        "cuGraphAddMemsetNode", "adding a fill to a graph on");
  return node;
}

backend::native_node cuda_backend::add_host(native_graph graph, node_list after, host_function function,
                                            void* data) {
  const current scope(*this);
  const CUDA_HOST_NODE_PARAMS host{function, data};
  CUgraphNode node = nullptr;
  check(call_.cuGraphAddHostNode(&node, graph_of(graph), nodes_of(after), after.size(), &host),
        "cuGraphAddHostNode", "adding a host function to a graph on");
  return node;
}

backend::native_node cuda_backend::add_empty(native_graph graph, node_list after) {
  const current scope(*this);
  CUgraphNode node = nullptr;
  check(call_.cuGraphAddEmptyNode(&node, graph_of(graph), nodes_of(after), after.size()),
        "cuGraphAddEmptyNode", "adding a node to a graph on");
  return node;
}

backend::native_node cuda_backend::add_child(native_graph graph, node_list after, native_graph child) {
  const current scope(*this);
  CUgraphNode node = nullptr;
  check(
      call_.cuGraphAddChildGraphNode(&node, graph_of(graph), nodes_of(after), after.size(), graph_of(child)),
      "cuGraphAddChildGraphNode", "adding a graph to a graph on");
  return node;
}

backend::native_executable cuda_backend::instantiate(native_graph graph) {
  require(call_.cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", description_);
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUgraphExec executable = nullptr;
  check(call_.cuGraphInstantiateWithFlags(&executable, graph_of(graph), 0), "cuGraphInstantiateWithFlags",
        "instantiating a graph on");
  return executable;
}

void cuda_backend::destroy_executable(native_executable executable) noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuGraphExecDestroy(executable_of(executable)), "cuGraphExecDestroy", "destroying a graph on");
}

void cuda_backend::update(native_executable executable, native_graph changed) {
  require(call_.cuGraphExecUpdate_v2, "cuGraphExecUpdate_v2", description_);
  const current scope(*this);
  CUgraphExecUpdateResultInfo info{};
  const CUresult result = call_.cuGraphExecUpdate_v2(executable_of(executable), graph_of(changed), &info);
  if (result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
    throw invalid_argument(text("kaio: an executable graph on ", description_,
                                " cannot take the parameters of the graph given: ", difference(info.result),
                                "; instantiate that graph instead"));
  check(result, "cuGraphExecUpdate", "updating a graph on");
}

void cuda_backend::replace_kernel(native_executable executable, native_node node, const loaded_kernel& code,
                                  const checked_launch& launch) {
  require(call_.cuGraphExecKernelNodeSetParams_v2, "cuGraphExecKernelNodeSetParams_v2", description_);
  const current scope(*this);
  const CUDA_KERNEL_NODE_PARAMS parameters = node_of(code, launch);
  check(call_.cuGraphExecKernelNodeSetParams_v2(executable_of(executable), static_cast<CUgraphNode>(node),
                                                &parameters),
        "cuGraphExecKernelNodeSetParams",
        text("putting kernel ", display_name(launch.kernel), " into a graph on"));
}

void cuda_backend::upload_graph(native_executable executable, native_stream stream) {
  require(call_.cuGraphUpload, "cuGraphUpload", description_);
  const current scope(*this);
  check(call_.cuGraphUpload(executable_of(executable), stream_of(stream)), "cuGraphUpload",
        "uploading a graph to");
}

void cuda_backend::launch_graph(native_executable executable, native_stream stream) {
  const current scope(*this);
  const CUresult result = call_.cuGraphLaunch(executable_of(executable), stream_of(stream));
  if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) {
    const std::string message =
        text("kaio: launching a graph on ", description_,
             " failed: the stream is captured into another graph (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED from "
             "cuGraphLaunch); put a graph into another one with graph::insert");
    remember_capture_mistake(message);
    throw stream_capturing(message);
  }
  check(result, "cuGraphLaunch", "launching a graph on");
}

}  // namespace kaio::runtime::driver

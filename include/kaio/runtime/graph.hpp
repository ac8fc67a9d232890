#pragma once
// Graphs: work that is recorded once and replayed with one call, which costs less than its launches one by one.
//
//   graph g = capture_graph(s, [&] {                         // the work of a stream, and of those that join it
//     matmul(s, a, b, c);
//     rms_norm(s, x, weight, y);
//   });
//   executable_graph step = g.instantiate();
//   for (int i = 0; i < 100; ++i) step.launch(s);
//
// or node by node, with dependencies:
//
//   graph g(gpu);
//   graph_node zero = g.fill(y.view(), 0.0f);
//   graph_position second = g.after({zero});
//   saxpy.launch(second, over(n), x, y, a, n);
//   g.copy(host.data(), y.view(), {second.node()});
//
// Captured calls do not run. In a captured stream they may not wait, ask, allocate, launch a graph or load a
// kernel. A first use fails with stream_capturing, so call device::warmup, or the `_warmup` of the operations,
// before. Other streams are used as usual. No thread may wait for the whole device, as device::synchronize and
// download() without a stream do: that ends the captures on it.
//
// The memory and the host data that a graph refers to stay alive as long as it is replayed. Only one thread at a
// time may use a graph.
// On the emulator a replay runs the nodes one after another. Source: CUDA driver API, "Graph Management".

#include <kaio/runtime/copy.hpp>
#include <kaio/runtime/detail/context_ref.hpp>
#include <kaio/runtime/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace kaio::runtime {

class device;
class executable_graph;
class graph;

// A node of a graph. It is only used with its graph, which it does not keep alive.
class graph_node {
 public:
  graph_node() = default;

 private:
  friend class graph;
  friend class graph_position;
  friend class executable_graph;
  graph_node(void* native, const void* owner) noexcept : native_(native), owner_(owner) {}
  void* native_ = nullptr;
  const void* owner_ = nullptr;
};

// The nodes that another one waits for: {a, b}, one node, or an array. There are at most 32: join() makes one of
// more. Throws invalid_argument: too many.
class graph_dependencies {
 public:
  static constexpr std::size_t most = 32;
  graph_dependencies() = default;
  graph_dependencies(std::initializer_list<graph_node> nodes)
      : graph_dependencies(nodes.begin(), nodes.size()) {}
  graph_dependencies(const graph_node& node) : graph_dependencies(&node, 1) {}
  graph_dependencies(const graph_node* nodes, std::size_t count);
  const graph_node* data() const noexcept { return nodes_; }
  std::size_t size() const noexcept { return count_; }

 private:
  friend class graph;
  friend class graph_position;
  graph_node nodes_[most];
  std::size_t count_ = 0;
};

// Where a kernel is put into a graph: kernels are launched on it as on a stream. Each launch adds a node after the
// dependencies; the next launch on the same position comes after that node.
class graph_position {
 public:
  // Adds the kernel as a node. Throws as stream::launch does; a programmatic launch is refused.
  void launch(const ptx::kernel_image& kernel, ptx::launch_grid grid, const ptx::argument* arguments,
              std::size_t count);
  // The node of the last launch. Throws invalid_argument: nothing was launched.
  graph_node node() const;

 private:
  friend class graph;
  friend class executable_graph;
  graph_position() = default;
  const graph* target_ = nullptr;
  const executable_graph* replaced_in_ = nullptr;  // launch replaces the kernel of after_[0]
  graph_dependencies after_;
  bool launched_ = false;
};

// Move-only. A graph that was moved from is null, and its use throws invalid_argument. It keeps its device open.
class graph {
 public:
  graph() = default;
  // An empty graph.
  explicit graph(const device& gpu);
  graph(graph&& other) noexcept;
  graph& operator=(graph&& other) noexcept;
  ~graph();

  // A copy; `find` gives the node of the copy that a node of the original became.
  graph clone() const;
  graph_node find(const graph_node& original) const;
  std::size_t size() const;  // nodes

  // Adds nodes. Each waits for the nodes in `after`. Throws invalid_argument: nodes of another graph, and as
  // the calls of the same name on streams.
  graph_position after(const graph_dependencies& nodes) const;
  graph_position begin() const { return after({}); }
  template <class T>
  graph_node copy(const device_pointer<T>& to, const device_pointer<T>& from,
                  const graph_dependencies& after = {}) {
    return add_copy(to.as_argument(), from.as_argument(), after);
  }
  template <class T>
  graph_node copy(const device_pointer<T>& to, const T* from_host, const graph_dependencies& after = {}) {
    return add_upload(to.as_argument(), from_host, after);
  }
  template <class T>
  graph_node copy(T* to_host, const device_pointer<T>& from, const graph_dependencies& after = {}) {
    return add_download(to_host, from.as_argument(), after);
  }
  template <class T>
  graph_node fill(const device_pointer<T>& to, std::type_identity_t<T> value,
                  const graph_dependencies& after = {}) {
    return add_fill(to.as_argument(), detail::bits_of(value), sizeof(T), after);
  }
  graph_node host_function(void (*function)(void* data), void* data, const graph_dependencies& after = {});
  // A node without work: many nodes wait for many through it.
  graph_node join(const graph_dependencies& after);
  // All nodes of a copy of `other`, as one node.
  graph_node insert(const graph& other, const graph_dependencies& after = {});

  // Makes the graph ready for replay. Later changes of this graph do not change the result. Throws invalid_argument
  // (a cycle), out_of_memory.
  executable_graph instantiate() const;
  // The driver's CUgraph; null on the emulator.
  void* native_handle() const noexcept;

 private:
  friend class capture;
  friend class executable_graph;
  friend class graph_position;
  graph(detail::context_ref context, void* native) noexcept : context_(std::move(context)), native_(native) {}
  graph_node add_copy(const ptx::argument& to, const ptx::argument& from, const graph_dependencies& after);
  graph_node add_upload(const ptx::argument& to, const void* from, const graph_dependencies& after);
  graph_node add_download(void* to, const ptx::argument& from, const graph_dependencies& after);
  graph_node add_fill(const ptx::argument& to, std::uint32_t value, std::uint32_t unit,
                      const graph_dependencies& after);
  // The driver's node. Throws invalid_argument: it is of another graph.
  void* native_of(const graph_node& node) const;
  void destroy() noexcept;

  detail::context_ref context_;
  void* native_ = nullptr;
};

// Move-only, like graph. Its destruction does not wait: a replay in flight runs to its end.
class executable_graph {
 public:
  executable_graph() = default;
  executable_graph(executable_graph&& other) noexcept;
  executable_graph& operator=(executable_graph&& other) noexcept;
  ~executable_graph();

  // Replays the graph in the order of a stream of its device. Two replays of one graph never overlap. Throws
  // stream_capturing if the stream is captured: use graph::insert.
  void launch(const stream& s) const;
  // Moves what the first replay needs to the device ahead of it.
  void upload(const stream& s) const;
  // Takes the parameters of `changed`, which has the same nodes and dependencies. Replays in flight are not
  // affected. Throws invalid_argument if it differs in more: instantiate it instead.
  void update(const graph& changed);
  // A launch on the result gives a kernel node of the instantiated graph other arguments, another grid, or
  // another kernel:
  //   graph_position node_of_saxpy = step.replacing(node);
  //   saxpy.launch(node_of_saxpy, over(n), x, z, a, n);
  graph_position replacing(const graph_node& node) const;
  // The driver's CUgraphExec; null on the emulator.
  void* native_handle() const noexcept;

 private:
  friend class graph;
  friend class graph_position;
  executable_graph(detail::context_ref context, void* native, const void* source, std::size_t nodes) noexcept
      : context_(std::move(context)), native_(native), source_(source), nodes_(nodes) {}
  void destroy() noexcept;

  detail::context_ref context_;
  void* native_ = nullptr;
  const void* source_ = nullptr;  // the native graph that it was made of, for `replacing`
  std::size_t nodes_ = 0;
};

// Records the work of a stream from its construction to end(), which is called on the same thread. Calls in other
// streams, and of other threads, are not affected and do not affect it, unless they wait for the whole device. If a
// call within it was not allowed, end() throws stream_capturing with that call and what to do; the stream is usable
// again afterwards. Destruction without end() drops the work. The legacy default stream cannot be captured.
class capture {
 public:
  explicit capture(const stream& s);
  capture(const capture&) = delete;
  capture& operator=(const capture&) = delete;
  ~capture();
  graph end();

 private:
  detail::context_ref context_;
  void* native_ = nullptr;
  bool active_ = false;
};

// capture, around a function.
template <class Work>
graph capture_graph(const stream& s, Work&& work) {
  capture recording(s);
  static_cast<Work&&>(work)();
  return recording.end();
}

}  // namespace kaio::runtime

namespace kaio {
using runtime::capture;
using runtime::executable_graph;
using runtime::graph;
using runtime::graph_node;
using runtime::graph_position;
}  // namespace kaio

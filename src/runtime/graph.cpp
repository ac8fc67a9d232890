#include <kaio/runtime/graph.hpp>

#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/checked_launch.hpp"
#include "runtime/checked_memory.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"
#include "runtime/trace/work.hpp"

namespace kaio::runtime {

using detail::device_of;
using detail::stream_access;

namespace {

backend& device_of(const detail::context_ref& context, std::string_view operation) {
  if (!context)
    throw invalid_argument(text("kaio: ", operation,
                                " of a null graph; it was default-constructed or moved from: use graph(gpu), "
                                "capture_graph or instantiate"));
  return context->use();
}

void check_stream(const detail::context_ref& context, const stream& s, std::string_view operation) {
  if (&device_of(s, operation) != context.get())
    throw invalid_argument(text("kaio: ", operation, " of a graph of ", context->description(),
                                " on a stream of another device; use a stream of its device"));
}

[[noreturn]] void throw_foreign_node(std::string_view operation) {
  throw invalid_argument(text("kaio: ", operation,
                              " with a node that is none of this graph; take the nodes that its own calls "
                              "returned, or find() for those of a graph that it was cloned from"));
}

}  // namespace

// Nodes.

graph_dependencies::graph_dependencies(const graph_node* nodes, std::size_t count) : count_(count) {
  if (count > most)
    throw invalid_argument(text("kaio: a node of a graph after ", count, " nodes; it waits for at most ",
                                most, ": join() them first"));
  std::copy_n(nodes, count, nodes_);
}

graph_node graph_position::node() const {
  if (!launched_)
    throw invalid_argument(
        "kaio: the node of a graph_position without a launch; launch a kernel on it first");
  return after_.nodes_[0];
}

void graph_position::launch(const ptx::kernel_image& kernel, ptx::launch_grid grid,
                            const ptx::argument* arguments, std::size_t count) {
  if (target_ == nullptr && replaced_in_ == nullptr)
    throw invalid_argument(
        "kaio: launch on a null graph_position; use graph::after or executable_graph::replacing");
  const detail::context_ref& owner = target_ != nullptr ? target_->context_ : replaced_in_->context_;
  backend& device = device_of(owner, "launch");
  if (grid.programmatic)
    throw invalid_argument(
        text("kaio: kernel ", display_name(kernel),
             " was put into a graph with .programmatic(); only a captured stream keeps that: "
             "use capture_graph, or launch it without"));
  if (is_empty(grid) && count == kernel.parameter_count)
    throw invalid_argument(text("kaio: kernel ", display_name(kernel),
                                " was put into a graph with an empty grid; leave the node out"));
  const auto load = [&]() -> const loaded_kernel& { return owner->load(kernel); };
  detail::with_checked_launch(
      *owner.get(), kernel, grid, arguments, count, load,
      [&](const loaded_kernel& code, const checked_launch& launch) {
        if (replaced_in_ != nullptr)
          return device.replace_kernel(replaced_in_->native_, after_.nodes_[0].native_, code, launch);
        std::array<backend::native_node, graph_dependencies::most> before{};
        for (std::size_t i = 0; i < after_.size(); ++i) before[i] = after_.nodes_[i].native_;
        after_ = graph_node(device.add_kernel(target_->native_, {before.data(), after_.size()}, code, launch),
                            target_->native_);
        launched_ = true;
      });
}

namespace {

// The native nodes of dependencies.
class native_nodes {
 public:
  template <class Native>
  native_nodes(const graph_dependencies& after, Native native) {
    for (std::size_t i = 0; i < after.size(); ++i) nodes_.push_back(native(after.data()[i]));
  }
  operator backend::node_list() const { return nodes_; }

 private:
  std::vector<backend::native_node> nodes_;
};

}  // namespace

// Graphs.

graph::graph(const device& gpu) : context_(gpu.context_), native_(gpu.context_->use().create_graph()) {}

graph::graph(graph&& other) noexcept
    : context_(std::move(other.context_)), native_(std::exchange(other.native_, nullptr)) {}

graph& graph::operator=(graph&& other) noexcept {
  if (this != &other) {
    destroy();
    context_ = std::move(other.context_);
    native_ = std::exchange(other.native_, nullptr);
  }
  return *this;
}

graph::~graph() { destroy(); }

void graph::destroy() noexcept {
  if (native_ != nullptr) context_->device().destroy_graph(native_);
  native_ = nullptr;
}

graph graph::clone() const {
  backend& device = device_of(context_, "clone");
  return {context_, device.clone_graph(native_)};
}

graph_node graph::find(const graph_node& original) const {
  backend& device = device_of(context_, "find");
  if (original.native_ == nullptr || original.owner_ == native_) throw_foreign_node("find");
  void* const found = device.find_in_clone(native_, original.native_);
  if (found == nullptr) throw_foreign_node("find");
  return {found, native_};
}

std::size_t graph::size() const { return device_of(context_, "size").graph_size(native_); }

void* graph::native_handle() const noexcept {
  return context_ && !context_->properties().is_emulator() ? native_ : nullptr;
}

void* graph::native_of(const graph_node& node) const {
  if (node.native_ == nullptr || node.owner_ != native_) throw_foreign_node("a node");
  return node.native_;
}

graph_position graph::after(const graph_dependencies& nodes) const {
  device_of(context_, "after");
  for (std::size_t i = 0; i < nodes.size(); ++i) native_of(nodes.data()[i]);
  graph_position result;
  result.target_ = this;
  result.after_ = nodes;
  return result;
}

graph_node graph::add_copy(const ptx::argument& to, const ptx::argument& from,
                           const graph_dependencies& after) {
  backend& device = device_of(context_, "copy");
  detail::check_memory("copy", "into", to, *context_.get());
  detail::check_memory("copy", "from", from, *context_.get());
  detail::check_copy(to, from);
  if (to.bytes == 0) return join(after);
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_copy(native_, before, {.to = to.bits, .from = from.bits, .width = to.bytes}), native_};
}

graph_node graph::add_upload(const ptx::argument& to, const void* from, const graph_dependencies& after) {
  backend& device = device_of(context_, "copy");
  detail::check_memory("copy", "into", to, *context_.get());
  if (to.bytes == 0) return join(after);
  if (from == nullptr)
    throw invalid_argument(
        text("kaio: copy of ", to.bytes, " bytes from a null host pointer; pass the host memory"));
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_copy(native_, before, {.to = to.bits, .host_from = from, .width = to.bytes}), native_};
}

graph_node graph::add_download(void* to, const ptx::argument& from, const graph_dependencies& after) {
  backend& device = device_of(context_, "copy");
  detail::check_memory("copy", "from", from, *context_.get());
  if (from.bytes == 0) return join(after);
  if (to == nullptr)
    throw invalid_argument(
        text("kaio: copy of ", from.bytes, " bytes to a null host pointer; pass the host memory"));
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_copy(native_, before, {.from = from.bits, .host_to = to, .width = from.bytes}), native_};
}

graph_node graph::add_fill(const ptx::argument& to, std::uint32_t value, std::uint32_t unit,
                           const graph_dependencies& after) {
  backend& device = device_of(context_, "fill");
  detail::check_memory("fill", "of", to, *context_.get());
  detail::check_fill(to, unit);
  if (to.bytes == 0) return join(after);
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_fill(native_, before,
                          {.to = to.bits, .value = value, .unit = unit, .count = to.bytes / unit}),
          native_};
}

graph_node graph::host_function(void (*function)(void* data), void* data, const graph_dependencies& after) {
  backend& device = device_of(context_, "host_function");
  if (function == nullptr)
    throw invalid_argument("kaio: host_function of a null function; pass the function that is to be called");
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_host(native_, before, function, data), native_};
}

graph_node graph::join(const graph_dependencies& after) {
  backend& device = device_of(context_, "join");
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_empty(native_, before), native_};
}

graph_node graph::insert(const graph& other, const graph_dependencies& after) {
  backend& device = device_of(context_, "insert");
  device_of(other.context_, "insert");
  if (other.context_.get() != context_.get() || other.native_ == native_)
    throw invalid_argument(text("kaio: insert of ",
                                other.native_ == native_ ? "a graph into itself" : "a graph of ",
                                other.native_ == native_ ? "" : other.context_->description(), " on ",
                                context_->description(), "; make both on one device, and clone() a graph"));
  const native_nodes before(after, [&](const graph_node& n) { return native_of(n); });
  return {device.add_child(native_, before, other.native_), native_};
}

executable_graph graph::instantiate() const {
  backend& device = device_of(context_, "instantiate");
  const std::size_t nodes = device.graph_size(native_);
  const trace::call traced("instantiate", "graph");
  return {context_, device.instantiate(native_), native_, nodes};
}

// Executable graphs.

executable_graph::executable_graph(executable_graph&& other) noexcept
    : context_(std::move(other.context_)),
      native_(std::exchange(other.native_, nullptr)),
      source_(std::exchange(other.source_, nullptr)),
      nodes_(std::exchange(other.nodes_, 0)) {}

executable_graph& executable_graph::operator=(executable_graph&& other) noexcept {
  if (this != &other) {
    destroy();
    context_ = std::move(other.context_);
    native_ = std::exchange(other.native_, nullptr);
    source_ = std::exchange(other.source_, nullptr);
    nodes_ = std::exchange(other.nodes_, 0);
  }
  return *this;
}

executable_graph::~executable_graph() { destroy(); }

void executable_graph::destroy() noexcept {
  if (native_ != nullptr) context_->device().destroy_executable(native_);
  native_ = nullptr;
}

void executable_graph::launch(const stream& s) const {
  backend& device = device_of(context_, "launch");
  check_stream(context_, s, "launch");
  if (stream_access::is_loading(s)) return;
  const backend::native_stream native = stream_access::native(s);
  const trace::work traced(device, native, [&] { return trace::replay("graph", nodes_); });
  device.launch_graph(native_, native);
}

void executable_graph::upload(const stream& s) const {
  backend& device = device_of(context_, "upload");
  check_stream(context_, s, "upload");
  device.upload_graph(native_, stream_access::native(s));
}

void executable_graph::update(const graph& changed) {
  backend& device = device_of(context_, "update");
  device_of(changed.context_, "update");
  if (changed.context_.get() != context_.get())
    throw invalid_argument(text("kaio: update of a graph of ", context_->description(), " from one of ",
                                changed.context_->description(), "; make both on one device"));
  device.update(native_, changed.native_);
}

graph_position executable_graph::replacing(const graph_node& node) const {
  device_of(context_, "replacing");
  if (node.native_ == nullptr || node.owner_ != source_) throw_foreign_node("replacing");
  graph_position result;
  result.replaced_in_ = this;
  result.after_ = node;
  return result;
}

void* executable_graph::native_handle() const noexcept {
  return context_ && !context_->properties().is_emulator() ? native_ : nullptr;
}

// Captures.

capture::capture(const stream& s) : context_(stream_access::owner(s)), native_(stream_access::native(s)) {
  device_of(s, "capture").use().begin_capture(native_);
  active_ = true;
}

capture::~capture() {
  // The work is dropped, and a mistake in it with it. A second call ends what the first could not.
  for (int i = 0; i < 2 && active_; ++i) try {
      end();
    } catch (...) {
      continue;
    }
}

namespace {

bool is_captured(backend& device, backend::native_stream stream) noexcept {
  try {
    return device.stream_is_capturing(stream);
  } catch (...) {
    return false;
  }
}

}  // namespace

graph capture::end() {
  if (!active_) throw stream_capturing("kaio: the end of a capture that was ended before; end it once");
  const trace::call traced("end of capture");
  backend& device = context_->device();
  try {
    graph made(context_, device.end_capture(native_));
    active_ = false;
    return made;
  } catch (...) {
    // The end is left to another call, or to the destructor.
    active_ = is_captured(device, native_);
    throw;
  }
}

}  // namespace kaio::runtime

#pragma once
// What the driver's handles mean, and the process's one state that holds them. A handle is a number that is
// never used twice, so a dead one is known to be dead. An object lives while queued work needs it.
// driver_state::mutex guards everything here, except the parts of modules and memory that running kernels
// read, which do not change.

#include "driver_emulator/abi/types.hpp"
#include "emulator/emulator.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

namespace kaio::driver_emulator {

struct context;
struct stream;
struct graph;
struct capture;
class page_file;  // virtual_memory.hpp
struct physical_memory;
struct reservation;

template <class Handle, class Object>
class handle_table {
 public:
  Handle add(std::shared_ptr<Object> object) {
    static std::atomic<std::uintptr_t> next{0x100000};
    const auto handle = reinterpret_cast<Handle>(next.fetch_add(64));
    object->handle = handle;
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }
  std::shared_ptr<Object> take(Handle handle) {
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  const std::unordered_map<Handle, std::shared_ptr<Object>>& all() const { return objects_; }

 private:
  std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

struct device {
  int ordinal = 0;
  emulator::architecture architecture;
  std::uint64_t memory_bytes = 0;
  std::uint64_t used_bytes = 0;
  unsigned primary_flags = 0;
  unsigned primary_retains = 0;
  std::shared_ptr<context> primary;  // its handle stays the same when it is retained again
  CUmemoryPool default_pool = nullptr, pool = nullptr;
  std::string name() const;
};

// A module in a context: its code, and its variables in memory.
struct loaded_module {
  CUmodule handle = nullptr;
  std::weak_ptr<context> owner;
  emulator::module code;
  emulator::module_instance variables;
  std::map<std::string, CUfunction, std::less<>> functions;
  CUlibrary library = nullptr;  // that has this module

  loaded_module(emulator::module m, emulator::memory& memory)
      : code(std::move(m)), variables(code, memory, emulator::constant_storage::memory) {}
};

struct function {
  CUfunction handle = nullptr;
  std::shared_ptr<loaded_module> module;
  const emulator::entry* entry = nullptr;
  int dynamic_shared = 0;  // the most that a launch may ask for
  int carveout = -1;
  int non_portable_cluster = 0;
  int scheduling_policy = 0;
  ptx::dim3 required_cluster{0, 0, 0};  // where the text leaves it open
};

struct library {
  CUlibrary handle = nullptr;
  emulator::module code;
  std::map<CUcontext, CUmodule> modules;
  std::map<std::string, CUkernel, std::less<>> kernels;
  std::string refusal;  // why it has no code, for whoever asks for a part of it; empty: it has
  explicit library(emulator::module m) : code(std::move(m)) {}
};

struct kernel {
  CUkernel handle = nullptr;
  CUlibrary library = nullptr;
  std::string name;
  std::map<int, int> attributes;  // set by cuKernelSetAttribute, for functions that are made later
};

struct linker {
  CUlinkState handle = nullptr;
  std::vector<std::string> texts;
  std::string image;
};

enum class allocation_kind { device, pool, host, registered, managed, array, mapped };

// What a program has said of managed memory. It has no effect, but can be asked for.
struct memory_advice {
  bool read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, no_device};
  CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, no_device};
  std::vector<CUdevice> accessed_by;
};

struct allocation {
  allocation_kind kind = allocation_kind::device;
  std::uint64_t bytes = 0;
  std::uint64_t id = 0;
  void* host = nullptr;  // where the host sees it
  unsigned flags = 0;
  device* where = nullptr;
  CUcontext owner = nullptr;
  CUmemoryPool from = nullptr;
  bool sync_operations = false;
  memory_advice advice;  // for managed memory
};

// A CUDA array: rows of elements in device memory. Element (x, y, z) starts at
//   address + (z * rows + y) * pitch + x * element_bytes.
struct array {
  CUarray handle = nullptr;
  std::weak_ptr<context> owner;
  CUDA_ARRAY3D_DESCRIPTOR shape{};  // as the program gave it
  CUdeviceptr address = 0;
  std::uint64_t element_bytes = 0;       // all channels
  std::uint64_t pitch = 0;               // bytes
  std::uint64_t rows = 1, slices = 1;    // a slice of a layered array is a layer
  CUmipmappedArray mipmapped = nullptr;  // that has this array as a level
};
struct mipmapped_array {
  CUmipmappedArray handle = nullptr;
  std::weak_ptr<context> owner;
  std::vector<CUarray> levels;
};

// A texture or surface object as the program described it. The emulator has what kernels read:
// emulator::memory::images().
struct texture_object {
  CUcontext owner = nullptr;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  std::optional<CUDA_RESOURCE_VIEW_DESC> view;
};
struct surface_object {
  CUcontext owner = nullptr;
  CUDA_RESOURCE_DESC resource{};
};

struct memory_pool {
  CUmemoryPool handle = nullptr;
  device* where = nullptr;
  std::uint64_t maximum = 0;  // 0: no bound
  std::uint64_t used = 0, most_used = 0, most_reserved = 0, release_threshold = 0;
  int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
};

struct user_object {
  CUuserObject handle = nullptr;
  void* data = nullptr;
  CUhostFn destroy = nullptr;
  std::uint64_t references = 0;
};

// A point in a stream: the end of the work with this number.
struct stream_point {
  std::shared_ptr<stream> where;
  std::uint64_t number = 0;
};

struct event {
  CUevent handle = nullptr;
  std::weak_ptr<context> owner;
  unsigned flags = 0;
  bool recorded = false;
  stream_point point;                          // of the last record
  std::chrono::steady_clock::time_point when;  // of the last record that was reached
  std::shared_ptr<capture> captured;           // recorded in a stream that was being captured
  std::vector<CUgraphNode> captured_nodes;
  bool is_done() const;
};

// A kernel as a stream executes it and a graph's node holds it.
struct kernel_work {
  std::shared_ptr<function> code;
  ptx::dim3 grid, block, cluster{0, 0, 0};
  std::uint32_t shared = 0;
  bool cooperative = false;
  bool programmatic = false;  // it may begin before the previous kernel has ended
  std::vector<std::byte> parameters;
  std::vector<CUlaunchAttribute> attributes;
  // The result of cuGraphKernelNodeGetParams: one pointer into `parameters` for each parameter.
  std::vector<void*> pointers;
};
struct copy_work {
  CUDA_MEMCPY3D shape{};
};
struct fill_work {
  CUDA_MEMSET_NODE_PARAMS shape{};
};
struct host_work {
  CUhostFn function = nullptr;
  void* data = nullptr;
};
struct callback_work {
  CUstreamCallback function = nullptr;
  void* data = nullptr;
  CUstream where = nullptr;
};
struct record_work {
  std::shared_ptr<event> target;
};
struct wait_work {
  std::shared_ptr<event> target;
};
struct empty_work {};
// A word of memory that the stream writes or waits for.
struct word_work {
  CUdeviceptr address = 0;
  std::uint64_t value = 0;
  unsigned bytes = 4;
  unsigned flags = 0;
  bool waits = false;
};
struct allocate_work {
  CUDA_MEM_ALLOC_NODE_PARAMS parameters{};
  std::shared_ptr<void> memory;
};
struct free_work {
  CUdeviceptr address = 0;
};
struct graph_run_work;
using work = std::variant<empty_work, kernel_work, copy_work, fill_work, host_work, callback_work,
                          record_work, wait_work, word_work, allocate_work, free_work, std::shared_ptr<graph>,
                          std::shared_ptr<graph_run_work>>;
struct graph_run_work {
  std::vector<work> steps;  // in an order that respects every dependency
};

struct stream_item {
  std::uint64_t number = 0;
  work what;
  std::vector<stream_point> after;  // besides the items before it in its own stream
  bool running = false;             // some thread executes it
};

enum class stream_kind { created, legacy, per_thread };

struct stream {
  CUstream handle = nullptr;
  std::weak_ptr<context> owner;
  stream_kind kind = stream_kind::created;
  unsigned flags = 0;
  int priority = 0;
  std::uint64_t id = 0;
  std::deque<stream_item> items;
  std::uint64_t last = 0;      // number of the last item put in
  std::uint64_t released = 0;  // items up to this number run as soon as they can
  std::shared_ptr<capture> captured;
  std::vector<CUgraphNode> capture_after;  // what the next node depends on
  std::map<int, CUlaunchAttributeValue> attributes;

  bool blocking() const { return kind != stream_kind::legacy && (flags & CU_STREAM_NON_BLOCKING) == 0; }
  bool is_done(std::uint64_t number) const { return items.empty() || items.front().number > number; }
};

struct capture {
  std::shared_ptr<graph> into;
  std::weak_ptr<stream> origin;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  std::uint64_t id = 0;
  bool valid = true;
  bool ended = false;
  bool owns_graph = true;  // not begun with cuStreamBeginCaptureToGraph
};

struct graph_node {
  CUgraphNode handle = nullptr;
  std::weak_ptr<graph> owner;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  work what;
  std::vector<CUgraphNode> after;
  CUgraphNode cloned_from = nullptr;
};

struct graph {
  CUgraph handle = nullptr;
  std::vector<std::shared_ptr<graph_node>> nodes;
  std::map<CUuserObject, std::uint64_t> user_objects;
  bool is_child = false;
  ~graph();
};

struct executable_node {
  CUgraphNode original = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  work what;
  bool enabled = true;
  std::vector<CUgraphNode> after;
};
struct executable_graph {
  CUgraphExec handle = nullptr;
  std::uint64_t flags = 0;
  std::vector<executable_node> nodes;  // in the order of execution
};

struct context {
  CUcontext handle = nullptr;
  device* where = nullptr;
  bool primary = false;
  bool active = true;  // a primary context that is not retained is not
  unsigned flags = 0;
  unsigned version = 3020;
  std::uint64_t id = 0;
  std::atomic<CUresult> lost{CUDA_SUCCESS};  // after a fault of a kernel, the result of every call
  int cache_config = 0, shared_config = 0;
  std::map<int, std::size_t> limits;
  std::shared_ptr<stream> legacy;
  std::map<std::thread::id, std::shared_ptr<stream>> per_thread;
  std::vector<std::shared_ptr<stream>> streams;  // created ones; a destroyed one stays until its work is done
  std::vector<CUcontext> peers;
};

struct driver_state {
  std::mutex mutex;
  bool initialised = false;
  int driver_version = 13000;
  std::vector<std::unique_ptr<device>> devices;
  emulator::memory memory;
  std::map<CUdeviceptr, allocation> allocations;

  handle_table<CUcontext, context> contexts;
  handle_table<CUmodule, loaded_module> modules;
  handle_table<CUfunction, function> functions;
  handle_table<CUlibrary, library> libraries;
  handle_table<CUkernel, kernel> kernels;
  handle_table<CUlinkState, linker> linkers;
  std::weak_ptr<page_file> device_pages;
  std::map<CUmemGenericAllocationHandle, std::shared_ptr<physical_memory>> physical;
  std::map<CUdeviceptr, std::shared_ptr<reservation>> reservations;

  handle_table<CUmemoryPool, memory_pool> pools;
  handle_table<CUarray, array> arrays;
  handle_table<CUmipmappedArray, mipmapped_array> mipmapped_arrays;
  std::map<CUtexObject, texture_object> textures;
  std::map<CUsurfObject, surface_object> surfaces;
  handle_table<CUstream, stream> streams;
  handle_table<CUevent, event> events;
  handle_table<CUgraph, graph> graphs;
  handle_table<CUgraphNode, graph_node> nodes;
  handle_table<CUgraphExec, executable_graph> executables;
  handle_table<CUuserObject, user_object> user_objects;
  std::vector<std::weak_ptr<capture>> captures;

  std::uint64_t last_work = 0;  // number of the last item put into any stream
  std::uint64_t last_id = 0;
  bool delayed_streams = false;    // KAIO_STREAMS=delayed
  bool blocking_launches = false;  // CUDA_LAUNCH_BLOCKING=1
};

// Lives until the process ends, or the library is closed (lasting.hpp).
driver_state& state();

// Reads the environment and makes the devices, once. Throws failure.
void initialise();
// The devices as the environment or kaio_emulator_set_machine describes them.
struct machine_description {
  int devices = 1;
  ptx::target architecture{90, true};
  int driver_version = 13000;
  std::uint64_t memory_bytes = 0;  // 0: as much as the host has
};
machine_description& described_machine();
void make_devices();

}  // namespace kaio::driver_emulator

#pragma once
// The emulator as a backend. A stream runs its work when it is put in, so all of it is done when a call returns, unless the
// stream is captured, or a kernel polls memory that others write (work_queue.hpp). A fault of a kernel is thrown by its
// launch, that of a kernel that polls by a call that waits; as on a GPU, the device is then lost.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/emulator.hpp"
#include "runtime/base/backend.hpp"
#include "runtime/emulator/graph.hpp"

namespace kaio::runtime {

class emulator_backend final : public backend {
 public:
  emulator_backend(ptx::target target, int number);
  ~emulator_backend() override;

  std::string_view remedy() const noexcept override { return "open the emulator again"; }
  void set_budget(const budget& limits) override;
  void cancel() override { ++cancellations_; }
  runtime::memory_info memory_info() override;

  std::uint64_t allocate(std::uint64_t bytes) override;
  bool allocates_zeroes() const noexcept override { return true; }
  void free(std::uint64_t address) noexcept override;
  void* allocate_host(std::uint64_t bytes) override;
  void free_host(void* address) noexcept override { std::free(address); }
  std::uint64_t attach_host(void* memory, std::uint64_t bytes) override;
  void detach_host(void* memory) noexcept override;
  void copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes, native_stream stream) override;
  void copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) override;
  void copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                      native_stream stream) override;
  void fill(const row_fill& shape, native_stream stream) override;
  void copy_rows(const row_copy& shape, native_stream stream) override;
  void copy_between(std::uint64_t to, backend& target, std::uint64_t from, backend& source,
                    std::uint64_t bytes, native_stream stream) override;
  bool has_memory(std::uint64_t address) override;
  bool can_access(const backend& other) override;
  void enable_access(backend&) override {}

  // Allocations take no time, so that a pool holds nothing back.
  native_pool create_pool(std::uint64_t) override { return this; }
  void destroy_pool(native_pool) noexcept override {}
  std::uint64_t allocate_from(native_pool, std::uint64_t bytes, native_stream) override {
    return allocate(bytes);
  }
  void free_async(std::uint64_t address, native_stream stream) noexcept override;
  void trim(native_pool, std::uint64_t) override {}
  std::pair<std::uint64_t, std::uint64_t> reserved(native_pool) override { return {0, 0}; }
  void open_pool_to(native_pool, const backend&) override {}

  native_stream create_stream(int priority) override;
  runtime::stream_priorities stream_priorities() override { return {0, 0}; }
  native_stream borrowed_stream(void* handle) override;
  void call_host(native_stream stream, host_function function, void* data) override;
  void destroy_stream(native_stream stream) noexcept override;
  void synchronize_stream(native_stream stream) override;
  bool stream_is_done(native_stream stream) override;
  bool stream_is_capturing(native_stream stream) override;
  void stream_wait(native_stream stream, native_event event) override;
  void synchronize() override;
  void drain() noexcept override;
  void drain(native_stream stream) noexcept override;

  native_event create_event() override { return new emulated::event; }
  void destroy_event(native_event event) noexcept override { delete static_cast<emulated::event*>(event); }
  void record(native_event event, native_stream stream) override;
  void synchronize_event(native_event event) override;
  bool event_is_done(native_event event) override;
  double elapsed_ms(native_event begin, native_event end) override;

  void begin_capture(native_stream stream) override;
  native_graph end_capture(native_stream stream) override;
  void note_refused_in_capture(native_stream stream, const std::string& message) override;
  native_graph create_graph() override { return new emulated::graph; }
  void destroy_graph(native_graph graph) noexcept override { delete static_cast<emulated::graph*>(graph); }
  native_graph clone_graph(native_graph graph) override;
  native_node find_in_clone(native_graph clone, native_node original) override;
  std::size_t graph_size(native_graph graph) override;
  native_node add_kernel(native_graph graph, node_list after, const loaded_kernel& code,
                         const checked_launch& launch) override;
  native_node add_copy(native_graph graph, node_list after, const row_copy& shape) override;
  native_node add_fill(native_graph graph, node_list after, const row_fill& shape) override;
  native_node add_host(native_graph graph, node_list after, host_function function, void* data) override;
  native_node add_empty(native_graph graph, node_list after) override;
  native_node add_child(native_graph graph, node_list after, native_graph child) override;
  native_executable instantiate(native_graph graph) override;
  void destroy_executable(native_executable executable) noexcept override;
  void update(native_executable executable, native_graph changed) override;
  void replace_kernel(native_executable executable, native_node node, const loaded_kernel& code,
                      const checked_launch& launch) override;
  void upload_graph(native_executable executable, native_stream stream) override;
  void launch_graph(native_executable executable, native_stream stream) override;

  std::unique_ptr<loaded_kernel> load(const ptx::kernel_image& kernel) override;
  void launch(const loaded_kernel& code, const checked_launch& launch, native_stream stream) override;
  std::uint64_t resident_blocks(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                std::uint32_t dynamic_shared) override;
  std::uint64_t max_active_clusters(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                    const ptx::dim3& cluster, std::uint32_t dynamic_shared) override;
  void encode_tensor_map(const detail::tensor_description& t, unsigned char* to) override;

 private:
  // Puts work into a stream: it runs now or after the stream's work that polls, or becomes a node of the graph that the
  // stream is captured into.
  void submit(native_stream stream, emulated::node_kind kind, std::function<void()> run);
  // Whether the stream is captured: then `make_work` gives the work of its node.
  template <class MakeWork>
  bool captured(native_stream stream, emulated::node_kind kind, MakeWork make_work) {
    const std::scoped_lock lock(streams_changing_);
    emulated::stream& s = live(stream);
    if (s.captured == nullptr) return false;
    s.last = {s.captured->into->add(kind, s.last, make_work())};
    return true;
  }
  std::shared_ptr<emulated::work_queue> queue_of(native_stream stream);
  std::vector<std::shared_ptr<emulated::work_queue>> busy();
  // Runs work that may poll. If nothing can write while it runs, it runs within the call.
  void run_or_poll(native_stream stream, std::function<void()> work);
  bool others_may_write();
  std::shared_ptr<emulated::mark> mark_of(native_event event);
  void release(std::uint64_t address) noexcept;
  // The stream. Throws invalid_argument: its owner destroyed it. streams_changing_ is held.
  emulated::stream& live(native_stream stream);
  // Throws stream_capturing, and remembers it as the capture's mistake. streams_changing_ is held.
  [[noreturn]] void refuse_in_capture(emulated::capture& c, std::string_view what, std::string_view why,
                                      std::string_view what_to_do);
  // The image defines how arguments are packed, and the text how they are read: both must agree.
  void check_entry(const ptx::kernel_image& kernel, const emulator::module& parsed,
                   const std::string& source) const;
  emulator::launch prepared(const loaded_kernel& code, const checked_launch& launch);
  // The work of a node: it needs the image no more.
  std::function<void()> node_of(const loaded_kernel& code, const checked_launch& launch);
  void run(emulator::launch& l, launch_measure* measure);
  void copy(const row_copy& shape);
  void fill(const row_fill& shape);
  std::vector<emulator::budget> budgets();
  template <class Call>
  auto guarded(Call call, std::uint64_t bytes) -> decltype(call());
  [[noreturn]] void throw_full(std::uint64_t bytes);
  [[noreturn]] void throw_out_of_host_memory(std::string_view what, std::string_view kernel) const;
  void note(const char* message) noexcept;

  emulator::architecture architecture_;
  const bool shares_memory_;  // an emulator with a number
  const std::shared_ptr<emulator::memory> kept_memory_;
  emulator::memory& memory_;
  std::mutex owned_changing_;
  std::map<std::uint64_t, std::uint64_t> owned_;  // bytes by address, of an emulator with a number
  std::mutex running_;
  std::mutex settings_;
  std::vector<emulator::budget> budgets_;
  std::atomic<std::uint64_t> cancellations_{0};
  // Streams and captures. All emulators share the lock: a capture may have streams of several.
  std::mutex& streams_changing_;
  std::map<void*, std::unique_ptr<emulated::stream>> streams_;
  std::vector<std::shared_ptr<emulated::work_queue>> abandoned_;  // of destroyed streams, with work left
  emulated::stream legacy_stream_, per_thread_stream_;  // of handles that are borrowed: 0 and 1, and 2
};

}  // namespace kaio::runtime

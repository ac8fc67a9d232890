#pragma once
// A GPU as a backend: the driver's calls on its primary context. Each entry makes that context current on the
// calling thread, and restores the previous one afterwards. Other users of CUDA on the thread (PyTorch, the
// CUDA runtime) then find theirs.

#include <atomic>
#include <string>
#include <string_view>

#include "runtime/base/backend.hpp"
#include "runtime/driver/library.hpp"

namespace kaio::runtime::driver {

class cuda_backend final : public backend {
 public:
  // In the primary context, or in a context that another part of the program owns.
  explicit cuda_backend(int ordinal, CUcontext foreign = nullptr);
  ~cuda_backend() override;

  std::string_view remedy() const noexcept override { return "restart the program"; }
  void* native_context() const noexcept override { return context_; }
  bool is_primary() const noexcept override { return owns_context_; }
  void set_budget(const budget& limits) override;
  void cancel() override;
  runtime::memory_info memory_info() override;
  std::uint64_t allocate(std::uint64_t bytes) override;
  bool allocates_zeroes() const noexcept override { return false; }
  void free(std::uint64_t address) noexcept override;
  void* allocate_host(std::uint64_t bytes) override;
  void free_host(void* address) noexcept override;
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
  void enable_access(backend& other) override;

  native_pool create_pool(std::uint64_t keep) override;
  void destroy_pool(native_pool pool) noexcept override;
  std::uint64_t allocate_from(native_pool pool, std::uint64_t bytes, native_stream stream) override;
  void free_async(std::uint64_t address, native_stream stream) noexcept override;
  void trim(native_pool pool, std::uint64_t keep) override;
  std::pair<std::uint64_t, std::uint64_t> reserved(native_pool pool) override;
  void open_pool_to(native_pool pool, const backend& other) override;

  native_stream create_stream(int priority) override;
  runtime::stream_priorities stream_priorities() override;
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

  native_event create_event() override;
  void destroy_event(native_event event) noexcept override;
  void record(native_event event, native_stream stream) override;
  void synchronize_event(native_event event) override;
  bool event_is_done(native_event event) override;
  double elapsed_ms(native_event begin, native_event end) override;
  measured measure(native_event from, native_event to, bool wait, double& milliseconds) noexcept override;

  void begin_capture(native_stream stream) override;
  native_graph end_capture(native_stream stream) override;
  void note_refused_in_capture(native_stream stream, const std::string& message) override;
  native_graph create_graph() override;
  void destroy_graph(native_graph graph) noexcept override;
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
  void encode_tensor_map(const detail::tensor_description& tensor, unsigned char* to) override;

  void unload(CUmodule module) noexcept;

 private:
  class current;
  class relaxed_capture;
  void check(CUresult result, const char* function, std::string_view what) {
    if (result != CUDA_SUCCESS) [[unlikely]]
      fail(result, function, what);
  }
  // Remembers the failure if the context is lost by it, and throws.
  [[noreturn]] void fail(CUresult result, const char* function, std::string_view what);
  [[noreturn]] void fail_to_allocate(CUresult result, const char* function, std::uint64_t bytes);
  // As fail, for calls that must not throw.
  void note(CUresult result, const char* function, std::string_view what) noexcept;
  // The first call on this thread that a capture did not allow; end_capture reports it.
  static void remember_capture_mistake(const std::string& message);
  bool has_pools();
  CUDA_KERNEL_NODE_PARAMS node_of(const loaded_kernel& code, const checked_launch& launch);
  // The machine code that the program carries; null: it has none that this driver takes.
  CUmodule load_precompiled(const ptx::kernel_image& kernel);
  CUmodule compile(const ptx::kernel_image& kernel, const std::string& source);
  // What the trace and the log say of a kernel that is loaded.
  void note_code(loaded_kernel& code, CUfunction function, bool precompiled) const noexcept;
  // Lets the kernel have more dynamic shared memory than every kernel may use.
  void allow_shared(const loaded_kernel& code, const ptx::kernel_image& kernel, std::uint32_t dynamic);
  // Lets the kernel have clusters of `blocks` blocks, more than every GPU takes.
  void allow_cluster(const loaded_kernel& code, const ptx::kernel_image& kernel, std::uint64_t blocks);
  void launch_with_attributes(const loaded_kernel& code, const checked_launch& launch, native_stream stream);
  std::string explain(CUresult result, const char* function, std::string_view what) const;

  const library& cuda_;
  const functions& call_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  bool owns_context_ = true;  // a reference to the primary context
  std::atomic<bool> takes_precompiled_{true};
};

}  // namespace kaio::runtime::driver

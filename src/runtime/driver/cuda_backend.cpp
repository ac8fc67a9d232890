#include "runtime/driver/cuda_backend.hpp"

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/base/entry_contract.hpp"
#include "runtime/base/jit_report.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/precompiled.hpp"
#include "runtime/base/text.hpp"
#include "runtime/driver/cuda_devices.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime {

std::unique_ptr<backend> open_cuda_backend(int ordinal) {
  return std::make_unique<driver::cuda_backend>(ordinal);
}

namespace driver {

namespace {

[[noreturn]] void throw_runs_to_its_end(std::string_view call, std::string_view device) {
  throw unsupported_device(text("kaio: ", call, " on ", device,
                                ": a GPU runs a kernel to its end; only the emulator can end one, check "
                                "device::is_emulator() before the call"));
}

CUstream stream_of(void* native) { return static_cast<CUstream>(native); }
CUevent event_of(void* native) { return static_cast<CUevent>(native); }

// The driver's optimisation level for a kernel, 0 to 4, from KAIO_JIT_LEVEL; the driver's own default is 4.
std::uintptr_t jit_level() {
  const char* const value = std::getenv("KAIO_JIT_LEVEL");
  if (!value || !*value) return 4;
  if (value[0] < '0' || value[0] > '4' || value[1] != '\0')
    throw invalid_argument(text("kaio: KAIO_JIT_LEVEL is '", value, "'; write 0 (no optimisation) to 4"));
  return static_cast<std::uintptr_t>(value[0] - '0');
}

// Whether the environment asks for the driver's compiler; CUDA_FORCE_PTX_JIT is the driver's own variable.
bool compiles_by_request() {
  const char* const level = std::getenv("KAIO_JIT_LEVEL");
  const char* const forced = std::getenv("CUDA_FORCE_PTX_JIT");
  const auto is_set = [](const char* value) { return value != nullptr && *value != '\0'; };
  return is_set(level) || (is_set(forced) && std::string_view(forced) != "0");
}

// The largest cluster that every GPU with clusters takes.
constexpr std::uint64_t portable_cluster = 8;

// A query of a kernel's blocks on the whole GPU. Answers are kept: the driver takes some microseconds for one,
// and persistent kernels need it at every launch.
struct occupancy_question {
  ptx::dim3 cluster;
  std::uint32_t dynamic_shared;
  friend bool operator==(const occupancy_question&, const occupancy_question&) = default;
};
class occupancy_answers {
 public:
  std::optional<std::uint64_t> find(const occupancy_question& question) {
    const std::scoped_lock lock(changing_);
    for (const auto& [asked, answer] : known_)
      if (asked == question) return answer;
    return std::nullopt;
  }
  std::uint64_t remember(const occupancy_question& question, std::uint64_t answer) {
    const std::scoped_lock lock(changing_);
    if (known_.size() == most) known_.clear();
    known_.emplace_back(question, answer);
    return answer;
  }

 private:
  static constexpr std::size_t most = 64;
  std::mutex changing_;
  std::vector<std::pair<occupancy_question, std::uint64_t>> known_;
};

class cuda_kernel final : public loaded_kernel {
 public:
  cuda_kernel(const ptx::kernel_image& kernel, cuda_backend& owner, CUmodule module, CUfunction function)
      : loaded_kernel(kernel), owner_(owner), module_(module), function_(function) {}
  ~cuda_kernel() override { owner_.unload(module_); }
  CUfunction function() const noexcept { return function_; }

  // The most dynamic shared memory that the driver allows the kernel by now; it only grows, under the mutex.
  mutable std::mutex allowing;
  mutable std::atomic<std::uint32_t> allowed{0};
  // Whether the driver allows the kernel clusters of more than 8 blocks by now.
  mutable std::atomic<bool> large_cluster_allowed{false};
  mutable occupancy_answers occupancy;

 private:
  cuda_backend& owner_;
  CUmodule module_;
  CUfunction function_;
};

}  // namespace

// Makes the device's context current for the scope. Querying the current one costs some nanoseconds and is
// always right; a thread-local copy would miss changes by others.
class cuda_backend::current {
 public:
  explicit current(cuda_backend& device) : call_(device.call_) {
    CUcontext now = nullptr;
    device.check(call_.cuCtxGetCurrent(&now), "cuCtxGetCurrent", "using");
    if (now != device.context_) {
      device.check(call_.cuCtxSetCurrent(device.context_), "cuCtxSetCurrent", "using");
      previous_ = now;
    }
  }
  current(cuda_backend& device, std::nothrow_t) noexcept : call_(device.call_) {
    CUcontext now = nullptr;
    if (call_.cuCtxGetCurrent(&now) != CUDA_SUCCESS || now == device.context_) return;
    if (call_.cuCtxSetCurrent(device.context_) == CUDA_SUCCESS) previous_ = now;
  }
  current(const current&) = delete;
  current& operator=(const current&) = delete;
  ~current() {
    if (previous_) [[unlikely]]
      call_.cuCtxSetCurrent(previous_);
  }

 private:
  const functions& call_;
  CUcontext previous_ = nullptr;
};

// Lets this thread allocate, free and load while another stream is captured. None of these is part of a graph,
// but the driver would end a capture in global mode over them.
class cuda_backend::relaxed_capture {
 public:
  explicit relaxed_capture(const functions& call) noexcept : call_(call) {
    changed_ = call_.cuThreadExchangeStreamCaptureMode(&mode_) == CUDA_SUCCESS;
  }
  relaxed_capture(const relaxed_capture&) = delete;
  relaxed_capture& operator=(const relaxed_capture&) = delete;
  ~relaxed_capture() {
    if (changed_) call_.cuThreadExchangeStreamCaptureMode(&mode_);
  }

 private:
  const functions& call_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
  bool changed_ = false;
};

cuda_backend::cuda_backend(int ordinal)
    : cuda_(initialised_library()), call_(cuda_.call), device_(handle_of(ordinal)) {
  properties_ = properties_of(ordinal);
  description_ = describe(properties_);
  check(call_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain", "opening");
}

cuda_backend::~cuda_backend() {
  CUcontext now = nullptr;
  const bool is_current = call_.cuCtxGetCurrent(&now) == CUDA_SUCCESS && now == context_;
  call_.cuDevicePrimaryCtxRelease_v2(device_);
  // If nothing else holds the context, it is destroyed now, and must not stay current on this thread.
  unsigned flags = 0;
  int active = 0;
  const bool lives_on =
      call_.cuDevicePrimaryCtxGetState(device_, &flags, &active) == CUDA_SUCCESS && active != 0;
  if (is_current && !lives_on) call_.cuCtxSetCurrent(nullptr);
}

std::string cuda_backend::explain(CUresult result, const char* function, std::string_view what) const {
  const result_meaning meaning = meaning_of(result);
  std::string message =
      text("kaio: ", what, properties_.ordinal >= 0 ? text(" cuda:", properties_.ordinal) : std::string(),
           " (", description_, ") failed: ", meaning.what, " (", name_of(call_, result), " from ", function,
           meaning.sticky ? "; it may stem from any work that was launched before)" : ")");
  if (!meaning.what_to_do.empty()) message += text("; ", meaning.what_to_do);
  return message;
}

void cuda_backend::fail(CUresult result, const char* function, std::string_view what) {
  const result_meaning meaning = meaning_of(result);
  const std::string message = explain(result, function, what);
  if (meaning.sticky) failures_.remember(meaning.code, message);
  throw_error(meaning.code, message);
}

void cuda_backend::note(CUresult result, const char* function, std::string_view what) noexcept {
  if (result == CUDA_SUCCESS) return;
  try {
    const result_meaning meaning = meaning_of(result);
    if (meaning.sticky) failures_.remember(meaning.code, explain(result, function, what));
  } catch (...) {
    // Without memory for the text, the next call on the device reports the failure.
  }
}

// A kernel on a GPU runs to its end.

void cuda_backend::set_budget(const budget& limits) {
  if (limits.launch_instructions == 0 && limits.launch_time.count() == 0 && limits.total_instructions == 0 &&
      limits.total_time.count() == 0)
    return;
  throw_runs_to_its_end("set_budget", description_);
}

void cuda_backend::cancel() { throw_runs_to_its_end("cancel", description_); }

// Memory.

runtime::memory_info cuda_backend::memory_info() {
  const current scope(*this);
  std::size_t free = 0, total = 0;
  check(call_.cuMemGetInfo_v2(&free, &total), "cuMemGetInfo", "asking for the free memory of");
  return {free, total};
}

std::uint64_t cuda_backend::allocate(std::uint64_t bytes) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUdeviceptr address = 0;
  const CUresult result = call_.cuMemAlloc_v2(&address, bytes);
  if (result != CUDA_SUCCESS) {
    std::size_t free = 0, total = 0;
    const bool known =
        result == CUDA_ERROR_OUT_OF_MEMORY && call_.cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS;
    fail(result, "cuMemAlloc",
         known ? text("allocating ", readable_bytes(bytes), " with ", readable_bytes(free), " of ",
                      readable_bytes(total), " free on")
               : text("allocating ", readable_bytes(bytes), " on"));
  }
  return address;
}

void cuda_backend::free(std::uint64_t address) noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuMemFree_v2(address), "cuMemFree", "freeing a buffer on");
}

void* cuda_backend::allocate_host(std::uint64_t bytes) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  void* address = nullptr;
  check(call_.cuMemHostAlloc(&address, bytes, mem_host_alloc_portable), "cuMemHostAlloc",
        text("allocating ", readable_bytes(bytes), " of page-locked host memory for"));
  std::memset(address, 0, bytes);
  return address;
}

void cuda_backend::free_host(void* address) noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuMemFreeHost(address), "cuMemFreeHost", "freeing page-locked host memory of");
}

void cuda_backend::copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes,
                                  native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyHtoDAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyHtoDAsync",
        "copying from the host to");
}

void cuda_backend::copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyDtoHAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyDtoHAsync",
        "copying to the host from");
}

void cuda_backend::copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                                  native_stream stream) {
  const current scope(*this);
  check(call_.cuMemcpyDtoDAsync_v2(to, from, bytes, stream_of(stream)), "cuMemcpyDtoDAsync",
        "copying between buffers on");
}

void cuda_backend::fill_zero(std::uint64_t to, std::uint64_t bytes, native_stream stream) {
  const current scope(*this);
  check(call_.cuMemsetD8Async(to, 0, bytes, stream_of(stream)), "cuMemsetD8Async",
        "zero-filling a buffer on");
}

// Streams.

backend::native_stream cuda_backend::create_stream() {
  const current scope(*this);
  CUstream stream = nullptr;
  check(call_.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", "creating a stream on");
  return stream;
}

void cuda_backend::destroy_stream(native_stream stream) noexcept {
  const current scope(*this, std::nothrow);
  note(call_.cuStreamDestroy_v2(stream_of(stream)), "cuStreamDestroy", "destroying a stream on");
}

void cuda_backend::synchronize_stream(native_stream stream) {
  const current scope(*this);
  check(call_.cuStreamSynchronize(stream_of(stream)), "cuStreamSynchronize", "waiting for a stream on");
}

bool cuda_backend::stream_is_done(native_stream stream) {
  const current scope(*this);
  const CUresult result = call_.cuStreamQuery(stream_of(stream));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuStreamQuery", "asking a stream on");
  return true;
}

bool cuda_backend::stream_is_capturing(native_stream stream) {
  const current scope(*this);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  check(call_.cuStreamIsCapturing(stream_of(stream), &status), "cuStreamIsCapturing", "asking a stream on");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void cuda_backend::stream_wait(native_stream stream, native_event event) {
  const current scope(*this);
  check(call_.cuStreamWaitEvent(stream_of(stream), event_of(event), 0), "cuStreamWaitEvent",
        "letting a stream wait on");
}

void cuda_backend::synchronize() {
  const current scope(*this);
  check(call_.cuCtxSynchronize(), "cuCtxSynchronize", "waiting for");
}

void cuda_backend::drain() noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuCtxSynchronize(), "cuCtxSynchronize", "waiting for");
}

// Events.

backend::native_event cuda_backend::create_event() {
  const current scope(*this);
  CUevent event = nullptr;
  check(call_.cuEventCreate(&event, CU_EVENT_DEFAULT), "cuEventCreate", "creating an event on");
  return event;
}

void cuda_backend::destroy_event(native_event event) noexcept {
  const current scope(*this, std::nothrow);
  note(call_.cuEventDestroy_v2(event_of(event)), "cuEventDestroy", "destroying an event on");
}

void cuda_backend::record(native_event event, native_stream stream) {
  const current scope(*this);
  check(call_.cuEventRecord(event_of(event), stream_of(stream)), "cuEventRecord", "recording an event on");
}

void cuda_backend::synchronize_event(native_event event) {
  const current scope(*this);
  check(call_.cuEventSynchronize(event_of(event)), "cuEventSynchronize", "waiting for an event on");
}

bool cuda_backend::event_is_done(native_event event) {
  const current scope(*this);
  const CUresult result = call_.cuEventQuery(event_of(event));
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", "asking an event on");
  return true;
}

double cuda_backend::elapsed_ms(native_event begin, native_event end) {
  const current scope(*this);
  float milliseconds = 0;
  check(call_.cuEventElapsedTime(&milliseconds, event_of(begin), event_of(end)), "cuEventElapsedTime",
        "measuring between events on");
  return double{milliseconds};
}

// Kernels.

CUmodule cuda_backend::load_precompiled(const ptx::kernel_image& kernel) {
  if (!takes_precompiled_.load(std::memory_order_relaxed) || compiles_by_request()) return nullptr;
  const auto code = find_precompiled(ptx::hash_of_text(kernel), properties_.target);
  if (!code) return nullptr;
  CUmodule module = nullptr;
  const CUresult result = call_.cuModuleLoadDataEx(&module, code->image.data(), 0, nullptr, nullptr);
  if (result == CUDA_SUCCESS) return module;
  const result_meaning meaning = meaning_of(result);
  if (meaning.code != errc::jit_failed && meaning.code != errc::unsupported_device)
    fail(result, "cuModuleLoadDataEx", text("loading kernel ", display_name(kernel), " on"));
  // A driver that is older than the ptxas takes none of its code.
  takes_precompiled_.store(false, std::memory_order_relaxed);
  log().info("{} does not take the precompiled code of kernel {} for sm_{} ({}); texts are compiled",
             description_, kernel.name, code->target.sm, name_of(call_, result));
  return nullptr;
}

CUmodule cuda_backend::compile(const ptx::kernel_image& kernel, const std::string& source) {
  std::vector<char> messages(16384, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_OPTIMIZATION_LEVEL};
  // The driver takes numbers in the bits of a pointer. The size is one byte less, so that the log ends in a zero.
  void* values[] = {messages.data(), reinterpret_cast<void*>(messages.size() - 1),
                    reinterpret_cast<void*>(jit_level())};
  CUmodule module = nullptr;
  const CUresult result = call_.cuModuleLoadDataEx(&module, source.c_str(), 3, options, values);
  if (result == CUDA_SUCCESS) return module;
  const result_meaning meaning = meaning_of(result);
  if (meaning.code != errc::jit_failed && meaning.code != errc::unsupported_device) {
    fail(result, "cuModuleLoadDataEx", text("loading kernel ", display_name(kernel), " on"));
  }
  const std::string cause = text(meaning.what, " (", name_of(call_, result), " from cuModuleLoadDataEx)");
  if (meaning.code == errc::unsupported_device) {
    throw unsupported_device(text("kaio: kernel ", display_name(kernel), " cannot be loaded on ",
                                  description_, ": ", cause, meaning.what_to_do.empty() ? "" : "; ",
                                  meaning.what_to_do, '\n', messages.data()));
  }
  throw_jit_error({kernel, source, messages.data(), description_, cause, meaning.what_to_do});
}

std::unique_ptr<loaded_kernel> cuda_backend::load(const ptx::kernel_image& kernel) {
  const current scope(*this);
  const relaxed_capture relaxed(call_);
  CUmodule module = nullptr;
  std::string source;
  // A packed text was made by kaio's build, with its image. If its machine code is there, the text is not read.
  if (kernel.is_packed()) module = load_precompiled(kernel);
  if (module == nullptr) {
    source = joined_text(kernel);
    if (const auto declared = entry_parameters(source, kernel.name))
      check_parameters(kernel, *declared, source, description_);
    if (!kernel.is_packed()) module = load_precompiled(kernel);
    if (module == nullptr) module = compile(kernel, source);
  }
  try {
    CUfunction function = nullptr;
    const std::string name(kernel.name);
    const CUresult found = call_.cuModuleGetFunction(&function, module, name.c_str());
    if (found == CUDA_ERROR_NOT_FOUND) {
      throw_jit_error(
          {kernel, source, "", description_,
           text("its text has no .entry of that name (CUDA_ERROR_NOT_FOUND from cuModuleGetFunction)"), ""});
    }
    check(found, "cuModuleGetFunction", text("loading kernel ", display_name(kernel), " on"));
    // Drivers load lazily since CUDA 11.7: without this, the first launch would load.
    if (call_.cuFuncLoad)
      check(call_.cuFuncLoad(function), "cuFuncLoad", text("loading kernel ", display_name(kernel), " on"));
    int most_threads = 0;
    check(call_.cuFuncGetAttribute(&most_threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
          "cuFuncGetAttribute", text("loading kernel ", display_name(kernel), " on"));
    check_block(kernel, static_cast<std::uint64_t>(most_threads), description_);
    auto loaded = std::make_unique<cuda_kernel>(kernel, *this, module, function);
    module = nullptr;  // unloaded by the kernel from here on
    allow_cluster(*loaded, kernel, kernel.needs.cluster.count());
    return loaded;
  } catch (...) {
    if (module) unload(module);
    throw;
  }
}

void cuda_backend::unload(CUmodule module) noexcept {
  const current scope(*this, std::nothrow);
  const relaxed_capture relaxed(call_);
  note(call_.cuModuleUnload(module), "cuModuleUnload", "unloading a kernel on");
}

void cuda_backend::allow_shared(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                std::uint32_t dynamic) {
  if (kernel.needs.shared_bytes + dynamic <= properties_.shared_per_block) return;
  const auto& loaded = static_cast<const cuda_kernel&>(code);
  if (loaded.allowed.load(std::memory_order_acquire) >= dynamic) return;
  const std::scoped_lock lock(loaded.allowing);
  if (loaded.allowed.load(std::memory_order_relaxed) >= dynamic) return;
  check(call_.cuFuncSetAttribute(loaded.function(), CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                 static_cast<int>(dynamic)),
        "cuFuncSetAttribute",
        text("giving kernel ", display_name(kernel), ' ', dynamic, " bytes of dynamic shared memory on"));
  loaded.allowed.store(dynamic, std::memory_order_release);
}

void cuda_backend::allow_cluster(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                 std::uint64_t blocks) {
  const auto& loaded = static_cast<const cuda_kernel&>(code);
  if (blocks <= portable_cluster || loaded.large_cluster_allowed.load(std::memory_order_acquire)) return;
  check(call_.cuFuncSetAttribute(loaded.function(), CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1),
        "cuFuncSetAttribute",
        text("giving kernel ", display_name(kernel), " clusters of ", blocks, " blocks on"));
  loaded.large_cluster_allowed.store(true, std::memory_order_release);
}

void cuda_backend::launch_with_attributes(const loaded_kernel& code, const checked_launch& launch,
                                          native_stream stream) {
  if (!call_.cuLaunchKernelEx) {
    throw unsupported_device(
        text("kaio: kernel ", display_name(launch.kernel),
             " is launched cooperatively, in clusters or programmatically, and the driver of ", description_,
             " has no cuLaunchKernelEx; install NVIDIA driver 520 or newer"));
  }
  CUlaunchAttribute attributes[3] = {};
  unsigned count = 0;
  const auto add = [&](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    attributes[count].id = id;
    return attributes[count++].value;
  };
  if (launch.kernel.needs.cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (launch.cluster.x != 0) {
    allow_cluster(code, launch.kernel, launch.cluster.count());
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).cluster = {launch.cluster.x, launch.cluster.y,
                                                          launch.cluster.z};
  }
  if (launch.programmatic)
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION).programmatic_stream_serialization = 1;
  const ptx::dim3 grid = launch.grid, block = launch.kernel.block;
  const CUlaunchConfig config{
      grid.x,     grid.y, grid.z, block.x, block.y, block.z, launch.dynamic_shared, stream_of(stream),
      attributes, count};
  const CUresult result = call_.cuLaunchKernelEx(&config, static_cast<const cuda_kernel&>(code).function(),
                                                 launch.values, nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]] {
    fail(result, "cuLaunchKernelEx",
         text("launching kernel ", display_name(launch.kernel), " with ", grid.count(), " blocks on"));
  }
}

void cuda_backend::launch(const loaded_kernel& code, const checked_launch& launch, native_stream stream) {
  const current scope(*this);
  if (launch.dynamic_shared != 0) allow_shared(code, launch.kernel, launch.dynamic_shared);
  if (launch.kernel.needs.cooperative || launch.cluster.x != 0 || launch.programmatic)
    return launch_with_attributes(code, launch, stream);
  const ptx::dim3 grid = launch.grid, block = launch.kernel.block;
  const CUresult result = call_.cuLaunchKernel(
      static_cast<const cuda_kernel&>(code).function(), grid.x, grid.y, grid.z, block.x, block.y, block.z,
      launch.dynamic_shared, stream_of(stream), launch.values, nullptr);
  if (result != CUDA_SUCCESS) [[unlikely]] {
    fail(result, "cuLaunchKernel", text("launching kernel ", display_name(launch.kernel), " on"));
  }
}

std::uint64_t cuda_backend::resident_blocks(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                            std::uint32_t dynamic_shared) {
  const current scope(*this);
  allow_shared(code, kernel, dynamic_shared);
  const occupancy_question question{{1, 1, 1}, dynamic_shared};
  const auto& loaded = static_cast<const cuda_kernel&>(code);
  if (const auto known = loaded.occupancy.find(question)) return *known;
  int blocks = 0;
  check(call_.cuOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, loaded.function(), static_cast<int>(kernel.block.count()), dynamic_shared),
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        text("asking how many blocks of kernel ", display_name(kernel), " fit on"));
  return loaded.occupancy.remember(question,
                                   static_cast<std::uint64_t>(blocks) * properties_.multiprocessors);
}

std::uint64_t cuda_backend::max_active_clusters(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                                const ptx::dim3& cluster, std::uint32_t dynamic_shared) {
  const current scope(*this);
  const occupancy_question question{cluster, dynamic_shared};
  const auto& loaded = static_cast<const cuda_kernel&>(code);
  if (const auto known = loaded.occupancy.find(question)) return *known;
  if (!call_.cuOccupancyMaxActiveClusters) {
    throw unsupported_device(
        text("kaio: the driver of ", description_,
             " has no cuOccupancyMaxActiveClusters; install NVIDIA driver 520 or newer"));
  }
  allow_shared(code, kernel, dynamic_shared);
  allow_cluster(code, kernel, cluster.count());
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.cluster = {cluster.x, cluster.y, cluster.z};
  const ptx::dim3& block = kernel.block;
  const CUlaunchConfig config{cluster.x, cluster.y,      cluster.z, block.x,    block.y,
                              block.z,   dynamic_shared, nullptr,   &attribute, 1};
  int clusters = 0;
  check(call_.cuOccupancyMaxActiveClusters(&clusters, loaded.function(), &config),
        "cuOccupancyMaxActiveClusters",
        text("asking how many clusters of kernel ", display_name(kernel), " fit on"));
  return loaded.occupancy.remember(question, static_cast<std::uint64_t>(clusters));
}

void cuda_backend::encode_tensor_map(const detail::tensor_description& t, unsigned char* to) {
  if (!call_.cuTensorMapEncodeTiled) {
    throw unsupported_device(text("kaio: the driver of ", description_,
                                  " has no cuTensorMapEncodeTiled; install NVIDIA driver 525 or newer"));
  }
  const current scope(*this);
  alignas(128) CUtensorMap map{};
  check(call_.cuTensorMapEncodeTiled(&map, static_cast<int>(t.element), t.rank,
                                     reinterpret_cast<void*>(t.address), t.extents, t.strides, t.box,
                                     t.element_strides, 0, static_cast<int>(t.swizzle),
                                     static_cast<int>(t.promotion), static_cast<int>(t.fill)),
        "cuTensorMapEncodeTiled", text("encoding a tensor map of memory at ", hexadecimal(t.address), " on"));
  std::memcpy(to, &map, sizeof map);
}

}  // namespace driver
}  // namespace kaio::runtime

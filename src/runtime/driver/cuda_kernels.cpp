// Kernels on a GPU: loading, launching and their occupancy.

#include <kaio/runtime/error.hpp>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/entry_contract.hpp"
#include "runtime/base/jit_report.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/precompiled.hpp"
#include "runtime/base/text.hpp"
#include "runtime/driver/cuda_kernel.hpp"
#include "runtime/driver/cuda_scopes.hpp"
#include "runtime/driver/result.hpp"

namespace kaio::runtime::driver {

namespace {

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

}  // namespace

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
  }
  const bool precompiled = module != nullptr;
  if (!precompiled) module = compile(kernel, source);
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
    note_code(*loaded, function, precompiled);
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
  if (scope.is_gone()) return;
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

}  // namespace kaio::runtime::driver

#include "runtime/context.hpp"

#include <map>
#include <mutex>

#include "host/lasting.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/log.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime::detail {

namespace {

// The contexts of the GPUs that are open. They outlive static objects, which may hold devices.
struct open_gpus {
  std::mutex changing;
  std::map<int, context*> by_ordinal;
};

open_gpus& gpus() {
  static open_gpus& instance = *host::make_lasting<open_gpus>();
  return instance;
}

}  // namespace

context::context(std::unique_ptr<backend> device) : device_(std::move(device)) {
  default_stream_ = device_->create_stream();
  try {
    transfer_stream_ = device_->create_stream();
  } catch (...) {
    device_->destroy_stream(default_stream_);
    throw;
  }
}

context::~context() {
  device_->drain();  // code must not be unloaded while it runs
  device_->destroy_stream(transfer_stream_);
  device_->destroy_stream(default_stream_);
  kernels_.clear();
}

context_ref context::open_gpu(int ordinal) {
  open_gpus& open = gpus();
  const std::scoped_lock lock(open.changing);
  const auto found = open.by_ordinal.find(ordinal);
  if (found != open.by_ordinal.end() && found->second->try_retain()) return context_ref(found->second);
  auto fresh = std::make_unique<context>(open_cuda_backend(ordinal));
  open.by_ordinal[ordinal] = fresh.get();
  log().info("opened cuda:{}: {}", ordinal, fresh->description());
  return context_ref(fresh.release());
}

context_ref context::open_emulator(ptx::target architecture) {
  auto fresh = std::make_unique<context>(open_emulator_backend(architecture));
  log().info("opened {}", fresh->description());
  return context_ref(fresh.release());
}

bool context::try_retain() noexcept {
  std::size_t count = references_.load(std::memory_order_relaxed);
  while (count != 0) {
    if (references_.compare_exchange_weak(count, count + 1, std::memory_order_acq_rel)) return true;
  }
  return false;
}

void retain(context* c) noexcept { c->references_.fetch_add(1, std::memory_order_relaxed); }

void release(context* c) noexcept {
  if (c->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!c->properties().is_emulator()) {
    open_gpus& open = gpus();
    const std::scoped_lock lock(open.changing);
    const auto found = open.by_ordinal.find(c->properties().ordinal);
    if (found != open.by_ordinal.end() && found->second == c) open.by_ordinal.erase(found);
  }
  delete c;
}

const loaded_kernel& context::load(const ptx::kernel_image& kernel) {
  check_image(kernel);
  note_kernel(kernel);
  return kernels_.load(kernel, [&] {
    check_kernel(kernel, properties(), description());
    auto code = use().load(kernel);
    log().debug("loaded kernel {} on {}", kernel.name, description());
    return code;
  });
}

std::uint64_t context::resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes) {
  backend& used = use();
  const std::uint32_t dynamic = checked_shared(kernel, shared_bytes, properties(), description());
  const loaded_kernel* const code = find(kernel);
  return used.resident_blocks(code ? *code : load(kernel), kernel, dynamic);
}

std::uint64_t context::max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                           std::uint32_t shared_bytes) {
  const ptx::dim3 checked = checked_cluster(kernel, cluster, properties(), description());
  if (checked.count() == 1) return resident_blocks(kernel, shared_bytes);
  backend& used = use();
  const std::uint32_t dynamic = checked_shared(kernel, shared_bytes, properties(), description());
  const loaded_kernel* const code = find(kernel);
  return used.max_active_clusters(code ? *code : load(kernel), kernel, checked, dynamic);
}

}  // namespace kaio::runtime::detail

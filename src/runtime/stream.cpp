#include <kaio/runtime/stream.hpp>

#include <kaio/runtime/device.hpp>
#include <kaio/runtime/error.hpp>
#include <kaio/runtime/event.hpp>

#include <string>
#include <utility>

#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/checked_launch.hpp"
#include "runtime/context.hpp"
#include "runtime/stream_access.hpp"
#include "runtime/trace/work.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime {

using detail::device_of;

namespace {

// The first use of a kernel on a device. Out of line: not on the launch path. Errors of the call itself are
// reported before anything is loaded.
[[gnu::noinline, gnu::cold]] const loaded_kernel& load_for_launch(detail::context& context,
                                                                  const ptx::kernel_image& kernel,
                                                                  const ptx::launch_grid& grid,
                                                                  const ptx::argument* arguments,
                                                                  backend::native_stream stream) {
  check_image(kernel);
  note_kernel(kernel);
  checked_grid(kernel, grid, context.properties(), context.description());
  checked_shared(kernel, grid.shared_bytes, context.properties(), context.description());
  check_attributes(kernel, grid, context.properties(), context.description());
  for (std::size_t i = 0; i < kernel.parameter_count; ++i) {
    check_argument(kernel, i, arguments[i], &context, context.description());
  }
  check_overlaps(kernel, arguments);
  if (context.use().stream_is_capturing(stream)) {
    const std::string message = text(
        "kaio: kernel ", display_name(kernel), " is not loaded on ", context.description(),
        " yet, and cannot be loaded while the stream is captured; call device::warmup before the capture begins");
    context.device().note_refused_in_capture(stream, message);
    throw stream_capturing(message);
  }
  return context.load(kernel);
}

}  // namespace

// If a stream that is not owned is moved from, it stays usable: both are handles to it.
stream::stream(stream&& other) noexcept
    : context_(other.kind_ == kind::owned ? std::move(other.context_) : other.context_),
      native_(other.kind_ == kind::owned ? std::exchange(other.native_, nullptr) : other.native_),
      kind_(other.kind_ == kind::owned ? std::exchange(other.kind_, kind::of_device) : other.kind_) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    stream taken(std::move(other));
    std::swap(context_, taken.context_);
    std::swap(native_, taken.native_);
    std::swap(kind_, taken.kind_);
  }
  return *this;
}

stream::~stream() { destroy(); }

void stream::destroy() noexcept {
  if (kind_ == kind::owned && context_) context_->destroy_stream(native_);
}

stream stream::borrow(const device& gpu, void* handle) {
  return {gpu.context_, gpu.context_->device().borrowed_stream(handle), kind::borrowed};
}

stream stream::loading(const device& gpu) {
  return {gpu.context_, gpu.context_->default_stream(), kind::loading};
}

void stream::launch(const ptx::kernel_image& kernel, ptx::launch_grid grid, const ptx::argument* arguments,
                    std::size_t count) const {
  detail::context& on = device_of(*this, "launch");
  backend& device = on.use();
  detail::with_checked_launch(
      on, kernel, grid, arguments, count,
      [&]() -> const loaded_kernel& { return load_for_launch(on, kernel, grid, arguments, native_); },
      [&](const loaded_kernel& code, checked_launch& launch) {
        if (kind_ == kind::loading) [[unlikely]]
          return;
        const trace::work traced(device, native_, [&] { return trace::kernel(code, launch); });
        launch.measure = traced.measure();
        device.launch(code, launch, native_);
      });
}

void stream::host_function(void (*function)(void* data), void* data) const {
  detail::context& on = device_of(*this, "host_function");
  if (function == nullptr)
    throw invalid_argument("kaio: host_function of a null function; pass the function that is to be called");
  backend& device = on.use();
  if (kind_ != kind::loading) device.call_host(native_, function, data);
}

void stream::record(event& mark) const {
  detail::context& context = device_of(*this, "record");
  if (!mark.context_)
    throw invalid_argument(
        "kaio: record of a null event; it was default-constructed or moved from: use gpu.create_event()");
  if (mark.context_.get() != &context) {
    throw invalid_argument(text("kaio: record of an event of another device on a stream of ",
                                context.description(), "; create the event on that device"));
  }
  context.use().record(mark.native_, native_);
  mark.note_record();
}

void stream::wait(const event& mark) const {
  detail::context& context = device_of(*this, "wait");
  if (!mark.context_)
    throw invalid_argument(
        "kaio: wait for a null event; it was default-constructed or moved from: use gpu.create_event()");
  if (mark.context_->properties().is_emulator() != context.properties().is_emulator()) {
    throw invalid_argument(text("kaio: wait for an event of ", mark.context_->description(),
                                " on a stream of ", context.description(),
                                "; synchronise the event on the host"));
  }
  backend& device = context.use();
  if (mark.was_recorded()) device.stream_wait(native_, mark.native_);
}

void stream::synchronize() const {
  backend& device = device_of(*this, "synchronize").use();
  const trace::call traced("synchronize stream");
  device.synchronize_stream(native_);
}

bool stream::is_capturing() const {
  return device_of(*this, "is_capturing").use().stream_is_capturing(native_);
}

bool stream::is_done() const { return device_of(*this, "is_done").use().stream_is_done(native_); }

std::uint64_t stream::resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes) const {
  return device_of(*this, "resident_blocks").resident_blocks(kernel, shared_bytes);
}

std::uint64_t stream::max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                          std::uint32_t shared_bytes) const {
  return device_of(*this, "max_active_clusters").max_active_clusters(kernel, cluster, shared_bytes);
}

const device_properties& stream::properties() const { return device_of(*this, "properties").properties(); }

}  // namespace kaio::runtime

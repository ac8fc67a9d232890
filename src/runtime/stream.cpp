#include <kaio/runtime/stream.hpp>

#include <kaio/runtime/error.hpp>
#include <kaio/runtime/event.hpp>

#include <utility>

#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/context.hpp"
#include "runtime/validate.hpp"

namespace kaio::runtime {

namespace {

[[noreturn]] void throw_null_stream(std::string_view operation) {
  throw invalid_argument(text(
      "kaio: ", operation,
      " on a null stream; it was default-constructed or moved from: use gpu.stream() or gpu.create_stream()"));
}

detail::context& context_of(const detail::context_ref& context, std::string_view operation) {
  if (!context) [[unlikely]]
    throw_null_stream(operation);
  return *context.get();
}

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
    throw stream_capturing(text(
        "kaio: kernel ", display_name(kernel), " is not loaded on ", context.description(),
        " yet, and cannot be loaded while the stream is captured; call device::warmup before the capture begins"));
  }
  return context.load(kernel);
}

}  // namespace

// If the device's own stream is moved from, it stays usable through the device: both are handles to it.
stream::stream(stream&& other) noexcept
    : context_(other.owned_ ? std::move(other.context_) : other.context_),
      native_(other.owned_ ? std::exchange(other.native_, nullptr) : other.native_),
      owned_(std::exchange(other.owned_, false)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (this != &other) {
    stream taken(std::move(other));
    std::swap(context_, taken.context_);
    std::swap(native_, taken.native_);
    std::swap(owned_, taken.owned_);
  }
  return *this;
}

stream::~stream() { destroy(); }

void stream::destroy() noexcept {
  if (owned_) context_->device().destroy_stream(native_);
}

void stream::launch(const ptx::kernel_image& kernel, ptx::launch_grid grid, const ptx::argument* arguments,
                    std::size_t count) const {
  detail::context& context = context_of(context_, "launch");
  backend& device = context.use();
  check_count(kernel, arguments, count);
  if (is_empty(grid)) return;

  const loaded_kernel* code = context.find(kernel);
  if (!code) [[unlikely]]
    code = &load_for_launch(context, kernel, grid, arguments, native_);

  const ptx::dim3 blocks = checked_grid(kernel, grid, context.properties(), context.description());
  const std::uint32_t shared =
      checked_shared(kernel, grid.shared_bytes, context.properties(), context.description());
  void* values[max_parameters];
  for (std::size_t i = 0; i < count; ++i) {
    check_argument(kernel, i, arguments[i], &context, context.description());
    const void* const value = arguments[i].data != nullptr ? arguments[i].data : &arguments[i].bits;
    values[i] = const_cast<void*>(value);  // the driver only reads
  }
  check_overlaps(kernel, arguments);
  if (has_attributes(kernel, grid))
    check_attributes(kernel, grid, context.properties(), context.description());
  device.launch(*code, {kernel, blocks, shared, values, arguments, grid.cluster, grid.programmatic}, native_);
}

void stream::record(event& mark) const {
  detail::context& context = context_of(context_, "record");
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
  detail::context& context = context_of(context_, "wait");
  if (!mark.context_)
    throw invalid_argument(
        "kaio: wait for a null event; it was default-constructed or moved from: use gpu.create_event()");
  if (mark.context_.get() != &context) {
    throw invalid_argument(text("kaio: wait for an event of another device on a stream of ",
                                context.description(), "; synchronise the event on the host"));
  }
  backend& device = context.use();
  if (mark.was_recorded()) device.stream_wait(native_, mark.native_);
}

void stream::synchronize() const { context_of(context_, "synchronize").use().synchronize_stream(native_); }

bool stream::is_done() const { return context_of(context_, "is_done").use().stream_is_done(native_); }

std::uint64_t stream::resident_blocks(const ptx::kernel_image& kernel, std::uint32_t shared_bytes) const {
  return context_of(context_, "resident_blocks").resident_blocks(kernel, shared_bytes);
}

std::uint64_t stream::max_active_clusters(const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                          std::uint32_t shared_bytes) const {
  return context_of(context_, "max_active_clusters").max_active_clusters(kernel, cluster, shared_bytes);
}

const device_properties& stream::properties() const {
  return context_of(context_, "properties").properties();
}

void* stream::native_handle() const noexcept {
  return context_ && !context_->properties().is_emulator() ? native_ : nullptr;
}

}  // namespace kaio::runtime

#include "runtime/emulator/emulator_backend.hpp"

#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <optional>

#include "emulator/memory/tensor_map.hpp"
#include "emulator/waiting/memory_activity.hpp"
#include "host/lasting.hpp"
#include "runtime/base/entry_contract.hpp"
#include "runtime/base/jit_report.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/emulator/attached_memory.hpp"
#include "runtime/emulator/checked_thread.hpp"
#include "runtime/emulator/environment.hpp"
#include "runtime/emulator/launch_watch.hpp"
#include "runtime/emulator/owned_image.hpp"

namespace kaio::runtime {

namespace {

launch_watch& watch_of_launches() {
  static auto& watch = *host::make_lasting<launch_watch>();
  return watch;
}

// The memory of all emulators with numbers: each can read what another one wrote.
emulator::memory& shared_memory() {
  static auto& memory = *host::make_lasting<emulator::memory>();
  return memory;
}

// Host memory that kernels of emulators with numbers use in place.
attached_memory& attached() {
  static auto& memory = *host::make_lasting<attached_memory>(shared_memory());
  return memory;
}

std::atomic<int>& numbered_emulators() {
  static auto& open = *host::make_lasting<std::atomic<int>>(0);
  return open;
}

std::mutex& streams_of_all() {
  static auto& changing = *host::make_lasting<std::mutex>();
  return changing;
}

class emulator_kernel final : public loaded_kernel {
 public:
  emulator_kernel(const ptx::kernel_image& kernel, emulator::module mod, emulator::memory& global)
      : loaded_kernel(kernel), module_(std::move(mod)), variables_(module_, global) {
    entry_ = module_.find(kernel.name);
  }
  const emulator::module& module() const noexcept { return module_; }
  const emulator::module_instance& variables() const noexcept { return variables_; }
  const emulator::entry& entry() const noexcept { return *entry_; }

 private:
  emulator::module module_;
  emulator::module_instance variables_;
  const emulator::entry* entry_;
};

// While a launch polls, others of its device run.
class wait_without_turn final : public emulator::memory_wait {
 public:
  wait_without_turn(emulator::memory_wait& own, std::unique_lock<std::mutex>& turn)
      : own_(own), turn_(turn) {}
  void begin() override { own_.begin(); }
  emulator::poll_answer wait(emulator::poll_state state, bool wrote) override {
    if (turn_.owns_lock()) turn_.unlock();
    return own_.wait(state, wrote);
  }

 private:
  emulator::memory_wait& own_;
  std::unique_lock<std::mutex>& turn_;
};

using clock = std::chrono::steady_clock;

// Measures a launch for a trace, from here to the end of the scope.
class measuring {
 public:
  measuring(launch_measure* to, emulator::launch& l) : to_(to) {
    if (to == nullptr) return;
    l.executed = &executed_;
    to->begin = ticks();
  }
  measuring(const measuring&) = delete;
  measuring& operator=(const measuring&) = delete;
  ~measuring() {
    if (to_ == nullptr) return;
    to_->end = ticks();
    to_->warp_instructions = executed_.load();
  }

 private:
  static std::uint64_t ticks() {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now().time_since_epoch()).count());
  }
  launch_measure* to_;
  std::atomic<std::uint64_t> executed_{0};
};

errc error_code_of(emulator::fault_kind kind) {
  using enum emulator::fault_kind;
  switch (kind) {
    case out_of_bounds:
    case misaligned:
    case use_after_free:
    case read_only: return errc::illegal_access;
    case device_assert: return errc::device_assert;
    case instruction_limit:
    case time_limit: return errc::launch_timeout;
    case cancelled: return errc::cancelled;
    default: return errc::launch_failed;
  }
}

}  // namespace

emulator_backend::emulator_backend(ptx::target target, int number)
    : architecture_(emulator::architecture_of(target)),
      shares_memory_(number >= 0),
      kept_memory_(number < 0
                       ? std::make_shared<emulator::memory>(emulator_properties(target).total_memory)
                       : std::shared_ptr<emulator::memory>(&shared_memory(), [](emulator::memory*) {})),
      memory_(*kept_memory_),
      streams_changing_(streams_of_all()) {
  properties_ = emulator_properties(target);
  if (shares_memory_) ++numbered_emulators();
  properties_.emulator = number;
  description_ = text("emulator", number < 0 ? std::string() : text(':', number), " (sm_", target.sm,
                      target.arch_specific ? "a)" : ")");
}

// What was not freed goes with the device.
emulator_backend::~emulator_backend() {
  ++cancellations_;
  drain();
  if (shares_memory_) --numbered_emulators();
  for (emulated::stream* const s : {&legacy_stream_, &per_thread_stream_}) {
    const std::scoped_lock lock(streams_changing_);
    if (s->captured != nullptr) std::erase(s->captured->streams, s);
  }
  for (const auto& [address, bytes] : owned_) try {
      memory_.free(address);
    } catch (const std::exception&) {
      // It is gone already.
    }
}

void emulator_backend::set_budget(const budget& limits) {
  if (limits.launch_time.count() < 0 || limits.total_time.count() < 0)
    throw invalid_argument("kaio: a budget of negative time; give 0 for no limit");
  using enum emulator::budget_unit;
  std::vector<emulator::budget> fresh;
  const auto add = [&](emulator::budget_unit unit, std::uint64_t limit, bool shared) {
    if (limit == 0) return;
    fresh.push_back({unit, limit, shared ? std::make_shared<std::atomic<std::uint64_t>>(0) : nullptr,
                     shared ? "the launches on this device together" : "the launch", "device::set_budget"});
  };
  add(warp_instructions, limits.launch_instructions, false);
  add(nanoseconds, static_cast<std::uint64_t>(limits.launch_time.count()), false);
  add(warp_instructions, limits.total_instructions, true);
  add(nanoseconds, static_cast<std::uint64_t>(limits.total_time.count()), true);
  const std::scoped_lock lock(settings_);
  budgets_ = std::move(fresh);
}

runtime::memory_info emulator_backend::memory_info() {
  if (!shares_memory_) return {memory_.left(), memory_.capacity()};
  const std::uint64_t left = memory_.left();
  return {left < properties_.total_memory ? left : properties_.total_memory, properties_.total_memory};
}

// Memory.

template <class Call>
auto emulator_backend::guarded(Call call, std::uint64_t bytes) -> decltype(call()) {
  try {
    return call();
  } catch (const emulator::memory_error& e) {
    if (e.kind() == emulator::memory_error_kind::out_of_memory) throw_full(bytes);
    throw illegal_access(e.what());
  } catch (const std::bad_alloc&) {
    throw_full(bytes);
  }
}

std::uint64_t emulator_backend::allocate(std::uint64_t bytes) {
  const std::uint64_t address = guarded([&] { return memory_.allocate(bytes); }, bytes);
  if (shares_memory_) {
    try {
      const std::scoped_lock lock(owned_changing_);
      owned_.emplace(address, bytes);
    } catch (const std::bad_alloc&) {
      memory_.free(address);
      throw_full(bytes);
    }
  }
  return address;
}

void emulator_backend::free(std::uint64_t address) noexcept {
  drain();
  release(address);
}

void emulator_backend::free_async(std::uint64_t address, native_stream stream) noexcept {
  try {
    if (queue_of(stream)->put([this, address] { release(address); }, true)) return;
  } catch (const std::exception&) {
    // The stream is gone, or there is no memory to put it there.
    return free(address);
  }
  release(address);
}

void emulator_backend::release(std::uint64_t address) noexcept {
  try {
    if (shares_memory_) {
      const std::scoped_lock lock(owned_changing_);
      owned_.erase(address);
    }
    memory_.free(address);
  } catch (const std::exception& e) {
    note(e.what());
  }
}

std::uint64_t emulator_backend::attach_host(void* memory, std::uint64_t bytes) {
  if (!shares_memory_) return 0;
  return guarded([&] { return attached().attach(memory, bytes); }, bytes);
}

void emulator_backend::detach_host(void* memory) noexcept {
  try {
    attached().detach(memory);
  } catch (const std::exception& e) {
    note(e.what());
  }
}

bool emulator_backend::has_memory(std::uint64_t address) {
  if (!shares_memory_) return memory_.find(address).has_value();
  const std::scoped_lock lock(owned_changing_);
  const auto after = owned_.upper_bound(address);
  if (after == owned_.begin()) return false;
  const auto& [first, bytes] = *std::prev(after);
  return address - first < bytes;
}

bool emulator_backend::can_access(const backend& other) {
  return &other == this || (shares_memory_ && other.properties().emulator >= 0);
}

void* emulator_backend::allocate_host(std::uint64_t bytes) {
  void* address = std::calloc(bytes, 1);
  if (!address) throw_full(bytes);
  return address;
}

void emulator_backend::copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes,
                                      native_stream stream) {
  const auto queue = queue_of(stream);
  if (queue->is_idle() || stream_is_capturing(stream))
    return copy_rows({.to = to, .host_from = from, .width = bytes}, stream);
  // The host's memory may change when this returns.
  const auto* const first = static_cast<const std::byte*>(from);
  const auto kept = std::make_shared<const std::vector<std::byte>>(first, first + bytes);
  submit(stream, emulated::node_kind::copy,
         [this, to, kept] { copy({.to = to, .host_from = kept->data(), .width = kept->size()}); });
}

void emulator_backend::copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream stream) {
  copy_rows({.from = from, .host_to = to, .width = bytes}, stream);
}

void emulator_backend::copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                                      native_stream stream) {
  copy_rows({.to = to, .from = from, .width = bytes}, stream);
}

void emulator_backend::copy_rows(const row_copy& shape, native_stream stream) {
  submit(stream, emulated::node_kind::copy, [this, shape] { copy(shape); });
}

void emulator_backend::fill(const row_fill& shape, native_stream stream) {
  submit(stream, emulated::node_kind::fill, [this, shape] { fill(shape); });
}

void emulator_backend::copy_between(std::uint64_t to, backend& target, std::uint64_t from, backend& source,
                                    std::uint64_t bytes, native_stream stream) {
  // A graph may be launched after the other devices are closed: it keeps their memory.
  submit(stream, emulated::node_kind::copy,
         [this, t = static_cast<emulator_backend&>(target).kept_memory_,
          f = static_cast<emulator_backend&>(source).kept_memory_, to, from, bytes] {
           std::vector<std::byte> piece;
           for (std::uint64_t done = 0; done < bytes; done += piece.size()) {
             piece.resize(static_cast<std::size_t>(std::min<std::uint64_t>(bytes - done, 1 << 20)));
             guarded([&] { f->read(piece.data(), from + done, piece.size()); }, bytes);
             guarded([&] { t->write(to + done, piece.data(), piece.size()); }, bytes);
           }
         });
}

void emulator_backend::copy(const row_copy& c) {
  guarded(
      [&] {
        for (std::uint64_t i = 0; i < c.rows; ++i) {
          const std::uint64_t to = c.to + i * c.to_pitch, from = c.from + i * c.from_pitch;
          if (c.host_to != nullptr)
            memory_.read(static_cast<std::byte*>(c.host_to) + i * c.to_pitch, from, c.width);
          else if (c.host_from != nullptr)
            memory_.write(to, static_cast<const std::byte*>(c.host_from) + i * c.from_pitch, c.width);
          else
            memory_.copy(to, from, c.width);
        }
      },
      c.width * c.rows);
}

void emulator_backend::fill(const row_fill& f) {
  guarded([&] { memory_.fill(f.to, f.value, f.unit, f.count); }, f.count * f.unit);
}

void emulator_backend::throw_full(std::uint64_t bytes) {
  throw out_of_memory(text("kaio: allocating ", readable_bytes(bytes), " with ",
                           readable_bytes(memory_info().free), " of ", readable_bytes(memory_info().total),
                           " free on ", description_, " failed; free buffers, or use smaller ones"));
}

void emulator_backend::throw_out_of_host_memory(std::string_view what, std::string_view kernel) const {
  throw out_of_memory(text("kaio: ", what, " kernel ", kernel, " on ", description_,
                           " failed: the host has not enough memory; close other programs"));
}

void emulator_backend::note(const char* message) noexcept {
  try {
    failures_.remember(errc::illegal_access, message);
  } catch (...) {
    // Without memory for the text there is nothing left to remember with.
  }
}

// Kernels.

std::unique_ptr<loaded_kernel> emulator_backend::load(const ptx::kernel_image& kernel) {
  const std::string source = joined_text(kernel);
  try {
    emulator::module parsed = emulator::parse_module(source, architecture_);
    check_entry(kernel, parsed, source);
    return std::make_unique<emulator_kernel>(kernel, std::move(parsed), memory_);
  } catch (const emulator::ptx_error& e) {
    const std::string log = text("line ", e.line(), ", column ", e.column(), ": ", e.reason());
    throw_jit_error({kernel, source, log, description_, "the emulator refused the text", ""});
  } catch (const emulator::memory_error& e) {
    throw out_of_memory(e.what());
  } catch (const std::bad_alloc&) {
    throw_out_of_host_memory("loading", display_name(kernel));
  }
}

void emulator_backend::check_entry(const ptx::kernel_image& kernel, const emulator::module& parsed,
                                   const std::string& source) const {
  const emulator::entry* entry = parsed.find(kernel.name);
  if (!entry) {
    throw_jit_error({kernel, source, "", description_, "its text has no .entry of that name", ""});
  }
  std::vector<entry_parameter> declared;
  declared.reserve(entry->parameters.size());
  for (const emulator::layout& p : entry->parameters) declared.push_back({p.name, p.bytes});
  check_parameters(kernel, declared, source, description_);
  if (entry->maximum_threads.x != 0) check_block(kernel, entry->maximum_threads.count(), description_);
}

emulator::launch emulator_backend::prepared(const loaded_kernel& code, const checked_launch& launch) {
  const auto& kernel = static_cast<const emulator_kernel&>(code);
  emulator::launch l;
  l.mod = &kernel.module();
  l.kernel = &kernel.entry();
  l.grid = launch.grid;
  l.block = launch.kernel.block;
  l.dynamic_shared = launch.dynamic_shared;
  l.cooperative = launch.kernel.needs.cooperative;
  l.cluster = launch.cluster;
  l.programmatic = launch.programmatic;
  l.image = &launch.kernel;
  l.kernel_origin = origin_of(launch.kernel);
  l.instance = &kernel.variables();
  l.parameters.resize(kernel.entry().parameter_bytes);
  for (std::size_t i = 0; i < launch.kernel.parameter_count; ++i) {
    const emulator::layout& place = kernel.entry().parameters[i];
    std::memcpy(l.parameters.data() + place.offset, launch.values[i], place.bytes);
  }
  return l;
}

std::function<void()> emulator_backend::node_of(const loaded_kernel& code, const checked_launch& launch) {
  auto image = std::make_shared<const owned_image>(launch.kernel);
  emulator::launch l = prepared(code, launch);
  l.image = &image->get();
  return [this, l = std::move(l), image = std::move(image)] {
    emulator::launch once = l;
    run(once, nullptr);
  };
}

void emulator_backend::run(emulator::launch& l, launch_measure* measure) {
  // A launch that waits for its turn is cancelled like the one that has it.
  // The end of the process cancels what runs then; a launch of a destructor after it runs to its own end.
  const std::uint64_t before = cancellations_.load();
  const bool at_end = emulator::memory_activity::shared().ended();
  l.cancelled = [this, before, at_end] {
    return cancellations_.load(std::memory_order_relaxed) != before ||
           (!at_end && emulator::memory_activity::shared().ended());
  };
  std::unique_lock one_at_a_time(running_);
  std::optional<wait_without_turn> wait;
  if (emulator::memory_wait* const own = emulated::wait_of_thread())
    l.wait = &wait.emplace(*own, one_at_a_time);
  try {
    apply_environment(l);
    const std::vector<emulator::budget> own = budgets();
    l.budgets.insert(l.budgets.end(), own.begin(), own.end());
    if (watch_of_launches()) watch_of_launches()(l, memory_);
    note_checked_launch();
    const measuring measured(measure, l);
    emulator::run(l, memory_);
  } catch (const emulator::fault& e) {
    const errc cause = error_code_of(e.report().kind);
    if (cause != errc::cancelled && !note_report(e.what())) failures_.remember(cause, e.what());
    throw_error(cause, e.what());
  } catch (const emulator::launch_error& e) {
    throw invalid_argument(e.what());
  } catch (const emulator::memory_error& e) {
    throw out_of_memory(e.what());
  } catch (const std::bad_alloc&) {
    throw_out_of_host_memory("running", display_name(*l.image));
  }
}

void emulator_backend::launch(const loaded_kernel& code, const checked_launch& launch, native_stream stream) {
  if (captured(stream, emulated::node_kind::kernel, [&] { return node_of(code, launch); })) return;
  const auto queue = queue_of(stream);
  const bool may_poll =
      emulator::may_wait(static_cast<const emulator_kernel&>(code).entry()) && others_may_write();
  if (!may_poll && queue->is_idle()) {
    emulator::launch l = prepared(code, launch);
    const emulator::memory_activity::running work;
    return run(l, launch.measure);
  }
  // The launch may go on when this call has ended: it has its own copies.
  auto image = std::make_shared<const owned_image>(launch.kernel);
  auto measured = std::make_shared<launch_measure>();
  emulator::launch l = prepared(code, launch);
  l.image = &image->get();
  run_or_poll(stream, [this, l = std::move(l), image = std::move(image), measured] {
    emulator::launch once = l;
    run(once, measured.get());
  });
  if (launch.measure != nullptr && queue->is_idle()) *launch.measure = *measured;
}

// Whether memory can change while a kernel of this device polls it. A thread whose launches are checked runs them
// itself.
bool emulator_backend::others_may_write() {
  if (sanitizer_of_thread() != nullptr) return false;
  if (shares_memory_ && (numbered_emulators() > 1 || emulator::memory_activity::shared().has_host_buffers()))
    return true;
  const std::scoped_lock lock(streams_changing_);
  return streams_.size() > 1;
}

std::uint64_t emulator_backend::resident_blocks(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                                std::uint32_t dynamic_shared) {
  return emulator::resident_blocks(static_cast<const emulator_kernel&>(code).entry(), kernel.block,
                                   dynamic_shared, architecture_);
}

std::uint64_t emulator_backend::max_active_clusters(const loaded_kernel& code,
                                                    const ptx::kernel_image& kernel, const ptx::dim3& cluster,
                                                    std::uint32_t dynamic_shared) {
  return resident_blocks(code, kernel, dynamic_shared) / cluster.count();
}

void emulator_backend::encode_tensor_map(const detail::tensor_description& t, unsigned char* to) {
  emulator::tensor_map map;
  const auto failed = emulator::encode_tiled(
      map, static_cast<emulator::tensor_element>(t.element), t.rank, t.address, t.extents, t.strides, t.box,
      t.element_strides, emulator::tensor_interleave::none, static_cast<emulator::tensor_swizzle>(t.swizzle),
      static_cast<emulator::u32>(t.promotion), static_cast<emulator::tensor_fill>(t.fill));
  if (failed)
    throw invalid_argument(text("kaio: a tensor map was refused by ", description_, ": ", failed->reason));
  std::memcpy(to, &map, sizeof map);
}

std::vector<emulator::budget> emulator_backend::budgets() {
  const std::scoped_lock lock(settings_);
  return budgets_;
}

void watch_launches(launch_watch watch) { watch_of_launches() = std::move(watch); }

std::unique_ptr<backend> open_emulator_backend(ptx::target architecture, int number) {
  return std::make_unique<emulator_backend>(architecture, number);
}

}  // namespace kaio::runtime

// The emulator as a backend. A stream runs its work when it is put in, so all of it is done when a call
// returns. A fault of a kernel is thrown by its launch; as on a GPU, the device is then lost.

#include <kaio/runtime/error.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "emulator/emulator.hpp"
#include "emulator/memory/tensor_map.hpp"
#include "host/lasting.hpp"
#include "runtime/base/backend.hpp"
#include "runtime/base/entry_contract.hpp"
#include "runtime/base/jit_report.hpp"
#include "runtime/base/kernel_name.hpp"
#include "runtime/base/text.hpp"
#include "runtime/emulator/environment.hpp"
#include "runtime/emulator/launch_watch.hpp"

namespace kaio::runtime {

namespace {

launch_watch& watch_of_launches() {
  static auto& watch = *host::make_lasting<launch_watch>();
  return watch;
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

using clock = std::chrono::steady_clock;

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

struct emulator_event {
  std::atomic<clock::rep> ticks{0};
};

class emulator_backend final : public backend {
 public:
  explicit emulator_backend(ptx::target target)
      : architecture_(emulator::architecture_of(target)), memory_(emulator_properties(target).total_memory) {
    properties_ = emulator_properties(target);
    description_ = text("emulator (sm_", target.sm, target.arch_specific ? "a)" : ")");
  }

  std::string_view remedy() const noexcept override { return "open the emulator again"; }

  void set_budget(const budget& limits) override {
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
  void cancel() override { ++cancellations_; }

  runtime::memory_info memory_info() override { return {memory_.left(), memory_.capacity()}; }

  std::uint64_t allocate(std::uint64_t bytes) override {
    return guarded([&] { return memory_.allocate(bytes); }, bytes);
  }
  bool allocates_zeroes() const noexcept override { return true; }
  void free(std::uint64_t address) noexcept override {
    try {
      memory_.free(address);
    } catch (const std::exception& e) {
      note(e.what());
    }
  }
  void* allocate_host(std::uint64_t bytes) override {
    void* address = std::calloc(bytes, 1);
    if (!address) throw_full(bytes);
    return address;
  }
  void free_host(void* address) noexcept override { std::free(address); }
  void copy_to_device(std::uint64_t to, const void* from, std::uint64_t bytes, native_stream) override {
    guarded([&] { memory_.write(to, from, bytes); }, bytes);
  }
  void copy_to_host(void* to, std::uint64_t from, std::uint64_t bytes, native_stream) override {
    guarded([&] { memory_.read(to, from, bytes); }, bytes);
  }
  void copy_on_device(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, native_stream) override {
    guarded([&] { memory_.copy(to, from, bytes); }, bytes);
  }
  void fill_zero(std::uint64_t to, std::uint64_t bytes, native_stream) override {
    guarded([&] { memory_.fill(to, 0, bytes); }, bytes);
  }

  // Streams hold nothing: their work is done when it is put in.
  native_stream create_stream() override { return this; }
  void destroy_stream(native_stream) noexcept override {}
  void synchronize_stream(native_stream) override { memory_.note_host_step(); }
  bool stream_is_done(native_stream) override { return true; }
  bool stream_is_capturing(native_stream) override { return false; }
  void stream_wait(native_stream, native_event) override { memory_.note_host_step(); }
  void synchronize() override { memory_.note_host_step(); }
  void drain() noexcept override {}

  native_event create_event() override { return new emulator_event; }
  void destroy_event(native_event event) noexcept override { delete static_cast<emulator_event*>(event); }
  void record(native_event event, native_stream) override {
    static_cast<emulator_event*>(event)->ticks = clock::now().time_since_epoch().count();
  }
  void synchronize_event(native_event) override { memory_.note_host_step(); }
  bool event_is_done(native_event) override { return true; }
  double elapsed_ms(native_event begin, native_event end) override {
    const clock::duration between(static_cast<emulator_event*>(end)->ticks.load() -
                                  static_cast<emulator_event*>(begin)->ticks.load());
    return std::chrono::duration<double, std::milli>(between).count();
  }

  std::unique_ptr<loaded_kernel> load(const ptx::kernel_image& kernel) override {
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
      throw_out_of_host_memory("loading", kernel);
    }
  }

  void launch(const loaded_kernel& code, const checked_launch& launch, native_stream) override {
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
    // A launch that waits for its turn is cancelled like the one that has it.
    const std::uint64_t before = cancellations_.load();
    l.cancelled = [this, before] { return cancellations_.load(std::memory_order_relaxed) != before; };
    const std::scoped_lock one_at_a_time(running_);
    try {
      apply_environment(l);
      const std::vector<emulator::budget> own = budgets();
      l.budgets.insert(l.budgets.end(), own.begin(), own.end());
      if (watch_of_launches()) watch_of_launches()(l, memory_);
      emulator::run(l, memory_);
    } catch (const emulator::fault& e) {
      const errc cause = error_code_of(e.report().kind);
      if (cause != errc::cancelled) failures_.remember(cause, e.what());
      throw_error(cause, e.what());
    } catch (const emulator::launch_error& e) {
      throw invalid_argument(e.what());
    } catch (const emulator::memory_error& e) {
      throw out_of_memory(e.what());
    } catch (const std::bad_alloc&) {
      throw_out_of_host_memory("running", launch.kernel);
    }
  }

  std::uint64_t resident_blocks(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                std::uint32_t dynamic_shared) override {
    return emulator::resident_blocks(static_cast<const emulator_kernel&>(code).entry(), kernel.block,
                                     dynamic_shared, architecture_);
  }

  std::uint64_t max_active_clusters(const loaded_kernel& code, const ptx::kernel_image& kernel,
                                    const ptx::dim3& cluster, std::uint32_t dynamic_shared) override {
    return resident_blocks(code, kernel, dynamic_shared) / cluster.count();
  }

  void encode_tensor_map(const detail::tensor_description& t, unsigned char* to) override {
    emulator::tensor_map map;
    const auto failed = emulator::encode_tiled(
        map, static_cast<emulator::tensor_element>(t.element), t.rank, t.address, t.extents, t.strides, t.box,
        t.element_strides, emulator::tensor_interleave::none,
        static_cast<emulator::tensor_swizzle>(t.swizzle), static_cast<emulator::u32>(t.promotion),
        static_cast<emulator::tensor_fill>(t.fill));
    if (failed)
      throw invalid_argument(text("kaio: a tensor map was refused by ", description_, ": ", failed->reason));
    std::memcpy(to, &map, sizeof map);
  }

 private:
  // The image defines how arguments are packed, and the text how they are read: both must agree.
  void check_entry(const ptx::kernel_image& kernel, const emulator::module& parsed,
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

  template <class Call>
  auto guarded(Call call, std::uint64_t bytes) -> decltype(call()) {
    try {
      return call();
    } catch (const emulator::memory_error& e) {
      if (e.kind() == emulator::memory_error_kind::out_of_memory) throw_full(bytes);
      throw illegal_access(e.what());
    } catch (const std::bad_alloc&) {
      throw_full(bytes);
    }
  }

  [[noreturn]] void throw_full(std::uint64_t bytes) {
    throw out_of_memory(text("kaio: allocating ", readable_bytes(bytes), " with ",
                             readable_bytes(memory_.left()), " of ", readable_bytes(memory_.capacity()),
                             " free on ", description_, " failed; free buffers, or use smaller ones"));
  }

  [[noreturn]] void throw_out_of_host_memory(std::string_view what, const ptx::kernel_image& kernel) const {
    throw out_of_memory(text("kaio: ", what, " kernel ", display_name(kernel), " on ", description_,
                             " failed: the host has not enough memory; close other programs"));
  }

  void note(const char* message) noexcept {
    try {
      failures_.remember(errc::illegal_access, message);
    } catch (...) {
      // Without memory for the text there is nothing left to remember with.
    }
  }

  std::vector<emulator::budget> budgets() {
    const std::scoped_lock lock(settings_);
    return budgets_;
  }

  emulator::architecture architecture_;
  emulator::memory memory_;
  std::mutex running_;
  std::mutex settings_;
  std::vector<emulator::budget> budgets_;
  std::atomic<std::uint64_t> cancellations_{0};
};

}  // namespace

void watch_launches(launch_watch watch) { watch_of_launches() = std::move(watch); }

std::unique_ptr<backend> open_emulator_backend(ptx::target architecture) {
  return std::make_unique<emulator_backend>(architecture);
}

}  // namespace kaio::runtime

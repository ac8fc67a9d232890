#include "driver_emulator/state/fault_injection.hpp"

#include "driver_emulator/state/contexts.hpp"
#include "host/lasting.hpp"
#include "runtime/device_choice.hpp"

#include <kaio/runtime/cuda_emulator.h>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

namespace kaio::driver_emulator {
namespace {

constexpr std::size_t function_count = static_cast<std::size_t>(function_id::count);

constexpr const char* function_names[function_count] = {
#define KAIO_DRIVER_FUNCTION(symbol, types) #symbol,
#include "driver_abi/functions.def"
};

// The call that has to fail, by its number among all calls, or among those of one function.
struct planned_failure {
  bool planned = false;
  function_id function = function_id::count;  // count: any function
  std::uint64_t number = 0;
  CUresult error = CUDA_SUCCESS;
  bool sticky = false;
  bool happened = false;
};

struct record {
  std::mutex mutex;
  planned_failure plan;
  std::uint64_t calls = 0, launches = 0, loads = 0, misuses = 0;
  std::array<std::uint64_t, function_count> calls_of{};
  int jit_level = -1;
  bool launched = false;
  kaio_emulator_launch last{};
};

void complain(const char* value) {
  std::fprintf(stderr,
               "kaio: KAIO_CUDA_FAIL is '%s'; write call=NUMBER,error=CODE or "
               "name=FUNCTION,occurrence=NUMBER,error=CODE, with or without ,sticky after it\n",
               value);
}

// "name=cuMemAlloc_v2,occurrence=3,error=2,sticky"
planned_failure plan_of(const char* value) {
  planned_failure p;
  if (value == nullptr || *value == '\0') return p;
  std::string_view left = value;
  bool numbered = false, coded = false, understood = true;
  while (!left.empty() && understood) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string text(equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1));
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_number = !text.empty() && failed == std::errc() && end == text.data() + text.size();
    if (key == "sticky" && text.empty()) {
      p.sticky = true;
    } else if (key == "name") {
      p.function = find_function_id(text.c_str());
      understood = p.function != function_id::count;
    } else if ((key == "call" || key == "occurrence") && is_number) {
      p.number = number;
      numbered = true;
    } else if (key == "error" && is_number && number > 0 && number < 1000) {
      p.error = static_cast<CUresult>(number);
      coded = true;
    } else {
      understood = false;
    }
  }
  p.planned = understood && coded && (numbered || p.function != function_id::count);
  if (!p.planned) complain(value);
  return p;
}

record& the_record() {
  static auto* const r = [] {
    auto* fresh = host::make_lasting<record>();
    fresh->plan = plan_of(std::getenv("KAIO_CUDA_FAIL"));
    return fresh;
  }();
  return *r;
}

}  // namespace

const char* name_of(function_id id) { return function_names[static_cast<std::size_t>(id)]; }

function_id find_function_id(const char* name) {
  for (std::size_t i = 0; i < function_count; ++i)
    if (std::strcmp(function_names[i], name) == 0) return static_cast<function_id>(i);
  return function_id::count;
}

CUresult injected_failure(function_id id) noexcept {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  const std::uint64_t call = r.calls++;
  const std::uint64_t occurrence = r.calls_of[static_cast<std::size_t>(id)]++;
  planned_failure& p = r.plan;
  if (!p.planned) return CUDA_SUCCESS;
  if (p.happened) return p.sticky ? p.error : CUDA_SUCCESS;
  const bool now =
      p.function == function_id::count ? call == p.number : p.function == id && occurrence == p.number;
  if (!now) return CUDA_SUCCESS;
  p.happened = true;
  return p.error;
}

void count_misuse(CUresult result) noexcept {
  if (result != CUDA_ERROR_INVALID_HANDLE && result != CUDA_ERROR_INVALID_CONTEXT &&
      result != CUDA_ERROR_CONTEXT_IS_DESTROYED)
    return;
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  ++r.misuses;
}

void count_load(int jit_level) noexcept {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  ++r.loads;
  r.jit_level = jit_level;
}

void note_launch(const kernel_work& launch, CUstream where, CUcontext in) {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  ++r.launches;
  r.launched = true;
  kaio_emulator_launch& l = r.last;
  l = {};
  std::snprintf(l.kernel, sizeof l.kernel, "%s", launch.code->entry->name.c_str());
  const auto extents = [](std::uint32_t(&to)[3], const ptx::dim3& from) {
    to[0] = from.x;
    to[1] = from.y;
    to[2] = from.z;
  };
  extents(l.grid, launch.grid);
  extents(l.block, launch.block);
  extents(l.cluster, launch.cluster);
  l.shared_bytes = launch.shared;
  l.cooperative = launch.cooperative;
  l.stream = where;
  l.context = in;
  l.parameter_bytes = static_cast<std::uint32_t>(launch.parameters.size());
  if (!launch.parameters.empty())
    std::memcpy(l.parameters, launch.parameters.data(),
                std::min(launch.parameters.size(), sizeof l.parameters));
}

}  // namespace kaio::driver_emulator

using namespace kaio::driver_emulator;

namespace {

void set_plan(function_id function, std::int64_t number, int error, int sticky) {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  r.plan = {number >= 0 && error != 0,
            function,
            static_cast<std::uint64_t>(std::max(number, std::int64_t{0})),
            static_cast<CUresult>(error),
            sticky != 0,
            false};
}

}  // namespace

KAIO_CUDA_API void kaio_emulator_fail_call(std::int64_t call, int error, int sticky) {
  set_plan(function_id::count, call, error, sticky);
}

KAIO_CUDA_API int kaio_emulator_fail_function(const char* name, std::int64_t occurrence, int error,
                                              int sticky) {
  const function_id id = name != nullptr ? find_function_id(name) : function_id::count;
  if (id == function_id::count) return 0;
  set_plan(id, occurrence, error, sticky);
  return 1;
}

KAIO_CUDA_API void kaio_emulator_reset() {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  r.plan = {};
  r.calls = r.launches = r.loads = r.misuses = 0;
  r.calls_of.fill(0);
  r.jit_level = -1;
  r.launched = false;
}

KAIO_CUDA_API void kaio_emulator_count(kaio_emulator_counters* counters) {
  *counters = {};
  {
    record& r = the_record();
    const std::lock_guard lock(r.mutex);
    counters->calls = r.calls;
    counters->launches = r.launches;
    counters->loads = r.loads;
    counters->misuses = r.misuses;
    counters->jit_level = r.jit_level;
  }
  driver_state& s = state();
  const std::lock_guard lock(s.mutex);
  for (const auto& [handle, c] : s.contexts.all()) counters->contexts += !c->primary;
  for (const auto& d : s.devices) counters->contexts += d->primary_retains;
  counters->allocations = s.physical.size() + s.reservations.size();
  for (const auto& [address, a] : s.allocations)
    if (a.kind != allocation_kind::mapped)
      ++(a.kind == allocation_kind::host || a.kind == allocation_kind::registered ? counters->host_allocations
                                                                                  : counters->allocations);
  counters->streams = s.streams.all().size();
  counters->events = s.events.all().size();
  counters->modules = s.libraries.all().size();
  for (const auto& [handle, m] : s.modules.all()) counters->modules += m->library == nullptr;
  for (const auto& [handle, g] : s.graphs.all()) counters->graphs += !g->is_child;
  counters->graphs += s.executables.all().size();
  counters->pools = s.pools.all().size() - s.devices.size();  // each device has one of its own
}

KAIO_CUDA_API std::uint64_t kaio_emulator_calls_of(const char* name) {
  const function_id id = find_function_id(name);
  if (id == function_id::count) return 0;
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  return r.calls_of[static_cast<std::size_t>(id)];
}

KAIO_CUDA_API std::uint64_t kaio_emulator_alive(const kaio_emulator_counters* c) {
  return c->contexts + c->allocations + c->host_allocations + c->streams + c->events + c->modules +
         c->graphs + c->pools;
}

KAIO_CUDA_API int kaio_emulator_last_launch(kaio_emulator_launch* launch) {
  record& r = the_record();
  const std::lock_guard lock(r.mutex);
  if (r.launched) *launch = r.last;
  return r.launched;
}

KAIO_CUDA_API int kaio_emulator_set_machine(const kaio_emulator_machine* machine) {
  constexpr int most_devices = 64;
  kaio_emulator_counters now;
  kaio_emulator_count(&now);
  if (kaio_emulator_alive(&now) != 0 || machine->devices > most_devices) return 0;
  driver_state& s = state();
  const std::lock_guard lock(s.mutex);
  try {
    machine_description next = described_machine();
    if (machine->devices != 0) next.devices = std::max(machine->devices, 0);
    if (machine->architecture != nullptr)
      next.architecture = kaio::runtime::emulator_architecture(machine->architecture);
    if (machine->driver_version != 0) next.driver_version = machine->driver_version;
    if (machine->memory_bytes != 0) next.memory_bytes = machine->memory_bytes;
    described_machine() = next;
    make_devices();
  } catch (const kaio::error&) {
    return 0;
  } catch (const std::exception&) {
    return 0;
  }
  return 1;
}

#include "runtime/trace/work.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/trace/chrome_text.hpp"
#include "runtime/trace/operation.hpp"
#include "runtime/trace/recorder.hpp"

namespace kaio::runtime::trace {

struct work::state {
  state(backend& on, backend::native_stream in, const work_facts& what)
      : device(on), stream(in), facts(what), begin(now()), exceptions(std::uncaught_exceptions()) {}

  backend& device;
  backend::native_stream stream;
  work_facts facts;
  nanoseconds begin;
  int exceptions;  // that are on their way when it begins
  bool captured = false;
  event_pair events;
  launch_measure measure;
};

namespace {

std::string title(const char* verb, std::string_view name) {
  return name.empty() ? std::string(verb) : fmt::format("{} {}", verb, name);
}

// "launch scale: grid 4 x 1 x 1, block 256 x 1 x 1, 0 bytes of shared memory, stream 0x55d0, captured"
std::string line_of(const work_facts& f, const void* stream, bool captured, bool failed) {
  std::string result = title(f.verb, f.name) + ": ";
  if (f.grid.x != 0) result += "grid " + extents_text(f.grid) + ", block " + extents_text(f.block) + ", ";
  if (f.cluster.x != 0) result += "cluster " + extents_text(f.cluster) + ", ";
  if (f.block.x != 0) result += fmt::format("{} bytes of shared memory, ", f.shared_bytes);
  if (f.bytes != 0) result += fmt::format("{} bytes, ", f.bytes);
  if (f.nodes != 0) result += fmt::format("{} nodes, ", f.nodes);
  result += fmt::format("stream {}", stream);
  if (captured) result += ", captured";
  if (failed) result += ", failed";
  return result;
}

}  // namespace

work_facts kernel(const loaded_kernel& code, const checked_launch& launch) {
  work_facts f;
  f.category = "kernel";
  f.verb = "launch";
  f.name = launch.kernel.name;
  f.grid = launch.grid;
  f.block = launch.kernel.block;
  f.cluster = launch.cluster.x != 0 ? launch.cluster : launch.kernel.needs.cluster;
  if (f.cluster.count() <= 1) f.cluster = {0, 0, 0};
  f.shared_bytes = static_cast<std::uint32_t>(launch.kernel.needs.shared_bytes) + launch.dynamic_shared;
  f.registers = code.registers;
  f.local_bytes = code.local_bytes;
  f.programmatic = launch.programmatic;
  return f;
}

work_facts copy(std::string_view direction, std::uint64_t bytes) {
  work_facts f;
  f.category = "copy";
  f.verb = "copy";
  f.name = direction;
  f.bytes = bytes;
  return f;
}

work_facts fill(std::uint64_t bytes, std::uint32_t value) {
  work_facts f;
  f.category = "fill";
  f.verb = "fill with";
  f.name = value == 0 ? "zeros" : "a value";
  f.bytes = bytes;
  return f;
}

work_facts replay(std::string_view graph, std::uint64_t nodes) {
  work_facts f;
  f.category = "graph";
  f.verb = "replay";
  f.name = graph;
  f.nodes = nodes;
  return f;
}

void work::begin(backend& device, backend::native_stream stream, const work_facts& facts) noexcept {
  try {
    auto begun = std::make_unique<state>(device, stream, facts);
    if (facts.category == std::string_view("kernel")) note_launch(facts.name);
    begun->captured = device.stream_is_capturing(stream);
    recorder* const to = the_recorder();
    if (to != nullptr && !begun->captured) begun->events = to->take_events(device);
    state_ = begun.release();
    measure_ = &state_->measure;
    if (state_->events.begin != nullptr) device.record(state_->events.begin, stream);
  } catch (...) {
    // The device reports its failure to the call that follows.
  }
}

void work::end() noexcept {
  const std::unique_ptr<state> ended(state_);
  state& s = *ended;
  recorder* const to = the_recorder();
  try {
    const bool has_failed = std::uncaught_exceptions() > s.exceptions;
    if (has(to_log)) log().debug("{}", line_of(s.facts, s.stream, s.captured, has_failed));
    if (to == nullptr) return;
    slice host;
    host.begin = s.begin;
    host.facts = s.facts;
    host.captured = s.captured;
    if (has_failed) host.ended = slice::ending::failed;
    slice device = host;
    const bool on_emulator = s.device.properties().is_emulator(), has_events = s.events.begin != nullptr;
    if (has_events && !has_failed) s.device.record(s.events.end, s.stream);
    host.end = now();
    if (on_emulator) {
      device.begin = s.measure.begin != 0 ? s.measure.begin : s.begin;
      device.end = s.measure.end != 0 ? s.measure.end : host.end;
      device.warp_instructions = s.measure.warp_instructions;
    }
    // A GPU has begun nothing if the call failed, and shows nothing without events.
    const bool is_on_device = on_emulator || (has_events && !has_failed);
    if (is_on_device)
      to->add(std::move(host), std::move(device), s.device, s.stream, std::exchange(s.events, {}));
    else
      to->add(std::move(host));
    if (!is_on_device && !s.captured && !has_failed) to->leave_out();
  } catch (...) {
    // As in begin.
  }
  if (to != nullptr && s.events.begin != nullptr) to->give_back(s.device, s.events);
}

void call::begin(const char* verb, std::string_view name, std::uint64_t bytes) noexcept {
  begin_ = now();
  verb_ = verb;
  name_ = name;
  bytes_ = bytes;
  exceptions_ = std::uncaught_exceptions();
}

void call::end() noexcept {
  try {
    finish();
  } catch (...) {  // without memory, the call is not recorded
  }
}

void call::finish() {
  slice s;
  s.begin = begin_;
  s.end = now();
  if (std::uncaught_exceptions() > exceptions_) s.ended = slice::ending::failed;
  s.facts.category = "call";
  s.facts.verb = verb_;
  s.facts.name = name_;
  s.facts.bytes = bytes_;
  std::string_view how;
  if (code_ != nullptr) {
    how = on_emulator_ ? "parsed" : code_->precompiled ? "precompiled" : "compiled";
    s.facts.registers = code_->registers;
    s.facts.local_bytes = code_->local_bytes;
    s.more = fmt::format("\"how\":\"{}\"", how);
  }
  if (has(to_log))
    log().debug(
        "{}{}{}: {:.3f} ms{}", title(verb_, name_), how.empty() ? std::string() : fmt::format(" ({})", how),
        bytes_ != 0 ? fmt::format(", {} bytes", bytes_) : std::string(),
        static_cast<double>(s.end - s.begin) / 1e6, s.ended == slice::ending::failed ? ", failed" : "");
  if (recorder* const to = the_recorder()) to->add(std::move(s));
}

}  // namespace kaio::runtime::trace

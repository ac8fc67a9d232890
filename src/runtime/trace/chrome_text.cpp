#include "runtime/trace/chrome_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <vector>

#include "host/printable.hpp"

namespace kaio::runtime::trace {

namespace {

// On a GPU, neighbours overlap by a rounding of the driver's times. A larger overlap is real.
constexpr nanoseconds most_rounding = 1000;

using output = std::back_insert_iterator<std::string>;

// Where a slice is drawn. Slices of a row either nest (host) or follow each other (device).
struct place {
  const slice* what;
  nanoseconds begin, end;  // since the trace began
  std::size_t index;       // among the slices of the trace
  std::size_t lane = 0;    // of its row: work of a device that overlaps other work has a lane of its own
};

// If slices begin at once, a device shows the one that was queued first, and the host the outer one: it is longer, or
// it was kept later.
bool is_before(const place& a, const place& b) {
  if (a.begin != b.begin) return a.begin < b.begin;
  if (a.what->on_device) return a.index < b.index;
  return a.end != b.end ? a.end > b.end : a.index > b.index;
}

// Places the slices of one row of a device, in the order in which they began. Returns the number of lanes.
std::size_t place_on_device(std::vector<place>& slices) {
  std::vector<nanoseconds> ends;
  for (place& p : slices) {
    while (p.lane < ends.size() && p.begin + most_rounding < ends[p.lane]) ++p.lane;
    if (p.lane == ends.size()) ends.push_back(0);
    p.begin = std::max(p.begin, ends[p.lane]);
    p.end = std::max(p.begin, p.end);
    ends[p.lane] = p.end;
  }
  return ends.size();
}

// Microseconds with three digits.
void append_time(output to, nanoseconds t) { fmt::format_to(to, "{}.{:03}", t / 1000, t % 1000); }

class members {
 public:
  explicit members(output to) : to_(to) {}
  template <class Value>
  void add(const char* name, const Value& value) {
    fmt::format_to(to_, "{}\"{}\":{}", first_ ? "" : ",", name, value);
    first_ = false;
  }
  void add_all(const std::string& more) {
    if (more.empty()) return;
    fmt::format_to(to_, "{}{}", first_ ? "" : ",", more);
    first_ = false;
  }

 private:
  output to_;
  bool first_ = true;
};

void append_arguments(output to, const slice& s) {
  const work_facts& f = s.facts;
  members m(to);
  const auto extents = [&](const char* name, const ptx::dim3& e) {
    if (e.x != 0) m.add(name, json_quoted(extents_text(e)));
  };
  extents("grid", f.grid);
  extents("block", f.block);
  extents("cluster", f.cluster);
  if (f.block.x != 0) m.add("shared bytes", f.shared_bytes);
  if (f.registers != 0) m.add("registers", f.registers);
  if (f.local_bytes != 0) m.add("local bytes", f.local_bytes);
  if (f.programmatic) m.add("programmatic", "true");
  if (f.bytes != 0) m.add("bytes", f.bytes);
  if (f.bytes != 0 && s.on_device && s.end > s.begin)
    m.add("GB/s", fmt::format("{:.3f}", static_cast<double>(f.bytes) / static_cast<double>(s.end - s.begin)));
  if (f.nodes != 0) m.add("nodes", f.nodes);
  if (s.warp_instructions != 0) m.add("warp instructions", s.warp_instructions);
  if (s.captured) m.add("captured", "true");
  if (s.ended == slice::ending::failed) m.add("failed", "true");
  m.add_all(s.more);
}

void append_slice(output to, const recorded& trace, const place& p, std::size_t row, bool has_flow) {
  const slice& s = *p.what;
  const std::uint32_t process = trace.rows[s.row].process;
  std::string name(s.facts.name);
  if (!s.on_device && *s.facts.verb != '\0')
    name = s.facts.name.empty() ? s.facts.verb : fmt::format("{} {}", s.facts.verb, s.facts.name);
  fmt::format_to(to, ",\n{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":", process + 1, row);
  append_time(to, p.begin);
  fmt::format_to(to, ",\"dur\":");
  append_time(to, p.end - p.begin);
  fmt::format_to(to, ",\"cat\":\"{}\",\"name\":{},\"args\":{{", s.facts.category, json_quoted(name));
  append_arguments(to, s);
  fmt::format_to(to, "}}}}");
  if (!has_flow) return;
  fmt::format_to(to, ",\n{{\"ph\":\"{}\",{}\"id\":{},\"pid\":{},\"tid\":{},\"ts\":", s.on_device ? 'f' : 's',
                 s.on_device ? "\"bp\":\"e\"," : "", s.flow, process + 1, row);
  append_time(to, p.begin);
  fmt::format_to(to, ",\"cat\":\"work\",\"name\":\"work\"}}");
}

// A thread has a number that no other thread of any process has.
void append_row(output to, std::uint32_t process, std::size_t row, const std::string& name) {
  fmt::format_to(
      to,
      ",\n{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":\"thread_name\",\"args\":{{\"name\":{2}}}}}"
      ",\n{{\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"name\":\"thread_sort_index\",\"args\":"
      "{{\"sort_index\":{1}}}}}",
      process + 1, row, json_quoted(name));
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : host::printable(text)) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else
      result += c;
  }
  return result + '"';
}

std::string extents_text(const ptx::dim3& e) { return fmt::format("{} x {} x {}", e.x, e.y, e.z); }

std::string chrome_text(const recorded& trace) {
  std::vector<std::vector<place>> rows(trace.rows.size());
  std::uint64_t unknown = 0;
  std::vector<bool> has_flow(trace.slices.size() + 1);  // whether its slice on the device has a time
  const auto since = [&](nanoseconds t) { return t > trace.begin ? t - trace.begin : 0; };
  for (std::size_t i = 0; i < trace.slices.size(); ++i) {
    const slice& s = trace.slices[i];
    if (s.ended == slice::ending::unknown) {
      ++unknown;
      continue;
    }
    if (s.on_device) has_flow[s.flow] = true;
    rows[s.row].push_back({&s, since(s.begin), since(s.end), i});
  }
  std::string result = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  const output to(result);
  fmt::format_to(to, "\n{{\"ph\":\"M\",\"pid\":0,\"name\":\"kaio\",\"args\":{{}}}}");
  for (std::size_t i = 0; i < trace.processes.size(); ++i)
    fmt::format_to(
        to,
        ",\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_name\",\"args\":{{\"name\":{1}}}}}"
        ",\n{{\"ph\":\"M\",\"pid\":{0},\"name\":\"process_sort_index\",\"args\":{{\"sort_index\":{0}}}}}",
        i + 1, json_quoted(trace.processes[i].name));
  // The host comes first: if both ends of an arrow have one time, viewers take the first one for its begin.
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::uint32_t of_a = trace.rows[a].process, of_b = trace.rows[b].process;
    return of_a != of_b ? of_a < of_b : a < b;
  });
  std::size_t next =
      trace.processes.size() + 1;  // a thread with the number of its process is its main thread
  for (const std::size_t i : order) {
    std::vector<place>& slices = rows[i];
    if (slices.empty()) continue;
    std::sort(slices.begin(), slices.end(), is_before);
    const recorded::row& row = trace.rows[i];
    const std::size_t lanes = row.process == 0 ? 1 : place_on_device(slices);
    for (std::size_t lane = 0; lane < lanes; ++lane)
      append_row(to, row.process, next + lane, lane == 0 ? row.name : row.name + ", at the same time");
    for (const place& p : slices) append_slice(to, trace, p, next + p.lane, has_flow[p.what->flow]);
    next += lanes;
  }
  fmt::format_to(
      to,
      "\n],\n\"otherData\":{{\"slices left out\":{},\"slices without a time\":{},\"time\":\"us since the first "
      "device was opened\"}}}}\n",
      trace.left_out, unknown);
  return result;
}

}  // namespace kaio::runtime::trace

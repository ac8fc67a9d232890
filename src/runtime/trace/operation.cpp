#include "runtime/trace/operation.hpp"

#include <kaio/runtime/detail/operation_scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/log.hpp"
#include "runtime/trace/chrome_text.hpp"
#include "runtime/trace/recorder.hpp"
#include "runtime/trace/recording.hpp"

namespace kaio::runtime::trace {

namespace {

// An operation may launch one kernel for each of many slices of its work.
constexpr std::size_t most_kernels = 16;

struct argument {
  std::string name, form;  // "a", "f16 128 x 64"
};

struct operation {
  std::string name;
  nanoseconds begin = 0;
  int exceptions = 0;  // that are on their way when it begins
  operation* outer = nullptr;
  std::vector<argument> arguments;
  std::uint64_t workspace_bytes = 0;
  std::vector<std::string> kernels;  // in the order of their first launches
};

thread_local operation* innermost = nullptr;

std::string form_of(std::string_view type, const std::int64_t* extents, std::uint32_t rank) {
  std::string result(type);
  for (std::uint32_t d = 0; d < rank; ++d)
    result += (d != 0 ? " x " : type.empty() ? "" : " ") + std::to_string(extents[d]);
  return result;
}

std::string json_of(const operation& o) {
  std::string result;
  for (const argument& a : o.arguments) result += json_quoted(a.name) + ':' + json_quoted(a.form) + ',';
  if (o.workspace_bytes != 0) result += fmt::format("\"workspace bytes\":{},", o.workspace_bytes);
  result += "\"kernels\":[";
  for (const std::string& k : o.kernels) result += (&k == o.kernels.data() ? "" : ",") + json_quoted(k);
  return result + ']';
}

std::string line_of(const operation& o) {
  std::string result = o.name;
  for (const argument& a : o.arguments)
    result += (&a == o.arguments.data() ? ": " : ", ") + a.name + ' ' + a.form;
  if (o.workspace_bytes != 0) result += fmt::format(", workspace of {} bytes", o.workspace_bytes);
  result += o.kernels.empty() ? "; no kernel" : "; ";
  for (const std::string& k : o.kernels) result += (&k == o.kernels.data() ? "" : ", ") + k;
  return result;
}

void finish(const operation& o) {
  const bool has_failed = std::uncaught_exceptions() > o.exceptions;
  if (has(to_log)) log().debug("{}{}", line_of(o), has_failed ? " (failed)" : "");
  recorder* const to = the_recorder();
  if (to == nullptr) return;
  slice s;
  s.begin = o.begin;
  s.end = now();
  s.facts.category = "operation";
  s.facts.name = o.name;
  s.ended = has_failed ? slice::ending::failed : slice::ending::done;
  s.more = json_of(o);
  to->add(std::move(s));
}

}  // namespace

void note_launch(std::string_view kernel) {
  for (operation* o = innermost; o != nullptr; o = o->outer)
    if (o->kernels.size() < most_kernels &&
        std::find(o->kernels.begin(), o->kernels.end(), kernel) == o->kernels.end())
      o->kernels.emplace_back(kernel);
}

}  // namespace kaio::runtime::trace

namespace kaio::runtime::detail {

void* begin_operation(std::string_view name) noexcept {
  if (!trace::is_on()) [[likely]]
    return nullptr;
  try {
    auto begun = std::make_unique<trace::operation>();
    begun->name = name;
    begun->exceptions = std::uncaught_exceptions();
    begun->outer = trace::innermost;
    begun->begin = trace::now();
    return trace::innermost = begun.release();
  } catch (...) {
    return nullptr;  // without memory for it, the operation is not recorded
  }
}

void end_operation(void* operation) noexcept {
  const std::unique_ptr<trace::operation> ended(static_cast<trace::operation*>(operation));
  trace::innermost = ended->outer;
  try {
    trace::finish(*ended);
  } catch (...) {  // as above
  }
}

void note_argument(std::string_view name, std::string_view type, const std::int64_t* extents,
                   std::uint32_t rank) noexcept {
  if (!trace::is_on() || trace::innermost == nullptr) [[likely]]
    return;
  try {
    auto& known = trace::innermost->arguments;
    if (std::any_of(known.begin(), known.end(), [&](const trace::argument& a) { return a.name == name; }))
      return;
    known.push_back({std::string(name), trace::form_of(type, extents, rank)});
  } catch (...) {  // as above
  }
}

void note_workspace(std::uint64_t bytes) noexcept {
  if (trace::is_on() && trace::innermost != nullptr) [[unlikely]]
    trace::innermost->workspace_bytes = std::max(trace::innermost->workspace_bytes, bytes);
}

}  // namespace kaio::runtime::detail

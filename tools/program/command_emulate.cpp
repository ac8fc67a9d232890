// kaio emulate: one kernel of a PTX file, from nvcc, Triton, kaio or anyone, with arguments from the command
// line and from .npy files.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"
#include "tools/program/ptx_file.hpp"

#include "emulator/emulator.hpp"
#include "emulator/parse/parser.hpp"
#include "emulator/profile/report.hpp"
#include "emulator/sanitizer/sanitizer.hpp"
#include "host/printable.hpp"
#include "host/system/process.hpp"
#include "host/system/terminal.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/emulator/environment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace kaio::tools {
namespace {

using namespace emulator;

// 8, 8,4 or 8,4,2; an x may be used for a comma.
ptx::dim3 extent_of(std::string_view option, std::string_view text) {
  ptx::dim3 d{1, 1, 1};
  std::uint32_t* const parts[] = {&d.x, &d.y, &d.z};
  std::string_view rest = text;
  for (std::size_t i = 0;; ++i) {
    const auto parsed = i < 3 ? std::from_chars(rest.data(), rest.data() + rest.size(), *parts[i])
                              : std::from_chars_result{rest.data(), std::errc::invalid_argument};
    if (parsed.ec != std::errc{})
      throw usage_error(fmt::format("kaio: {} is '{}'; write X, X,Y or X,Y,Z", option, text));
    rest.remove_prefix(static_cast<std::size_t>(parsed.ptr - rest.data()));
    if (rest.empty()) return d;
    if (rest.front() != ',' && rest.front() != 'x')
      throw usage_error(fmt::format("kaio: {} is '{}'; write X, X,Y or X,Y,Z", option, text));
    rest.remove_prefix(1);
  }
}

std::string kernel_names(const module& mod) {
  std::string names;
  for (const entry& e : mod.decoded().entries) names += (names.empty() ? "" : ", ") + e.name;
  return names;
}

const entry& kernel_of(const module& mod, const emulate_options& options) {
  const auto& entries = mod.decoded().entries;
  if (entries.empty())
    throw usage_error(fmt::format("kaio: '{}' has no kernel; an .entry with a body is needed", options.file));
  if (options.kernel.empty()) {
    if (entries.size() == 1) return entries.front();
    throw usage_error(fmt::format("kaio: '{}' has several kernels; choose one with --kernel: {}",
                                  options.file, kernel_names(mod)));
  }
  const entry* found = mod.find(options.kernel);
  if (found == nullptr)
    throw usage_error(fmt::format("kaio: '{}' has no kernel '{}'; it has: {}", options.file, options.kernel,
                                  kernel_names(mod)));
  return *found;
}

void list_kernels(const module& mod) {
  for (const entry& e : mod.decoded().entries) {
    fmt::print("{}: {} bytes of parameters, {} B of shared memory, {} B of local memory a thread\n", e.name,
               e.parameter_bytes, e.shared_bytes, e.local_bytes);
    if (e.required_threads.x != 0)
      fmt::print("  blocks of {} x {} x {} threads\n", e.required_threads.x, e.required_threads.y,
                 e.required_threads.z);
    else if (e.maximum_threads.x != 0)
      fmt::print("  blocks of at most {} threads\n", e.maximum_threads.count());
    for (const layout& p : e.parameters)
      fmt::print("  {:<32} {:>4} bytes at {}\n", p.name, p.bytes, p.offset);
  }
}

// The arguments of one launch in device memory, and back.
class bound_arguments {
 public:
  bound_arguments(const entry& kernel, std::vector<argument>& arguments, memory& global)
      : kernel_(kernel), arguments_(arguments), global_(global) {
    if (arguments.size() != kernel.parameters.size()) {
      std::string names;
      for (const layout& p : kernel.parameters) names += fmt::format("\n  {} ({} bytes)", p.name, p.bytes);
      throw usage_error(fmt::format("kaio: kernel '{}' takes {} arguments, and {} are given{}{}", kernel.name,
                                    kernel.parameters.size(), arguments.size(),
                                    names.empty() ? "" : "; give each an --arg, in this order:", names));
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const argument& a = arguments[i];
      const u64 bytes = a.is_buffer() ? 8 : a.value.size();
      if (bytes == kernel.parameters[i].bytes) continue;
      throw usage_error(fmt::format(
          "kaio: --arg '{}' is {}, but parameter {} ('{}') of kernel '{}' has {} bytes", a.text,
          a.is_buffer() ? std::string("a buffer, whose address has 8 bytes") : fmt::format("{} bytes", bytes),
          i + 1, kernel.parameters[i].name, kernel.name, kernel.parameters[i].bytes));
    }
    for (const argument& a : arguments) {
      const contents initial = a.what == argument::kind::out ? contents::undefined : contents::zeroed;
      const bool has_memory = a.is_buffer() && !a.buffer.data.empty();
      addresses_.push_back(has_memory ? global.allocate(a.buffer.data.size(), initial) : 0);
      accesses_.emplace_back().access = !a.is_buffer()                  ? ptx::access::scalar
                                        : a.what == argument::kind::in  ? ptx::access::in
                                        : a.what == argument::kind::out ? ptx::access::out
                                                                        : ptx::access::inout;
    }
    image_.name = kernel.name;
    image_.parameters = accesses_.data();
    image_.parameter_count = accesses_.size();
  }

  // How the kernel may access its arguments, for the sanitizer.
  const ptx::kernel_image* image() const { return &image_; }

  // Restores everything to its state before the first run. For the first run, buffers that are only written
  // stay undefined, so that the sanitizer sees reads of them.
  std::vector<std::byte> upload(bool first) {
    std::vector<std::byte> parameters(kernel_.parameter_bytes);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const argument& a = arguments_[i];
      std::byte* const to = parameters.data() + kernel_.parameters[i].offset;
      if (!a.is_buffer()) {
        std::memcpy(to, a.value.data(), a.value.size());
        continue;
      }
      const bool stays = first && a.what == argument::kind::out;
      if (addresses_[i] != 0 && !stays)
        global_.write(addresses_[i], a.buffer.data.data(), a.buffer.data.size());
      std::memcpy(to, &addresses_[i], sizeof addresses_[i]);
    }
    return parameters;
  }

  std::vector<std::vector<std::byte>> download() const {
    std::vector<std::vector<std::byte>> results;
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      results.emplace_back();
      if (!arguments_[i].has_result() || addresses_[i] == 0) continue;
      results.back().resize(arguments_[i].buffer.data.size());
      global_.read(results.back().data(), addresses_[i], results.back().size());
    }
    return results;
  }

 private:
  const entry& kernel_;
  const std::vector<argument>& arguments_;
  memory& global_;
  std::vector<u64> addresses_;
  std::vector<ptx::parameter> accesses_;
  ptx::kernel_image image_;
};

void write_results(std::vector<argument>& arguments, std::vector<std::vector<std::byte>> results) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    argument& a = arguments[i];
    if (!a.has_result()) continue;
    a.buffer.data = std::move(results[i]);
    if (a.result == "-")
      std::fputs(printed(a.buffer, a.element).c_str(), stdout);
    else
      npy::write(a.result, a.buffer);
  }
}

// The options set for this launch what the environment sets for a program.
void set_environment(const char* name, const std::string& value) {
  if (value.empty()) return;
  host::set_environment(name, value);
}

void check_options_of_checks(const emulate_options& options) {
  try {
    if (!options.sanitize.empty()) sanitizer_options::parse_checks(options.sanitize, "--sanitize");
    if (!options.sanitize_errors.empty())
      sanitizer_options::parse_reports(options.sanitize_errors, "--sanitize-errors");
  } catch (const launch_error& e) {
    throw usage_error(e.what());
  }
}

// The schedule of run `number`, from 0: that of the options, then other seeds.
std::string schedule_of(const emulate_options& options, std::uint32_t number) {
  if (number == 0) return options.schedule;
  const std::optional<schedule> first =
      schedule::parse(options.schedule.empty() ? "random:0" : options.schedule);
  const u64 seed = first && first->kind == schedule_kind::random ? first->seed : 0;
  return fmt::format("random:{}", seed + number);
}

void complain(std::string_view text) { std::fputs((host::printable(text) + "\n").c_str(), stderr); }

// A file of any origin may be run. The output of its kernel reaches a terminal in a form that does not act
// on it, and after a fault too. A pipe gets each byte as it is.
class shown_on_terminal {
 public:
  explicit shown_on_terminal(launch& l) {
    if (host::is_terminal(host::stream::output)) l.printed = &text_;
  }
  shown_on_terminal(const shown_on_terminal&) = delete;
  shown_on_terminal& operator=(const shown_on_terminal&) = delete;
  ~shown_on_terminal() {
    std::fputs(host::printable(text_).c_str(), stdout);
    std::fflush(stdout);
  }

 private:
  std::string text_;
};

void tell(const entry& kernel, const launch& l, u64 executed, double seconds, const std::string& order) {
  std::fputs(fmt::format("kernel '{}': {} blocks of {} threads, {} warp instructions, {:.3f} s{}{}\n",
                         kernel.name, l.grid.count(), l.block.count(), executed, seconds,
                         order.empty() ? "" : ", schedule ", order)
                 .c_str(),
             stderr);
}

int run_kernel(const module& mod, const emulate_options& options, profile::collector* counts) {
  const entry& kernel = kernel_of(mod, options);
  std::vector<argument> arguments;
  arguments.reserve(options.arguments.size());
  for (const std::string& text : options.arguments) arguments.push_back(parse_argument(text));
  memory global;
  launch l;
  l.mod = &mod;
  l.kernel = &kernel;
  l.grid = extent_of("--grid", options.grid);
  l.block = extent_of("--block", options.block);
  if (!options.cluster.empty()) l.cluster = extent_of("--cluster", options.cluster);
  l.dynamic_shared = options.shared;
  l.cooperative = options.cooperative;
  l.threads = options.threads;
  l.instruction_limit = options.instruction_limit;
  bound_arguments bound(kernel, arguments, global);
  l.image = bound.image();
  std::vector<std::vector<std::byte>> first;
  bool differs = false;
  for (std::uint32_t number = 0; number < std::max(1u, options.repeat); ++number) {
    const std::string order = schedule_of(options, number);
    set_environment("KAIO_SCHEDULE", order);
    l.parameters = bound.upload(number == 0);
    l.observers.clear();
    std::atomic<u64> executed{0};
    l.executed = &executed;
    if (counts != nullptr) l.observers.push_back(counts);
    kaio::runtime::apply_environment(l);
    const auto begin = std::chrono::steady_clock::now();
    {
      const shown_on_terminal printing(l);
      run(l, global);
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    tell(kernel, l, executed, taken.count(), order);
    std::vector<std::vector<std::byte>> results = bound.download();
    if (number == 0) {
      first = std::move(results);
      continue;
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (results[i] == first[i]) continue;
      const auto at =
          std::mismatch(first[i].begin(), first[i].end(), results[i].begin()).first - first[i].begin();
      const std::size_t bytes = arguments[i].buffer.element_bytes();
      complain(fmt::format(
          "kaio: kernel '{}': its results depend on the schedule: --arg '{}' differs from the first run under schedule {}, first in element {}",
          kernel.name, arguments[i].text, order, static_cast<std::size_t>(at) / bytes));
      differs = true;
    }
  }
  write_results(arguments, std::move(first));
  return differs ? found_fault : fine;
}

}  // namespace

int emulate(const emulate_options& options) {
  const std::string text = read_text(options.file);
  if (!options.schedule.empty() && !schedule::parse(options.schedule))
    throw usage_error(fmt::format(
        "kaio: --schedule is '{}'; write round_robin, reverse, starve:N or random:N", options.schedule));
  check_options_of_checks(options);
  set_environment("KAIO_SANITIZE", options.sanitize);
  set_environment("KAIO_SANITIZE_ERRORS", options.sanitize_errors);
  set_environment("KAIO_SUPPRESSIONS", options.suppressions);
  profile::collector counts;
  profile::collector* const counted = options.profile.empty() ? nullptr : &counts;
  const auto write_profile = [&] {
    if (counted == nullptr || counts.kernels().empty()) return;
    profile::write_report(counts.kernels(), options.profile);
  };
  try {
    const module mod = parse_module(text, architecture_for(text, options.arch));
    if (options.list) {
      list_kernels(mod);
      return fine;
    }
    const int code = run_kernel(mod, options, counted);
    write_profile();
    return code;
  } catch (const ptx_error& e) {
    complain(fmt::format("{}:{}:{}: {}", options.file, e.line(), e.column(), e.what()));
    return invalid_ptx;
  } catch (const fault& e) {
    complain(e.what());
    write_profile();
    return found_fault;
  } catch (const launch_error& e) {
    complain(e.what());
    return launch_refused;
  } catch (const memory_error& e) {
    complain(e.what());
    return launch_refused;
  }
}

}  // namespace kaio::tools

#include "emulator/profile/report.hpp"

#include "host/write_file.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace kaio::emulator::profile {
namespace {

void join(std::string& to, const std::string& part) { to += to.empty() ? part : "; " + part; }

void remark_accesses(std::string& to, const access_counters& c, memory_place place) {
  if (c.requests == 0) return;
  const auto per_request = [&](u64 count) {
    return static_cast<double>(count) / static_cast<double>(c.requests);
  };
  const bool shared = place == memory_place::shared || place == memory_place::cluster;
  if (shared) {
    if (c.transactions > c.ideal)
      join(to, fmt::format("{:.1f} wavefronts a request, {:.1f} without bank conflicts",
                           per_request(c.transactions), per_request(c.ideal)));
  } else if (place == memory_place::global || place == memory_place::local) {
    if (c.transactions > c.ideal)
      join(to, fmt::format("{:.1f} {}sectors a request, {:.1f} would do", per_request(c.transactions),
                           place == memory_place::local ? "local " : "", per_request(c.ideal)));
    else
      join(to, fmt::format("{:.1f} {}sectors a request", per_request(c.transactions),
                           place == memory_place::local ? "local " : ""));
  }
  if (c.atomics != 0 && c.atomic_turns > c.atomics)
    join(to, fmt::format("{:.1f} lanes of a request wait for one address",
                         static_cast<double>(c.atomic_turns) / static_cast<double>(c.atomics)));
}

}  // namespace

std::string grouped(u64 number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

double share_of(u64 part, u64 whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string ratio(u64 numerator, u64 denominator) {
  if (denominator == 0) return "-";
  return fmt::format("{:.2f}", static_cast<double>(numerator) / static_cast<double>(denominator));
}

std::string shown_path(const std::string& file) {
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error), path(file);
  if (error || path.is_relative()) return file;
  const std::filesystem::path relative = path.lexically_relative(here);
  return relative.empty() || *relative.begin() == ".." ? file : relative.generic_string();
}

std::string shown_place(const source_place& place) {
  return fmt::format("{}:{}", shown_path(place.file), place.line);
}

std::string extent(const ptx::dim3& d) { return fmt::format("{} x {} x {}", d.x, d.y, d.z); }

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

std::string remarks(const line_figures& line) {
  std::string text;
  for (std::size_t place = 0; place < memory_places; ++place)
    remark_accesses(text, line.sum.memory[place], static_cast<memory_place>(place));
  if (line.branch.divergent != 0)
    join(text, fmt::format("warps part in {} of {} executions", grouped(line.branch.divergent),
                           grouped(line.branch.executions)));
  const u64 possible = line.sum.executions * warp_lanes;
  if (possible != 0 && line.sum.active * 10 < possible * 9)
    join(text, fmt::format("{} of the lanes are active",
                           percent(static_cast<double>(line.sum.active) / static_cast<double>(possible))));
  return text;
}

void write_report(const std::list<kernel_profile>& kernels, const std::string& file) {
  const std::string report = file.ends_with(".html")   ? html_report(kernels)
                             : file.ends_with(".json") ? json_report(kernels)
                                                       : text_report(kernels);
  if (file == "-") {
    std::fwrite(report.data(), 1, report.size(), stdout);
    std::fflush(stdout);
    return;
  }
  host::write_file(file, {report});
}

}  // namespace kaio::emulator::profile

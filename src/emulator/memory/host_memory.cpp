#include "emulator/memory/host_memory.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "host/lasting.hpp"
#include "host/system/memory.hpp"

namespace kaio::emulator {
namespace {

constexpr u64 unlimited = std::numeric_limits<u64>::max();
constexpr u64 kept_for_the_program = 16;      // one part in 16
constexpr u64 between_looks = u64{64} << 20;  // bytes taken

// The number after `name` in a file of lines "name number ...".
std::optional<u64> number_after(const std::string& file, std::string_view name) {
  std::ifstream in(file);
  std::string word;
  while (in >> word) {
    u64 value = 0;
    if (word == name && in >> value) return value;
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return {};
}

// The only number of a file; none for "max".
std::optional<u64> number_in(const std::string& file) {
  std::ifstream in(file);
  u64 value = 0;
  if (in >> value) return value;
  return {};
}

// The file names of the memory controller in one version of control groups.
struct controller {
  std::string mount;  // path below the root
  const char* limit;
  const char* usage;
  const char* reclaimable;  // in memory.stat: part of the usage
};

// The bytes that the group at `folder` still allows.
u64 left_in(const std::string& folder, const controller& c) {
  const std::optional<u64> limit = number_in(folder + "/" + c.limit),
                           used = number_in(folder + "/" + c.usage);
  if (!limit || !used) return unlimited;
  const u64 files = number_after(folder + "/memory.stat", c.reclaimable).value_or(0);
  const u64 kept = *used - std::min(files, *used);
  return *limit - std::min(kept, *limit);
}

// A group and its ancestors. In a container its path may be one outside the mounted tree.
u64 left_in_groups(const std::string& mount, std::string path, const controller& c) {
  u64 left = left_in(mount, c);
  while (path.size() > 1) {
    left = std::min(left, left_in(mount + path, c));
    path.resize(path.rfind('/'));
  }
  return left;
}

u64 left_in_all_groups(const std::string& root) {
  const controller version_1{"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                             "total_inactive_file"};
  const controller version_2{"/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};
  u64 left = unlimited;
  std::ifstream in(root + "/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {  // hierarchy:controllers:path
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,")
      left = std::min(left, left_in_groups(root + version_2.mount, path, version_2));
    else if (controllers.find(",memory,") != std::string::npos)
      left = std::min(left, left_in_groups(root + version_1.mount, path, version_1));
  }
  return left;
}

}  // namespace

u64 available_host_memory(const std::string& root) {
  const std::optional<u64> kibibytes = number_after(root + "/proc/meminfo", "MemAvailable:");
  return std::min(kibibytes ? *kibibytes * 1024 : host::available_memory(), left_in_all_groups(root));
}

host_reservation& host_reservation::shared() {
  // Lasting, because buffers of static objects may be destroyed last.
  static auto& instance = *host::make_lasting<host_reservation>([] { return available_host_memory(); });
  return instance;
}

void host_reservation::look() {
  const u64 available = available_();
  present_ = available - available / kept_for_the_program;
  most_ = std::max(most_, present_);
  since_ = 0;
  looked_ = true;
}

bool host_reservation::take(u64 bytes) {
  const std::lock_guard lock(mutex_);
  const auto fits = [&] { return bytes <= present_ && reserved_ <= most_ && bytes <= most_ - reserved_; };
  if (!looked_ || !fits() || bytes >= between_looks - std::min(since_, between_looks)) look();
  if (!fits()) return false;
  reserved_ += bytes;
  since_ += bytes;
  return true;
}

void host_reservation::give_back(u64 bytes) {
  const std::lock_guard lock(mutex_);
  reserved_ -= bytes;
}

u64 host_reservation::left() {
  const std::lock_guard lock(mutex_);
  if (!looked_) look();
  return most_ - std::min(reserved_, most_);
}

}  // namespace kaio::emulator

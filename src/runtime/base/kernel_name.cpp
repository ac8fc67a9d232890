#include "runtime/base/kernel_name.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "host/lasting.hpp"
#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {

// The C++ places where the kernels of each name begin, if known. Copies: the images may be gone.
struct names {
  std::mutex changing;
  std::map<std::string, std::vector<std::string>, std::less<>> places;
};

names& known_names() {
  static names& known =
      *host::make_lasting<names>();  // kernels may be launched until the very end of the program
  return known;
}

bool has_lines(const ptx::kernel_image& kernel) {
  return kernel.statements != nullptr && kernel.statement_count != 0 && kernel.statements[0].file != nullptr;
}

std::string first_statement(const ptx::kernel_image& kernel) {
  return text(kernel.statements[0].file, ':', kernel.statements[0].line);
}

}  // namespace

void note_kernel(const ptx::kernel_image& kernel) {
  if (!has_lines(kernel)) return;
  std::string place = first_statement(kernel);
  names& known = known_names();
  const std::scoped_lock lock(known.changing);
  std::vector<std::string>& places = known.places[std::string(kernel.name)];
  if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(std::move(place));
}

std::string origin_of(const ptx::kernel_image& kernel) {
  if (!has_lines(kernel)) return {};
  names& known = known_names();
  const std::scoped_lock lock(known.changing);
  const auto found = known.places.find(kernel.name);
  if (found == known.places.end() || found->second.size() < 2) return {};
  const std::string place = first_statement(kernel);
  return place.substr(place.rfind('/') + 1);
}

std::string display_name(const ptx::kernel_image& kernel) {
  const std::string origin = origin_of(kernel);
  return origin.empty() ? std::string(kernel.name) : text(kernel.name, " (", origin, ")");
}

}  // namespace kaio::runtime

#include "runtime/base/kernel_name.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "runtime/base/text.hpp"

namespace kaio::runtime {

namespace {

// Kernels whose C++ lines are known, by name. One is known by its text: a copy of an image is the same kernel.
struct names {
  std::mutex changing;
  std::map<std::string, std::vector<const std::string_view*>, std::less<>> texts;
};

names& known_names() {
  static names* const known = new names;  // kernels may be launched until the very end of the program
  return *known;
}

bool has_lines(const ptx::kernel_image& kernel) {
  return kernel.statement_count != 0 && kernel.statements[0].file != nullptr;
}

}  // namespace

void note_kernel(const ptx::kernel_image& kernel) {
  if (!has_lines(kernel)) return;
  names& known = known_names();
  const std::scoped_lock lock(known.changing);
  std::vector<const std::string_view*>& texts = known.texts[std::string(kernel.name)];
  if (std::find(texts.begin(), texts.end(), kernel.segments) == texts.end()) texts.push_back(kernel.segments);
}

std::string origin_of(const ptx::kernel_image& kernel) {
  if (!has_lines(kernel)) return {};
  names& known = known_names();
  const std::scoped_lock lock(known.changing);
  const auto found = known.texts.find(kernel.name);
  if (found == known.texts.end() || found->second.size() < 2) return {};
  std::string_view file = kernel.statements[0].file;
  file.remove_prefix(file.rfind('/') + 1);
  return text(file, ':', kernel.statements[0].line);
}

std::string display_name(const ptx::kernel_image& kernel) {
  const std::string origin = origin_of(kernel);
  return origin.empty() ? std::string(kernel.name) : text(kernel.name, " (", origin, ")");
}

}  // namespace kaio::runtime

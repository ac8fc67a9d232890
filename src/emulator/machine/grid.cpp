#include "emulator/machine/grid.hpp"

#include <algorithm>

namespace kaio::emulator {
namespace {

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

bool grid::reads_reserved_offset() const {
  return std::any_of(kernel.specials.begin(), kernel.specials.end(), [](const special_row& s) {
    return s.which >= special_form::reserved_smem_offset_begin &&
           s.which <= special_form::reserved_smem_offset_cap;
  });
}

ptx::dim3 thread_of(const grid& g, u32 warp_index, unsigned lane) {
  const u32 t = warp_index * warp_lanes + lane;
  return {t % g.threads.x, t / g.threads.x % g.threads.y, t / g.threads.x / g.threads.y};
}

source_place source_of(const grid& g, const instruction& i) {
  const std::vector<source_place> places = statements(g.program, g.image);
  return i.line == 0 || i.line > places.size() ? source_place{} : places[i.line - 1];
}

std::string_view text_of(const grid& g, const instruction& i) { return trimmed(g.program.line(i.line)); }

}  // namespace kaio::emulator

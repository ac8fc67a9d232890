// kaio layout: a picture of the layout of a tile in shared memory, or of a matrix in the lanes.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"
#include "tools/program/layout_picture.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>

namespace kaio::tools {

int draw_layout(const layout_options& o) {
  const std::vector<drawn_layout> all = drawn_layouts();
  if (o.name.empty()) {
    for (const drawn_layout& l : all)
      std::fputs(fmt::format("{:24} {}\n", l.name, l.description).c_str(), stdout);
    return fine;
  }
  for (const drawn_layout& l : all) {
    if (l.name != o.name) continue;
    const std::string text = svg(l.draw(l));
    if (o.output.empty()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      return fine;
    }
    std::ofstream file(o.output, std::ios::binary);
    file << text;
    file.close();
    if (!file)
      throw usage_error(
          fmt::format("kaio: '{}' cannot be written; name another file with --output", o.output));
    return fine;
  }
  throw usage_error(fmt::format("kaio: there is no layout '{}'; `kaio layout` lists them", o.name));
}

}  // namespace kaio::tools

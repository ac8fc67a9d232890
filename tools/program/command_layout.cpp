// kaio layout: a picture of the layout of a tile in shared memory, or of a matrix in the lanes.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"
#include "tools/program/layout_picture.hpp"

#include "host/write_file.hpp"

#include <fmt/format.h>

#include <cstdio>

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
    host::write_file(o.output, {text});
    return fine;
  }
  throw usage_error(fmt::format("kaio: there is no layout '{}'; `kaio layout` lists them", o.name));
}

}  // namespace kaio::tools

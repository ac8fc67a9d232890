#include "runtime/emulator/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

namespace kaio::runtime::emulator {

void apply_environment(launch& l) {
  if (const char* text = std::getenv("KAIO_SCHEDULE"); text != nullptr && *text != '\0') {
    const std::optional<schedule> order = schedule::parse(text);
    if (!order)
      throw launch_error(
          fmt::format("kaio: KAIO_SCHEDULE is '{}'; it may be round_robin, reverse, starve:N or "
                      "random:N",
                      text));
    l.order = *order;
  }
}

}  // namespace kaio::runtime::emulator

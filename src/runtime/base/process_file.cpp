#include "runtime/base/process_file.hpp"

#include "host/system/process.hpp"

namespace kaio::runtime {

int process_number() noexcept { return host::process_number(); }

std::string process_file(std::string name) {
  const std::string number = std::to_string(process_number());
  for (std::size_t at = name.find("%p"); at != std::string::npos; at = name.find("%p", at + number.size()))
    name.replace(at, 2, number);
  return name;
}

}  // namespace kaio::runtime

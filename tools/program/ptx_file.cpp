#include "tools/program/ptx_file.hpp"

#include "tools/program/arguments.hpp"

#include "emulator/parse/parser.hpp"
#include "runtime/device_choice.hpp"
#include "runtime/emulator/environment.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>

namespace kaio::tools {

std::string read_text(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
  std::ifstream file(path, std::ios::binary);
  if (!file) throw usage_error("kaio: '" + path + "' cannot be opened; is the path right?");
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw usage_error("kaio: '" + path + "' cannot be read; is it a file?");
  // nvcc and some tools end a text with a zero byte.
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

// Where none is named: sm_90a, or the newer one that the text is for.
emulator::architecture architecture_for(const std::string& text, const std::string& name) {
  if (name.empty() && std::getenv("KAIO_EMULATOR_ARCH") == nullptr) {
    constexpr ptx::target usual{90, true};
    const ptx::target wanted = emulator::parse_header(text).target;
    return emulator::architecture_of(wanted.sm <= usual.sm ? usual : wanted);
  }
  const char* const chosen = name.empty() ? std::getenv("KAIO_EMULATOR_ARCH") : name.c_str();
  try {
    return emulator::architecture_of(runtime::emulator_architecture(chosen));
  } catch (const std::exception&) {
    throw usage_error(fmt::format("kaio: {} is '{}'; write {}",
                                  name.empty() ? "KAIO_EMULATOR_ARCH" : "--arch", chosen,
                                  runtime::architecture_names));
  }
}

}  // namespace kaio::tools

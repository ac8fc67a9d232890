// kaio under the name `ptxas`: the "machine code" that it writes is the PTX itself, which the emulator's driver library takes
// where it would get a cubin. Triton compiles its kernels with the ptxas that TRITON_PTXAS_PATH names.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"
#include "tools/program/ptx_file.hpp"

#include "emulator/emulator.hpp"
#include "host/printable.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <string_view>

namespace kaio::tools {
namespace {

// Triton reads the release and chooses the version of its PTX by it.
constexpr const char* version = "ptxas: kaio " KAIO_VERSION
                                " in its place, the output is PTX for the emulator\n"
                                "Cuda compilation tools, release 13.0, V13.0.0\n";

struct ptxas_options {
  std::string input, output = "elf.o", arch;
  bool version = false;
};

// Options that choose how machine code is made have no meaning here; they may have a value, as one word or two.
ptxas_options read_options(const std::vector<std::string>& words) {
  ptxas_options o;
  const auto value = [&](std::size_t& at, std::string_view name) -> std::string {
    const std::string& word = words[at];
    if (word.size() > name.size()) return word.substr(name.size() + 1);  // after the =
    if (at + 1 == words.size()) throw usage_error(fmt::format("kaio: ptxas: option {} needs a value", name));
    return words[++at];
  };
  const auto is = [](std::string_view word, std::string_view name) {
    return word == name || (word.starts_with(name) && word[name.size()] == '=');
  };
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--version" || word == "-V") {
      o.version = true;
    } else if (is(word, "-o")) {
      o.output = value(at, "-o");
    } else if (is(word, "--output-file")) {
      o.output = value(at, "--output-file");
    } else if (is(word, "-arch")) {
      o.arch = value(at, "-arch");
    } else if (is(word, "--gpu-name")) {
      o.arch = value(at, "--gpu-name");
    } else if (word == "--opt-level" || word == "-O" || word == "-maxrregcount" || word == "--maxrregcount") {
      ++at;
    } else if (!word.starts_with('-')) {
      if (!o.input.empty())
        throw usage_error(fmt::format("kaio: ptxas: two files, '{}' and '{}'; give one", o.input, word));
      o.input = word;
    }
  }
  return o;
}

}  // namespace

int stand_in_for_ptxas(const std::vector<std::string>& words) {
  const ptxas_options o = read_options(words);
  if (o.version) {
    std::fputs(version, stdout);
    return fine;
  }
  if (o.input.empty()) throw usage_error("kaio: ptxas: no file with PTX; name one");
  const std::string text = read_text(o.input);
  try {
    emulator::parse_module(text, architecture_for(text, o.arch));
  } catch (const emulator::ptx_error& e) {
    std::fputs(fmt::format("ptxas {}, line {}; error : {}\n", o.input, e.line(), host::printable(e.reason()))
                   .c_str(),
               stderr);
    return invalid_ptx;
  }
  std::ofstream file(o.output, std::ios::binary | std::ios::trunc);
  file << text << '\0';  // as the driver expects the end of a text
  file.close();
  if (!file) throw usage_error(fmt::format("kaio: ptxas: '{}' cannot be written", o.output));
  return fine;
}

}  // namespace kaio::tools

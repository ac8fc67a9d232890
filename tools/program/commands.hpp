#pragma once
// The commands of the program `kaio`, each in a file of its own. They return the exit code of the program,
// and throw usage_error for a command line that cannot be used.

#include <cstdint>
#include <string>
#include <vector>

namespace kaio::tools {

// The exit codes of the program.
enum exit_code : int {
  fine = 0,
  wrong_usage = 1,
  invalid_ptx = 2,
  found_fault = 3,  // a fault, a report of the sanitizer, or results that depend on the schedule
  launch_refused = 4,
};

struct emulate_options {
  std::string file;  // of PTX; - is the standard input
  std::string kernel, arch;
  std::string grid = "1", block = "1", cluster;
  std::uint32_t shared = 0;
  bool cooperative = false, list = false;
  std::vector<std::string> arguments;
  std::string schedule, profile;
  std::string sanitize, sanitize_errors, suppressions;  // as the variables KAIO_SANITIZE, ... of a program
  std::uint64_t instruction_limit = 0;
  std::uint32_t repeat = 1;
  unsigned threads = 0;
};

// Runs a kernel of a PTX file.
int emulate(const emulate_options& options);

struct program_options {
  std::vector<std::string> command;  // the program and its arguments
  std::string sanitize = "all", sanitize_errors, suppressions;
  std::string profile;  // the file; empty: none is asked for
  std::uint32_t schedules = 1;
  bool cuda = false;    // libkaio_cuda_emulator.so in place of libcuda
  std::string library;  // where it is; empty: next to this program
};

// Runs a whole program on the emulator with every check, under one or several schedules.
int check(const program_options& options);
// Runs a whole program on the emulator and lets it write the profile of its kernels.
int profile_program(const program_options& options);

struct layout_options {
  std::string name;    // empty: list them
  std::string output;  // the file; empty: the standard output
};

// Writes the picture of a layout as SVG.
int draw_layout(const layout_options& options);

struct weights_options {
  std::string file;    // *.gguf, *.safetensors or *.index.json
  std::string config;  // config.json of the model; empty: the one next to the file, where there is one
};

// Lists the tensors of a file of weights.
int list_weights(const weights_options& options);

// The program under the name `ptxas`, with ptxas' command line: checks PTX and writes it where machine code is expected.
int stand_in_for_ptxas(const std::vector<std::string>& words);

}  // namespace kaio::tools

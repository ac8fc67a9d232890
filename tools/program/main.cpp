// kaio: PTX without a GPU. `kaio emulate` runs a kernel of any PTX file, `kaio check` a whole program under
// the sanitizer, and `kaio profile` reports the cost of the kernels of either; `kaio layout` draws the
// layouts of tiles and fragments; `kaio weights` lists the tensors of a file of weights.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"

#include "host/printable.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

namespace {

using namespace kaio::tools;

template <class Options>
void add_checks(CLI::App& command, Options& o) {
  command.add_option("--sanitize", o.sanitize, "Checks: all, or a list such as races,memory or all,-async");
  command.add_option("--sanitize-errors", o.sanitize_errors,
                     "Reports after which a launch is stopped: a number, or continue (1)");
  command.add_option("--suppressions", o.suppressions, "A file of reports that are not wanted");
}

void add_launch_options(CLI::App& command, emulate_options& o) {
  command.add_option("file", o.file, "The PTX file; - is the standard input")->required();
  command.add_option("--kernel", o.kernel, "The kernel; not needed where the file has only one");
  command.add_option("--grid", o.grid, "Blocks: X, X,Y or X,Y,Z");
  command.add_option("--block", o.block, "Threads of a block: X, X,Y or X,Y,Z");
  command.add_option("--cluster", o.cluster, "Blocks of a cluster: X, X,Y or X,Y,Z");
  command.add_option("--shared", o.shared, "Bytes of dynamic shared memory");
  command.add_flag("--cooperative", o.cooperative, "All blocks are resident at once");
  command
      .add_option(
          "--arg", o.arguments,
          "An argument, in the order of the parameters: 3:u32, 1.5:f32, in:x.npy, out:y.npy:f32:1024, inout:x.npy[:y.npy], zeros:f32:256, bytes:0x00ff, null")
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command.add_option(
      "--arch", o.arch,
      "The emulated GPU, such as sm_80; sm_90a by default, or the newer one that the text is for");
  auto* const order =
      command.add_option("--schedule", o.schedule, "round_robin, reverse, starve:N or random:N");
  command
      .add_option_function<std::uint64_t>(
          "--seed", [&o](std::uint64_t seed) { o.schedule = "random:" + std::to_string(seed); },
          "The same as --schedule random:N")
      ->excludes(order);
  add_checks(command, o);
  command.add_option("--instruction-limit", o.instruction_limit,
                     "Warp instructions that a block may execute");
  command.add_option("--repeat", o.repeat, "Run it so often, with other schedules, and compare the results")
      ->check(CLI::Range(1u, 1000000u));
  command.add_option("--threads", o.threads, "Host threads that run blocks; 0: all cores");
  command.add_flag("--list", o.list, "Print the kernels of the file and their parameters");
}

void add_program_options(CLI::App& command, program_options& o) {
  command.add_flag("--cuda", o.cuda, "The program uses the CUDA driver: give it the emulator instead");
  command.add_option("--library", o.library, "libkaio_cuda_emulator.so, where it is not found by itself");
}

int run(int argc, char** argv) {
  // The words after -- are another program's command line.
  std::vector<std::string> words(argv + 1, argv + argc), program;
  const auto dashes = std::find(words.begin(), words.end(), "--");
  const bool has_program = dashes != words.end();
  if (has_program) {
    program.assign(dashes + 1, words.end());
    words.erase(dashes, words.end());
  }

  CLI::App app("Runs, checks and profiles GPU kernels without a GPU.", "kaio");
  app.allow_windows_style_options(false);  // on Windows a path may begin with /
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(KAIO_VERSION));

  emulate_options launch;
  auto* const emulate_command = app.add_subcommand("emulate", "Run a kernel of a PTX file");
  add_launch_options(*emulate_command, launch);
  emulate_command->add_option("--profile", launch.profile,
                              "Write its profile: FILE.html, FILE.json, FILE.txt, or - for the terminal");

  program_options checked;
  auto* const check_command = app.add_subcommand(
      "check", "Run a program on the emulator with every check: check [OPTION...] PROGRAM [ARGUMENT...]");
  check_command->prefix_command();
  add_checks(*check_command, checked);
  check_command->add_option("--schedules", checked.schedules, "Run it under so many schedules")
      ->check(CLI::Range(1u, 1000000u));
  add_program_options(*check_command, checked);

  program_options profiled;
  emulate_options profiled_launch;
  profiled.profile = profiled_launch.profile = "-";
  auto* const profile_command = app.add_subcommand(
      "profile",
      "Report what a kernel costs: profile FILE.ptx [as emulate], or profile -- PROGRAM [ARGUMENT...]");
  if (has_program)
    add_program_options(*profile_command, profiled);
  else
    add_launch_options(*profile_command, profiled_launch);
  profile_command->add_option("--output", has_program ? profiled.profile : profiled_launch.profile,
                              "FILE.html, FILE.json, FILE.txt, or - for the terminal");

#ifdef KAIO_HAS_LAYOUTS
  layout_options drawn;
  auto* const layout_command = app.add_subcommand(
      "layout",
      "Draw the layout of a tile in shared memory, or a fragment in registers, as SVG; alone it lists them");
  layout_command->add_option("name", drawn.name, "The layout, one of those that `kaio layout` lists");
  layout_command->add_option("--output", drawn.output, "The file; without it the standard output");
#endif

#ifdef KAIO_HAS_WEIGHTS
  weights_options listed;
  auto* const weights_command = app.add_subcommand(
      "weights",
      "List the tensors of a GGUF or safetensors file: formats, shapes, and what kaio does with them");
  weights_command
      ->add_option("file", listed.file, "FILE.gguf, FILE.safetensors, or an index *.json of several")
      ->required();
  weights_command->add_option(
      "--config", listed.config,
      "The model's config.json; without it the one next to the file, where there is one");
#endif

  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(words);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? fine : wrong_usage;
  }
  if (emulate_command->parsed()) return emulate(launch);
  if (check_command->parsed()) {
    checked.command = check_command->remaining();
    checked.command.insert(checked.command.end(), program.begin(), program.end());
    return kaio::tools::check(checked);
  }
#ifdef KAIO_HAS_LAYOUTS
  if (layout_command->parsed()) return draw_layout(drawn);
#endif
#ifdef KAIO_HAS_WEIGHTS
  if (weights_command->parsed()) return list_weights(listed);
#endif
  if (!has_program) return emulate(profiled_launch);
  profiled.command = program;
  return profile_program(profiled);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const bool as_ptxas = argc > 0 && std::filesystem::path(argv[0]).filename() == "ptxas";
    const int code = as_ptxas ? stand_in_for_ptxas({argv + 1, argv + argc}) : run(argc, argv);
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    std::fputs("kaio: the standard output cannot be written; is its disk full?\n", stderr);
  } catch (const std::exception& e) {
    const bool ours = std::strncmp(e.what(), "kaio: ", 6) == 0;
    std::fprintf(stderr, "%s%s\n", ours ? "" : "kaio: ", kaio::host::printable(e.what()).c_str());
  }
  return wrong_usage;
}

// kaio check and kaio profile: a whole program, unchanged, with the emulator in the place of its GPU.

#include "tools/program/arguments.hpp"
#include "tools/program/commands.hpp"

#include "host/printable.hpp"
#include "host/system/process.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#include "tool/temporary_folder.hpp"

namespace kaio::tools {
namespace {

namespace files = std::filesystem;
using host::outcome;
using host::variables;
using tool::temporary_folder;

constexpr const char* installed = "../" KAIO_LIBRARY_FOLDER;  // seen from the folder of this program
#if defined(_WIN32)
constexpr std::string_view library_name = "nvcuda.dll";
constexpr const char* between_folders = ";";
#else
constexpr std::string_view library_name = "libkaio_cuda_emulator.so";
constexpr const char* between_folders = ":";
#endif

// The folder that this program is in.
files::path program_folder() {
  const std::string file = host::program_file();
  return file.empty() ? files::path(".") : files::path(file).parent_path();
}

outcome run_program(const program_options& options, const variables& v,
                    const std::function<void(std::string_view)>& on_line) {
  try {
    return host::run_process(options.command, v, on_line);
  } catch (const std::system_error& e) {
    throw usage_error("kaio: '" + options.command.front() + "' cannot be started: " + e.what());
  }
}

// The library in the lib folder next to bin, as it is installed, or where a build has it.
files::path find_library(const std::string& given) {
  if (!given.empty()) {
    if (!files::is_regular_file(given))
      throw usage_error(fmt::format("kaio: there is no file '{}'; --library names {}", given, library_name));
    return files::absolute(given);
  }
  const files::path here = program_folder();
  for (const char* const folder :
       {".", "..", installed, "../lib", "../lib64", "../lib/kaio/cuda", "../src/driver_emulator"})
    if (files::is_regular_file(here / folder / library_name))
      return files::canonical(here / folder / library_name);
  throw usage_error(fmt::format(
      "kaio: {} is neither next to this program nor in the lib folder next to that; name it with --library",
      library_name));
}

std::string prepended(const std::string& first, const char* variable) {
  const char* const before = std::getenv(variable);
  return before == nullptr || *before == '\0' ? first : first + between_folders + before;
}

#if defined(_WIN32)

// kaio's own runtime finds the emulator by the variable. Another program finds it in the path if the machine has no driver
// of NVIDIA; otherwise the file must be in the program's folder.
void replace_driver(variables& v, const temporary_folder&, const std::string& given) {
  const files::path library = find_library(given);
  v.emplace_back("PATH", prepended(library.parent_path().string(), "PATH"));
  v.emplace_back("KAIO_CUDA_LIBRARY", library.string());
  v.emplace_back("KAIO_DEVICE", "cuda:0");
}

#else

// NVIDIA's cuBLAS and cuRAND bring machine code alone. The small ones next to the emulator's library get their names; theirs
// is libkaio.so.
void replace_libraries(const temporary_folder& folder, const files::path& emulator) {
  struct replacement {
    const char *library, *names;
  };
  constexpr replacement all[] = {
      {"libkaio_cublas_emulator.so", "libcublas.so libcublas.so.11 libcublas.so.12 libcublas.so.13"},
      {"libkaio_curand_emulator.so", "libcurand.so libcurand.so.10"},
      {"libkaio.so.0", "libkaio.so.0"},
      {"../c/libkaio.so.0", "libkaio.so.0"},  // in a build
  };
  for (const auto& [library, names] : all) {
    const files::path file = emulator.parent_path() / library;
    if (!files::is_regular_file(file)) continue;
    std::istringstream words(names);
    for (std::string name; words >> name;)
      if (!files::is_symlink(folder.path() / name))
        files::create_symlink(files::canonical(file), folder.path() / name);
  }
}

// The program finds the emulator under the name of the driver, however it looks for it: linked, by dlopen, or
// as kaio's own runtime does.
void replace_driver(variables& v, const temporary_folder& folder, const std::string& given) {
  const files::path library = find_library(given);
  for (const char* const name : {"libcuda.so.1", "libcuda.so"})
    files::create_symlink(library, folder.path() / name);
  replace_libraries(folder, library);
  v.emplace_back("LD_LIBRARY_PATH", prepended(folder.path().string(), "LD_LIBRARY_PATH"));
  v.emplace_back("LD_PRELOAD", prepended(library.string(), "LD_PRELOAD"));
  v.emplace_back("KAIO_CUDA_LIBRARY", library.string());
  v.emplace_back("KAIO_DEVICE", "cuda:0");
  // Frameworks that would make machine code of their PTX hand over the PTX: Triton calls a ptxas, CuPy the driver.
  const files::path ptxas = folder.path() / "ptxas";
  files::create_symlink(files::canonical(host::program_file()), ptxas);
  for (const char* const name : {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"})
    v.emplace_back(name, ptxas.string());
  v.emplace_back("PYTORCH_NO_CUDA_MEMORY_CACHING",
                 "1");  // each tensor has its exact size, so that overruns show
  v.emplace_back("CUPY_COMPILE_WITH_PTX", "1");
  v.emplace_back("CUPY_ACCELERATORS",
                 "");  // CuPy's own reductions, not those of CUB, which it brings as machine code
}

#endif

variables environment_of(const program_options& options, const temporary_folder& folder) {
  variables v;
  if (options.cuda)
    replace_driver(v, folder, options.library);
  else
    v.emplace_back("KAIO_DEVICE", "emulator");
  return v;
}

// The first run has the usual order, then come its reverse and random ones.
std::string schedule_of(std::uint32_t run) {
  if (run == 0) return "round_robin";
  if (run == 1) return "reverse";
  return fmt::format("random:{}", run - 1);
}

// Counts reports of faults and of the sanitizer by their text.
class report_counter {
 public:
  void line(std::string_view text) {
    constexpr std::string_view start = "kaio: kernel '", place = "  PTX line ";
    if (const std::size_t at = text.find(start); at != std::string_view::npos) {
      close();
      ++count_;
      open_ = std::string(text.substr(at + std::string_view("kaio: ").size()));
    } else if (text.starts_with(place) && !open_.empty()) {
      open_ += ", PTX line " + std::string(text.substr(place.size()));
      close();
    }
  }
  void close() {
    if (!open_.empty()) ++kinds_[open_];
    open_.clear();
  }
  std::uint64_t count() const { return count_; }
  void list() const {
    for (const auto& [text, times] : kinds_)
      std::fputs(fmt::format("  {} x {}\n", times, host::printable(text)).c_str(), stderr);
  }

 private:
  std::uint64_t count_ = 0;
  std::string open_;  // the report whose lines are coming
  std::map<std::string, std::uint64_t> kinds_;
};

std::string ended(const outcome& o) {
  return o.signal != 0 ? fmt::format("was ended by signal {}", o.signal)
                       : fmt::format("exited with {}", o.code);
}

void require_command(const program_options& options, std::string_view name) {
  if (options.command.empty())
    throw usage_error(
        fmt::format("kaio: {} needs a program to run: kaio {} PROGRAM [ARGUMENT...]", name, name));
}

}  // namespace

int check(const program_options& options) {
  require_command(options, "check");
  const temporary_folder folder;
  const variables always = environment_of(options, folder);
  report_counter reports;
  int code = fine;
  std::uint32_t failed = 0;
  for (std::uint32_t run = 0; run < options.schedules; ++run) {
    variables v = always;
    v.emplace_back("KAIO_SANITIZE", options.sanitize);
    if (!options.sanitize_errors.empty()) v.emplace_back("KAIO_SANITIZE_ERRORS", options.sanitize_errors);
    // A program that changes its folder still reads it.
    if (!options.suppressions.empty())
      v.emplace_back("KAIO_SUPPRESSIONS", files::absolute(options.suppressions).string());
    const std::string order = schedule_of(run);
    if (options.schedules > 1) v.emplace_back("KAIO_SCHEDULE", order);
    const outcome o = run_program(options, v, [&](std::string_view text) { reports.line(text); });
    if (o.code == 0) continue;
    ++failed;
    if (code == fine) code = o.code;
    std::fputs(fmt::format("kaio check: '{}' {}{}\n", options.command.front(), ended(o),
                           options.schedules > 1 ? " under schedule " + order : "")
                   .c_str(),
               stderr);
  }
  reports.close();
  reports.list();
  std::fputs(
      fmt::format("kaio check: {} run{}, {} failed, {} report{}\n", options.schedules,
                  options.schedules == 1 ? "" : "s", failed, reports.count(), reports.count() == 1 ? "" : "s")
          .c_str(),
      stderr);
  return reports.count() != 0 ? found_fault : code;
}

int profile_program(const program_options& options) {
  require_command(options, "profile --");
  const temporary_folder folder;
  variables v = environment_of(options, folder);
  // A program that changes its folder still writes where it was asked to.
  v.emplace_back("KAIO_PROFILE",
                 options.profile == "-" ? options.profile : files::absolute(options.profile).string());
  const outcome o = run_program(options, v, [](std::string_view) {});
  if (o.code != 0)
    std::fputs(fmt::format("kaio profile: '{}' {}\n", options.command.front(), ended(o)).c_str(), stderr);
  return o.code;
}

}  // namespace kaio::tools

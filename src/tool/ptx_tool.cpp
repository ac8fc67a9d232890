// The commands of a program of kernels: list, ptx, dump, verify, profile, check. It is linked into a program for
// each family of kernels, and into projects of others: it needs nothing but the standard library and src/host.

#include <kaio/tool/ptx_tool.hpp>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "host/system/process.hpp"
#include "host/write_file.hpp"
#include "tool/temporary_folder.hpp"

namespace kaio::tool {
namespace {

namespace files = std::filesystem;
using ptx::kernel_image;

// After "usage: PROGRAM ".
constexpr const char* help =
    R"(COMMAND [ARGUMENT...]

  list                      print every kernel with what it needs
  ptx NAME [--lines]        print the PTX of a kernel; --lines adds the C++ line that each PTX line came from
  dump FOLDER               write every kernel to FOLDER/NAME.ptx, and FOLDER/manifest.json
  verify [OPTION...]        assemble every kernel with ptxas for each target that it runs on; verify --help has
                            the options, such as --require: fail if a target cannot be verified here
  profile NAME [OPTION...]  run a kernel on the emulator and print what it costs; profile --help has the options
  check NAME [OPTION...]    run a kernel on the emulator with every check; check --help has the options
)";

// After "usage: PROGRAM profile" or "usage: PROGRAM check".
constexpr const char* help_of_runs =
    R"( NAME [OPTION...]

Runs a kernel of this program on the emulator: profile prints what it costs, check reports races, reads of
uninitialised memory and every other fault that the sanitizer knows. The program `kaio` does it.

  --grid X[,Y[,Z]]    blocks
  --block X[,Y[,Z]]   threads of a block
  --arg VALUE         an argument, in the order of the parameters: 3:u32, 1.5:f32, in:x.npy, zeros:f32:256, ...
  --arch sm_NN        the emulated GPU
  --output FILE       profile: FILE.html, FILE.json or FILE.txt

`kaio emulate --help` has the others.
)";

struct entry {
  std::string_view family;
  const kernel_image* image;
};

using family_list = std::vector<std::pair<std::string_view, image_list (*)()>>;

family_list& families() {
  static family_list list;
  return list;
}

// In the order of their names; each once, though two rows of an operation's table may share it.
std::vector<entry> all_kernels() {
  std::vector<entry> all;
  for (const auto& [name, kernels] : families())
    for (const kernel_image* image : kernels()) all.push_back({name, image});
  std::sort(all.begin(), all.end(),
            [](const entry& a, const entry& b) { return a.image->name < b.image->name; });
  const auto same = [](const entry& a, const entry& b) { return a.image == b.image; };
  all.erase(std::unique(all.begin(), all.end(), same), all.end());
  return all;
}

const kernel_image& find_kernel(std::string_view name) {
  for (const entry& e : all_kernels())
    if (e.image->name == name) return *e.image;
  throw std::runtime_error("kaio: there is no kernel '" + std::string(name) +
                           "' in this program; `list` prints the names");
}

std::string to_string(ptx::target target) {
  return "sm_" + std::to_string(target.sm) + (target.arch_specific ? "a" : "");
}

std::string to_string(ptx::isa_version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

// The architectures of data centres and desktops. A kernel claims those that are at least what it needs; an
// arch-specific one claims its own alone.
constexpr unsigned architectures[] = {70, 75, 80, 86, 89, 90, 100, 103, 120};

std::vector<std::string> claimed_targets(const kernel_image& image) {
  const ptx::target least = image.needs.target;
  if (least.arch_specific) return {to_string(least)};
  std::vector<std::string> claimed;
  for (const unsigned sm : architectures)
    if (sm >= least.sm) claimed.push_back("sm_" + std::to_string(sm));
  if (claimed.empty()) claimed.push_back(to_string(least));
  return claimed;
}

std::string text_of(const kernel_image& image) {
  std::string text;
  ptx::with_text(image, [&](const kernel_image& whole) {
    for (std::size_t i = 0; i < whole.segment_count; ++i) text += whole.segments[i];
  });
  return text;
}

void list() {
  for (const auto& [family, image] : all_kernels()) {
    const auto& needs = image->needs;
    const ptx::dim3 block = image->block;
    const std::string threads =
        std::to_string(block.x) + "x" + std::to_string(block.y) + "x" + std::to_string(block.z);
    std::cout << std::left << std::setw(46) << image->name << ' ' << std::setw(20) << family << ' '
              << std::setw(6) << to_string(needs.target) << " PTX " << std::setw(3)
              << to_string(needs.version) << std::right << std::setw(6) << needs.instructions
              << " instructions  block " << std::left << std::setw(9) << threads << std::right << " shared "
              << std::setw(6) << needs.shared_bytes << " B\n";
  }
}

// The C++ statement that line `i` of the text, counted from 0, came from; null for directives.
const ptx::source_line* statement_of(const kernel_image& image, std::size_t i) {
  if (!image.statement_of_line || i >= image.line_count) return nullptr;
  const auto statement = image.statement_of_line[i];
  return statement < image.statement_count ? &image.statements[statement] : nullptr;
}

// A path below the current folder is shown from there.
std::string shown_path(const char* file) {
  const files::path path = files::path(file).lexically_normal();
  if (path.is_relative()) return path.generic_string();
  const files::path relative = path.lexically_relative(files::current_path());
  const bool below = !relative.empty() && *relative.begin() != "..";
  return (below ? relative : path).generic_string();
}

void print_lines(const kernel_image& image) {
  const std::string text = text_of(image);
  std::size_t line = 0;
  const ptx::source_line* last = nullptr;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::cout << text.substr(begin, end - begin);
    const auto* statement = statement_of(image, line);
    // Instructions of one C++ line follow each other; the line is named where it begins.
    const bool repeated = statement && last && statement->line == last->line &&
                          std::string_view(statement->file) == std::string_view(last->file);
    if (statement && !repeated) {
      std::cout << std::string(end - begin < 64 ? 64 - (end - begin) : 1, ' ');
      std::cout << "// " << shown_path(statement->file) << ':' << statement->line;
    }
    std::cout << '\n';
    last = statement;
    begin = end + 1;
  }
}

void print(const kernel_image& image, bool with_lines) {
  if (with_lines)
    ptx::with_text(image, [](const kernel_image& whole) { print_lines(whole); });
  else
    std::cout << text_of(image);
}

void write_file(const files::path& path, const std::string& content) {
  host::write_file(path.string(), {content}, host::durability::made_again);
}

std::string hash_text(const kernel_image& image) {
  const ptx::text_hash hash = ptx::hash_of_text(image);
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.low),
                static_cast<unsigned long long>(hash.high));
  return text;
}

// What verify.py and precompile.py read. The name of a kernel is a word, so nothing has to be escaped.
std::string manifest_entry(const kernel_image& image) {
  std::string targets;
  for (const std::string& target : claimed_targets(image))
    targets += (targets.empty() ? "\"" : ", \"") + target + "\"";
  const std::string name(image.name);
  return "    {\"name\": \"" + name + "\", \"file\": \"" + name + ".ptx\", \"hash\": \"" + hash_text(image) +
         "\", \"target\": \"" + to_string(image.needs.target) + "\", \"version\": \"" +
         to_string(image.needs.version) + "\", \"targets\": [" + targets + "], \"block\": [" +
         std::to_string(image.block.x) + ", " + std::to_string(image.block.y) + ", " +
         std::to_string(image.block.z) + "], \"shared_bytes\": " + std::to_string(image.needs.shared_bytes) +
         ", \"instructions\": " + std::to_string(image.needs.instructions) + "}";
}

std::size_t dump(const files::path& folder) {
  files::create_directories(folder);
  std::string kernels;
  std::size_t count = 0;
  for (const entry& e : all_kernels()) {
    write_file(folder / (std::string(e.image->name) + ".ptx"), text_of(*e.image));
    kernels += (count++ == 0 ? "" : ",\n") + manifest_entry(*e.image);
  }
  write_file(folder / "manifest.json", "{\n  \"kernels\": [\n" + kernels + "\n  ]\n}\n");
  return count;
}

// Starts a program and waits; returns its exit code. `advice` says how to get a program that is missing.
int run_program(const std::vector<std::string>& words, const std::string& advice) {
  std::cout.flush();
  try {
    return host::run_process(words, {}, nullptr).code;
  } catch (const std::system_error& e) {
    std::cerr << "kaio: cannot start " << words.front() << ": " << e.code().message() << "; " << advice
              << '\n';
    return 127;
  }
}

#if defined(_WIN32)
constexpr const char* python = "python";
#else
constexpr const char* python = "python3";
#endif

int verify(const std::string& program, const programs& paths, const std::vector<std::string>& options) {
  if (paths.verifier.empty())
    throw std::runtime_error("kaio: this program does not know where verify.py is; use `tools/kaio verify`");
  const temporary_folder folder;
  dump(folder.path());
  std::vector<std::string> words = {python, std::string(paths.verifier), "--program", program + " verify",
                                    folder.path().string()};
  words.insert(words.end(), options.begin(), options.end());
  return run_program(words, "install Python 3");
}

// Gives a kernel's PTX to the program `kaio`: the one that was built with this program, or else that of PATH.
int run_on_emulator(const programs& paths, const std::string& command, const std::string& name,
                    const std::vector<std::string>& options) {
  const temporary_folder folder;
  const files::path file = folder.path() / (name + ".ptx");
  write_file(file, text_of(find_kernel(name)));
  std::vector<std::string> words = {files::exists(paths.kaio) ? std::string(paths.kaio) : "kaio"};
  if (command == "check")
    words.insert(words.end(), {"emulate", "--sanitize", "all"});
  else
    words.push_back(command);
  words.push_back(file.string());
  words.insert(words.end(), options.begin(), options.end());
  return run_program(words,
                     paths.kaio_command.empty()
                         ? "`ln -s KAIO/tools/kaio /usr/local/bin/` installs it; KAIO is the folder of "
                           "kaio's sources"
                         : "this command builds it: " + std::string(paths.kaio_command));
}

int wrong_usage(const std::string& program, const std::string& why) {
  std::cerr << "kaio: " << why << "\nusage: " << program << ' ' << help;
  return 1;
}

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h"; }

int run_command(const std::string& program, std::vector<std::string> words, const programs& paths) {
  const auto take = [&words] {
    std::string word = words.front();
    words.erase(words.begin());
    return word;
  };
  if (words.empty()) return wrong_usage(program, "a command is needed");
  const std::string command = take();
  if (command == "verify") return verify(program, paths, words);
  const bool on_emulator = command == "profile" || command == "check";
  if (command == "help" || asks_for_help(command) || std::any_of(words.begin(), words.end(), asks_for_help)) {
    std::cout << "usage: " << program << ' ' << (on_emulator ? command + help_of_runs : help);
    return 0;
  }
  if (command == "list" && words.empty()) return list(), 0;
  if (command == "ptx" || command == "dump" || on_emulator) {
    const auto lines = command == "ptx" ? std::find(words.begin(), words.end(), "--lines") : words.end();
    const bool with_lines = lines != words.end();
    if (with_lines) words.erase(lines);
    if (words.empty()) return wrong_usage(program, command + " needs a name");
    const std::string name = take();
    if (on_emulator) return run_on_emulator(paths, command, name, words);
    if (!words.empty())
      return wrong_usage(program, command + " takes one name, not '" + words.front() + "' too");
    if (command == "ptx") return print(find_kernel(name), with_lines), 0;
    std::cout << dump(name) << " kernels in " << name << '\n';
    return 0;
  }
  return wrong_usage(program,
                     "there is no command '" + command + "'" + (words.empty() ? "" : " with arguments"));
}

}  // namespace

family::family(std::string_view name, image_list (*kernels)()) { families().emplace_back(name, kernels); }

image_list all_images() {
  image_list images;
  for (const entry& e : all_kernels()) images.push_back(e.image);
  return images;
}

int run(int argc, char** argv, const programs& paths) {
  try {
    const int code = run_command(files::path(argv[0]).filename().string(),
                                 std::vector<std::string>(argv + 1, argv + argc), paths);
    if (!std::cout.flush())
      throw std::runtime_error("kaio: the standard output cannot be written; is its disk full?");
    return code;
  } catch (const std::exception& e) {
    const bool ours = std::strncmp(e.what(), "kaio: ", 6) == 0;
    std::cerr << (ours ? "" : "kaio: ") << e.what() << '\n';
  }
  return 1;
}

}  // namespace kaio::tool

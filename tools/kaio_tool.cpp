// kaio-tool walks the registry of all kernels in the repository: it lists them, prints their PTX with the C++
// lines that it came from, writes them to a folder for ptxas, and tells what devices there are.

#include <tools/registry.hpp>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <kaio/kaio.hpp>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace {

using kaio::ptx::kernel_image;
using kaio::tools::all_kernels;

// The architectures that kaio is tested for. A kernel claims those that are at least what it needs; an
// arch-specific one claims its own alone.
constexpr unsigned tested_architectures[] = {70, 75, 80, 86, 89, 90};

const kernel_image& find_kernel(std::string_view name) {
  for (const kernel_image* image : all_kernels())
    if (image->name == name) return *image;
  throw std::runtime_error("kaio: there is no kernel '" + std::string(name) + "'; `list` prints the names");
}

std::string to_string(kaio::ptx::target target) {
  return "sm_" + std::to_string(target.sm) + (target.arch_specific ? "a" : "");
}

std::string to_string(kaio::ptx::isa_version version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::vector<std::string> claimed_targets(const kernel_image& image) {
  const kaio::ptx::target least = image.needs.target;
  if (least.arch_specific) return {to_string(least)};
  std::vector<std::string> claimed;
  for (unsigned sm : tested_architectures)
    if (sm >= least.sm) claimed.push_back("sm_" + std::to_string(sm));
  if (claimed.empty()) claimed.push_back(to_string(least));
  return claimed;
}

std::string text_of(const kernel_image& image) {
  std::string text;
  for (std::size_t i = 0; i < image.segment_count; ++i) text += image.segments[i];
  return text;
}

void list() {
  for (const kernel_image* image : all_kernels()) {
    const auto& needs = image->needs;
    std::cout << std::left << std::setw(39) << image->name << ' ' << std::setw(8) << to_string(needs.target)
              << " PTX " << std::setw(5) << to_string(needs.version) << std::right << std::setw(6)
              << needs.instructions << " instructions  block " << image->block.x << " x " << image->block.y
              << " x " << image->block.z << "  shared " << needs.shared_bytes << " B\n";
  }
}

// The C++ statement that line `i` of the text, counted from 0, came from; null for directives.
const kaio::ptx::source_line* statement_of(const kernel_image& image, std::size_t i) {
  if (!image.statement_of_line || i >= image.line_count) return nullptr;
  const auto statement = image.statement_of_line[i];
  return statement < image.statement_count ? &image.statements[statement] : nullptr;
}

std::string shown_path(const char* file) {
  const std::filesystem::path path(file);
  const auto relative = path.lexically_relative(std::filesystem::current_path());
  const bool below = !relative.empty() && *relative.begin() != "..";
  return (below ? relative : path).generic_string();
}

void print(const kernel_image& image, bool with_lines) {
  const std::string text = text_of(image);
  if (!with_lines) {
    std::cout << text;
    return;
  }
  std::size_t line = 0;
  const kaio::ptx::source_line* last = nullptr;
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

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) throw std::runtime_error("kaio: cannot write " + path.string());
}

void dump(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  nlohmann::json kernels = nlohmann::json::array();
  for (const kernel_image* image : all_kernels()) {
    const std::string file = std::string(image->name) + ".ptx";
    write_file(folder / file, text_of(*image));
    const auto& needs = image->needs;
    kernels.push_back({{"name", image->name},
                       {"file", file},
                       {"target", to_string(needs.target)},
                       {"version", to_string(needs.version)},
                       {"targets", claimed_targets(*image)},
                       {"block", {image->block.x, image->block.y, image->block.z}},
                       {"shared_bytes", needs.shared_bytes},
                       {"instructions", needs.instructions}});
  }
  write_file(folder / "manifest.json", nlohmann::json{{"kernels", kernels}}.dump(2) + "\n");
  std::cout << kernels.size() << " kernels in " << folder.string() << '\n';
}

void doctor() {
  for (const auto& properties : kaio::device::available()) {
    if (properties.is_emulator()) {
      std::cout << "emulator   " << to_string(properties.target) << ", PTX "
                << to_string(properties.ptx_version) << '\n';
      continue;
    }
    const std::string name = "cuda:" + std::to_string(properties.ordinal);
    std::cout << std::left << std::setw(10) << name << ' ' << properties.name << ", sm_"
              << properties.target.sm << ", " << properties.multiprocessors << " SMs, "
              << (properties.total_memory >> 20U) << " MiB, driver for CUDA "
              << properties.driver_version / 1000 << '.' << properties.driver_version % 1000 / 10 << ", PTX "
              << to_string(properties.ptx_version) << '\n';
  }
  try {
    std::cout << "opened by default: " << kaio::device::open().description() << '\n';
  } catch (const kaio::error& error) {
    std::cout << "opening the default device failed: " << error.what() << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The kernels of the kaio repository.", "kaio-tool");
  app.require_subcommand(1);

  app.add_subcommand("list", "Print every kernel with what it needs")->callback(list);

  std::string name;
  bool with_lines = false;
  auto* ptx = app.add_subcommand("ptx", "Print the PTX of a kernel");
  ptx->add_option("name", name, "The kernel's name")->required();
  ptx->add_flag("--lines", with_lines, "Show the C++ line that each PTX line came from");
  ptx->callback([&] { print(find_kernel(name), with_lines); });

  std::string folder;
  auto* dump_command =
      app.add_subcommand("dump", "Write every kernel to DIR/NAME.ptx, and DIR/manifest.json");
  dump_command->add_option("dir", folder, "The folder; it is made when missing")->required();
  dump_command->callback([&] { dump(folder); });

  app.add_subcommand("doctor", "Tell which devices there are")->callback(doctor);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return 0;
}

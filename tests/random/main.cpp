// Random programs: the results of a kernel, on the emulator or on a GPU, equal the host's from the same
// tree. generate.py makes the programs; the seed is printed, so that any run can be repeated.
#include "tests/random/programs.hpp"

#include "tests/catch.hpp"
#include "tests/random/list.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace kaio::tests::random;

namespace {

// The results that differ from the host's, a line each.
std::vector<std::string> differences(kaio::device& gpu) {
  const std::vector<program> programs = every_program();
  std::cout << programs.size() << " random programs of seed " << seed << " on " << gpu.name()
            << "; generate.py --seed " << seed << " --first N --programs 1 makes one alone\n";
  std::vector<std::string> found;
  for (const program& one : programs) {
    kaio::u32 number = 0;
    for (const char c : one.name) number = number * 31 + static_cast<unsigned char>(c);
    if (const std::string problem = one.run(gpu, number); !problem.empty()) found.push_back(problem);
  }
  for (const std::string& problem : found) std::cout << problem << '\n';
  return found;
}

}  // namespace

TEST_CASE("random programs agree with the host", "[random]") {
  kaio::device gpu = kaio::device::open();
  CHECK(differences(gpu).empty());
}

// The driver's optimiser has errors in rare patterns of integers; unoptimised programs show that they are
// its own. They are printed, and more than one program in a hundred fails.
TEST_CASE("random programs agree with the host when the driver optimises them", "[.][optimised]") {
  kaio::device gpu = kaio::device::open();
  CHECK(differences(gpu).size() * 100 <= every_program().size());
}

// Writes the text of every program to the folder KAIO_RANDOM_DUMP, as kaio-kernels does for the kernels.
TEST_CASE("dump", "[.][dump]") {
  const char* const folder = std::getenv("KAIO_RANDOM_DUMP");
  REQUIRE(folder != nullptr);
  std::filesystem::create_directories(folder);
  nlohmann::json kernels = nlohmann::json::array();
  for (const program& one : every_program()) {
    const std::string file = one.name + ".ptx";
    std::ofstream out(std::filesystem::path(folder) / file, std::ios::binary);
    for (std::size_t k = 0; k < one.image->segment_count; ++k) out << one.image->segments[k];
    REQUIRE(out.good());
    const auto target = one.image->needs.target;
    kernels.push_back({{"name", one.name}, {"file", file}, {"targets", {"sm_" + std::to_string(target.sm)}}});
  }
  std::ofstream manifest(std::filesystem::path(folder) / "manifest.json");
  manifest << nlohmann::json{{"kernels", kernels}}.dump(2) << '\n';
  REQUIRE(manifest.good());
}

// Random programs, traced natively: the results of a kernel, on the emulator or on a GPU, equal the host's
// from the same data. The seed is printed, so that any run, and any program of it alone, can be made
// again.
#include "tests/catch.hpp"
#include "tests/random/native/device.hpp"
#include "tests/random/native/shrink.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

using namespace kaio::tests::random;

namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// Which programs: KAIO_NATIVE_PROGRAMS of them from KAIO_NATIVE_FIRST on, of KAIO_NATIVE_SEED.
struct selection {
  std::uint64_t seed = setting("KAIO_NATIVE_SEED", 1);
  std::uint32_t first = static_cast<std::uint32_t>(setting("KAIO_NATIVE_FIRST", 0));
  std::uint32_t count = static_cast<std::uint32_t>(setting("KAIO_NATIVE_PROGRAMS", 1000));

  program make(std::uint32_t number) const { return generate(seed, number); }
};

// The results that differ from the host's.
std::uint32_t count_failures(kaio::device& gpu) {
  const selection all;
  std::cout << all.count << " random programs of seed " << all.seed << " from " << all.first << " on, on "
            << gpu.name() << "; KAIO_NATIVE_SEED=" << all.seed
            << " KAIO_NATIVE_FIRST=N KAIO_NATIVE_PROGRAMS=1 runs program N alone\n";
  std::vector<kaio::images::native_kernel> kernels;  // the device remembers their images
  const auto problem_of = [&](const program& p) {
    const contents inputs = make_inputs(p);
    kernels.push_back(trace(p));
    return difference(p, run_on_device(p, kernels.back(), gpu, inputs), run_on_host(p, inputs));
  };
  std::uint32_t failures = 0, too_large = 0;
  for (std::uint32_t number = all.first; number < all.first + all.count; ++number) {
    INFO("program " << number << " of seed " << all.seed);  // shown where a rule of the language is broken
    const program p = all.make(number);
    if (!fits(p)) {
      std::cout << p.name() << " is too large for a kernel\n";
      if (++too_large * 100 > all.count + 99) return all.count;
      continue;
    }
    const std::string problem = problem_of(p);
    if (problem.empty()) continue;
    std::cout << problem << '\n';
    if (++failures > 3) continue;
    std::cout << listing(shrink(p, [&](const program& smaller) { return !problem_of(smaller).empty(); }));
  }
  return failures;
}

}  // namespace

TEST_CASE("native random programs agree with the host", "[random]") {
  kaio::device gpu = kaio::device::open();
  CHECK(count_failures(gpu) == 0);
}

// The driver's optimiser has errors in rare patterns of integers; unoptimised programs show that they are
// its own. They are printed, and more than one program in a hundred fails.
TEST_CASE("native random programs agree with the host when the driver optimises them", "[.][optimised]") {
  kaio::device gpu = kaio::device::open();
  CHECK(count_failures(gpu) * 100 <= selection().count);
}

TEST_CASE("listing", "[.][listing]") {
  const selection all;
  for (std::uint32_t number = all.first; number < all.first + all.count; ++number)
    std::cout << listing(all.make(number));
}

// Writes the text of each program to the folder KAIO_RANDOM_DUMP, as kaio-kernels does for the kernels.
TEST_CASE("dump", "[.][dump]") {
  const char* const folder = std::getenv("KAIO_RANDOM_DUMP");
  REQUIRE(folder != nullptr);
  std::filesystem::create_directories(folder);
  nlohmann::json kernels = nlohmann::json::array();
  const selection all;
  for (std::uint32_t number = all.first; number < all.first + all.count; ++number) {
    const program p = all.make(number);
    if (!fits(p)) continue;
    const auto kernel = trace(p);
    const std::string name(kernel.image().name);
    std::ofstream out(std::filesystem::path(folder) / (name + ".ptx"), std::ios::binary);
    out << kernel.text();
    REQUIRE(out.good());
    const auto target = kernel.image().needs.target;
    kernels.push_back(
        {{"name", name}, {"file", name + ".ptx"}, {"targets", {"sm_" + std::to_string(target.sm)}}});
  }
  std::ofstream manifest(std::filesystem::path(folder) / "manifest.json");
  manifest << nlohmann::json{{"kernels", kernels}}.dump(2) << '\n';
  REQUIRE(manifest.good());
}

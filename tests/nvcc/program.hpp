#pragma once
// A module that nvcc made, and its kernels on the emulator. Each launch is made under several schedules, and
// with the checks that the environment asks for (KAIO_SANITIZE).
//
//   program scans("scans");
//   memory global;
//   array<unsigned> x(global, values), y(global, n);
//   scans.run(global, "scan_block", {4, 1, 1}, {256, 1, 1}, 0, x, y);

#include "runtime/emulator/environment.hpp"
#include "tests/emulator/kernel.hpp"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

namespace nvcc_test {

using namespace kaio::emulator;
using emulator_test::array;
using dim3 = kaio::ptx::dim3;

inline const schedule schedules[] = {{schedule_kind::round_robin, 0},
                                     {schedule_kind::reverse, 0},
                                     {schedule_kind::starve, 0},
                                     {schedule_kind::random, 7}};

class program {
 public:
  explicit program(const std::string& name) : module_(parse_module(read(name), architecture{})) {}

  schedule order;
  bool cooperative = false;

  template <class... Arguments>
  void run(memory& global, const char* kernel, dim3 grid, dim3 block, std::uint32_t shared,
           const Arguments&... arguments) const {
    launch l;
    l.mod = &module_;
    l.kernel = module_.find(kernel);
    INFO(kernel);
    REQUIRE(l.kernel != nullptr);
    REQUIRE(l.kernel->parameters.size() == sizeof...(arguments));
    l.grid = grid;
    l.block = block;
    l.dynamic_shared = shared;
    l.cooperative = cooperative;
    l.parameters.resize(l.kernel->parameter_bytes);
    std::size_t at = 0;
    (put(l, at++, arguments), ...);
    kaio::runtime::apply_environment(l);
    l.order = order;
    kaio::emulator::run(l, global);
  }

 private:
  static std::string read(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(KAIO_NVCC_FOLDER) / (name + ".ptx");
    std::ifstream file(path, std::ios::binary);
    INFO(path.string());
    REQUIRE(file.good());
    return {std::istreambuf_iterator<char>(file), {}};
  }

  template <class T>
  static void put(launch& l, std::size_t index, const T& argument) {
    const layout& place = l.kernel->parameters[index];
    if constexpr (std::is_trivially_copyable_v<T>) {
      REQUIRE(sizeof argument == place.bytes);
      std::memcpy(l.parameters.data() + place.offset, &argument, sizeof argument);
    } else {
      const std::uint64_t address = argument.address();
      REQUIRE(sizeof address == place.bytes);
      std::memcpy(l.parameters.data() + place.offset, &address, sizeof address);
    }
  }

  module module_;
};

// Random integers of a range, always the same ones.
template <class T>
std::vector<T> random_values(std::size_t count, int least, int most, unsigned seed = 1) {
  std::mt19937 source(seed);
  std::vector<T> result(count);
  for (T& value : result)
    value = static_cast<T>(least + static_cast<int>(source() % static_cast<unsigned>(most - least + 1)));
  return result;
}

}  // namespace nvcc_test

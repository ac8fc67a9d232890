// A language model of two layers that generates by replays of one graph, over a cache in pages. Each replay chooses a
// token of each sequence, appends its keys and values, and advances the lengths on the device. The logits after each
// are compared with double precision over the whole sequence.

#include "showcase/generation/generator.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include "driver/driver_support.hpp"

using namespace driver_test;
using namespace kaio;
using namespace kaio::showcase::generation;

TEST_CASE("a small model generates by replays of a graph, in which lengths grow") {
  constexpr u32 sequences = 2, replays = 5;
  const fresh_driver driver;
  const device gpu = device::open("cuda:0");
  const stream& s = gpu.stream();
  const model m(gpu);
  std::array<std::vector<i32>, sequences> tokens{std::vector<i32>{7, 11, 3, 42, 5}, std::vector<i32>{1, 30}};
  generator g(gpu, m, sequences, static_cast<u32>(tokens[0].size()) + 1 + replays);
  for (u32 b = 0; b < sequences; ++b) g.prompt(b, tokens[b]);
  const auto check = [&] {
    s.synchronize();
    const std::vector<i32> chosen = g.tokens();
    const std::vector<f32> logits = g.logits();
    for (u32 b = 0; b < sequences; ++b) {
      tokens[b].push_back(chosen[b]);
      const double error = error_of_logits(m, tokens[b], logits.data() + std::size_t{b} * vocabulary);
      CAPTURE(b, tokens[b].size(), error);
      CHECK(error < 0.01);
    }
  };
  g.step();  // loads what a step launches
  check();
  const long loads = driver.loads(), before = driver.launches();
  driver.begin_capture(s.native_handle());
  CHECK_NOTHROW(g.step());
  void* const graph = driver.end_capture_as_graph(s.native_handle());
  const std::int64_t launches = driver.launches(), of_step = launches - before;
  for (u32 i = 0; i < replays; ++i) {
    driver.launch_graph(graph, s.native_handle());
    check();
  }
  CHECK(driver.loads() == loads);
  CHECK(driver.launches() == launches + replays * of_step);
  CHECK(tokens[1].size() == 2 + 1 + replays);  // in three pages of 3 tokens
  driver.destroy_executable(graph);
}

// A small language model that generates, as the showcase does: the logits of every step next to double precision.
#include "showcase/generation/generator.hpp"

#include <array>
#include <vector>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::showcase::generation;

TEST_CASE("attention_decode: a small model generates", "[ops][attention_decode]") {
  const model m(under_test());
  std::array<std::vector<i32>, 2> tokens{std::vector<i32>{7, 11, 3, 42}, std::vector<i32>{1}};
  generator g(under_test(), m, 2, 10);
  for (u32 b = 0; b < 2; ++b) g.prompt(b, tokens[b]);
  for (u32 step = 0; step < 4; ++step) {
    if (step != 0) {
      g.step();
      const auto chosen = g.tokens();
      for (u32 b = 0; b < 2; ++b) tokens[b].push_back(chosen[b]);
    }
    const auto logits = g.logits();
    for (u32 b = 0; b < 2; ++b) {
      CAPTURE(step, b);
      REQUIRE(error_of_logits(m, tokens[b], logits.data() + b * vocabulary) < 0.01);
    }
  }
}

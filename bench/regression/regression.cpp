// Times of random problems of every operation, through public interfaces alone: the same program is built at two commits,
// and bench/compare.py says what became slower and whose results differ.
//
//   regression [--kind NAME]... [--count N] [--seed N] [--seconds S] > new1.jsonl
//   bench/compare.py --old old1.jsonl old2.jsonl --new new1.jsonl new2.jsonl
//
// Kinds: matmul, attention, attention_backward, decode, int8, fp8, w4, w8, gate_up, qkv, norm. A line of JSON for each
// problem: its kernel where the operation names it, microseconds by both protocols of bench/matmul/timing.hpp, and a
// checksum of its outputs. Outputs hold NaN before the first call. A problem depends on the seed, its kind and its
// number alone. On the emulator extents are divided, and each kind has a few problems.

#include "bench/regression/attentions.hpp"
#include "bench/regression/draws.hpp"
#include "bench/regression/harness.hpp"
#include "bench/regression/products.hpp"
#include "bench/regression/projections.hpp"
#include "bench/regression/quantised.hpp"

#include <kaio/kaio.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

struct kind {
  std::string_view name;
  u64 count, few;  // problems on a GPU, and on the emulator
  void (*run)(harness&, draws&);
};
constexpr kind kinds[] = {
    {"matmul", 300, 8, random_product},
    {"attention", 100, 2, random_attention},
    {"attention_backward", 20, 1, random_attention_backward},
    {"decode", 40, 2, random_decode},
    {"int8", 20, 1, random_int8},
    {"fp8", 25, 2, random_fp8},
    {"w4", 25, 2, random_w4},
    {"w8", 10, 1, random_w8},
    {"gate_up", 10, 1, random_gate_up},
    {"qkv", 10, 1, random_qkv},
    {"norm", 20, 2, random_norm},
};

struct settings {
  bool json = false;
  double seconds = 0.02;
  u64 seed = 1, count = 0;
  std::vector<std::string> kinds;
};

// Returns how many problems failed.
u64 run(harness& h, const settings& how, const kind& one) {
  const u64 count = how.count != 0 ? how.count : h.is_emulated() ? one.few : one.count;
  u64 failed = 0;
  for (u64 i = 0; i < count; ++i) {
    draws random(how.seed, one.name, i, h.is_emulated() ? 64 : 1);
    h.begin(random.below(1u << 30));
    try {
      one.run(h, random);
    } catch (const std::exception& e) {
      std::printf(
          "{\"benchmark\": \"regression\", \"kind\": \"%s\", \"problem\": \"number %llu\", \"error\": %s}\n",
          std::string(one.name).c_str(), static_cast<unsigned long long>(i),
          harness::quoted(e.what()).c_str());
      ++failed;
    }
  }
  return failed;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  CLI::App arguments("Times of random problems of every operation.");
  arguments.add_flag("--json", how.json, "of other benchmarks; all lines are JSON here");
  arguments.add_option("--kind", how.kinds, "what is measured; all without it")
      ->check([](const std::string& name) {
        const bool exists =
            std::any_of(std::begin(kinds), std::end(kinds), [&](const kind& k) { return k.name == name; });
        return exists ? std::string() : "there is no " + name;
      });
  arguments.add_option("--count", how.count, "problems of each kind");
  arguments.add_option("--seed", how.seed, "of the random problems");
  arguments.add_option("--seconds", how.seconds, "for each protocol")->check(CLI::PositiveNumber);
  CLI11_PARSE(arguments, count, words);
  try {
    device gpu = device::open();
    std::printf("{\"benchmark\": \"regression\", \"device\": %s, \"seed\": %llu}\n",
                harness::quoted(std::string(gpu.properties().name)).c_str(),
                static_cast<unsigned long long>(how.seed));
    harness h(gpu, how.seconds);
    u64 failed = 0;
    for (const kind& one : kinds)
      if (how.kinds.empty() || std::find(how.kinds.begin(), how.kinds.end(), one.name) != how.kinds.end())
        failed += run(h, how, one);
    return failed == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

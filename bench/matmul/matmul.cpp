// The matrix product compared with its peers: kaio's ops::matmul, the best of cuBLASLt's algorithms, torch
// and Triton where they are installed, and KAIO's own design rewritten in this language. Random data; every
// output is poisoned before it is checked; the contestants of this program run in turn.
//
//   matmul [--json] [--quick] [--seconds S] [--type f16] [--layout NT] [--shape MxNxK[xBATCH]]
//          [--no-peers] [--no-python]
//   matmul --random N [--seed S] [--type f16]      # shapes that no list names; the peer is cuBLASLt alone
//   matmul --epilogue bias|gelu_bias|residual ...  # fused, of f16 and bf16; the peer is cuBLASLt alone
//   matmul --energy [--type f16] [--shape MxNxK]   # large products: joules and clock next to time
//
// --type and --shape may be given several times. --epilogue goes with --random too. --seconds: device time
// for each case and contestant, 1 by default. At the end the geometric mean of the ratios, and the worst.
// Columns: the median time; TFLOP/s, or TB/s where m or n is at most 128; per cent of the tensor cores' peak
// at the clock that was measured meanwhile; and `ratio`, how many times longer the fastest peer took. The
// exit code is 1 where a product of kaio was wrong. On the emulator: tiny shapes, without peers and without
// meaning as times.

#include "bench/matmul/bus_id.hpp"
#include "bench/matmul/cases.hpp"
#include "bench/matmul/clock_sampler.hpp"
#include "bench/matmul/cublas_lt.hpp"
#include "bench/matmul/problem.hpp"
#include "bench/matmul/python_peers.hpp"
#include "bench/matmul/settings.hpp"

#include <kaio/kaio.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
using namespace kaio::bench;

namespace {

std::optional<element> element_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(element::tf32); ++i)
    if (name_of(static_cast<element>(i)) == name) return static_cast<element>(i);
  return std::nullopt;
}

std::optional<fused_epilogue> epilogue_named(std::string_view name) {
  for (unsigned i = 0; i <= static_cast<unsigned>(fused_epilogue::residual); ++i)
    if (name_of(static_cast<fused_epilogue>(i)) == name) return static_cast<fused_epilogue>(i);
  return std::nullopt;
}

bool parse(int count, char** words, settings& how) {
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const char* const next = i + 1 < count ? words[i + 1] : "";
    if (word == "--json") {
      how.json = true;
    } else if (word == "--quick") {
      how.quick = true;
    } else if (word == "--energy") {
      how.energy = true;
    } else if (word == "--no-peers") {
      how.peers = false;
    } else if (word == "--no-python") {
      how.python = false;
    } else if (word == "--random" && std::atoll(next) > 0) {
      how.random = static_cast<std::size_t>(std::atoll(next));
      ++i;
    } else if (word == "--seed" && std::atoll(next) > 0) {
      how.seed = static_cast<std::uint64_t>(std::atoll(next));
      ++i;
    } else if (word == "--seconds" && std::atof(next) > 0) {
      how.seconds = std::atof(next);
      ++i;
    } else if (word == "--type" && element_named(next)) {
      how.types.push_back(*element_named(next));
      ++i;
    } else if (word == "--epilogue" && epilogue_named(next)) {
      how.epilogue = *epilogue_named(next);
      ++i;
    } else if (word == "--layout" && std::strlen(next) == 2 &&
               std::string_view(next).find_first_not_of("NT") == std::string_view::npos) {
      how.layout = next;
      ++i;
    } else if (word == "--shape") {
      long long m = 0, n = 0, k = 0, batch = 1;
      if (std::sscanf(next, "%lldx%lldx%lldx%lld", &m, &n, &k, &batch) < 3 || m < 1 || n < 1 || k < 1 ||
          batch < 1)
        return false;
      how.shapes.push_back({element::f16, m, n, k, batch});
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

// Throws if an epilogue is asked for together with a type or a mode that has none.
void require_epilogue(const settings& how) {
  if (how.epilogue == fused_epilogue::none) return;
  const std::string asked = "kaio: --epilogue " + std::string(name_of(how.epilogue));
  for (const element type : how.types)
    if (type != element::f16 && type != element::bf16)
      throw std::invalid_argument(asked + " is measured of f16 and bf16, not of " +
                                  std::string(name_of(type)) + "; leave that --type out");
  if (how.energy) throw std::invalid_argument(asked + " is not measured by --energy; leave one of them out");
}

std::vector<problem> problems_of(const settings& how, const device& on) {
  std::vector<element> types = how.types;
  const bool has_epilogue = how.epilogue != fused_epilogue::none;
  if (types.empty() && has_epilogue) types = {element::f16, element::bf16};
  if (types.empty()) types = {element::f16, element::bf16, element::e4m3, element::f32, element::tf32};
  std::vector<problem> result;
  if (how.random != 0) {
    result = random_problems(types, how.random, how.seed);
    for (problem& p : result) p.epilogue = how.epilogue;
    return result;
  }
  for (const element type : types) {
    std::vector<problem> some = on.is_emulator() ? tiny_problems(type) : standard_problems(type, how.quick);
    if (!how.shapes.empty()) some = how.shapes;
    for (problem p : some) {
      p.type = type;
      p.epilogue = how.epilogue;
      if (!how.shapes.empty()) p.b_transposed = type == element::e4m3;
      if (how.layout) {
        p.a_transposed = (*how.layout)[0] == 'T';
        p.b_transposed = (*how.layout)[1] == 'T';
      }
      result.push_back(p);
    }
  }
  return result;
}

int run(const settings& how) {
  require_epilogue(how);
  device gpu = device::open();
  const std::vector<problem> problems = problems_of(how, gpu);
  const bool alone = gpu.is_emulator() || !how.peers;
  const cublas_lt library(alone ? std::vector<std::string>{} : lines_of(peers_command("--libraries")),
                          !alone);
  if (!how.json && !alone) std::printf("%s\n", library.description().c_str());
  const bool with_python = !alone && how.python && how.random == 0 && how.epilogue == fused_epilogue::none;
  const peer_table peers = with_python ? python_peers(problems, how.seconds) : peer_table{};
  if (how.random != 0) std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(how.seed));
  clock_sampler clock(bus_id(gpu));
  matmul_cases all(gpu, how, library, clock, peers);
  bool right = true;
  for (const problem& p : problems) {
    try {
      right = all.measure(p) && right;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", key_of(p).c_str(), e.what());
      right = false;
    }
  }
  all.summarise();
  return right ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  settings how;
  if (!parse(count, words, how)) {
    std::fprintf(
        stderr,
        "usage: matmul [--json] [--quick] [--seconds S] [--type f16|bf16|e4m3|f32|tf32] [--layout NN|NT|TN|TT] [--shape MxNxK[xBATCH]] [--random N [--seed S]] [--epilogue none|bias|gelu_bias|residual] [--energy] [--no-peers] [--no-python]\n");
    return 2;
  }
  try {
    return run(how);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}

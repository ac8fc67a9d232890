// sort_by_expert against a stable sort on the host, and its use in a graph.
#include "tests/ops/refusal.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/sort_by_expert.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct sorted {
  std::vector<i32> offsets, counts, tokens, positions;
};

sorted expect(const std::vector<i32>& chosen, i64 k, i64 experts) {
  const auto of = [&](std::size_t i) {
    return chosen[i] < 0 || chosen[i] >= experts ? experts : i64{chosen[i]};
  };
  std::vector<std::size_t> order(chosen.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return of(a) < of(b); });
  sorted s;
  s.positions.resize(chosen.size());
  s.counts.assign(static_cast<std::size_t>(experts), 0);
  for (std::size_t place = 0; place < order.size(); ++place) {
    const std::size_t i = order[place];
    const bool has = of(i) < experts;
    if (has) ++s.counts[static_cast<std::size_t>(of(i))];
    s.tokens.push_back(has ? static_cast<i32>(i / static_cast<std::size_t>(k)) : -1);
    s.positions[i] = has ? static_cast<i32>(place) : -1;
  }
  s.offsets.push_back(0);
  for (const i32 count : s.counts) s.offsets.push_back(s.offsets.back() + count);
  return s;
}

// spread: indices are from -spread to experts - 1 + spread; crowded: most are expert 1 or none.
void check_sort(i64 tokens, i64 k, i64 experts, u64 seed, int spread = 0, bool crowded = false) {
  CAPTURE(tokens, k, experts, seed, spread);
  const device& gpu = under_test();
  std::mt19937_64 engine(seed);
  const i64 pitch = k + static_cast<i64>(seed % 3), out_pitch = k + static_cast<i64>(seed % 2);
  std::vector<i32> host(static_cast<std::size_t>(tokens * pitch), 0), chosen;
  for (i64 t = 0; t < tokens; ++t)
    for (i64 j = 0; j < k; ++j) {
      const auto range = static_cast<u64>(experts + 2 * spread);
      auto e = static_cast<i32>(engine() % range) - spread;
      if (crowded && engine() % 8 != 0) e = 1;
      host[static_cast<std::size_t>(t * pitch + j)] = e;
      chosen.push_back(e);
    }
  auto memory = gpu.upload(host);
  const auto entries = static_cast<std::size_t>(tokens * k);
  auto offsets = gpu.upload(std::vector<i32>(static_cast<std::size_t>(experts + 1), -9));
  auto counts = gpu.upload(std::vector<i32>(static_cast<std::size_t>(experts), -9));
  auto of_rows = gpu.upload(std::vector<i32>(entries, -9));
  auto positions = gpu.upload(std::vector<i32>(static_cast<std::size_t>(tokens * out_pitch), -9));
  const tensor_view<const i32, 2> indices(memory, extents(tokens, k), strides(pitch, 1));
  const tensor_view<i32, 1> to(offsets, experts + 1);
  auto workspace = gpu.allocate<u8>(sort_by_expert_workspace_bytes(indices, to));
  REQUIRE((workspace.size() == 0) == (entries <= 2048));
  sort_by_expert(gpu.stream(), indices, to,
                 {.counts = tensor_view<i32, 1>(counts, experts),
                  .tokens = tensor_view<i32, 1>(of_rows, tokens * k),
                  .positions = tensor_view<i32, 2>(positions, extents(tokens, k), strides(out_pitch, 1)),
                  .workspace = workspace});
  const sorted want = expect(chosen, std::max<i64>(k, 1), experts);
  REQUIRE(offsets.download() == want.offsets);
  REQUIRE(counts.download() == want.counts);
  REQUIRE(of_rows.download() == want.tokens);
  const auto places = positions.download();
  bool right = true;
  for (i64 t = 0; t < tokens; ++t)
    for (i64 j = 0; j < out_pitch; ++j)
      right &= places[static_cast<std::size_t>(t * out_pitch + j)] ==
               (j < k ? want.positions[static_cast<std::size_t>(t * k + j)] : -9);
  REQUIRE(right);
}

}  // namespace

TEST_CASE("sort_by_expert: one block", "[ops][sort_by_expert]") {
  check_sort(1, 8, 256, 1);
  check_sort(7, 2, 8, 2);
  check_sort(64, 8, 128, 3);
  check_sort(33, 6, 1, 4);
  check_sort(300, 5, 1024, 5, 3);
  check_sort(256, 8, 3, 6, 2, true);
}

TEST_CASE("sort_by_expert: several blocks", "[ops][sort_by_expert]") {
  check_sort(257, 8, 64, 7);
  check_sort(700, 6, 300, 8, 20);
  check_sort(2500, 2, 8, 9, 1, true);
}

TEST_CASE("sort_by_expert: nothing to sort", "[ops][sort_by_expert]") {
  check_sort(0, 8, 16, 10);
  check_sort(5, 0, 16, 11);
  check_sort(9, 4, 2, 12, 1000);  // hardly a choice is an expert
}

TEST_CASE("sort_by_expert: replays in a graph sort new choices", "[ops][sort_by_expert]") {
  const device& gpu = under_test();
  const i64 tokens = 600, k = 4, experts = 12;
  std::vector<i32> chosen(static_cast<std::size_t>(tokens * k));
  auto memory = gpu.upload(chosen);
  auto offsets = gpu.allocate<i32>(static_cast<std::size_t>(experts + 1));
  auto rows = gpu.allocate<i32>(static_cast<std::size_t>(tokens * k));
  const tensor_view<const i32, 2> indices(memory, tokens, k);
  const tensor_view<i32, 1> to(offsets, experts + 1);
  auto workspace = gpu.allocate<u8>(sort_by_expert_workspace_bytes(indices, to));
  sort_by_expert_warmup(gpu);
  const stream& s = gpu.stream();
  const auto graph =
      capture_graph(s, [&] {
        sort_by_expert(s, indices, to,
                       {.tokens = tensor_view<i32, 1>(rows, tokens * k), .workspace = workspace});
      }).instantiate();
  for (const u64 seed : {1u, 2u}) {
    std::mt19937_64 engine(seed);
    for (i32& e : chosen) e = static_cast<i32>(engine() % static_cast<u64>(experts));
    memory.copy_from(chosen.data(), chosen.size(), s);
    graph.launch(s);
    const sorted want = expect(chosen, k, experts);
    REQUIRE(offsets.download() == want.offsets);
    REQUIRE(rows.download() == want.tokens);
  }
}

TEST_CASE("sort_by_expert: bad input", "[ops][sort_by_expert]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<i32>(65536), more = gpu.allocate<i32>(65536);
  const tensor_view<const i32, 2> indices(memory, 16, 4);
  const tensor_view<i32, 1> offsets(more, 9);
  const auto refused = [&](const std::string& part, const tensor_view<const i32, 2>& from,
                           const tensor_view<i32, 1>& to, const sort_by_expert_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: sort_by_expert: ", part,
                    [&] { sort_by_expert(gpu.stream(), from, to, options); });
  };
  refused("argument offsets has 1 elements", indices, {more, 1});
  refused("argument offsets has 1026 elements", indices, {more, 1026});
  refused("counts has extent 0 of 7", indices, offsets, {.counts = tensor_view<i32, 1>(memory, 7)});
  refused("tokens has extent 0 of 63", indices, offsets, {.tokens = tensor_view<i32, 1>(memory, 63)});
  refused("positions has extent 1 of 3", indices, offsets, {.positions = tensor_view<i32, 2>(memory, 16, 3)});
  refused("output offsets shares memory", indices, {memory, 9});
  refused("output tokens shares memory", indices, offsets, {.tokens = tensor_view<i32, 1>(more, 64)});
  refused("workspace", {memory, 1024, 4}, offsets);
}

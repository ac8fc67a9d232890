#include "attention.hpp"
#include "transformer.hpp"

#include <kaio/showcase.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace kaio;
using showcase::head_size, showcase::tile_shape, showcase::tile_visit;

namespace {

struct tensors {
  u32 length, heads, key_heads;
  std::vector<f16> q, k, v;
};

// The largest error on 64 rows, spread over all, next to double precision.
double verify(const tensors& x, const std::vector<f16>& o) {
  showcase::largest_error error(0.1);
  for (u32 n = 0; n < 64; ++n) {
    const u32 i = static_cast<u32>(u64{x.length - 1} * n / 63), h = n % x.heads;
    const u32 group = h / (x.heads / x.key_heads);
    const f16* const q = &x.q[(u64{i} * x.heads + h) * head_size];
    std::vector<double> sums(head_size, 0.0);
    double total = 0;
    for (u32 j = 0; j <= i; ++j) {
      const u64 row = (u64{j} * x.key_heads + group) * head_size;
      double score = 0;
      for (u32 d = 0; d < head_size; ++d) score += double{f32(q[d])} * f32(x.k[row + d]);
      const double weight = std::exp(score / std::sqrt(double{head_size}));
      total += weight;
      for (u32 d = 0; d < head_size; ++d) sums[d] += weight * f32(x.v[row + d]);
    }
    for (u32 d = 0; d < head_size; ++d)
      error.compare(f32(o[(u64{i} * x.heads + h) * head_size + d]), sums[d] / total);
  }
  return error.value();
}

// Draws the order in which blocks visit the tiles of queries. Returns false if a tile is visited twice or never.
bool draw_schedule(device& gpu, u32 length, u32 heads) {
  const u32 tiles = (length + tile_shape.queries() - 1) / tile_shape.queries();
  const u32 blocks = std::min(tiles * heads, gpu.properties().multiprocessors);
  const u32 rounds = (tiles * heads + blocks - 1) / blocks + 1;  // one more where blocks take pairs of tiles
  ops::attention_problem problem{};
  problem.queries = problem.keys = length;
  problem.batches = problem.heads_of_group = 1;
  problem.heads = heads;
  problem.query_tiles = tiles;
  problem.longest_first = 1;
  problem.leading_heads = ops::leading_heads(heads, tiles, gpu.properties().multiprocessors);
  auto on_gpu = gpu.upload(std::vector<tile_visit>(u64{blocks} * rounds, {0, 0, 0}));
  showcase::visit_order.launch(gpu.stream(), grid(blocks), on_gpu, rounds, problem,
                               ops::attention_band{.high = 0});
  const std::vector<tile_visit> order = on_gpu.download();

  std::printf("\n  %u tiles of %u queries on %u multiprocessors; a digit is a head, and two tiles of keys\n",
              tiles * heads, tile_shape.queries(), blocks);
  std::map<std::pair<u32, u32>, u32> visits;
  for (u32 b = 0; b < blocks; ++b) {
    std::string line;
    u32 steps = 0;
    for (u32 r = 0; r < rounds; ++r) {
      const tile_visit& visit = order[u64{b} * rounds + r];
      if (visit.steps == 0) continue;
      ++visits[{visit.head, visit.first_query}];
      steps += visit.steps;
      line += std::string((visit.steps + 1) / 2, "0123456789abcdef"[visit.head % 16]) + ' ';
    }
    if (b < 4 || b + 4 >= blocks) std::printf("  block %3u  %s%u steps\n", b, line.c_str(), steps);
    if (b == 4) std::printf("  ...\n");
  }
  const bool once =
      std::all_of(visits.begin(), visits.end(), [](const auto& visit) { return visit.second == 1; });
  return once && visits.size() == u64{tiles} * heads;
}

int run(device& gpu, u32 length, u32 heads, u32 key_heads) {
  const showcase::transformer_block block(length, head_size);
  const tensors x{
      length, heads, key_heads, block.queries(heads), block.keys(key_heads), block.values(key_heads)};
  auto q = gpu.upload(x.q), k = gpu.upload(x.k), v = gpu.upload(x.v);
  auto o = gpu.allocate<f16>(x.q.size());
  const tensor_view<const f16, 4> q_view(q, 1, length, heads, head_size);
  const tensor_view<const f16, 4> k_view(k, 1, length, key_heads, head_size);
  const tensor_view<const f16, 4> v_view(v, 1, length, key_heads, head_size);
  const tensor_view<f16, 4> o_view(o, 1, length, heads, head_size);
  const auto call = [&] { showcase::causal_attention(gpu.stream(), q_view, k_view, v_view, o_view); };
  call();
  const double error = verify(x, o.download());
  const double ms = showcase::median_ms(gpu, call);
  const std::string size = std::to_string(length) + " tokens, " + std::to_string(heads) + " heads of " +
                           std::to_string(head_size) + ", " + std::to_string(key_heads) +
                           " of keys and values, causal, f16";
  const double bytes = 2.0 * static_cast<double>(2 * x.q.size() + 2 * x.k.size());
  const double pairs = 0.5 * length * (length + 1.0) * heads;  // of a query and a key
  return showcase::report(gpu, {size, error, 5e-3, ms, bytes, 4.0 * pairs * head_size});
}

}  // namespace

int main() {
  return showcase::run("attention", [](device& gpu) {
    if (gpu.properties().target.sm < 80) {
      return showcase::skipped("a GPU from sm_80 on");
    }
    const int result = gpu.is_emulator() ? run(gpu, 300, 4, 2) : run(gpu, 8192, 16, 4);
    if (!gpu.properties().target.arch_specific) return result;
    return draw_schedule(gpu, 4096, 16) ? result : 1;
  });
}

// Clusters that the launch gives or the kernel fixes, and launches that begin before the one before has
// ended.
#include "tests/kernels/launch/launch_attributes_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

bool has_clusters() { return under_test().properties().target.sm >= 90; }

}  // namespace

TEST_CASE("a launch gives a kernel its clusters", "[launch]") {
  if (!has_clusters()) return;
  for (const u32 together : {1u, 2u, 4u, 7u, 8u, 16u}) {
    const u32 blocks = together * 3, n = blocks * 32 - 5;
    auto y = poisoned<u32>(64 + n);
    auto sums = poisoned<u32>(blocks);
    report_cluster.launch(under_test().stream(), grid(blocks).cluster(together), y, sums, n);
    const std::vector<u32> got = y.download(), sum = sums.download();
    for (u32 b = 0; b < blocks; ++b) {
      REQUIRE(got[b] == b % together + 100 * together);
      const u32 first = b / together * together + 1, last = first + together - 1;
      REQUIRE(sum[b] == (first + last) * together / 2);
    }
    for (u32 i = 0; i < n; ++i) REQUIRE(got[64 + i] == i);
  }
}

TEST_CASE("a grid over elements is made of whole clusters", "[launch]") {
  if (!has_clusters()) return;
  for (const u32 n : {1u, 31u, 32u, 33u, 96u, 97u, 1000u}) {
    auto y = poisoned<u32>(n);
    fixed_triples.launch(under_test().stream(), over(n), y, n);
    const std::vector<u32> got = y.download();
    for (u32 i = 0; i < n; ++i) REQUIRE(got[i] == i / 32 % 3 + 300);
  }
  auto y = poisoned<u32>(32 * 8);
  CHECK_THROWS_AS(fixed_triples.launch(under_test().stream(), grid(8), y, 32u * 8), invalid_argument);
  CHECK_THROWS_AS(fixed_triples.launch(under_test().stream(), grid(8).cluster(2), y, 32u * 8),
                  invalid_argument);
  const u64 most = under_test().max_active_clusters(fixed_triples.image());
  CHECK(most >= 1);
  CHECK(most * 3 <= under_test().resident_blocks(fixed_triples.image()));
}

TEST_CASE("launches that begin early still see all that the ones before wrote", "[launch]") {
  if (!has_clusters()) return;
  constexpr u32 n = 20000, steps = 24;
  std::vector<u32> expected(n);
  for (u32 i = 0; i < n; ++i) expected[i] = i * 7;
  auto x = under_test().upload(expected);
  auto y = poisoned<u32>(n);
  const stream s = under_test().create_stream();
  for (u32 step = 0; step < steps; ++step) {
    if (step % 2 == 0)
      early_step.launch(s, over(n).programmatic(), x, y, step, n);
    else
      early_step.launch(s, over(n).programmatic().cluster(2), y, x, step, n);
    std::vector<u32> next(n);
    for (u32 i = 0; i < n; ++i) next[i] = 3 * expected[n - 1 - i] + step;
    expected = next;
  }
  CHECK(x.download(s) == expected);
  CHECK_THROWS_AS(fixed_triples.launch(s, over(n).programmatic(), x, n), invalid_argument);
}

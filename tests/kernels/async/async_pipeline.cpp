// Pipelines between warps: every number of steps about the number of stages, copies and threads as producers,
// consumers that peek and consumers that release late.
#include "tests/kernels/async/async_kernels.hpp"
#include "tests/kernels/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

template <u32 Stages, ring_form Form>
void check_sums() {
  if (under_test().properties().target.sm < (Form == ring_form::threads ? 80 : 90)) return;
  for (const u32 rows : {0u, 1u, Stages, Stages + 1, 2 * Stages, 2 * Stages + 1, 13u}) {
    std::mt19937 engine(rows);
    std::vector<u32> x(64 * rows + 4);
    for (u32& v : x) v = static_cast<u32>(engine());
    auto y = poisoned<u32>(64);
    column_sums<Stages, Form>.launch(under_test().stream(), grid(1), under_test().upload(x), y, rows);
    std::vector<u32> want(64);
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < 64; ++c) want[c] += x[64 * r + c] * (r + 1);
    CAPTURE(Stages, rows);
    CHECK(y.download() == want);
  }
}

void check_some_stages(u32 stages) {
  if (under_test().properties().target.sm < 90) return;
  for (const u32 rows : {0u, 1u, stages, stages + 1, 2 * stages + 1, 13u}) {
    std::mt19937 engine(rows);
    std::vector<u32> x(64 * rows + 4);
    for (u32& v : x) v = static_cast<u32>(engine());
    auto y = poisoned<u32>(65);
    sums_by_some_stages<5>.launch(under_test().stream(), grid(1), under_test().upload(x), y, rows, stages);
    std::vector<u32> want(65);
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < 64; ++c) want[c] += x[64 * r + c] * (r + 1);
    want[64] = std::min(rows, stages);
    CAPTURE(stages, rows);
    CHECK(y.download() == want);
  }
}

template <u32 Stages, u32 Warps>
void check_shared_out() {
  if (under_test().properties().target.sm < 90) return;
  for (const u32 rows : {0u, 1u, Stages, Stages + 1, 2 * Stages + 1, 5 * Stages, 29u}) {
    std::mt19937 engine(rows);
    std::vector<u32> x(64 * rows + 4);
    for (u32& v : x) v = static_cast<u32>(engine());
    auto y = poisoned<u32>(64 * Warps);
    shared_out_sums<Stages, Warps>.launch(under_test().stream(), grid(1), under_test().upload(x), y, rows);
    std::vector<u32> want(64 * Warps);
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < 64; ++c) want[64 * (r % Warps) + c] += x[64 * r + c] * (r + 1);
    CAPTURE(Stages, Warps, rows);
    CHECK(y.download() == want);
  }
}

}  // namespace

TEST_CASE("bulk copies fill the stages of a pipeline", "[async]") {
  check_sums<1, ring_form::plain>();
  check_sums<2, ring_form::plain>();
  check_sums<3, ring_form::plain>();
  check_sums<4, ring_form::plain>();
}

TEST_CASE("consumers ask for the next stage before they use this one", "[async]") {
  check_sums<1, ring_form::peek>();
  check_sums<3, ring_form::peek>();
}

TEST_CASE("consumers release a stage while they use the next", "[async]") {
  check_sums<2, ring_form::behind>();
  check_sums<3, ring_form::behind>();
}

TEST_CASE("threads fill the stages of a pipeline", "[async]") {
  check_sums<1, ring_form::threads>();
  check_sums<2, ring_form::threads>();
  check_sums<4, ring_form::threads>();
}

TEST_CASE("a launch uses the first stages of a pipeline", "[async]") {
  for (const u32 stages : {1u, 2u, 4u, 5u}) check_some_stages(stages);
}

TEST_CASE("consumers share out the stages of a pipeline", "[async]") {
  check_shared_out<2, 2>();
  check_shared_out<4, 2>();
  check_shared_out<6, 3>();
}

// Mutants of the kernels that copy asynchronously, talk to other blocks of a cluster or multiply with wgmma:
// without one of their barriers, fences, commits and waits. Each that matters must be killed, by a report or
// by a result that differs, in some schedule.

#include "catch.hpp"
#include "mutants/mutation.hpp"
#include "mutants/run.hpp"
#include "tests/kernels/async/async_kernels.hpp"
#include "tests/kernels/async/async_tensor_kernels.hpp"
#include "tests/kernels/async/cluster_kernels.hpp"
#include "tests/kernels/mma/wgmma_control_kernels.hpp"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

using namespace kaio;
using namespace kaio::tests::mutants;
using kaio::emulator::schedule;
using kaio::emulator::schedule_kind;

namespace {

std::vector<kernel_case> cases() {
  using tests::ring_form;
  const auto columns = [](u32 rows) -> launch_shape {
    return {{1, 1, 1}, {input{64 * rows}, output{64}, rows}};
  };
  const tensor box{true, 16, 64, 8, 32}, from{false, 16, 64, 8, 32};
  return {
      {&tests::mbarrier_rounds<90>.image(), {{{1, 1, 1}, {input{96}, output{96}, output{192}, u32{3}}}}},
      {&tests::cp_async_sums<3>.image(), {columns(5)}},
      {&tests::cp_async_pieces<16>.image(), {{{1, 1, 1}, {input{256}, output{512}, u32{50}}}}},
      {&tests::bulk_blocks.image(),
       {{{2, 1, 1}, {input{1024}, output{1024}, zeros{1024}, zeros{1024}, u32{2048}}}}},
      {&tests::column_sums<2, ring_form::plain>.image(), {columns(7)}},
      {&tests::column_sums<3, ring_form::peek>.image(), {columns(7)}},
      {&tests::column_sums<3, ring_form::behind>.image(), {columns(7)}},
      {&tests::column_sums<2, ring_form::threads>.image(), {columns(7)}},
      {&tests::handed_over.image(), {{{1, 1, 1}, {input{128 * 3}, output{256}, u32{3}}}}},
      {&tests::cluster_histogram<2>.image(), {{{4, 1, 1}, {input{500}, zeros{128}, u32{500}}}}},
      {&tests::cluster_exchange.image(),
       {{{4, 1, 1}, {input{128}, output{4 * 128}, output{128}, output{256}}}}},
      {&tests::move_box<f32, 8, 32, swizzled<128>>.image(),
       {{{1, 1, 1}, {box, from, from, i32{32}, i32{8}}}}},
      {&tests::multicast_sums<2, 2>.image(),
       {{{2, 1, 1}, {tensor{true, 48, 64, 8, 64}, output{128}, u32{3}}}}},
      {&tests::wgmma_pipeline.image(),
       {{{1, 1, 1}, {halves{128 * 3 * 32}, halves{3 * 64 * 16}, output{128 * 32}, u32{3}}}}},
      {&tests::wgmma_chain.image(),
       {{{1, 1, 1}, {halves{64 * 32}, halves{32 * 32}, halves{8 * 16}, output{64 * 8}}}}},
      {&tests::wgmma_stored.image(), {{{1, 1, 1}, {halves{64 * 32}, halves{64 * 32}, output{64 * 32}}}}},
  };
}

// Where the order is at fault, some order shows it.
const schedule orders[] = {{},
                           {schedule_kind::reverse, 0},
                           {schedule_kind::starve, 1},
                           {schedule_kind::random, 1},
                           {schedule_kind::random, 2},
                           {schedule_kind::random, 3},
                           {schedule_kind::random, 4},
                           {schedule_kind::random, 5},
                           {schedule_kind::random, 6}};

// Instructions without which a kernel computes the same. `kernel` is the start of its name.
struct redundant {
  std::string_view kernel, instruction;
};
constexpr redundant may_be_missing[] = {
    {"", "fence.mbarrier_init"},                   // the barrier after it orders as much in this model
    {"", "mbarrier.inval"},                        // at the end of a kernel
    {"cp_async_sums", "cp.async.wait_all"},        // of groups that are empty
    {"cp_async_pieces", "cp.async.commit_group"},  // an mbarrier counts the copies
    {"bulk_blocks", "bulk.commit_group"},          // of the first two of three groups
    {"bulk_blocks", "bulk.wait_group.read 1"},     // before a wait for all
    {"column_sums_3_1", "mbarrier.try_wait"},      // after a peek that waited as long
    {"handed_over", "bar.sync %r12, 128"},         // of readers that share nothing
};
bool may_miss(std::string_view kernel, std::string_view what) {
  return std::any_of(std::begin(may_be_missing), std::end(may_be_missing), [&](const redundant& r) {
    return kernel.starts_with(r.kernel) && what.find(r.instruction) != what.npos;
  });
}

}  // namespace

TEST_CASE("asynchronous kernels without one of their waits are found out", "[mutants]") {
  std::size_t count = 0;
  for (const kernel_case& one : cases()) {
    const ptx::kernel_image& image = *one.image;
    const std::string text = text_of(image);
    INFO(image.name);
    for (const launch_shape& shape : one.shapes) {
      const auto right = run(image, shape, text);
      REQUIRE(right.has_value());
      for (const mutation& m : mutations_of(text)) {
        if (m.kind != fault_of::order || may_miss(image.name, m.what)) continue;
        ++count;
        const bool dead = std::any_of(std::begin(orders), std::end(orders), [&](const schedule& order) {
          const auto result = run(image, shape, mutated(text, m), {.order = order});
          return !result || *result != *right;
        });
        INFO("line " << m.line << ", " << m.what);
        CHECK(dead);
      }
    }
  }
  std::cout << count << " missing waits, fences and barriers\n";
  CHECK(count >= 120);
}

// Mutants of the repository's kernels: each kernel is run once as it is, and once with each small fault put
// into its PTX (mutation.hpp), on the same buffers, under the sanitizer. A mutant is killed by a report, or
// by a result that differs. At least 95 of 100 must be; the survivors are printed.

#include "bench/instructions/kernels.hpp"
#include "catch.hpp"
#include "mutants/mutation.hpp"
#include "mutants/run.hpp"
#include "showcase/fused_silu_gate/fused_silu_gate.hpp"
#include "showcase/row_attention/row_attention.hpp"
#include "showcase/saxpy/saxpy.hpp"
#include "showcase/softmax/softmax.hpp"
#include "showcase/statistics/statistics.hpp"
#include "tests/kernels/block/block_kernels.hpp"
#include "tests/kernels/kernels.hpp"
#include "tests/kernels/memory/memory_kernels.hpp"

#include <iostream>
#include <string>
#include <vector>

using namespace kaio;
using namespace kaio::tests::mutants;

namespace {

std::vector<kernel_case> cases() {
  constexpr auto f = [](double value) { return static_cast<f32>(value); };
  const auto transposed = [](u32 rows, u32 columns) -> launch_shape {
    return {{2, 3, 1}, {input{rows * columns}, output{rows * columns}, rows, columns}};
  };
  const auto gated = [](u32 n) -> launch_shape { return {{2, 1, 1}, {input{n}, input{n}, output{n}, n}}; };
  const auto rows = [](u32 columns) -> launch_shape {
    return {{2, 1, 1}, {input{2 * columns}, output{2 * columns}, columns}};
  };
  const auto moments = [](u32 columns) -> launch_shape {
    return {{2, 1, 1}, {input{2 * columns}, output{2}, output{2}, columns}};
  };
  const auto normed = [&](u32 columns) -> launch_shape {
    return {{2, 1, 1}, {input{2 * columns}, input{columns}, output{2 * columns}, columns, f(1e-5)}};
  };
  const auto attended = [&](u32 keys) -> launch_shape {
    return {{3, 1, 1}, {input{3 * 64}, input{keys * 64}, input{keys * 64}, output{3 * 64}, keys, f(0.125)}};
  };
  const auto turned = [](u32 pairs) -> launch_shape {
    return {{3, 2, 1}, {input{3 * 2 * 2 * pairs}, input{pairs}, output{3 * 2 * 2 * pairs}, u32{2}, pairs}};
  };
  return {
      {&bench::saxpy.image(), {{{3, 1, 1}, {f(1.5), input{600}, input{600}, u32{600}}}}},
      {&bench::silu.image(), {{{3, 1, 1}, {input{600}, input{600}, output{600}, u32{600}}}}},
      {&bench::gelu.image(), {{{3, 1, 1}, {input{600}, output{600}, u32{600}}}}},
      {&bench::softmax_row.image(), {rows(600), rows(100)}},
      {&bench::rms_norm_row.image(), {normed(600), normed(100)}},
      {&bench::transpose.image(),
       {transposed(70, 45), transposed(78, 53), transposed(86, 61), transposed(94, 37)}},
      {&bench::histogram.image(),
       {{{2, 1, 1}, {input{250}, zeros{256}, u32{1000}}}, {{2, 1, 1}, {input{25}, zeros{256}, u32{100}}}}},
      {&bench::scan.image(), {{{2, 1, 1}, {input{400}, output{400}, u32{400}}}}},
      {&bench::stencil.image(),
       {{{2, 3, 5}, {input{45 * 20 * 5}, output{45 * 20 * 5}, i32{45}, i32{20}, i32{5}, f(2), f(0.5)}}}},
      {&bench::tiled_matmul.image(),
       {{{2, 2, 1}, {input{1024}, input{1024}, output{1024}, u32{32}}},
        {{1, 1, 1}, {input{1}, input{1}, output{256}, u32{0}}}}},
      {&bench::welford.image(), {moments(600), moments(100)}},
      {&bench::rope.image(), {turned(100)}},
      {&showcase::fused_silu_gate.image(), {gated(1200), gated(1500), gated(1624), gated(1924)}},
      {&showcase::saxpy.image(), {{{3, 1, 1}, {input{600}, input{600}, f(1.5), u32{600}}}}},
      {&showcase::softmax.image(), {rows(4500), rows(100), rows(4096)}},
      {&showcase::row_attention<64>.image(), {attended(150), attended(256)}},
      {&showcase::row_statistics<f32>.image(), {moments(600), moments(100)}},
      {&tests::block_folds<96>.image(),
       {{{1, 1, 1}, {input{96}, input{96}, input{96}, output{8 * 96}, output{4 * 96}}}}},
      {&tests::exchanges_in_turn.image(),
       {{{1, 1, 1}, {input{160}, output{320}, u32{5}}},
        {{1, 1, 1}, {input{160}, output{320}, u32{3}}},
        {{1, 1, 1}, {input{160}, output{320}, u32{0}}}}},
      {&tests::block_votes.image(), {{{1, 1, 1}, {input{100}, output{200}}}}},
      {&tests::ring.image(),
       {{{3, 1, 1}, {input{192}, zeros{1}, u32{3}}}, {{3, 1, 1}, {input{192}, zeros{1}, u32{0}}}}},
      {&tests::last_block.image(), {{{4, 1, 1}, {input{256}, output{4}, zeros{1}, output{1}}}}},
      {&tests::dynamic_arrays.image(), {{{1, 1, 1}, {input{64}, output{64}, u32{3}}, 3 * 64 * 4}}},
      {&tests::repeated_reduction.image(),
       {{{1, 1, 1}, {input{192}, output{192}, u32{3}}}, {{1, 1, 1}, {input{192}, output{192}, u32{0}}}}},
  };
}

}  // namespace

TEST_CASE("mutants of the kernels are killed", "[mutants]") {
  std::size_t count = 0, killed = 0;
  for (const kernel_case& one : cases()) {
    const ptx::kernel_image& image = *one.image;
    const std::string text = text_of(image);
    INFO(image.name);
    std::vector<std::vector<u32>> right;
    for (const launch_shape& shape : one.shapes) {
      const auto result = run(image, shape, text);
      REQUIRE(result.has_value());
      right.push_back(*result);
    }
    for (const mutation& m : mutations_of(text)) {
      ++count;
      bool dead = false;
      for (std::size_t i = 0; i < right.size() && !dead; ++i) {
        const auto result = run(image, one.shapes[i], mutated(text, m));
        dead = !result || *result != right[i];
      }
      if (dead)
        ++killed;
      else
        std::cout << "survived: " << image.name << " line " << m.line << ", " << m.what << '\n';
    }
  }
  std::cout << killed << " of " << count << " mutants killed\n";
  CHECK(count >= 300);
  CHECK(killed * 100 >= count * 95);
}

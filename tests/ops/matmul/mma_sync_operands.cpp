// Around the products of the matmul kernels with matrix instructions of a warp: epilogues, split-K,
// addresses of batches, functions that make an operand, outputs whose type the launch gives, and the
// library's tile shapes.
#include "tests/ops/matmul/mma_sync_support.hpp"

#include <kaio/ops/matmul/common/general.hpp>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::ops;

TEST_CASE("mma matmul with an epilogue that has parameters of its own", "[matmul]") {
  constexpr auto cut = small_cut(major::k, major::mn);
  const shape s{70, 66, 40, 2};
  problem_data<cut, f16_product> data(s);
  const auto bias_host = small_numbers<f32>(s.m, 9);
  auto a = under_test().upload(data.a.host);
  auto b = under_test().upload(data.b.host);
  auto bias = under_test().upload(bias_host);
  auto c = poisoned<f32>(std::size_t{s.n} * s.m * s.batches);
  mma_sync_matmul<cut, f16_product, f32, bias_of_row>.launch(
      under_test().stream(), grid(data.problem.scheduler.tiles), a, b, c, data.problem, bias, 2.0f);
  const auto got = c.download();
  for (u32 batch = 0; batch < s.batches; ++batch)
    for (u32 row = 0; row < s.m; ++row)
      for (u32 column = 0; column < s.n; ++column) {
        const double biased = data.sum(s, batch, row, column) + bias_host[row] + batch;
        CAPTURE(batch, row, column);
        REQUIRE(got[(std::size_t{batch} * s.m + row) * s.n + column] ==
                (row > 3 ? biased * 2 : biased) + column);
      }
}

TEST_CASE("mma matmul of parts of K, which are added in order", "[matmul]") {
  constexpr auto cut = small_cut(major::k, major::mn);
  const shape s{40, 70, 230, 2, 3};
  problem_data<cut, f16_product> data(s);
  const auto bias_host = small_numbers<f32>(s.m, 9);
  auto a = under_test().upload(data.a.host);
  auto b = under_test().upload(data.b.host);
  auto bias = under_test().upload(bias_host);
  auto parts = poisoned<f32>(std::size_t{s.n} * s.m * s.batches * s.splits);
  auto c = poisoned<f16>(std::size_t{s.n} * s.m * s.batches);
  mma_sync_matmul<cut, f16_product, f32, identity>.launch(
      under_test().stream(), grid(data.problem.scheduler.tiles), a, b, parts, data.problem);
  split_problem reduced{};
  reduced.row = s.n;
  reduced.column = 1;
  reduced.batch = i64{s.n} * s.m;
  reduced.m = s.m;
  reduced.n = s.n;
  reduced.splits = s.splits;
  split_reduce<f16, bias_of_row>.launch(under_test().stream(), grid(split_reduce_blocks(s.m, s.n, s.batches)),
                                        parts, c, reduced, bias, 1.0f);
  const auto got = c.download();
  for (u32 batch = 0; batch < s.batches; ++batch)
    for (u32 row = 0; row < s.m; ++row)
      for (u32 column = 0; column < s.n; ++column) {
        const double biased = data.sum(s, batch, row, column) + bias_host[row] + batch + column;
        CAPTURE(batch, row, column);
        REQUIRE(static_cast<double>(got[(std::size_t{batch} * s.m + row) * s.n + column]) ==
                static_cast<double>(f16(biased)));
      }
}

TEST_CASE("mma matmul of batches by their addresses", "[matmul]") {
  constexpr auto cut = small_cut(major::k, major::mn, copy_form::async, copy_form::async, 32, true);
  const shape s{66, 40, 40, 3};
  problem_data<cut, f16_product> data(s);
  auto a = under_test().upload(data.a.host);
  auto b = under_test().upload(data.b.host);
  auto c = poisoned<f32>(std::size_t{s.n} * s.m * s.batches);
  // The batches of A from the last to the first.
  std::vector<u64> of_a, of_b, of_c;
  for (u32 batch = 0; batch < s.batches; ++batch) {
    of_a.push_back(a.view().address + static_cast<u64>(data.a.batch_stride()) * 2 * (s.batches - 1 - batch));
    of_b.push_back(b.view().address + static_cast<u64>(data.b.batch_stride()) * 2 * batch);
    of_c.push_back(c.view().address + u64{4} * s.n * s.m * batch);
  }
  auto list_a = under_test().upload(of_a), list_b = under_test().upload(of_b),
       list_c = under_test().upload(of_c);
  data.problem.c.batch_pitch = 0;
  mma_sync_matmul<cut, f16_product, f32, identity>.launch(
      under_test().stream(), grid(data.problem.scheduler.tiles), list_a, list_b, list_c, data.problem);
  const auto got = c.download();
  for (u32 batch = 0; batch < s.batches; ++batch)
    for (u32 row = 0; row < s.m; ++row)
      for (u32 column = 0; column < s.n; ++column) {
        double sum = 0;
        for (u32 k = 0; k < s.k; ++k)
          sum += data.a.at(s.batches - 1 - batch, row, k) * data.b.at(batch, k, column);
        CAPTURE(batch, row, column);
        REQUIRE(got[(std::size_t{batch} * s.m + row) * s.n + column] == sum);
      }
}

TEST_CASE("mma matmul whose B a function makes", "[matmul]") {
  const shape s{66, 70, 104};
  constexpr auto cut = small_cut(major::k, major::k);
  problem_data<cut, f16_product> data(s);
  auto a = under_test().upload(data.a.host);
  std::vector<i8> bytes(s.n * s.k);
  std::vector<u32> words(s.n * s.k / 8, 0);
  std::vector<f32> scale_host(s.n);
  for (u32 i = 0; i < s.n; ++i) scale_host[i] = static_cast<f32>(i % 3) * 0.5f + 0.5f;
  for (u32 i = 0; i < bytes.size(); ++i) {
    const auto number = static_cast<i32>(i * 7 % 15) - 7;
    bytes[i] = static_cast<i8>(number);
    words[i / 8] |= (static_cast<u32>(number) & 15) << (4 * (i % 8));
  }
  auto scales = under_test().upload(scale_host);
  auto weights = under_test().upload(bytes);
  auto packed = under_test().upload(words);
  auto c = poisoned<f32>(std::size_t{s.n} * s.m), d = poisoned<f32>(std::size_t{s.n} * s.m);
  dequantising_matmul<from_bytes>.launch(under_test().stream(), grid(data.problem.scheduler.tiles), a,
                                         weights, scales, s.k, c, data.problem);
  dequantising_matmul<from_nibbles>.launch(under_test().stream(), grid(data.problem.scheduler.tiles), a,
                                           packed, scales, u32{s.k / 8}, d, data.problem);
  const auto by_byte = c.download(), by_nibble = d.download();
  for (u32 row = 0; row < s.m; ++row)
    for (u32 column = 0; column < s.n; ++column) {
      double sum = 0;
      for (u32 k = 0; k < s.k; ++k)
        sum += data.a.at(0, row, k) * bytes[column * s.k + k] * static_cast<double>(scale_host[column]);
      CAPTURE(row, column);
      REQUIRE(by_byte[row * s.n + column] == sum);
      REQUIRE(by_nibble[row * s.n + column] == sum);
    }
}

TEST_CASE("the element type of C may be given by the launch", "[matmul]") {
  constexpr auto cut = mma_cuts::large_16(major::k, major::mn);
  const shape s{150, 140, 72};
  problem_data<cut, f16_product> data(s);
  auto a = under_test().upload(data.a.host);
  auto b = under_test().upload(data.b.host);
  constexpr auto& any = mma_sync_matmul<cut, f16_product, any_output, general>;
  const auto check_type = [&]<class Out>(output_type type, Out) {
    auto c = poisoned<Out>(std::size_t{s.n} * s.m);
    matmul_terms terms;
    terms.alpha = 0.5f;
    any.launch(under_test().stream(), grid(data.problem.scheduler.tiles), a, b,
               output_memory{c.view().address, static_cast<u32>(type)}, data.problem, terms);
    const auto got = c.download();
    for (u32 row = 0; row < s.m; ++row)
      for (u32 column = 0; column < s.n; ++column) {
        CAPTURE(static_cast<u32>(type), row, column);
        REQUIRE(static_cast<double>(got[row * s.n + column]) ==
                static_cast<double>(from_double<Out>(data.sum(s, 0, row, column) / 2)));
      }
  };
  check_type(output_type::f32, f32{});
  check_type(output_type::f16, f16{});
  check_type(output_type::bf16, bf16{});
}

TEST_CASE("the library's cuts for lines that begin anywhere", "[matmul]") {
  check<mma_cuts::unaligned(major::k, major::mn, 32), f16_product, f16>({70, 71, 45});
  check<mma_cuts::unaligned(major::mn, major::k, 64), e4m3_product, f32>({70, 71, 45});
}

// Mutants of reduce, scan, sample and embedding: a sample of some kernels of each family, on small calls that come to all
// of their parts.

#include "mutants/rows_support.hpp"

#include <kaio/ops/embedding.hpp>
#include <kaio/ops/reduce.hpp>
#include <kaio/ops/sample.hpp>
#include <kaio/ops/scan.hpp>

#include <utility>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

template <class T>
void run_reduce(reduction how, i64 rows, i64 columns, i64 pad) {
  const stream& s = under_test().stream();
  rows_on_device<T> x(rows, columns, 1, pad);
  for (const i32 axis : {1, 0, 2}) {
    rows_on_device<T> y(axis == 1 ? rows : columns, 1, 2);
    reduce_options options{.axis = axis % 2, .all = axis == 2};
    const tensor_view<T, 1> to = axis == 2 ? y.column().slice(0, 0, 1) : y.column();
    buffer<u8> memory;
    options.workspace = workspace_of(memory, reduce_workspace_bytes(how, x.view(), to, options));
    reduce(s, how, x.view(), to, options);
  }
}

tally kill_reduce() {
  mutants_of_calls mutants({{"reduce_rows_sum_f16", 35},
                            {"reduce_rows_max_f32", 25},
                            {"reduce_columns_max_f16", 25},
                            {"reduce_columns_sum_f32", 25}},
                           faults_of_rows_without_effect);
  const auto run = [](i64 rows, i64 columns, i64 pad) {
    run_reduce<f16>(reduction::sum, rows, columns, pad);
    run_reduce<f16>(reduction::max, rows, columns, pad);
    run_reduce<f32>(reduction::max, rows, columns, pad);
    run_reduce<f32>(reduction::mean, rows, columns, pad);
  };
  mutants.on("sm_90", [&] {
    for (const i64 pad : {0, 3}) {
      for (i64 columns = 1; columns <= 33; ++columns) run(columns % 7 + 1, columns, pad);
      for (const auto& [rows, columns] : {std::pair<i64, i64>{5, 64},
                                          {2, 300},
                                          {1, 520},
                                          {1, 1040},
                                          {1, 5000},
                                          {40, 3},
                                          {600, 2},
                                          {70, 16},
                                          {1030, 9}})
        run(rows, columns, pad);
    }
    run(3, 70000, 0);  // rows in several parts
  });
  return mutants.result();
}

template <class T>
void run_scan(i64 rows, i64 columns, const scan_options& how, i64 pad) {
  const stream& s = under_test().stream();
  std::vector<T> host(count_of(rows + 1, columns + pad) + 8);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<T>(i * 7 % 23);
  auto x = upload(host), y = upload(std::vector<T>(host.size(), T(-1)));
  const tensor_view<const T, 2> from(x, extents(rows, columns), strides(columns + pad, i64{1}));
  const tensor_view<T, 2> to(y, extents(rows, columns), strides(columns + pad, i64{1}));
  buffer<u8> memory;
  scan_options options = how;
  options.workspace = workspace_of(memory, scan_workspace_bytes(from, to));
  scan(s, from, to, options);
}

tally kill_scan() {
  mutants_of_calls mutants({{"scan_sum_f32", 50}, {"scan_sum_i64", 40}}, faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 pad : {0, 1})
      for (const bool exclusive : {false, true})
        for (const i64 columns : {1, 2, 3, 4, 5, 6, 7, 8, 31, 64, 130, 257, 511, 1000, 5000, 40001}) {
          const scan_options options{.exclusive = exclusive};
          run_scan<f32>(columns > 1000 ? 1 : 3, columns, options, pad);
          run_scan<i64>(columns > 1000 ? 1 : 3, columns, options, pad);
        }
  });
  return mutants.result();
}

template <class T>
void run_sample(i64 rows, i64 size, sample_options options, i64 pad = 0) {
  const stream& s = under_test().stream();
  rows_on_device<T> logits(rows, size, 1, pad);
  rows_on_device<f32> logprobs(rows, 1, 2), lse(rows, 1, 3);
  auto seed = numbers_of<i64>(static_cast<std::size_t>(rows), 11, 3),
       offset = numbers_of<i64>(static_cast<std::size_t>(rows), 2, 5);
  auto tokens = numbers_of<i32>(static_cast<std::size_t>(rows), -9, 0);
  options.seed = tensor_view<const i64, 1>(seed, rows);
  const tensor_view<i64, 1> offsets(offset, rows);
  options.offset = offsets, options.offset_out = offsets;
  options.logprobs = logprobs.column(), options.lse = lse.column();
  sample(s, logits.view(), tensor_view<i32, 1>(tokens, rows), options);
  auto top_ks = numbers_of<i32>(static_cast<std::size_t>(rows), 1, 3);
  auto temperatures = numbers_of<f32>(static_cast<std::size_t>(rows), 0, 0.4f);
  options.temperatures = tensor_view<const f32, 1>(temperatures, rows);
  options.top_ks = tensor_view<const i32, 1>(top_ks, rows);
  sample(s, logits.view(), tensor_view<i32, 1>(tokens, rows), options);
}

tally kill_sample() {
  mutants_of_calls mutants({{"sample_sm90", 30}}, faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 size : {1, 5, 64, 300}) {
      const i64 rows = 2;
      run_sample<f16>(rows, size, {});
      run_sample<f32>(rows, size, {.temperature = 0.7f, .top_k = 4}, 1);
      run_sample<f16>(rows, size, {.top_p = 0.5f});
      run_sample<bf16>(rows, size, {.top_k = 40, .top_p = 0.9f, .min_p = 0.05f}, 3);
      run_sample<f32>(rows, size, {.temperature = 0});
    }
  });
  return mutants.result();
}

template <class T, class Index, class Gradient = f32>
void run_embedding(i64 count, i64 vocabulary, i64 size, bool accumulates, i64 pad = 0) {
  const stream& s = under_test().stream();
  rows_on_device<T> weight(vocabulary, size, 1, pad), out(count, size, 2, pad);
  rows_on_device<Gradient> dweight(vocabulary, size, 3, pad);
  std::vector<Index> host(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < host.size(); ++i)  // some outside of the vocabulary, many equal
    host[i] = static_cast<Index>(static_cast<i64>(i * i % 11) * 3 % (vocabulary + 2) - 1);
  auto indices = upload(host);
  const tensor_view<const Index, 1> tokens(indices, count);
  auto errors = upload(std::vector<u32>(1, 0));
  embedding(s, tokens, weight.view(), out.view(), {.errors = tensor_view<u32, 1>(errors, 1)});
  buffer<u8> memory;
  const ops::workspace_view workspace =
      workspace_of(memory, embedding_backward_workspace_bytes(tokens, dweight.view()));
  embedding_backward(s, out.view(), tokens, dweight.view(),
                     {.padding_index = 2, .accumulate = accumulates, .workspace = workspace});
}

tally kill_embedding() {
  mutants_of_calls mutants(
      {{"embedding_rows", 35}, {"embedding_gradient_f16", 45}, {"embedding_token_lists", 25}},
      faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 size : {1, 2, 3, 4, 5, 6, 7, 8, 9, 64, 130, 1032})
      for (const i64 count : {1, 9, 40}) {
        run_embedding<f16, i32>(count, 13, size, count == 9);
        run_embedding<f16, i64, f16>(count, 3, size, count != 9, 1);
        run_embedding<f16, i64, f16>(count, 3, size + 8, count != 9, 8 - size % 8);
        run_embedding<f32, i32>(count, 5, size, false, size % 3);
      }
    run_embedding<f16, i64>(1000, 700, 8, false);
    run_embedding<f16, i32>(9000, 3, 12, true);  // words of more tokens than a block holds at once
    run_embedding<f16, i64>(7001, 3, 9, false);
  });
  return mutants.result();
}

}  // namespace

TEST_CASE("mutants of reduce are killed", "[mutants]") { check_rate("reduce", kill_reduce(), 70); }
TEST_CASE("mutants of scan are killed", "[mutants]") { check_rate("scan", kill_scan(), 70); }
// Most of the survivors compare numbers that are never equal in these rows: keys, counts and masses of 64 bits.
TEST_CASE("mutants of sample are killed", "[mutants]") { check_rate("sample", kill_sample(), 40); }
TEST_CASE("mutants of embedding are killed", "[mutants]") { check_rate("embedding", kill_embedding(), 68); }

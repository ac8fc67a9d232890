// Sums by peer memory have the bits of the definition on all ranks, in every form, in any order of calls; and the norm that
// follows has those of rms_norm, or its numbers. Calls that do not match are refused.

#include "tests/ops/distributed/support.hpp"

#include <kaio/ops/all_reduce.hpp>
#include <kaio/ops/all_reduce_rms_norm.hpp>
#include <kaio/ops/rms_norm.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <vector>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr peer_workspace_options small{.sum_bytes = 4096, .one_shot_bytes = 1024, .blocks = 2};

// Element i of rank r in call `call`: the sums of several are not exact in 16 bits.
float number(int r, std::size_t i, int call) {
  return static_cast<float>((i * 7 + static_cast<std::size_t>(r) * 13 + static_cast<std::size_t>(call) * 5) %
                            509) /
             8 -
         30;
}
template <class T>
std::vector<T> numbers(int r, std::size_t n, int call) {
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = from_float<T>(number(r, i, call));
  return x;
}
template <class T>
T sum_of(int ranks, std::size_t i, int call) {
  float sum = 0;
  for (int r = 0; r < ranks; ++r) sum += static_cast<float>(to_double(from_float<T>(number(r, i, call))));
  return from_float<T>(sum);
}
// All for one type: the kernels are one text for all types.
template <class T>
std::vector<int> numbers_of_ranks() {
  if (std::is_same_v<T, bf16>) return {1, 2, 3, 4, 8};
  return {2, 3};
}
template <class T>
bool equal_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("sums by peer memory are f32, in the order of ranks, in every form", "", f32, f16, bf16) {
  const int ranks = GENERATE(from_range(numbers_of_ranks<TestType>()));
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    int call = 0;
    // One-shot, two-shot with parts that are not full, one-shot again, and more than the workspace has.
    for (const std::size_t n : {1u, 37u, 700u, 203u, 1000u, 2500u}) {
      for (const bool in_place : {false, true}) {
        auto x = c.on().upload(numbers<TestType>(r, n + 1, ++call));
        auto y = c.on().template allocate<TestType>(n + 1);
        const std::size_t shift = call % 2 == 0 ? 0 : 1;  // one of both is not aligned
        const auto from = x.slice(shift, n), to = in_place ? from : y.slice(1 - shift, n);
        all_reduce(w, s, tensor_view(from, n), tensor_view(to, n));
        s.synchronize();
        const auto all = in_place ? x.download() : y.download();
        const std::size_t first = in_place ? shift : 1 - shift;
        bool right = true;
        for (std::size_t i = 0; i < n; ++i)
          right = right && equal_bits(all[first + i], sum_of<TestType>(ranks, shift + i, call));
        must(right, "values of " + std::to_string(n));
        if (!in_place) must(to_double(all[first == 0 ? n : 0]) == 0, "what is outside");
      }
    }
  });
}

TEST_CASE("a captured sum is replayed, with the numbers of each time") {
  const int ranks = GENERATE(2, 3);
  const std::size_t n = GENERATE(std::size_t{64}, std::size_t{600});  // one-shot, two-shot
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    auto x = c.on().allocate<f32>(n), y = c.on().allocate<f32>(n);
    peer_workspace::warmup(c.on());
    const graph g = capture_graph(s, [&] { all_reduce(w, s, tensor_view(x, n), tensor_view(y, n)); });
    const executable_graph step = g.instantiate();
    for (int call = 0; call < 5; ++call) {
      const auto fresh = c.on().upload(numbers<f32>(r, n, call));
      copy(s, x.view(), fresh.view());
      step.launch(s);
      s.synchronize();
      const auto sums = y.download();
      bool right = true;
      for (std::size_t i = 0; i < n; ++i) right = right && sums[i] == sum_of<f32>(ranks, i, call);
      must(right, "call " + std::to_string(call));
    }
  });
}

TEST_CASE("a rank that does not replay its graph: the others stop at the time limit") {
  const auto begin = std::chrono::steady_clock::now();
  const auto outcomes = run_ranks(group_of(2, true, 0.3), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(c, small);
    auto x = c.on().allocate<f32>(16);
    peer_workspace::warmup(c.on());
    const graph g = capture_graph(s, [&] { all_reduce(w, s, tensor_view(x, 16), tensor_view(x, 16)); });
    const executable_graph step = g.instantiate();
    if (r == 1) throw std::runtime_error("killed");
    step.launch(s);
    s.synchronize();
  });
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 10);
  INFO(outcomes[0].error);
  CHECK_FALSE(outcomes[0].error.empty());
  CHECK(outcomes[0].code == errc::device_assert);
}

TEST_CASE("sums that differ among ranks are refused on all, and the workspace remains usable") {
  const int kind = GENERATE(0, 1, 2, 3);
  run_all(group_of(3), [&](int r, const communicator& c, const stream& s) {
    const peer_workspace w = peer_workspace::make(
        c,
        {.sum_bytes = 4096, .one_shot_bytes = 1024, .blocks = 2, .compares_repeated_calls = kind % 2 == 0});
    auto x = c.on().upload(numbers<f32>(r, 64, 0)), y = c.on().allocate<f32>(64);
    auto half = c.on().allocate<f16>(64);
    const bool odd = r == 2;
    std::string text;
    try {
      switch (kind) {
        case 0: {
          const std::size_t n = odd ? 32 : 64;
          all_reduce(w, s, tensor_view(x.slice(0, n), n), tensor_view(y.slice(0, n), n));
          break;
        }
        case 1:
          if (odd)
            all_reduce(w, s, tensor_view(half, 64), tensor_view(half, 64));
          else
            all_reduce(w, s, tensor_view(x, 64), tensor_view(y, 64));
          break;
        case 2:
          all_reduce(w, s, tensor_view(x, 64), tensor_view(y.slice(0, odd ? 63 : 64), odd ? 63 : 64));
          break;
        default:
          all_reduce_rms_norm(w, s, tensor_view(x, 8, 8), tensor_view(y.slice(0, 8), odd ? 7 : 8),
                              tensor_view(y, 8, 8));
      }
    } catch (const invalid_argument& e) {
      text = e.message();
    }
    must(text.find("rank") != std::string::npos, "refused: " + text);
    for (int again = 0; again < 2; ++again) {
      all_reduce(w, s, tensor_view(x, 64), tensor_view(y, 64));
      s.synchronize();
      must(y.download()[63] == sum_of<f32>(3, 63, 0), "the sum");
    }
  });
}

TEST_CASE("all ranks make their workspaces with the same options") {
  const int kind = GENERATE(0, 1, 2, 3, 4);
  for (const rank_outcome& o : run_ranks(group_of(2), [&](int r, const communicator& c, const stream&) {
         peer_workspace_options options{.sum_bytes = 4096, .one_shot_bytes = 1024, .blocks = 2};
         if (r == 1) {
           if (kind == 0) options.sum_bytes = 8192;
           if (kind == 1) options.one_shot_bytes = 512;
           if (kind == 2) options.product_bytes = 1024;
           if (kind == 3) options.blocks = 3;
           if (kind == 4) options.compares_repeated_calls = false;
         }
         (void)peer_workspace::make(c, options);
       })) {
    REQUIRE(o.code == errc::invalid_argument);
    REQUIRE(o.says("rank 1"));
  }
}

TEMPLATE_TEST_CASE("sum, residual and norm in one kernel, and in two, are those of rms_norm", "", f32, f16,
                   bf16) {
  const int ranks = GENERATE(from_range(numbers_of_ranks<TestType>()));
  const bool fused = GENERATE(true, false);
  const std::size_t rows = 5, size = ranks == 3 ? 19 : 40;
  const peer_workspace_options options{.sum_bytes = 8192, .one_shot_bytes = fused ? 4096u : 0u, .blocks = 3};
  const norm_casting casting = size == 40 ? norm_casting::llama : norm_casting::gemma;
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const std::size_t n = rows * size;
    const peer_workspace w = peer_workspace::make(c, options);
    // Leaves large numbers in both halves of the workspace: what is beyond a row does not count.
    const auto large = c.on().upload(std::vector<TestType>(1000, from_float<TestType>(1000)));
    auto unused = c.on().template allocate<TestType>(1000);
    for (int half = 0; half < 2; ++half)
      all_reduce(w, s, tensor_view(large, 1000), tensor_view(unused, 1000));
    std::vector<TestType> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = sum_of<TestType>(ranks, i, 1);
    const auto x = c.on().upload(numbers<TestType>(r, n, 1)), summed = c.on().upload(sums);
    const auto weight = c.on().upload(numbers<f32>(9, size, 2));
    const auto residual = c.on().upload(numbers<TestType>(5, n, 3));
    auto h = c.on().template allocate<TestType>(n), y = c.on().template allocate<TestType>(n);
    auto want_h = c.on().template allocate<TestType>(n), want = c.on().template allocate<TestType>(n);
    const tensor_view in(x, rows, size);
    const tensor_view by(weight, size);
    for (int again = 0; again < 3; ++again)
      all_reduce_rms_norm(w, s, in, by, tensor_view(y, rows, size),
                          {.weight_offset = 1,
                           .residual = tensor_view(residual, rows, size),
                           .residual_out = tensor_view(h, rows, size),
                           .casting = casting});
    rms_norm(s, tensor_view(summed, rows, size), by, tensor_view(want, rows, size),
             {.weight_offset = 1,
              .residual = tensor_view(residual, rows, size),
              .residual_out = tensor_view(want_h, rows, size),
              .casting = casting});
    s.synchronize();
    must(same_bits(h.download(), want_h.download()), "the residual");
    const auto got = y.download(), expected = want.download();
    // One rounding of each of the two steps: another order of the squares changes the last bit.
    const double step = sizeof(TestType) == 4 ? 1e-6 : std::is_same_v<TestType, f16> ? 2e-3 : 1.6e-2;
    for (std::size_t i = 0; i < n; ++i) {
      const double a = to_double(got[i]), b = to_double(expected[i]);
      must(fused ? std::abs(a - b) <= step * std::abs(b) : equal_bits(got[i], expected[i]), "the norm");
    }
    if (fused) {  // without a residual, a row alone, in place
      auto row = c.on().upload(numbers<TestType>(r, size, 1));
      auto alone = c.on().template allocate<TestType>(n);
      all_reduce_rms_norm(w, s, in, by, tensor_view(alone, rows, size));
      all_reduce_rms_norm(w, s, tensor_view(row, 1, size), by, tensor_view(row, 1, size));
      s.synchronize();
      const auto all = alone.download(), one = row.download();
      must(
          same_bits(std::vector<TestType>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)), one),
          "a row alone");
    }
  });
}

TEST_CASE("sum, residual and norm into codes are those of rms_norm of the sum") {
  const int ranks = GENERATE(2, 4);
  run_all(group_of(ranks), [&](int r, const communicator& c, const stream& s) {
    const std::size_t rows = 3, size = 160, n = rows * size;
    const peer_workspace w = peer_workspace::make(c, small);
    std::vector<bf16> sums(n);
    for (std::size_t i = 0; i < n; ++i) sums[i] = sum_of<bf16>(ranks, i, 1);
    auto x = c.on().upload(numbers<bf16>(r, n, 1));
    const auto summed = c.on().upload(sums);
    const auto weight = c.on().upload(numbers<bf16>(9, size, 2));
    const auto residual = c.on().upload(numbers<bf16>(5, n, 3));
    auto codes = c.on().allocate<e4m3>(n), want = c.on().allocate<e4m3>(n);
    auto scales = c.on().allocate<f32>(rows * 2), want_scales = c.on().allocate<f32>(rows * 2);
    const rms_norm_options options{.residual = tensor_view(residual, rows, size)};
    all_reduce_rms_norm(w, s, tensor_view(x, rows, size), tensor_view(weight, size),
                        tensor_view(codes, rows, size), tensor_view(scales, rows, 2), options);
    rms_norm(s, tensor_view(summed, rows, size), tensor_view(weight, size), tensor_view(want, rows, size),
             tensor_view(want_scales, rows, 2), options);
    s.synchronize();
    must(same_bits(codes.download(), want.download()), "codes");
    must(same_bits(scales.download(), want_scales.download()), "scales");
    must(same_bits(x.download(), sums), "x is the sum");
  });
}

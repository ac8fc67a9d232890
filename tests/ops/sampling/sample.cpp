// sample against double precision: the token is kept and the draw is in its share; log-probabilities, offsets
// and counts of rows; a row alone and in a batch.
#include "tests/ops/refusal.hpp"
#include "tests/ops/sampling/reference.hpp"

#include <functional>
#include <random>

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class T>
struct batch {
  i64 rows, vocabulary, pitch;
  std::vector<T> host;

  batch(i64 in_rows, i64 in_vocabulary, i64 pad, u64 seed, const std::function<float(std::mt19937_64&)>& make)
      : rows(in_rows), vocabulary(in_vocabulary), pitch(in_vocabulary + pad) {
    host.assign(static_cast<std::size_t>(rows * pitch), from_float<T>(infinity));  // padding: would be drawn
    std::mt19937_64 engine(seed);
    for (i64 r = 0; r < rows; ++r)
      for (i64 i = 0; i < vocabulary; ++i) at(r, i) = from_float<T>(make(engine));
  }
  T& at(i64 row, i64 i) { return host[static_cast<std::size_t>(row * pitch + i)]; }
  std::vector<double> row(i64 r) {
    std::vector<double> result;
    for (i64 i = 0; i < vocabulary; ++i) result.push_back(logit_of(at(r, i)));
    return result;
  }
};

float normal(std::mt19937_64& engine) { return std::normal_distribution<float>(0, 3)(engine); }
// Few values, so that many logits are equal.
float coarse(std::mt19937_64& engine) { return static_cast<float>(engine() % 9) - 4.0f; }

struct outcome {
  std::vector<i32> tokens;
  std::vector<f32> logprobs, lse;
  i32 invalid = 0;
};

// Samples rows first to first + count - 1, each by its own seed and its own settings.
template <class T>
outcome run(batch<T>& logits, const std::vector<sampling>& how, i64 first, i64 count, bool reports = true) {
  const device& gpu = under_test();
  const auto of = static_cast<std::size_t>(count);
  std::vector<u64> seeds, offsets;
  std::vector<f32> temperatures, ps, min_ps;
  std::vector<i32> ks;
  for (i64 r = first; r < first + count; ++r) {
    const sampling& one = how[static_cast<std::size_t>(r) % how.size()];
    seeds.push_back(u64{0x123456789abcdef0u} + static_cast<u64>(r));
    offsets.push_back(u64{0xfffffff0u} + static_cast<u64>(r));
    temperatures.push_back(one.temperature);
    ks.push_back(one.top_k);
    ps.push_back(one.top_p);
    min_ps.push_back(one.min_p);
  }
  auto memory = gpu.upload(logits.host);
  auto on_seeds = gpu.upload(seeds), on_offsets = gpu.upload(offsets);
  auto on_t = gpu.upload(temperatures), on_p = gpu.upload(ps), on_min_p = gpu.upload(min_ps);
  auto on_k = gpu.upload(ks);
  auto tokens = gpu.upload(std::vector<i32>(of, -1)), invalid = gpu.upload(std::vector<i32>(1, 0));
  auto logprobs = gpu.allocate<f32>(of), lse = gpu.allocate<f32>(of);
  const tensor_view<const T, 2> all(memory, extents(logits.rows, logits.vocabulary),
                                    strides(logits.pitch, 1));
  const tensor_view<u64, 1> next(on_offsets, count);
  sample_options options{.seed = tensor_view<const u64, 1>(on_seeds, count),
                         .offset = next,
                         .offset_out = next,
                         .temperatures = tensor_view<const f32, 1>(on_t, count),
                         .top_ks = tensor_view<const i32, 1>(on_k, count),
                         .top_ps = tensor_view<const f32, 1>(on_p, count),
                         .min_ps = tensor_view<const f32, 1>(on_min_p, count),
                         .invalid_rows = tensor_view<i32, 1>(invalid, 1)};
  if (reports) {
    options.logprobs = tensor_view<f32, 1>(logprobs, count);
    options.lse = tensor_view<f32, 1>(lse, count);
  }
  sample(gpu.stream(), all.slice(0, first, count), tensor_view<i32, 1>(tokens, count), options);
  const std::vector<u64> later = on_offsets.download();
  for (std::size_t r = 0; r < of; ++r) REQUIRE(later[r] == offsets[r] + 1);
  return {tokens.download(), logprobs.download(), lse.download(), invalid.download()[0]};
}

template <class T>
void check(batch<T>& logits, const std::vector<sampling>& how) {
  const outcome got = run(logits, how, 0, logits.rows), other = run(logits, how, 0, logits.rows, false);
  REQUIRE(got.tokens == other.tokens);
  for (i64 r = 0; r < logits.rows; ++r) {
    const auto at = static_cast<std::size_t>(r);
    const sampling& one = how[at % how.size()];
    CAPTURE(r, logits.vocabulary, logits.pitch, one.temperature, one.top_k, one.top_p, one.min_p, sizeof(T));
    const std::vector<double> x = logits.row(r);
    const kept_tokens kept = kept_of(x, one);
    const double draw = draw_of(u64{0x123456789abcdef0u} + at, u64{0xfffffff0u} + at);
    require_drawn(kept, got.tokens[at], draw);
    const double t = one.temperature > 0 ? double{one.temperature} : 1.0;
    const double logprob = x[static_cast<std::size_t>(got.tokens[at])] / t - kept.lse;
    REQUIRE(std::abs(double{got.lse[at]} - kept.lse) <= 4e-5 + 4e-7 * std::abs(kept.lse));
    REQUIRE(std::abs(double{got.logprobs[at]} - logprob) <= 5e-5 + 4e-6 * std::abs(logprob));
  }
  const outcome alone = run(logits, how, logits.rows - 1, 1);
  REQUIRE(alone.tokens[0] == got.tokens.back());
  REQUIRE(alone.lse[0] == got.lse.back());
}

const std::vector<sampling> every_way{{},
                                      {.top_k = 5},
                                      {.top_p = 0.6f},
                                      {.min_p = 0.1f},
                                      {.temperature = 0},
                                      {.temperature = 0.5f, .top_k = 40, .top_p = 0.9f},
                                      {.temperature = 3, .top_p = 0.99f, .min_p = 0.02f},
                                      {.top_k = 1},
                                      {.temperature = 2, .top_k = 600, .top_p = 0.8f, .min_p = 0.01f},
                                      {.top_p = 0}};

template <class T>
void check_vocabularies() {
  for (const i64 vocabulary : {1, 7, 250, 1031}) {
    batch<T> logits(static_cast<i64>(every_way.size()), vocabulary, 3, static_cast<u64>(vocabulary), normal);
    check(logits, every_way);
  }
  batch<T> equal(static_cast<i64>(every_way.size()), 3000, 0, 5, coarse);
  check(equal, every_way);
}

}  // namespace

TEST_CASE("sample: the reference's Philox has the words of Random123", "[ops][sample]") {
  using words = std::array<u32, 4>;
  REQUIRE(philox({0, 0, 0, 0}, {0, 0}) == words{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
  constexpr u32 ones = 0xffffffffu;
  REQUIRE(philox({ones, ones, ones, ones}, {ones, ones}) ==
          words{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
  REQUIRE(philox({0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}, {0xa4093822u, 0x299f31d0u}) ==
          words{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

TEST_CASE("sample: f32", "[ops][sample]") { check_vocabularies<f32>(); }
TEST_CASE("sample: f16", "[ops][sample]") { check_vocabularies<f16>(); }
TEST_CASE("sample: bf16", "[ops][sample]") { check_vocabularies<bf16>(); }

TEST_CASE("sample: clusters", "[ops][sample]") {
  batch<bf16> logits(3, 20011, 5, 17, normal);
  check(logits,
        {{.top_k = 50, .top_p = 0.9f}, {.temperature = 4, .top_p = 0.95f}, {.top_k = 2000, .top_p = 0.5f}});
  batch<f32> equal(3, 17000, 1, 18, coarse);
  check(equal, {{.temperature = 0}, {.top_k = 1500}, {.temperature = 2, .min_p = 0.3f}});
}

// One row alone has clusters, 140 rows have none.
TEST_CASE("sample: a row in a large batch", "[ops][sample]") {
  const device& gpu = under_test();
  const i64 rows = 140, vocabulary = 8200;
  batch<f16> one(1, vocabulary, 0, 21, normal);
  auto memory = gpu.upload(one.host);
  auto seeds = gpu.upload(std::vector<u64>(static_cast<std::size_t>(rows), 77));
  auto together = gpu.allocate<i32>(static_cast<std::size_t>(rows)), alone = gpu.allocate<i32>(1);
  for (const sampling& how :
       {sampling{.temperature = 3, .top_k = 700, .top_p = 0.9f}, sampling{.temperature = 3}}) {
    const auto draw = [&](buffer<i32>& to, i64 count) {
      const tensor_view<const u64, 1> numbers(seeds, count);
      sample(gpu.stream(), tensor_view<const f16, 2>(memory, extents(count, vocabulary), strides(0, 1)),
             tensor_view<i32, 1>(to, count),
             {.seed = numbers,
              .offset = numbers,
              .temperature = how.temperature,
              .top_k = how.top_k,
              .top_p = how.top_p});
    };
    draw(together, rows);
    draw(alone, 1);
    const i32 want = alone.download()[0];
    for (const i32 token : together.download()) REQUIRE(token == want);
  }
}

TEST_CASE("sample: NaN, infinities and masked rows", "[ops][sample]") {
  batch<f32> logits(6, 300, 0, 9, normal);
  for (i64 i = 0; i < 300; ++i) {
    logits.at(1, i) = -infinity;
    logits.at(2, i) = std::nanf("");
    if (i % 50 != 3) logits.at(3, i) = -infinity;
  }
  logits.at(0, 17) = std::nanf("");
  logits.at(4, 20) = logits.at(4, 250) = infinity;
  logits.at(5, 30) = -0.0f;
  const auto row_of = [&](const sampling& how) {
    const outcome got = run(logits, {how}, 0, 6);
    REQUIRE(got.invalid == 3);
    REQUIRE(got.tokens[0] != 17);
    for (const std::size_t r : {1u, 2u}) {
      REQUIRE(got.tokens[r] == 0);
      REQUIRE(got.lse[r] == -infinity);
      REQUIRE(got.logprobs[r] == -infinity);
    }
    REQUIRE(got.tokens[3] % 50 == 3);
    REQUIRE((got.tokens[4] == 20 || got.tokens[4] == 250));
    return got;
  };
  row_of({});
  row_of({.top_k = 40, .top_p = 0.9f});
  row_of({.top_p = 0.5f});
  REQUIRE(row_of({.temperature = 0}).tokens[4] == 20);
  REQUIRE(row_of({.top_k = 1}).tokens[4] == 20);
}

TEST_CASE("sample: 0 and -0 are equal, and the lowest index of the largest is greedy", "[ops][sample]") {
  batch<f32> logits(4, 2000, 0, 9, [](std::mt19937_64&) { return -1.0f; });
  logits.at(0, 1500) = 0.0f, logits.at(0, 700) = -0.0f;
  logits.at(1, 1500) = -0.0f, logits.at(1, 700) = 0.0f;
  logits.at(2, 3) = logits.at(2, 2) = logits.at(2, 1999) = 7.0f;
  for (const sampling& how : {sampling{.temperature = 0}, sampling{.top_k = 1}}) {
    const outcome got = run(logits, {how}, 0, 4);
    REQUIRE(got.tokens == std::vector<i32>{700, 700, 2, 0});
  }
}

TEST_CASE("sample: the frequencies of many seeds", "[ops][sample]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  const i64 rows = 400, vocabulary = 64;
  std::mt19937_64 engine(seed);
  std::vector<f32> one(vocabulary);
  for (f32& x : one) x = normal(engine);
  std::vector<i64> seeds(rows);
  for (i64& s : seeds) s = static_cast<i64>(engine());
  const device& gpu = under_test();
  auto memory = gpu.upload(one);
  auto on_seeds = gpu.upload(seeds);
  auto tokens = gpu.allocate<i64>(rows);
  auto zero = gpu.upload(std::vector<i64>(1, 0));
  sample(gpu.stream(), tensor_view<const f32, 2>(memory, extents(rows, vocabulary), strides(0, 1)),
         tensor_view<i64, 1>(tokens, rows),
         {.seed = tensor_view<const i64, 1>(on_seeds, rows),
          .offset = tensor_view<const i64, 1>(zero, extents(rows), strides(0)),
          .temperature = 2,
          .top_k = 8});
  const kept_tokens kept = kept_of({one.begin(), one.end()}, {.temperature = 2, .top_k = 8});
  std::vector<double> counts(vocabulary);
  for (const i64 token : tokens.download()) counts[static_cast<std::size_t>(token)] += 1;
  double chi = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double want = kept.shares[i] * static_cast<double>(rows);
    if (want == 0)
      REQUIRE(counts[i] == 0);
    else
      chi += (counts[i] - want) * (counts[i] - want) / want;
  }
  REQUIRE(chi < 50);  // 7 degrees of freedom: 1 of 7e7 runs
}

TEST_CASE("sample: random problems", "[ops][sample][random]") {
  const u64 seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  const auto below = [&](u64 n) { return static_cast<i64>(engine() % n); };
  for (int problem = 0; problem < 10; ++problem) {
    std::vector<sampling> how;
    for (int i = 0; i < 3; ++i)
      how.push_back({.temperature = below(4) == 0 ? 0.0f : static_cast<float>(1 + below(30)) / 10,
                     .top_k = static_cast<i32>(below(3) == 0 ? 0 : below(900)),
                     .top_p = below(3) == 0 ? 1.0f : static_cast<float>(below(1000)) / 1000,
                     .min_p = below(3) != 0 ? 0.0f : static_cast<float>(below(100)) / 200});
    const auto make = below(2) == 0 ? normal : coarse;
    batch<bf16> half(3, 1 + below(6000), below(9), engine(), make);
    check(half, how);
    batch<f32> single(3, 1 + below(6000), below(9), engine(), make);
    check(single, how);
  }
}

TEST_CASE("sample: no rows", "[ops][sample]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f32>(64);
  auto tokens = gpu.allocate<i32>(1);
  sample(gpu.stream(), tensor_view<const f32, 2>(memory, 0, 64), tensor_view<i32, 1>(tokens, 0),
         {.temperature = 0});
}

TEST_CASE("sample: bad input", "[ops][sample]") {
  const device& gpu = under_test();
  auto memory = gpu.allocate<f32>(512);
  auto more = gpu.allocate<f32>(8);
  auto chosen = gpu.allocate<i32>(8), numbers = gpu.allocate<i32>(8);
  auto seeds = gpu.allocate<u64>(8), offsets = gpu.allocate<u64>(8);
  const tensor_view<const f32, 2> logits(memory, 8, 64);
  const tensor_view<i32, 1> tokens(chosen, 8), ks(numbers, 8);
  const tensor_view<f32, 1> f32s(more, 8);
  const tensor_view<u64, 1> seed(seeds, 8), offset(offsets, 8);
  const auto refused = [&](const std::string& part, const tensor_view<const f32, 2>& from,
                           const tensor_view<i32, 1>& to, const sample_options& options) {
    require_refusal(errc::invalid_argument, "kaio: sample: ", part,
                    [&] { sample(gpu.stream(), from, to, options); });
  };
  refused("argument logits has stride 2", {memory, extents(4, 64), strides(128, 2)}, tokens.slice(0, 0, 4),
          {});
  refused("vocabulary of 0", logits.slice(1, 0, 0), tokens, {});
  refused("tokens has extent 0 of 7", logits, tokens.slice(0, 0, 7), {});
  refused("tokens has stride 0", logits, {chosen, extents(8), strides(0)}, {});
  refused("seed and offset are needed", logits, tokens, {});
  refused("without the other", logits, tokens, {.seed = seed});
  refused("offset_out is given without offset", logits, tokens, {.offset_out = offset, .temperature = 0});
  for (const f32 wrong : {-1.0f, std::nanf("")})
    refused("temperature is not 0", logits, tokens, {.seed = seed, .offset = offset, .temperature = wrong});
  for (const f32 wrong : {-0.5f, 1.5f, std::nanf("")}) {
    refused("top_p is not from 0 to 1", logits, tokens, {.seed = seed, .offset = offset, .top_p = wrong});
    refused("min_p is not from 0 to 1", logits, tokens, {.seed = seed, .offset = offset, .min_p = wrong});
  }
  refused("seed has another element type than i64 or u64", logits, tokens, {.seed = ks, .offset = offset});
  refused("top_ks has another element type than i32", logits, tokens,
          {.seed = seed, .offset = offset, .top_ks = f32s});
  refused("top_ps has extent 0 of 5", logits, tokens,
          {.seed = seed, .offset = offset, .top_ps = f32s.slice(0, 0, 5)});
  refused("lse has another element type", logits, tokens, {.seed = seed, .offset = offset, .lse = tokens});
  refused("invalid_rows is not one number", logits, tokens,
          {.seed = seed, .offset = offset, .invalid_rows = ks});
  refused("offset_out shares memory with argument seed", logits, tokens,
          {.seed = seed, .offset = offset, .offset_out = seed});
  refused("lse shares memory with argument logprobs", logits, tokens,
          {.seed = seed, .offset = offset, .logprobs = f32s, .lse = f32s});
}

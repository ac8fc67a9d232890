// attention_decode_with: a score and a mask of the user's own over caches, with memory and numbers of their
// own; places are of the sequence, not of the cache.
#include <kaio/ops/attention_decode_with.hpp>

#include <functional>
#include <tuple>

#include "tests/ops/attention_decode/append_case.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A learned bias for each distance, of each head.
struct distance_bias {
  static constexpr fixed_string name = "distance_bias";
  constexpr val<f32> operator()(thread t, val<f32> x, ops::attention_place at, in<f32> bias,
                                val<u32> distances) const {
    const val own = t.let(cast<i32>(at.query) + at.offset);
    const val apart = t.let(cast<u32>(abs(own - cast<i32>(at.key))));
    return t.let(x + bias[at.head * distances + min(apart, distances - 1u)]);
  }
};
// The first keys and the last ones; a window of each head's own size.
struct first_and_last {
  static constexpr fixed_string name = "first_and_last";
  constexpr val<bool> operator()(thread t, ops::attention_place at, in<i32> window, val<u32> first) const {
    const val apart = t.let(cast<i32>(at.query) + at.offset - cast<i32>(at.key));
    return t.let(all_of(apart >= 0, any_of(at.key < first, apart < window[at.head])));
  }
};

constexpr u32 distances = 16, first_keys = 5;

// The memory that score and mask read, and their values in double precision.
struct user_functions {
  std::vector<f32> bias;
  std::vector<i32> windows;
  buffer<f32> on_bias;
  buffer<i32> on_windows;
  explicit user_functions(u32 heads) : bias(std::size_t{heads} * distances) {
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = static_cast<f32>(i * 7 % 5) / 4 - 0.5f;
    for (u32 h = 0; h < heads; ++h) windows.push_back(static_cast<i32>(7 + 19 * h));
    on_bias = upload(bias);
    on_windows = upload(windows);
  }
  double score(const decode_case& c, u32 b, double x, u32 h, u32 i, u32 j) const {
    const i64 apart = std::abs(i64{i} + c.lengths[b] - c.queries - i64{j});
    return x + double(bias[h * distances + static_cast<u32>(std::min<i64>(apart, distances - 1))]);
  }
  bool mask(const decode_case& c, u32 b, u32 h, u32 i, u32 j) const {
    const i64 apart = i64{i} + c.lengths[b] - c.queries - i64{j};
    return j >= c.left_of(b) && apart >= 0 && (j < first_keys || apart < windows[h]);
  }
};

template <std::uint32_t Depth, class Score, class Mask, class... Extra>
struct user_decode {
  std::tuple<const Extra&...> extra;  // they outlive the call
  explicit user_decode(Score, Mask, const Extra&... all) : extra(all...) {}
  template <class Q, class C>
  std::uint64_t bytes(const stream& s, const Q& q, const kv_cache<C>& cache,
                      const attention_decode_options& options) const {
    return attention_decode_with_workspace_bytes<Depth>(s, q, cache, Score{}, Mask{}, options);
  }
  template <class Q, class C, class O>
  void run(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
           const attention_decode_options& options) const {
    std::apply(
        [&](const auto&... all) {
          attention_decode_with<Depth>(s, q, cache, o, Score{}, Mask{}, options, all...);
        },
        extra);
  }
};
template <std::uint32_t Depth, class Score, class Mask, class... Extra>
auto user_call(Score score, Mask mask, const Extra&... extra) {
  return user_decode<Depth, Score, Mask, Extra...>(score, mask, extra...);
}

host_functions on_host(const decode_case& c, const user_functions& f, u32 b) {
  return {[&c, &f, b](double x, u32, u32 h, u32 i, u32 j) { return f.score(c, b, x, h, i, j); },
          [&c, &f, b](u32, u32 h, u32 i, u32 j) { return f.mask(c, b, h, i, j); }};
}

auto both_of(const user_functions& f) {
  return user_call<64>(distance_bias{}, first_and_last{}, f.on_bias, distances, f.on_windows, first_keys);
}

template <class T, class C = T>
void check_both(const decode_case& c) {
  CAPTURE(c.text());
  const user_functions f(c.heads);
  decode_memory<T, C> memory(c);
  const auto got = run_decode<T, T, C>(c, memory, both_of(f));
  compare_decode(c, memory, got, [&](u32 b) { return on_host(c, f, b); });
}

}  // namespace

TEST_CASE("attention_decode_with: a bias and a mask of each head", "[ops][attention_decode]") {
  decode_case few{.lengths = {130, 1, 0, 64}, .kind = cache_kind::table, .page = 16};
  decode_case many{.queries = 19, .heads = 2, .key_heads = 1, .lengths = {170, 40}, .left = {3, 0}};
  decode_case parts{.heads = 2, .key_heads = 1, .lengths = {1300, 30}, .kind = cache_kind::list, .page = 48};
  for (const decode_case& c : {few, many, parts}) check_both<f16>(c);
  decode_case odd = few;  // rows that do not begin at multiples of 16 bytes: multiply-adds
  odd.pad = 1;
  check_both<f16>(odd);
  check_both<f32>(many);
}

TEST_CASE("attention_decode_with: one half of the library's own", "[ops][attention_decode]") {
  decode_case c{.queries = 3, .heads = 4, .key_heads = 2, .lengths = {90, 33}, .softcap = 1.5f};
  const user_functions f(c.heads);
  decode_memory<f32> memory(c);
  const auto masked = run_decode<f32>(
      c, memory, user_call<64>(ops::general_score{}, first_and_last{}, f.on_windows, first_keys));
  compare_decode(c, memory, masked, [&](u32 b) {
    return host_functions{[](double x, u32, u32, u32, u32) { return 1.5 * std::tanh(x / 1.5); },
                          [&, b](u32, u32 h, u32 i, u32 j) { return f.mask(c, b, h, i, j); }};
  });
  c.softcap = 0;
  c.causal = causal_alignment::bottom_right;
  c.window = {20, -1};
  decode_memory<f32> banded(c);
  const auto scored =
      run_decode<f32>(c, banded, user_call<64>(distance_bias{}, ops::band_mask{}, f.on_bias, distances));
  compare_decode(c, banded, scored, [&](u32 b) {
    return host_functions{[&, b](double x, u32, u32 h, u32 i, u32 j) { return f.score(c, b, x, h, i, j); },
                          [&, b](u32, u32, u32 i, u32 j) { return c.keeps(b, i, j); }};
  });
}

TEST_CASE("attention_decode_with: new keys and values, rotated, in the same call",
          "[ops][attention_decode][append]") {
  decode_case c{.queries = 2, .lengths = {130, 12, 64}, .left = {3, 0, 0}, .kind = cache_kind::table};
  const user_functions f(c.heads);
  for (const bool interleaved : {true, false}) {
    appending_memory<f16> memory(c, {.tokens = 2, .pairs = 16, .interleaved = interleaved});
    const auto got = run_appending(c, memory, both_of(f));
    compare_decode(c, memory.after, got, [&](u32 b) { return on_host(c, f, b); });
  }
}

TEST_CASE("attention_decode_with: a cache of 8 bits", "[ops][attention_decode][codes]") {
  check_both<bf16, e4m3>({.queries = 2, .lengths = {150, 17}, .kind = cache_kind::table});
}

TEST_CASE("attention_decode_with: options that functions take the place of", "[ops][attention_decode]") {
  const stream& s = under_test().stream();
  const auto one = upload(std::vector<f32>(512, 0.0f));
  auto into = upload(std::vector<f32>(512, 0.0f));
  const tensor_view<const f32, 4> q(one, 1, 1, 1, 64), k(one, 1, 4, 1, 64), wide(one, 1, 1, 1, 65);
  const tensor_view<f32, 4> o(into, 1, 1, 1, 64);
  const kv_cache<const f32> cache{.k = k, .v = k};
  const auto refused = [](errc code, std::string_view text, const std::function<void()>& call) {
    const thrown error = catch_error(call);
    CAPTURE(text, error.message);
    REQUIRE(error.code == code);
    REQUIRE(error.says(text));
  };
  refused(errc::invalid_argument, "a score of your own", [&] {
    attention_decode_with<64>(s, q, cache, o, distance_bias{}, ops::band_mask{}, {.softcap = 1.0f}, one, 16u);
  });
  refused(errc::invalid_argument, "a mask of your own", [&] {
    attention_decode_with<64>(s, q, cache, o, ops::general_score{}, first_and_last{},
                              {.causal = causal_alignment::bottom_right}, device_pointer<i32>{}, 1u);
  });
  refused(errc::invalid_argument, "leave it out", [&] {
    attention_decode_with<64>(s, q, cache, o, distance_bias{}, ops::band_mask{},
                              {.variant = "attention_decode_simt"}, one, 16u);
  });
  for (const f32 scale : {-0.5f, 0.0f})  // plain_score leaves its sign to the exponent
    refused(errc::unsupported_device, "no scale of 0 or less", [&] {
      attention_decode_with<64>(s, q, cache, o, ops::plain_score{}, ops::band_mask{}, {.scale = scale});
    });
  const kv_cache<const f32> of_wide{.k = tensor_view<const f32, 4>(one, 1, 4, 1, 65), .v = k};
  refused(errc::unsupported_device, "the head size is larger", [&] {
    attention_decode_with<64>(s, wide, of_wide, o, distance_bias{}, ops::band_mask{}, {}, one, 16u);
  });
}

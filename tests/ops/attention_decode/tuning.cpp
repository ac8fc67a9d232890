// tune_attention_decode measures kernels and divisions of the keys on memory of its own, and later calls take the fastest,
// where they have the workspace for it.
#include <kaio/ops/tune.hpp>

#include "tests/ops/attention_decode/support.hpp"
#include "tests/ops/tune_support.hpp"

#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

// In place of a call: tunes it, and reports its choice before and after.
struct tuned_call : library_decode {
  ops::tune_report* report;
  std::string *before, *after;

  template <class Q, class C, class O>
  static std::string choice(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
                            attention_decode_options options) {
    options.workspace = {};
    const auto c = ops::attention_decode_choice(s, q, cache, o, options);
    return std::string(c.name) + ":" + std::to_string(c.splits) + (c.in_cluster ? ":cluster" : "");
  }
  template <class Q, class C, class O>
  void run(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
           const attention_decode_options& options) const {
    *before = choice(s, q, cache, o, options);
    *report = ops::tune_attention_decode(under_test(), q, cache, o, options, {.repetitions = 1});
    *after = choice(s, q, cache, o, options);
  }
};

// In place of a call: without a workspace.
struct call_without_workspace : library_decode {
  template <class Q, class C, class O>
  void run(const stream& s, const Q& q, const kv_cache<C>& cache, const O& o,
           attention_decode_options options) const {
    options.workspace = {};
    attention_decode(s, q, cache, o, options);
  }
};

template <class T, class C = T>
void check_tuned(decode_case c, bool has_parts) {
  CAPTURE(c.text());
  const own_cache files;
  decode_memory<T, C> memory(c);
  ops::tune_report report;
  std::string before, after;
  tuned_call call;
  call.report = &report, call.before = &before, call.after = &after;
  const auto untouched = run_decode<T, T, C>(c, memory, call);
  REQUIRE(same_bits(untouched.out.host, untouched.before.host));
  REQUIRE(report.saved);
  REQUIRE(report.variant_before == before);
  REQUIRE(report.seconds_before > 0);
  REQUIRE(report.variant == after);
  REQUIRE((report.entries.size() > 1) == has_parts);
  for (const ops::tune_entry& e : report.entries) {
    CAPTURE(e.variant);
    files.replace_variants(e.variant);
    const auto tuned = run_decode<T, T, C>(c, memory);
    compare_decode(c, memory, tuned);
    decode_case forced = c;
    forced.variant = e.variant;
    REQUIRE(same_bits(run_decode<T, T, C>(forced, memory).out.host, tuned.out.host));
  }
  for (const char* name : {"attention_decode_simt", "attention_decode_simt:x", "attention_decode:2"}) {
    files.replace_variants(name);  // none of them: a miss
    compare_decode(c, memory, run_decode<T, T, C>(c, memory));
  }
}

}  // namespace

TEST_CASE("tune_attention_decode: every form of a cache", "[ops][attention_decode][tune]") {
  check_tuned<f16>({.lengths = {300, 20}, .kind = cache_kind::table, .page = 48, .room = 8, .sinks = true},
                   true);
  check_tuned<f16>({.queries = 3,
                    .lengths = {200, 150},
                    .left = {3, 0},
                    .indexed = true,
                    .causal = causal_alignment::bottom_right,
                    .softcap = 4,
                    .alibi = 2},
                   true);
  check_tuned<f32>({.heads = 2,
                    .qk_size = 32,
                    .v_size = 20,
                    .lengths = {150},
                    .kind = cache_kind::list,
                    .by_last_page = true},
                   true);
}

TEST_CASE("tune_attention_decode: a cache of 8 bits", "[ops][attention_decode][tune]") {
  check_tuned<f16, e4m3>(
      {.lengths = {200}, .kind = cache_kind::table, .page = 32, .scales = scale_kind::keys}, true);
}

TEST_CASE("tune_attention_decode: batch invariance and what callers choose stay as they are",
          "[ops][attention_decode][tune]") {
  const own_cache files;
  const auto entries = [](const decode_case& c) {
    decode_memory<f16> memory(c);
    ops::tune_report report;
    std::string before, after;
    tuned_call call;
    call.report = &report, call.before = &before, call.after = &after;
    run_decode<f16>(c, memory, call);
    if (report.entries.empty()) REQUIRE(before == after);
    return report.entries.size();
  };
  REQUIRE(entries({.lengths = {300}, .invariant = true}) == 0);
  REQUIRE(entries({.lengths = {300}, .splits = 2}) == 0);
  // Tuned calls without these options do not decide for calls that have them.
  const decode_case c{.lengths = {300}};
  REQUIRE(entries({.lengths = {300}, .max_length = 290}) > 1);
  files.replace_variants("attention_decode_simt:3");
  decode_case invariant = c;
  invariant.invariant = true;
  decode_memory<f16> memory(invariant);
  compare_decode(invariant, memory, run_decode<f16>(invariant, memory));
}

TEST_CASE("tune_attention_decode_varlen: sequences with different numbers of queries",
          "[ops][attention_decode][tune]") {
  const own_cache files;
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 rows = 5, heads = 4, size = 64, keys = 160;
  std::vector<f16> numbers(static_cast<std::size_t>(2 * keys * 2 * size));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = f16(static_cast<float>(i * i % 31) / 32 - 0.5f);
  auto cache_memory = upload(numbers);
  auto q_memory = gpu.upload(std::vector<f16>(numbers.begin(), numbers.begin() + rows * heads * size));
  auto o_memory = gpu.allocate<f16>(static_cast<std::size_t>(rows * heads * size));
  auto begins = upload(std::vector<i32>{0, 2, 5});
  const tensor_view<const f16, 4> k(cache_memory, 2, keys, 2, size);
  const kv_cache<const f16> cache{.k = k, .v = k};
  const tensor_view<const f16, 3> q(q_memory, rows, heads, size);
  const tensor_view<f16, 3> o(o_memory, rows, heads, size);
  const attention_sequences sequences{.cu_q = tensor_view<const i32, 1>(begins, 3), .max_q = 3};
  const auto run = [&](attention_decode_options options) {
    auto workspace = gpu.allocate<u8>(
        std::max<u64>(attention_decode_varlen_workspace_bytes(s, q, cache, sequences, options), 1));
    options.workspace = workspace;
    attention_decode_varlen(s, q, cache, o, sequences, options);
    return o_memory.download();
  };
  const std::vector<f16> want = run({});
  const auto report = ops::tune_attention_decode_varlen(gpu, q, cache, o, sequences, {}, {.repetitions = 1});
  REQUIRE(same_bits(o_memory.download(), want));
  REQUIRE(report.entries.size() > 1);
  REQUIRE(report.variant == report.entries.front().variant);
  REQUIRE(same_bits(run({}), run({.variant = report.variant})));
  for (const ops::tune_entry& e : report.entries) {
    CAPTURE(e.variant);
    files.replace_variants(e.variant);
    const std::vector<f16> got = run({});
    for (std::size_t i = 0; i < got.size(); ++i)
      if (std::abs(to_double(got[i]) - to_double(want[i])) > 1e-3)
        REQUIRE(to_double(got[i]) == to_double(want[i]));
    REQUIRE(same_bits(got, run({.variant = e.variant})));
  }
}

TEST_CASE("tune_attention_decode: calls without a workspace", "[ops][attention_decode][tune]") {
  const own_cache files;
  const decode_case c{.heads = 2, .lengths = {130}};
  decode_memory<f16> memory(c);
  ops::tune_report report;
  std::string before, after;
  tuned_call call;
  call.report = &report, call.before = &before, call.after = &after;
  run_decode<f16>(c, memory, call);
  files.replace_variants("attention_decode_simt:2");
  compare_decode(c, memory, run_decode<f16>(c, memory));
  const bool needs_none =
      before.find(":1") != std::string::npos || before.find("cluster") != std::string::npos;
  if (needs_none) compare_decode(c, memory, run_decode<f16>(c, memory, call_without_workspace()));
}

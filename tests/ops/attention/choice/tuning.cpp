// tune and attention_variants of an attention: all kernels that can run a call are measured on memory of the
// tuner's own. The fastest is remembered for this call and no other, and taken from then on.
#include <kaio/ops/parity/attention.hpp>
#include <kaio/ops/tune.hpp>

#include "ops/attention/forward/choice/signature.hpp"
#include "ops/choice/tune_store.hpp"
#include "tests/ops/attention/support.hpp"
#include "tests/ops/tune_support.hpp"

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

using namespace kaio;
using namespace kaio::tests;

namespace {

// Tensors of two heads of queries and one of keys, of 64 elements.
struct operands {
  static constexpr u32 size = 64;
  u32 queries, keys;
  tensor4<f16> of_q, of_k, of_o;
  buffer<f16> on_q, on_k, on_o;

  operands(u32 n_queries, u32 n_keys, u32 batches = 1)
      : queries(n_queries),
        keys(n_keys),
        of_q(batches, n_queries, 2, size, false, 0),
        of_k(batches, n_keys, 1, size, false, 0),
        of_o(of_q) {
    of_q.fill(1, 1);
    of_k.fill(2, 1);
    on_q = upload(of_q.host);
    on_k = upload(of_k.host);
    on_o = upload(of_o.host);
  }
  auto q() { return of_q.view<const f16>(on_q); }
  auto k() { return of_k.view<const f16>(on_k); }
  auto o() { return of_o.view<f16>(on_o); }
  std::string choice(const attention_options& options = {}) {
    return std::string(ops::attention_choice(under_test().stream(), q(), k(), k(), o(), options).name);
  }
  auto variants(const attention_options& options = {}) {
    return ops::attention_variants(under_test().stream(), q(), k(), k(), o(), options);
  }
  ops::tune_report tuned(const attention_options& options = {},
                         const ops::tune_options& how = {.repetitions = 1}) {
    return tune_attention(under_test(), q(), k(), k(), o(), options, how);
  }
};

// Tuning found one of the kernels that can run the call, and the next call takes it.
void require_found(operands& x, const std::string& found, const attention_options& options) {
  CAPTURE(found);
  const auto variants = x.variants(options);
  REQUIRE(std::any_of(variants.begin(), variants.end(),
                      [&](const auto& v) { return v.refusal.empty() && v.name == found; }));
  REQUIRE(x.choice(options) == found);
}

// Tuning by KAIO's names found a kernel that can run the call, and the next call takes it. If another name
// replaces it in the cache, the calls of KAIO's names take that kernel.
void check_compact(const own_cache& cache, u32 rows, u32 size, bool causal) {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  tensor4<f32> x(1, rows, 1, size, false, 0);
  x.fill(1, 1);
  const auto on_x = upload(x.host);
  const tensor_view<const f32, 4> in(on_x, 1, rows, 1, size);
  auto memory = gpu.allocate<f32>(x.host.size()), forced = gpu.allocate<f32>(x.host.size());
  const tensor_view<f32, 4> out(forced, 1, rows, 1, size);
  attention_options options{.causal = causal ? causal_alignment::top_left : causal_alignment::none};
  const std::string found =
      causal ? ops::tune_attention_causal(gpu, rows, size) : ops::tune_attention(gpu, rows, size);
  const auto variants = ops::attention_variants(s, in, in, in, out, options);
  std::vector<std::string> names{found};
  for (const auto& v : variants)
    if (v.refusal.empty() && v.name != found) names.emplace_back(v.name);
  CAPTURE(causal, found);
  REQUIRE(std::any_of(variants.begin(), variants.end(),
                      [&](const auto& v) { return v.refusal.empty() && v.name == found; }));
  REQUIRE(names.size() > 1);
  for (const std::string& name : names) {
    CAPTURE(name);
    if (name != found) cache.replace_variants(name);
    REQUIRE(ops::attention_choice(s, in, in, in, out, options).name == name);
    const auto call = causal ? ops::attention_auto_causal : ops::attention_auto;
    call(gpu, on_x, on_x, on_x, memory, rows, size);
    attention_options by_name = options;
    by_name.variant = name;
    attention(s, in, in, in, out, by_name);
    REQUIRE(kaio::tests::same_bits(memory.download(), forced.download()));
  }
}

// A kernel that the model does not choose, as if it had been measured as the fastest.
std::string remember_another(operands& x, const attention_options& options = {}) {
  const auto q = x.q(), k = x.k();
  const auto o = x.o();
  const ops::attention_call call =
      ops::detail::resolve_attention(under_test().identity(), {"test", q, k, k, o, &options});
  std::string name;
  for (const auto& variant : x.variants(options))
    if (variant.refusal.empty()) name = variant.name;
  REQUIRE(name != x.choice(options));
  ops::remember_tuned(under_test().properties(), ops::attention_signature::of(call).text(), name, true);
  return name;
}

bool same_bits(const std::vector<f16>& a, const std::vector<f16>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(f16)) == 0;
}

}  // namespace

TEST_CASE("attention: variants are listed by their time, with reasons, and run by their names",
          "[ops][attention][tune]") {
  const own_cache cache;
  const stream& s = under_test().stream();
  operands x(40, 70);
  const auto all = x.variants();
  REQUIRE(x.choice() == all.front().name);
  REQUIRE(all.front().seconds > 0);
  std::set<std::string_view> names;
  const attention_case c{.queries = 40, .keys = 70, .heads = 2, .key_heads = 1};
  const attention_reference<f16> want(c, x.of_q, x.of_k, x.of_k);
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(std::string(all[i].name), std::string(all[i].refusal));
    REQUIRE(names.insert(all[i].name).second);
    const attention_options options{.variant = all[i].name};
    if (!all[i].refusal.empty()) {
      REQUIRE(all[i].seconds == 0);
      REQUIRE_THROWS_AS(x.choice(options), invalid_argument);
      REQUIRE_THROWS_AS(attention(s, x.q(), x.k(), x.k(), x.o(), options), invalid_argument);
      continue;
    }
    if (i > 0) REQUIRE(all[i - 1].seconds <= all[i].seconds);
    REQUIRE(x.choice(options) == all[i].name);
    tensor4<f16> got = x.of_o;
    x.on_o = upload(got.host);
    attention(s, x.q(), x.k(), x.k(), x.o(), options);
    got.host = x.on_o.download();
    compare_attention(c, got, x.of_o, want);
  }
  REQUIRE(names.size() > 2);
  REQUIRE_THROWS_AS(x.choice({.variant = "no_kernel"}), invalid_argument);
  // A call with nothing to do is not tuned.
  operands none(0, 70);
  REQUIRE(none.variants().empty());
  REQUIRE(none.tuned().entries.empty());
  operands no_keys(8, 0);
  REQUIRE(no_keys.tuned().entries.empty());
}

TEST_CASE("attention: tune finds, remembers, and leaves the caller's data alone", "[ops][attention][tune]") {
  const own_cache cache;
  operands x(40, 70);
  const std::string before = x.choice();
  const ops::tune_report report = x.tuned();
  REQUIRE(same_bits(x.on_o.download(), x.of_o.host));
  REQUIRE(same_bits(x.on_q.download(), x.of_q.host));
  REQUIRE(report.variant_before == before);
  REQUIRE(report.seconds_before > 0);
  REQUIRE(report.saved);
  const auto variants = x.variants();
  REQUIRE(static_cast<std::ptrdiff_t>(report.entries.size()) ==
          std::count_if(variants.begin(), variants.end(), [](const auto& v) { return v.refusal.empty(); }));
  REQUIRE(report.entries.size() > 1);
  REQUIRE(report.entries.front().variant == report.variant);
  REQUIRE(std::is_sorted(report.entries.begin(), report.entries.end(),
                         [](const auto& a, const auto& b) { return a.seconds < b.seconds; }));
  REQUIRE(x.choice() == report.variant);
  // Another process would read it from the file.
  ops::forget_tuning();
  REQUIRE(x.choice() == report.variant);
  std::filesystem::remove_all(cache.folder());
  ops::forget_tuning();
  REQUIRE(x.choice() == before);
  // A kernel that is not remembered changes nothing.
  REQUIRE_FALSE(x.tuned({}, {.repetitions = 1, .remember = false}).saved);
  REQUIRE(x.choice() == before);
  REQUIRE_FALSE(std::filesystem::exists(cache.folder()));
}

TEST_CASE("attention: what was found is for calls of one kind", "[ops][attention][tune]") {
  const own_cache cache;
  operands x(40, 70), longer(40, 71), more(40, 70, 2);
  const auto others = [&] {
    return std::vector{longer.choice(), more.choice(), x.choice({.causal = causal_alignment::top_left}),
                       x.choice({.window = {.left = 3}}), x.choice({.batch_invariant = true})};
  };
  const std::vector<std::string> before = others();
  const std::string found = remember_another(x);
  REQUIRE(x.choice() == found);
  REQUIRE(others() == before);
  // An unknown name, and the name of a kernel that cannot run the call, are misses.
  const auto q = x.q(), k = x.k();
  const auto o = x.o();
  const attention_options options;
  const std::string key =
      ops::attention_signature::of(
          ops::detail::resolve_attention(under_test().identity(), {"test", q, k, k, o, &options}))
          .text();
  for (const char* const name : {"no_kernel", "attention_simt_f32_d64_32x128_biased_band"}) {
    ops::remember_tuned(under_test().properties(), key, name, false);
    REQUIRE(x.choice() == x.variants().front().name);
  }
}

// Bits of a sequence must not depend on the others of a call, nor on which lengths were tuned.
TEST_CASE("attention: a batch-invariant call is tuned for all lengths", "[ops][attention][tune]") {
  const own_cache cache;
  const stream& s = under_test().stream();
  const attention_options options{.batch_invariant = true};
  operands x(40, 70), longer(200, 150), more(1, 9, 3);
  const std::vector<std::string> before{x.choice(), longer.choice(), more.choice()};
  const std::string found = remember_another(x, options);
  for (operands* const each : {&x, &longer, &more}) REQUIRE(each->choice(options) == found);
  REQUIRE(before == std::vector{x.choice(), longer.choice(), more.choice()});
  // Packed sequences too.
  auto begins = upload(std::vector<i32>{0, 40});
  const tensor_view<const i32, 1> cu(begins, 2);
  const ops::attention_sequences sequences{.cu_q = cu, .cu_k = cu, .max_q = 40};
  const tensor_view<const f16, 3> q(x.on_q, 40, 2, 64), k(x.on_k, 40, 1, 64);
  const tensor_view<f16, 3> o(x.on_o, 40, 2, 64);
  const ops::attention_call call = ops::detail::resolve_attention(
      s.device_identity(), {"test", q, k, k, o, &options, false, false, &sequences});
  REQUIRE(ops::choose("test", call, s.properties(), {}).name() == found);
  const auto report = tune_attention_varlen(under_test(), q, k, k, o, sequences, options, {.repetitions = 1});
  REQUIRE(report.variant_before == found);
  for (operands* const each : {&x, &longer, &more}) REQUIRE(each->choice(options) == report.variant);
}

TEST_CASE("attention: tune with everything that a call may have", "[ops][attention][tune]") {
  const own_cache cache;
  device& gpu = under_test();
  const u32 length = 30;
  operands x(length, length);
  auto lse = gpu.allocate<f32>(u64{2} * length), slopes = gpu.allocate<f32>(2),
       bias = gpu.allocate<f32>(u64{length} * length), sinks = gpu.allocate<f32>(2);
  auto keep = gpu.allocate<u8>(length);
  attention_options options{.causal = causal_alignment::bottom_right,
                            .window = {20, 0},
                            .softcap = 3,
                            .alibi = tensor_view<const f32, 1>(slopes, 2),
                            .bias = tensor_view<const f32, 2>(bias, length, length),
                            .keep = tensor_view<const u8, 1>(keep, length),
                            .sinks = tensor_view<const f32, 1>(sinks, 2),
                            .lse = tensor_view<f32, 3>(lse, 1, 2, length)};
  require_found(x, x.tuned(options).variant, options);
  REQUIRE(ops::tune_attention(gpu, 0, 40).empty());
  if (gpu.properties().target.sm < 80) return;  // no kernel of f16 reads lists there
  // Lists of blocks; a real call would have two kinds of them.
  auto counts = upload(std::vector<i32>(2, 99)), indices = upload(std::vector<i32>(4, 99));
  const tensor_view<const i32, 3> of_counts(counts, 1, 1, 2);
  const tensor_view<const i32, 4> of_indices(indices, 1, 1, 2, 2);
  const attention_options in_blocks{.blocks = {.kv_num_blocks = of_counts,
                                               .kv_indices = of_indices,
                                               .full_kv_num_blocks = of_counts,
                                               .full_kv_indices = of_indices,
                                               .size = {16, 16}}};
  require_found(x, x.tuned(in_blocks).variant, in_blocks);
}

TEST_CASE("attention: tune by the names of KAIO", "[ops][attention][tune]") {
  for (const bool causal : {false, true}) {
    const own_cache cache;
    check_compact(cache, 20, 40, causal);
  }
}

TEST_CASE("attention: threads tune, forget and call at once", "[ops][attention][tune]") {
  const own_cache cache;
  std::vector<std::thread> threads;
  std::atomic<int> bad{0};
  for (u32 i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      device gpu = device::open();
      const u32 rows = 8 + i % 2;
      auto x = gpu.allocate<f32>(u64{rows} * 64), y = gpu.allocate<f32>(u64{rows} * 64);
      const tensor_view<const f32, 4> in(x, 1, rows, 1, 64);
      const tensor_view<f32, 4> out(y, 1, rows, 1, 64);
      for (int k = 0; k < 2; ++k) {
        const auto variants = ops::attention_variants(gpu.stream(), in, in, in, out);
        const auto can_run = [&](std::string_view name) {
          return std::any_of(variants.begin(), variants.end(),
                             [&](const auto& v) { return v.refusal.empty() && v.name == name; });
        };
        if (!can_run(tune_attention(gpu, in, in, in, out, {}, {.repetitions = 1}).variant)) ++bad;
        // Either the tuned kernel or, after the other thread has made it forgotten, the model's choice.
        if (!can_run(ops::attention_choice(gpu.stream(), in, in, in, out).name)) ++bad;
        attention(gpu.stream(), in, in, in, out);
        ops::forget_tuning();
      }
      gpu.stream().synchronize();
    });
  for (std::thread& t : threads) t.join();
  REQUIRE(bad == 0);
}

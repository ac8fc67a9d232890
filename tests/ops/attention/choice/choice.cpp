// The cost model of attention: what was measured keeps its kernel, longer sequences never cost less, and every
// kernel of the library is taken by some call on some device.
#include "bench/attention/calls.hpp"
#include "bench/attention/paper_call.hpp"
#include "bench/matmul_choice/paper_devices.hpp"
#include "ops/attention/forward/choice/cost.hpp"
#include "ops/attention/forward/choice/table.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <set>
#include <string>

using namespace kaio;
using bench::paper_call;
using bench::work;

namespace {

const ops::attention_variant& chosen(const ops::attention_call& call, const device_properties& device) {
  const auto all = ops::all_attention_variants();
  return all[ops::detail::choose_attention("test", call, all, device)];
}
device_properties named(std::string_view name) {
  for (const device_properties& d : bench::paper_devices())
    if (d.name == name) return d;
  FAIL("no such device");
  return {};
}

// The first kernel of the table that accepts the call; the one of 176 keys only from 4096 keys on.
const ops::attention_variant& first_that_fits(const ops::attention_call& call,
                                              const device_properties& device) {
  for (const ops::attention_variant& v : ops::all_attention_variants())
    if (ops::accepts(v, call, device) && (v.keys != 176 || call.problem.keys >= 4096)) return v;
  FAIL("no kernel");
  return ops::all_attention_variants().front();
}

}  // namespace

TEST_CASE("attention: the choice on an H200 is that of what was measured", "[ops][attention][choice]") {
  const device_properties h200 = named("H200");
  for (const char* const shape :
       {"8x2048x16x16x128", "2x8192x16x16x128", "32x512x16x16x128", "2x8192x32x32x64", "2x8192x8x8x256",
        "2x8192x64x8x128", "16x1024x16x16x128", "8x2048x32x32x64"})  // bench/results
    for (const work what : {work::full, work::causal, work::window, work::softcap, work::causal_alibi}) {
      bench::problem p = bench::problem_of(shape).value();
      p.what = what;
      CAPTURE(shape, std::string(p.work_name()));
      const paper_call<bf16> of_bf16(p);
      const paper_call<f16> of_f16(p);
      // A window of 1024 keys is short, however many keys there are.
      if (what == work::window) {
        CHECK(chosen(of_bf16.call(), h200).family == ops::attention_family::sm90);
        continue;
      }
      CHECK(chosen(of_bf16.call(), h200).name() == first_that_fits(of_bf16.call(), h200).name());
      CHECK(chosen(of_f16.call(), h200).name() == first_that_fits(of_f16.call(), h200).name());
    }
}

TEST_CASE("attention: the choice for heads of 256 on an H200 goes by the number of keys",
          "[ops][attention][choice]") {
  const auto keys_of_tile = [](const char* shape, work what) {
    bench::problem p = bench::problem_of(shape).value();
    p.what = what;
    const paper_call<bf16> on_paper(p);
    return chosen(on_paper.call(), named("H200")).keys;
  };
  for (const work what : {work::full, work::causal}) {
    CHECK(keys_of_tile("32x512x8x8x256", what) == 64);
    CHECK(keys_of_tile("16x1024x8x8x256", what) == 64);
    CHECK(keys_of_tile("1x16384x8x8x256", what) == 80);
  }
}

TEST_CASE("attention: estimates are those of measured calls", "[ops][attention][choice]") {
  struct row {
    const char* shape;
    work what;
    double us;  // bench/results, bf16, repeated; of two runs the mean
  };
  const device_properties h200 = named("H200");
  for (const row& r :
       {row{"32x512x16x16x128", work::full, 131.0}, row{"32x512x16x16x128", work::causal, 97.5},
        row{"8x2048x16x16x128", work::full, 477.6}, row{"8x2048x32x32x64", work::causal, 371.5},
        row{"2x8192x8x8x256", work::full, 1561.5}}) {
    bench::problem p = bench::problem_of(r.shape).value();
    p.what = r.what;
    const paper_call<bf16> on_paper(p);
    const double us = 1e6 * ops::cost(chosen(on_paper.call(), h200), on_paper.call(), h200);
    CAPTURE(r.shape, us, r.us);
    CHECK(us > 0.85 * r.us);
    CHECK(us < 1.15 * r.us);
  }
}

TEST_CASE("attention: longer sequences, more heads and more batches cost no less",
          "[ops][attention][choice]") {
  const auto all = ops::all_attention_variants();
  for (const device_properties& device : bench::paper_devices())
    for (const u32 size : {64u, 128u, 256u, 512u}) {
      const auto costs_of = [&](u32 queries, const bench::problem& p) {
        const paper_call<f16> on_paper(p, {}, queries);
        std::vector<double> costs;
        for (const ops::attention_variant& v : all)
          if (ops::accepts(v, on_paper.call(), device))
            costs.push_back(ops::cost(v, on_paper.call(), device));
        return costs;
      };
      const auto no_less = [&](const std::vector<double>& less, const std::vector<double>& more) {
        REQUIRE(less.size() == more.size());
        REQUIRE_FALSE(less.empty());
        for (std::size_t i = 0; i < less.size(); ++i) CHECK(less[i] <= more[i] * (1 + 1e-12));
      };
      bench::problem p{.batches = 1, .length = 1, .heads = 3, .key_heads = 1, .size = size};
      std::vector<double> by_keys = costs_of(100, p), by_queries = costs_of(1, p), by_both = by_queries;
      for (u32 n = 2; n < 40000; n += 1 + n / 3) {
        CAPTURE(device.name, size, n);
        p.length = n;
        p.what = work::full;
        const auto keys = costs_of(100, p), both = costs_of(n, p);
        no_less(by_keys, keys);
        no_less(by_both, both);
        p.length = 1;
        const auto queries = costs_of(n, p);
        no_less(by_queries, queries);
        by_keys = keys, by_queries = queries, by_both = both;
        // Causal costs no more than full, and two batches or twice the heads no less than one.
        p.length = n;
        p.what = work::causal;
        no_less(costs_of(n, p), both);
        p.what = work::full;
        bench::problem twice = p;
        twice.batches = 2;
        no_less(both, costs_of(n, twice));
        twice = p;
        twice.heads *= 2;
        no_less(both, costs_of(n, twice));
      }
    }
}

TEST_CASE("attention: a batch-invariant choice depends on no length", "[ops][attention][choice]") {
  for (const device_properties& device : bench::paper_devices())
    for (const u32 size : {64u, 128u, 192u, 256u, 512u})
      for (const work what : {work::full, work::softcap}) {
        std::set<std::string_view> names;
        for (const u32 length : {1u, 100u, 4096u, 20000u})
          for (const u32 batches : {1u, 50u}) {
            const bench::problem p{
                .batches = batches, .length = length, .heads = 8, .key_heads = 8, .size = size, .what = what};
            names.insert(chosen(paper_call<f16>(p, {.batch_invariant = true}).call(), device).name());
            if (what == work::softcap) continue;
            bench::problem packed = p;
            packed.what = work::varlen;
            names.insert(chosen(paper_call<f16>(packed, {.batch_invariant = true}).call(), device).name());
          }
        CAPTURE(device.name, size);
        CHECK(names.size() == 1);
      }
}

TEST_CASE("attention: every kernel is taken on some device", "[ops][attention][choice]") {
  std::set<const ptx::kernel_image*> taken;
  for (const device_properties& device : bench::paper_devices()) {
    const auto take = [&](const ops::attention_call& call, const auto&, const auto&, u32) {
      for (const ops::attention_variant& v : ops::all_attention_variants())
        if (ops::accepts(v, call, device)) {
          taken.insert(chosen(call, device).image);
          return;
        }
    };
    bench::for_calls<f16>(take);
    bench::for_calls<bf16>(take);
    bench::for_calls<f32>(take);
  }
  for (const ptx::kernel_image* const kernel : ops::attention_kernels()) {
    CAPTURE(std::string(kernel->name));
    CHECK(taken.count(kernel) == 1);
  }
}

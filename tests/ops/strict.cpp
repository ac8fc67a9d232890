// KAIO_STRICT: on the emulator, a call is refused if an architecture that the variable names would refuse it.
#include <kaio/ops/attention_backward.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/matmul.hpp>

#include "environment.hpp"
#include "tests/ops/support.hpp"
#include "thrown.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

const char* const strict = "KAIO_STRICT";

// One token of f16 heads over a long contiguous cache. On sm_90a the splits of the keys are a cluster; older devices need a
// workspace for them.
struct decode_call {
  static constexpr u32 heads = 2, size = 64, keys = 4096;
  buffer<f16> on_q = under_test().upload(std::vector<f16>(heads * size, f16(0.5f))),
              on_k = under_test().upload(std::vector<f16>(std::size_t{keys} * heads * size, f16(0.25f))),
              on_o = under_test().allocate<f16>(heads * size);
  buffer<i32> lengths = under_test().upload(std::vector<i32>{static_cast<i32>(keys)});
  tensor_view<const f16, 4> q{on_q, 1, 1, heads, size};
  tensor_view<f16, 4> o{on_o, 1, 1, heads, size};
  kv_cache<const f16> cache{.k = tensor_view<const f16, 4>(on_k, 1, keys, heads, size),
                            .v = tensor_view<const f16, 4>(on_k, 1, keys, heads, size),
                            .lengths = tensor_view<const i32, 1>(lengths, 1)};
  void run(const attention_decode_options& options = {}) const {
    attention_decode(under_test().stream(), q, cache, o, options);
  }
  std::uint64_t workspace() const {
    return ops::attention_decode_workspace_bytes(under_test().stream(), q, cache, {});
  }
};

}  // namespace

TEST_CASE("strict: a workspace that another architecture needs is asked for") {
  if (!under_test().properties().is_emulator()) return;
  const decode_call call;
  std::uint64_t most = 0;
  std::string needs_most;
  for (const char* name : {"sm_70", "sm_75", "sm_80", "sm_86", "sm_89", "sm_90a"}) {
    const environment one(strict, name);
    const std::uint64_t bytes = call.workspace();
    if (bytes > most) most = bytes, needs_most = name;
  }
  REQUIRE(most > 0);
  {
    const environment none(strict, nullptr);
    call.run();  // no workspace is needed here
  }
  const environment all(strict, "1");
  REQUIRE(call.workspace() == most);

  const thrown without = catch_error([&] { call.run(); });
  CAPTURE(without.message);
  REQUIRE(without.code == errc::invalid_argument);
  REQUIRE(without.says("workspace"));
  REQUIRE(without.says(", which KAIO_STRICT names)"));

  const auto memory = under_test().allocate<u8>(most);
  call.run({.workspace = memory});
  for (const f16 x : call.on_o.download()) REQUIRE(to_double(x) == 0.25);
}

TEST_CASE("strict: an element type that an architecture lacks is refused by its name") {
  if (!under_test().properties().is_emulator()) return;
  const auto x = under_test().upload(std::vector<bf16>(64 * 64, bf16(1.0f)));
  auto y = under_test().allocate<bf16>(64 * 64);
  const tensor_view a(x, 64, 64);
  const tensor_view c(y, 64, 64);
  const auto multiply = [&] { matmul(under_test().stream(), a, a, c); };
  {
    const environment newer(strict, "sm_80,sm_90a");
    multiply();
    REQUIRE(to_double(y.download()[0]) == 64);
  }
  const environment older(strict, "sm_90a,sm_70");
  const thrown refused = catch_error(multiply);
  CAPTURE(refused.message);
  REQUIRE(refused.code == errc::unsupported_device);
  REQUIRE(refused.says("(on sm_70, which KAIO_STRICT names)"));
}

TEST_CASE("strict: the gradients of an attention ask for the largest workspace") {
  if (!under_test().properties().is_emulator()) return;
  const auto x = under_test().allocate<f16>(2 * 64 * 2 * 64);
  const tensor_view q(x, 2, 64, 2, 64);
  const stream& s = under_test().stream();
  std::uint64_t most = 0;
  for (const char* name : {"sm_70", "sm_80", "sm_90a"}) {
    const environment one(strict, name);
    most = std::max(most, ops::attention_backward_workspace_bytes(s, q, q, q));
  }
  const environment all(strict, "sm_70,sm_80,sm_90a");
  REQUIRE(ops::attention_backward_workspace_bytes(s, q, q, q) == most);
}

TEST_CASE("strict: a malformed KAIO_STRICT is refused") {
  for (const char* wrong : {"2", "sm_75,", ",sm_75", "sm_76", "75", "sm_75 sm_80", "sm_80f"}) {
    CAPTURE(wrong);
    const environment malformed(strict, wrong);
    const thrown refused = catch_error([] { device::strict(); });
    REQUIRE(refused.code == errc::invalid_argument);
    REQUIRE(refused.says("KAIO_STRICT is '" + std::string(wrong) + "'"));
  }
  const environment none(strict, "0");
  REQUIRE(device::strict().empty());
}

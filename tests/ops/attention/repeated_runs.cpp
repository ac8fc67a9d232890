// Repeated calls give the same bits. Each kernel of attention that the device can run is repeated next to
// itself in another stream, so that blocks do not always find the same neighbours.
#include "ops/attention/forward/choice/table.hpp"
#include "tests/ops/attention/block_support.hpp"

#include <algorithm>

using namespace kaio;
using namespace kaio::tests;

namespace {

template <class T>
void run_again(const ops::attention_variant& kernel) {
  CAPTURE(std::string(kernel.name()));
  device& gpu = under_test();
  const bool emulated = gpu.is_emulator();
  attention_case c{
      .batches = emulated ? 1u : 2u,
      .queries = (emulated ? 1 : 2) * kernel.queries + 10,
      .keys = std::max(2 * kernel.queries, kernel.division > 1 ? kernel.keys * kernel.division : 0) + 70,
      .heads = emulated ? 2u : 8u,
      .key_heads = emulated ? 1u : 2u,
      .qk_size = kernel.depth_qk,
      .v_size = kernel.depth_v,
      .causal = causal_alignment::bottom_right,
      .precision = kernel.precision};
  if (kernel.has_terms()) c.softcap = 2;
  attention_inputs<T> x(c);
  tensor4<T> o(c.batches, c.queries, c.heads, c.v_size, false, 0);
  block_tensors lists(c, {.key_size = 64});
  score_tensor<T> bias(
      {.rank = 4, .own_type = true}, {c.batches, c.heads, c.queries, c.keys}, T{},
      [](u32 b, u32 h, u32 i, u32 j) { return from_float<T>(static_cast<float>(bias_at(b, h, i, j))); });

  struct results {
    buffer<T> out;
    buffer<f32> lse;
    ops::attention_call call;
  };
  const auto prepare = [&] {
    results r{upload(o.host), upload(std::vector<f32>(std::size_t{c.batches} * c.heads * c.queries)), {}};
    attention_options options{.causal = c.causal, .softcap = c.softcap};
    options.precision = c.precision;
    options.lse = tensor_view<f32, 3>(r.lse, c.batches, c.heads, c.queries);
    if (kernel.in_blocks) options.blocks = lists.mask();
    if (kernel.reads_tensors()) options.bias = bias.template view<ops::attention_bias>();
    const auto q = x.q.template view<const T>(x.on_q), k = x.k.template view<const T>(x.on_k),
               v = x.v.template view<const T>(x.on_v);
    const auto out = o.template view<T>(r.out);
    r.call =
        ops::detail::resolve_attention(gpu.stream().device_identity(), {"attention", q, k, v, out, &options});
    return r;
  };
  results here = prepare(), there = prepare();
  const stream& s = gpu.stream();
  const stream other = gpu.create_stream();
  const u32 runs = emulated ? 2 : 250;
  std::vector<T> first;
  std::vector<f32> first_lse;
  for (u32 i = 0; i < runs; ++i) {
    here.out.copy_from(o.host.data(), o.host.size(), s);
    here.lse.fill_zero(s);
    kernel.run(other, there.call);
    kernel.run(s, here.call);
    const std::vector<T> out = here.out.download(s);
    const std::vector<f32> lse = here.lse.download(s);
    if (i == 0) {
      first = out;
      first_lse = lse;
      REQUIRE(std::none_of(out.begin(), out.end(), [](T value) { return std::isnan(to_double(value)); }));
    } else {
      CAPTURE(i);
      REQUIRE(same_bits(out, first));
      REQUIRE(same_bits(lse, first_lse));
    }
  }
  other.synchronize();
  REQUIRE(same_bits(there.out.download(), first));
  REQUIRE(same_bits(there.lse.download(), first_lse));
}

template <class T>
void run_all_again(ops::element_kind type) {
  const device_properties& properties = under_test().properties();
  const ptx::target device = properties.target;
  for (const ops::attention_variant& kernel : ops::all_attention_variants()) {
    const ptx::needs& needs = kernel.image->needs;
    const ptx::target target = needs.target;
    const bool fits =
        target.arch_specific ? target.sm == device.sm && device.arch_specific : target.sm <= device.sm;
    const bool has_room =
        std::max(needs.shared_bytes, needs.dynamic_shared_bytes) <= properties.shared_per_block_optin;
    if (kernel.type != type || !fits || !has_room) continue;
    if (under_test().is_emulator() && kernel.depth_qk > 64) continue;
    run_again<T>(kernel);
  }
}

}  // namespace

TEST_CASE("attention: the same bits in every run, f16", "[ops][attention]") {
  run_all_again<f16>(ops::element_kind::f16);
}
TEST_CASE("attention: the same bits in every run, bf16", "[ops][attention]") {
  run_all_again<bf16>(ops::element_kind::bf16);
}
TEST_CASE("attention: the same bits in every run, f32", "[ops][attention]") {
  run_all_again<f32>(ops::element_kind::f32);
}

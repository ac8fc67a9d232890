// ops::attention_backward: shapes at the edges of tiles, nothing to do, and the reference itself.
#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

backward_case shaped(u32 queries, u32 keys, u32 size) {
  backward_case c;
  c.queries = queries;
  c.keys = keys;
  c.qk_size = c.v_size = size;
  return c;
}

// The objective of the gradients: the sum of O * dO, and of lse * dlse, in double precision.
double objective(const backward_case& c, const tensor4<f32>& q, const tensor4<f32>& k, const tensor4<f32>& v,
                 const tensor4<f32>& dout) {
  const attention_reference<f32> forward(c, q, k, v);
  double sum = 0;
  std::size_t n = 0;
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 i = 0; i < c.queries; ++i)
      for (u32 h = 0; h < c.heads; ++h) {
        for (u32 e = 0; e < c.v_size; ++e, ++n) sum += forward.exact[n] * to_double(dout.at(b, i, h, e));
        const double lse = forward.lse[(std::size_t{b} * c.heads + h) * c.queries + i];
        if (std::isfinite(lse)) sum += lse * c.dlse_of(b, h, i);
      }
  return sum;
}

}  // namespace

TEST_CASE("attention_backward: full and causal, f32", "[ops][attention_backward]") {
  for (const auto causal :
       {causal_alignment::none, causal_alignment::top_left, causal_alignment::bottom_right})
    for (const auto& [queries, keys, size] : {std::array{64u, 64u, 64u}, std::array{70u, 33u, 24u},
                                              std::array{5u, 130u, 72u}, std::array{1u, 1u, 3u}}) {
      backward_case c = shaped(queries, keys, size);
      c.causal = causal;
      check_backward<f32>(c);
    }
}

TEST_CASE("attention_backward: edges of tiles and of head sizes", "[ops][attention_backward]") {
  for (const auto& [queries, keys, size] :
       {std::array{65u, 64u, 64u}, std::array{64u, 129u, 80u}, std::array{31u, 65u, 136u},
        std::array{66u, 20u, 256u}, std::array{17u, 19u, 264u}}) {
    backward_case c = shaped(queries, keys, size);
    c.causal = causal_alignment::bottom_right;
    c.heads = 2;
    check_backward<f16>(c);
    if (size > 256) check_backward<f32>(c);
  }
}

// Tiles that a band keeps whole except for one place.
TEST_CASE("attention_backward: tiles next to the edge of a band", "[ops][attention_backward]") {
  backward_case later = shaped(130, 192, 8), wide = shaped(130, 130, 8);
  later.causal = causal_alignment::bottom_right;
  wide.window = {62, -1};
  for (const backward_case& c : {later, wide}) {
    check_backward<f32>(c);
    check_backward<f16>(c);
  }
}

TEST_CASE("attention_backward: no queries, no keys, no heads", "[ops][attention_backward]") {
  for (const auto& [batches, queries, keys, heads] :
       {std::array{1u, 0u, 5u, 2u}, std::array{1u, 5u, 0u, 2u}, std::array{0u, 5u, 5u, 2u},
        std::array{2u, 0u, 0u, 2u}}) {
    backward_case c = shaped(queries, keys, 16);
    c.batches = batches;
    c.heads = c.key_heads = heads;
    c.sinks = c.dsinks = true;
    check_backward<f32>(c);
    check_backward<f16>(c);
  }
}

TEST_CASE("attention_backward: the reference is the derivative of the forward", "[ops][attention_backward]") {
  backward_case c = shaped(5, 7, 8);
  c.batches = 2;
  c.heads = 4;
  c.key_heads = 2;
  c.causal = causal_alignment::bottom_right;
  c.window = {4, 0};
  c.softcap = 2;
  c.alibi = 2;
  c.sinks = c.dlse = true;
  const auto tensor = [&](u32 rows, u32 heads, std::uint64_t seed) {
    tensor4<f32> x(c.batches, rows, heads, 8, false, 0);
    x.fill(seed, 1);
    return x;
  };
  tensor4<f32> q = tensor(c.queries, c.heads, 1), k = tensor(c.keys, c.key_heads, 2),
               v = tensor(c.keys, c.key_heads, 3);
  const tensor4<f32> dout = tensor(c.queries, c.heads, 4);
  const backward_reference<f32> want(c, q, k, v, dout);
  for (const auto& [x, gradient] :
       {std::pair{&q, &want.dq}, std::pair{&k, &want.dk}, std::pair{&v, &want.dv}})
    for (std::size_t i = 0; i < x->host.size(); i += 13) {
      const f32 before = x->host[i];
      x->host[i] = before + 0x1p-10f;
      const double up = objective(c, q, k, v, dout);
      const double step = double(x->host[i]) - double(before);
      x->host[i] = before - 0x1p-10f;
      const double down = objective(c, q, k, v, dout);
      const double both = step + double(before) - double(x->host[i]);
      x->host[i] = before;
      CAPTURE(i, (up - down) / both, gradient->exact[i]);
      REQUIRE(std::abs((up - down) / both - gradient->exact[i]) < 1e-5);
    }
}

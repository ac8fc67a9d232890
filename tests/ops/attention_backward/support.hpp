#pragma once
// An attention_backward of any shape, layout and options, run and compared with double precision: a gradient
// passes where its largest error is at most three times that of the plain formula in the operand type. Padding
// of inputs holds NaN, that of outputs a pattern that must still be there.
#include "tests/ops/attention_backward/reference.hpp"

#include <kaio/ops/attention_backward.hpp>

namespace kaio::tests {

template <class O>
void compare_numbers(const char* name, const std::vector<O>& got, const compared_numbers& want) {
  double worst = 0, allowed = 0, largest = 0;
  std::size_t where = 0;
  for (std::size_t i = 0; i < want.exact.size(); ++i) {
    const double x = to_double(got[i]), exact = want.exact[i];
    if (!std::isfinite(x)) {
      CAPTURE(name, i, x, exact);
      REQUIRE(std::isfinite(x));
    }
    if (std::abs(x - exact) > worst) where = i;
    worst = std::max(worst, std::abs(x - exact));
    allowed = std::max(allowed, std::abs(want.plain[i] - exact));
    largest = std::max(largest, std::abs(exact));
  }
  CAPTURE(name, worst, allowed, largest, where);
  // The plain formula of few scores may be exact by chance, where another order of roundings is not. A sum
  // that cancels has the error of its terms, and ex2.approx of a device has two units of it.
  REQUIRE(worst <= std::max(3 * allowed, (sizeof(O) == 4 ? 8 : 4) * unit_in_last_place<O>(largest) +
                                             (largest == 0 ? 1e-6 : 0)));
}

// A gradient as the operation left it, in memory like `as`.
template <class T>
struct backward_output {
  tensor4<T> before;
  buffer<T> memory;
  backward_output(u32 b, u32 r, u32 h, u32 d, bool heads_first, u32 pad)
      : before(b, r, h, d, heads_first, pad), memory(upload(before.host)) {}
  tensor4<T> download() const {
    tensor4<T> got = before;
    const auto downloaded = memory.download();
    std::copy(downloaded.begin(), downloaded.begin() + static_cast<std::ptrdiff_t>(got.host.size()),
              got.host.begin());
    return got;
  }
  void compare(const char* name, const compared_numbers& want) const {
    const tensor4<T> got = download();
    std::vector<T> elements;
    std::vector<bool> is_element(got.host.size(), false);
    for (u32 b = 0; b < got.batches; ++b)
      for (u32 r = 0; r < got.rows; ++r)
        for (u32 h = 0; h < got.heads; ++h)
          for (u32 e = 0; e < got.size; ++e) {
            elements.push_back(got.at(b, r, h, e));
            is_element[got.index(b, r, h, e)] = true;
          }
    compare_numbers(name, elements, want);
    for (std::size_t i = 0; i < got.host.size(); ++i)
      if (!is_element[i] && std::memcmp(&got.host[i], &before.host[i], sizeof(T)) != 0) {
        CAPTURE(name, i);
        FAIL("a kernel wrote into the padding of a gradient");
      }
  }
};

// run(dout, q, k, v, out, lse, dq, dk, dv, options) calls the operation.
template <class T, class Run>
void check_backward_by(const backward_case& c, const Run& run, const host_score& f = {}) {
  CAPTURE(c.text(), c.dlse, c.dbias, c.dsinks, c.wants_dq, c.wants_dk, c.wants_dv, static_cast<int>(c.out));
  const attention_inputs<T> inputs(c);
  tensor4<T> dout(c.batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  dout.fill(c.seed + 3, c.dout_range);
  const backward_reference<T> want(c, inputs.q, inputs.k, inputs.v, dout, f);
  auto on_q = upload(inputs.q.host), on_k = upload(inputs.k.host), on_v = upload(inputs.v.host);
  auto on_dout = upload(dout.host), on_out = upload(want.out.host);
  auto on_lse = upload(want.lse);
  std::vector<f32> dlse;
  for (u32 b = 0; b < c.batches; ++b)
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 i = 0; i < c.queries; ++i) dlse.push_back(static_cast<f32>(c.dlse_of(b, h, i)));
  auto on_dlse = upload(dlse);
  std::vector<f32> slopes;
  for (u32 b = 0; b < (c.alibi == 2 ? c.batches : 1); ++b)
    for (u32 h = 0; h < c.heads; ++h) slopes.push_back(static_cast<f32>(c.slope(b, h)));
  auto on_slopes = upload(slopes);
  std::vector<T> sinks;
  for (u32 h = 0; h < c.heads; ++h) sinks.push_back(from_float<T>(static_cast<float>(c.sink(h))));
  auto on_sinks = upload(sinks);

  attention_backward_options options;
  options.forward = {.scale = c.scale, .causal = c.causal, .window = c.window, .softcap = c.softcap};
  if (c.alibi == 1) options.forward.alibi = tensor_view<const f32, 1>(on_slopes, c.heads);
  if (c.alibi == 2) options.forward.alibi = tensor_view<const f32, 2>(on_slopes, c.batches, c.heads);
  const std::array<u32, 4> scores{c.batches, c.heads, c.queries, c.keys};
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  const auto bias_of = [](auto poison) {
    return [](u32 b, u32 h, u32 i, u32 j) {
      return from_float<decltype(poison)>(static_cast<float>(bias_at(b, h, i, j)));
    };
  };
  score_tensor<f32> bias(c.bias, scores, nan, bias_of(nan));
  score_tensor<T> own_bias(c.bias, scores, from_float<T>(nan), bias_of(from_float<T>(nan)));
  score_tensor<u8> keep(c.keep, scores, 77, [](u32 b, u32 h, u32 i, u32 j) { return keep_at(b, h, i, j); });
  if (c.bias.exists() && !c.bias.own_type) options.forward.bias = bias.template view<ops::attention_bias>();
  if (c.bias.exists() && c.bias.own_type)
    options.forward.bias = own_bias.template view<ops::attention_bias>();
  if (c.keep.exists()) options.forward.keep = keep.template view<ops::attention_keep>();
  if (c.sinks) options.forward.sinks = tensor_view<const T, 1>(on_sinks, c.heads);
  const extents rows(c.batches, c.heads, c.queries);
  if (c.dlse) options.dlse = tensor_view<const f32, 3>(on_dlse, rows);

  const bias_place place(c);
  std::vector<f32> dbias(place.count(), -12345.0f);
  std::vector<T> own_dbias(place.count(), from_float<T>(-12345.0f)), dsinks(c.heads, from_float<T>(77.0f));
  auto on_dbias = upload(dbias);
  auto on_own_dbias = upload(own_dbias), on_dsinks = upload(dsinks);
  const auto bias_view = [&](auto& memory) -> ops::attention_gradient {
    using element = std::remove_cvref_t<decltype(memory.download()[0])>;
    const auto& e = place.extent;
    switch (c.bias.rank) {
      case 1: return tensor_view<element, 1>(memory, e[3]);
      case 2: return tensor_view<element, 2>(memory, e[2], e[3]);
      case 3: return tensor_view<element, 3>(memory, e[1], e[2], e[3]);
      default: return tensor_view<element, 4>(memory, e[0], e[1], e[2], e[3]);
    }
  };
  if (c.dbias) options.dbias = c.dbias_own_type ? bias_view(on_own_dbias) : bias_view(on_dbias);
  if (c.dsinks) options.dsinks = tensor_view<T, 1>(on_dsinks, c.heads);

  backward_output<T> dq(c.batches, c.queries, c.heads, c.qk_size, c.heads_first, c.pad),
      dk(c.batches, c.keys, c.key_heads, c.qk_size, c.heads_first, c.pad),
      dv(c.batches, c.keys, c.key_heads, c.v_size, c.heads_first, c.pad);
  const auto view = [](const tensor4<T>& x, buffer<T>& memory) { return x.template view<const T>(memory); };
  const auto gradient = [](bool wanted, backward_output<T>& x) {
    return wanted ? ops::attention_gradient(x.before.template view<T>(x.memory)) : ops::attention_gradient();
  };
  const auto bytes = attention_backward_workspace_bytes(under_test().stream(), view(inputs.q, on_q),
                                                        view(inputs.k, on_k), view(inputs.v, on_v));
  auto workspace = upload(std::vector<u8>(std::max<u64>(bytes, 1), 0xab));  // nothing of it has to be zero
  options.workspace = workspace;
  const auto call = [&](const auto& out) {
    run(view(dout, on_dout), view(inputs.q, on_q), view(inputs.k, on_k), view(inputs.v, on_v), out,
        tensor_view<const f32, 3>(on_lse, rows), gradient(c.wants_dq, dq), gradient(c.wants_dk, dk),
        gradient(c.wants_dv, dv), options);
  };
  const auto call_after_attention = [&](const auto& out, const auto& written) {
    attention_options forward = options.forward;
    forward.lse = tensor_view<f32, 3>(on_lse, rows);
    attention(under_test().stream(), view(inputs.q, on_q), view(inputs.k, on_k), view(inputs.v, on_v),
              written, forward);
    call(out);
  };
  using out_of = backward_case::out_of;
  if (c.out == out_of::reference) call(view(want.out, on_out));
  if (c.out == out_of::attention)
    call_after_attention(view(want.out, on_out), want.out.template view<T>(on_out));
  const tensor4<f32> wide(c.batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  auto on_wide = upload(wide.host);
  if (c.out == out_of::attention_f32)
    call_after_attention(wide.view<const f32>(on_wide), wide.view<f32>(on_wide));
  if (c.wants_dq) dq.compare("dq", want.dq);
  if (c.wants_dk) dk.compare("dk", want.dk);
  if (c.wants_dv) dv.compare("dv", want.dv);
  for (const auto& [wanted, output] :
       {std::pair{c.wants_dq, &dq}, std::pair{c.wants_dk, &dk}, std::pair{c.wants_dv, &dv}})
    if (!wanted) REQUIRE(same_bits(output->download().host, output->before.host));
  if (c.dbias && c.dbias_own_type) compare_numbers("dbias", on_own_dbias.download(), want.dbias);
  if (c.dbias && !c.dbias_own_type) compare_numbers("dbias", on_dbias.download(), want.dbias);
  if (c.dsinks) compare_numbers("dsinks", on_dsinks.download(), want.dsinks);
}

template <class T>
void check_backward(const backward_case& c) {
  check_backward_by<T>(
      c, [](const auto&... arguments) { attention_backward(under_test().stream(), arguments...); });
}

}  // namespace kaio::tests

// ops::attention_backward: what NaN does, at masked places and at others; and the same bits in every run.
#include <numbers>

#include "tests/ops/attention_backward/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// dq, dk and dv of a case whose inputs are as `change` leaves them.
template <class T>
struct gradients {
  std::vector<T> dq, dk, dv;
  tensor4<T> shape_q, shape_k;
};

// The gradients of one run; `more_runs` further runs must leave the same bits.
template <class T, class Change>
gradients<T> gradients_of(const backward_case& c, const Change& change, const attention_options& options = {},
                          u32 more_runs = 0) {
  attention_inputs<T> inputs(c);
  tensor4<T> dout(c.batches, c.queries, c.heads, c.v_size, c.heads_first, c.pad);
  dout.fill(c.seed + 3, 1);
  backward_reference<T> of_forward(c, inputs.q, inputs.k, inputs.v, dout);
  change(inputs.q, inputs.k, inputs.v, dout, of_forward.out, of_forward.lse);
  auto on_q = upload(inputs.q.host), on_k = upload(inputs.k.host), on_v = upload(inputs.v.host);
  auto on_dout = upload(dout.host), on_out = upload(of_forward.out.host);
  auto on_lse = upload(of_forward.lse);
  backward_output<T> dq(c.batches, c.queries, c.heads, c.qk_size, c.heads_first, c.pad),
      dk(c.batches, c.keys, c.key_heads, c.qk_size, c.heads_first, c.pad),
      dv(c.batches, c.keys, c.key_heads, c.v_size, c.heads_first, c.pad);
  const auto view = [](const tensor4<T>& x, buffer<T>& memory) { return x.template view<const T>(memory); };
  const stream& s = under_test().stream();
  const auto of_q = view(inputs.q, on_q), of_k = view(inputs.k, on_k), of_v = view(inputs.v, on_v);
  auto workspace = under_test().allocate<u8>(attention_backward_workspace_bytes(s, of_q, of_k, of_v));
  attention_options forward = options;
  forward.causal = c.causal;
  forward.window = c.window;
  forward.softcap = c.softcap;
  const auto run = [&]() -> gradients<T> {
    attention_backward(s, view(dout, on_dout), of_q, of_k, of_v, view(of_forward.out, on_out),
                       tensor_view<const f32, 3>(on_lse, c.batches, c.heads, c.queries),
                       dq.before.template view<T>(dq.memory), dk.before.template view<T>(dk.memory),
                       dv.before.template view<T>(dv.memory), {.forward = forward, .workspace = workspace});
    return {dq.download().host, dk.download().host, dv.download().host, dq.before, dk.before};
  };
  const auto first = run();
  for (u32 i = 0; i < more_runs; ++i) {
    CAPTURE(i);
    const auto again = run();
    REQUIRE(same_bits(first.dq, again.dq));
    REQUIRE(same_bits(first.dk, again.dk));
    REQUIRE(same_bits(first.dv, again.dv));
  }
  return first;
}

constexpr auto unchanged = [](auto&...) {};

template <class T>
bool is_nan_in_row(const std::vector<T>& x, const tensor4<T>& shape, u32 row) {
  bool found = false;
  for (u32 b = 0; b < shape.batches; ++b)
    for (u32 h = 0; h < shape.heads; ++h)
      for (u32 e = 0; e < shape.size; ++e) found |= std::isnan(to_double(x[shape.index(b, row, h, e)]));
  return found;
}

// A NaN in key 40, and one in query 40, of all batches and heads. of_forward: the forward has seen them too, and left NaN
// in out and lse of the queries that attend to them.
template <class T>
void check_masked_nan(backward_case c, bool of_forward) {
  CAPTURE(c.qk_size, c.softcap, of_forward);
  c.queries = c.keys = 70;
  c.causal = causal_alignment::top_left;
  const T nan = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  const u32 left = c.window.left < 0 ? 70 : static_cast<u32>(c.window.left);
  const u32 first_key = 40 - std::min(left, 40u), last_query = std::min(40 + left, 69u);
  const auto plant = [&](tensor4<T>& x, u32 row, u32 e) {
    for (u32 b = 0; b < x.batches; ++b)
      for (u32 h = 0; h < x.heads; ++h) x.at(b, row, h, e) = nan;
  };
  const auto leave = [&](tensor4<T>& out, std::vector<f32>& lse, u32 first, u32 last) {
    for (u32 i = first; of_forward && i <= last; ++i) {
      for (u32 e = 0; e < out.size; ++e) plant(out, i, e);
      for (u32 n = 0; n < out.batches * out.heads; ++n)
        lse[n * 70 + i] = std::numeric_limits<f32>::quiet_NaN();
    }
  };
  const auto of_key = gradients_of<T>(c, [&](auto&, auto& k, auto& v, auto&, auto& out, auto& lse) {
    plant(k, 40, 3);
    plant(v, 40, 5);
    leave(out, lse, 40, last_query);
  });
  const auto of_query = gradients_of<T>(c, [&](auto& q, auto&, auto&, auto& dout, auto& out, auto& lse) {
    plant(q, 40, 3);
    plant(dout, 40, 5);
    leave(out, lse, 40, 40);
  });
  for (u32 i = 0; i < 70; ++i) {
    CAPTURE(i);
    REQUIRE(is_nan_in_row(of_key.dq, of_key.shape_q, i) == (i >= 40 && i <= last_query));
    REQUIRE(is_nan_in_row(of_query.dk, of_query.shape_k, i) == (i >= first_key && i <= 40));
    REQUIRE(is_nan_in_row(of_query.dv, of_query.shape_k, i) == (i >= first_key && i <= 40));
    const bool reached = of_forward ? i >= first_key && i <= last_query : i == 40;
    REQUIRE(is_nan_in_row(of_key.dk, of_key.shape_k, i) == reached);
    REQUIRE(is_nan_in_row(of_query.dq, of_query.shape_q, i) == (i == 40));
  }
}

// A NaN in a key near the end of many, of few queries: it reaches those that attend to it.
template <class T>
void check_masked_nan_of_many_keys(u32 size) {
  CAPTURE(size);
  backward_case c;
  c.queries = 40;
  c.keys = 1100;
  c.qk_size = c.v_size = size;
  c.causal = causal_alignment::bottom_right;
  const auto want = gradients_of<T>(c, unchanged);
  const auto got = gradients_of<T>(c, [&](auto&, auto& k, auto&, auto&, auto&, auto&) {
    for (u32 h = 0; h < k.heads; ++h)
      for (u32 b = 0; b < k.batches; ++b)
        k.at(b, 1090, h, 3) = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  });
  for (u32 i = 0; i < c.queries; ++i)
    for (u32 e = 0; e < size; ++e) {
      CAPTURE(i, e);
      const std::size_t at = want.shape_q.index(0, i, 0, e);
      if (i + 1060 >= 1090)
        REQUIRE(std::isnan(to_double(got.dq[at])));
      else
        REQUIRE(std::abs(to_double(got.dq[at]) - to_double(want.dq[at])) < 4e-3);
    }
}

template <class T>
void check_masked_nans() {
  backward_case c;
  c.qk_size = c.v_size = 40;
  c.window = {20, 0};
  check_masked_nan<T>(c, false);
  check_masked_nan<T>(c, true);
  c.softcap = 2;  // the derivative of a masked score is NaN
  check_masked_nan<T>(c, true);
  c.batches = 2;
  c.heads = 4;
  c.key_heads = 2;
  c.qk_size = c.v_size = 136;  // two parts of a row, and smaller tiles of multiply-adds
  c.window = {};
  check_masked_nan<T>(c, false);
}

template <class T>
void check_empty_rows() {
  backward_case c;
  c.queries = 80;
  c.keys = 50;
  c.qk_size = c.v_size = 24;
  c.causal = causal_alignment::bottom_right;  // queries 0 to 29 have no keys
  const auto want = gradients_of<T>(c, unchanged);
  const T nan = from_float<T>(std::numeric_limits<float>::quiet_NaN());
  const auto got = gradients_of<T>(c, [&](auto& q, auto&, auto&, auto& dout, auto&, auto&) {
    for (u32 i = 0; i < 30; ++i) q.at(0, i, 0, 0) = dout.at(0, i, 0, 0) = nan;
  });
  if (std::is_same_v<T, f32>) {
    REQUIRE(same_bits(got.dk, want.dk));
    REQUIRE(same_bits(got.dv, want.dv));
  }
  // Blocks of matrix instructions that meet a NaN are computed again by other kernels.
  double apart = 0;
  for (std::size_t i = 0; i < got.dk.size(); ++i)
    apart = std::max({apart, std::abs(to_double(got.dk[i]) - to_double(want.dk[i])),
                      std::abs(to_double(got.dv[i]) - to_double(want.dv[i]))});
  REQUIRE(apart < 4e-3);
  for (u32 i = 0; i < 30; ++i)
    for (u32 e = 0; e < 24; ++e) REQUIRE(to_double(got.dq[got.shape_q.index(0, i, 0, e)]) == 0);
}

// A row whose scores are all the lowest finite number, as frameworks mask what is padding, with dO = 0: nothing of
// it reaches another row.
template <class T>
void check_lowest_bias() {
  backward_case c;
  c.queries = c.keys = 40;
  c.qk_size = c.v_size = 24;
  std::vector<f32> bias(40 * 40, 0.0f);
  for (u32 j = 0; j < 40; ++j) bias[7 * 40 + j] = std::numeric_limits<f32>::lowest();
  const auto on_bias = upload(bias);
  const auto without = [](auto&, auto&, auto&, auto& dout, auto& out, auto& lse) {
    for (u32 e = 0; e < 24; ++e) dout.at(0, 7, 0, e) = out.at(0, 7, 0, e) = from_float<T>(0);
    lse[7] = std::numeric_limits<f32>::lowest() * std::numbers::ln2_v<f32>;  // as the forward's
  };
  const auto got = gradients_of<T>(c, without, {.bias = tensor_view<const f32, 2>(on_bias, 40, 40)});
  for (const std::vector<T>* one : {&got.dq, &got.dk, &got.dv})
    for (const T x : *one) REQUIRE(std::isfinite(to_double(x)));
  for (u32 e = 0; e < 24; ++e) REQUIRE(to_double(got.dq[got.shape_q.index(0, 7, 0, e)]) == 0);
}

// Keys with equal scores of size x have equal shares, with a relative error of about 2^-22 x.
template <class T>
void check_large_equal_scores() {
  if (!has_attention<T>()) return;
  for (const float size : {1.0f, 1000.0f, 30000.0f}) {
    backward_case c;
    c.queries = 3;
    c.keys = 4;
    const auto got = gradients_of<T>(c,
                                     [&](auto& q, auto& k, auto& v, auto& dout, auto& out, auto& lse) {
                                       for (u32 i = 0; i < c.queries; ++i)
                                         for (u32 e = 0; e < c.qk_size; ++e)
                                           q.at(0, i, 0, e) = from_float<T>(e == 0 ? size : 0.0f);
                                       for (u32 j = 0; j < c.keys; ++j)
                                         for (u32 e = 0; e < c.qk_size; ++e)
                                           k.at(0, j, 0, e) = from_float<T>(e == 0 ? 1.0f : 0.0f);
                                       for (T& x : dout.host) x = from_float<T>(1.0f);
                                       for (T& x : v.host) x = T{};
                                       for (T& x : out.host) x = T{};
                                       for (f32& x : lse) x = static_cast<f32>(double{size} + std::log(4.0));
                                     },
                                     {.scale = 1.0f});
    // dv is the sum of a column of P: 3 / 4.
    const double allowed = 0x1p-21 * double{size} + 2 * unit_in_last_place<T>(0.5);
    for (u32 j = 0; j < c.keys; ++j) {
      const double is = to_double(got.dv[got.shape_k.index(0, j, 0, 0)]);
      CAPTURE(size, j, is, sizeof(T));
      REQUIRE(std::abs(is - 0.75) <= allowed * 0.75);
    }
  }
}

}  // namespace

TEST_CASE("attention_backward: large scores", "[ops][attention_backward]") {
  check_large_equal_scores<f32>();
  check_large_equal_scores<f16>();
}

TEST_CASE("attention_backward: a row of the lowest bias", "[ops][attention_backward]") {
  check_lowest_bias<f32>();
  check_lowest_bias<f16>();
}

TEST_CASE("attention_backward: a NaN reaches what attends to it, and nothing else",
          "[ops][attention_backward]") {
  check_masked_nans<f32>();
  check_masked_nans<f16>();
  check_masked_nan_of_many_keys<f16>(64);
  check_masked_nan_of_many_keys<bf16>(128);
}

TEST_CASE("attention_backward: a query without keys adds nothing, whatever its numbers are",
          "[ops][attention_backward]") {
  check_empty_rows<f32>();
  check_empty_rows<f16>();
}

TEST_CASE("attention_backward: the same bits in every run", "[ops][attention_backward]") {
  const bool emulated = under_test().is_emulator();
  backward_case c;
  c.heads = emulated ? 2 : 6;
  c.queries = emulated ? 175 : 700;
  c.keys = emulated ? 290 : 900;
  for (const bool general : {true, false}) {
    CAPTURE(general);
    c.causal = general ? causal_alignment::bottom_right : causal_alignment::none;
    c.softcap = general ? 3 : 0;
    gradients_of<f16>(c, unchanged, {}, emulated ? 1 : 250);
  }
  c.qk_size = c.v_size = 256;
  gradients_of<bf16>(c, unchanged, {}, emulated ? 1 : 250);
}

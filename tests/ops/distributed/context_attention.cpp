// context_attention on 2 to 8 ranks gives what attention gives on one.

#include "tests/ops/distributed/context_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// A problem of any shape.
context_case any_case(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto any = [&](u32 from, u32 to) { return static_cast<u32>(from + engine() % (to - from + 1)); };
  context_case p;
  p.seed = seed;
  const u32 group = any(0, 2), key_heads = any(1, 2);
  p.head_ranks = group == 0 ? 1 : static_cast<int>(group * any(1, 2));
  p.ranks = p.head_ranks * static_cast<int>(any(1, p.head_ranks > 2 ? 2 : 4));
  p.key_heads = key_heads * static_cast<u32>(p.head_ranks);
  p.heads = p.key_heads * any(1, 2);
  p.layout = any(0, 2) != 0 ? context_layout::zigzag : context_layout::contiguous;
  p.batches = any(1, 2);
  p.rows = any(0, 3) == 0 ? any(1, 20) : any(20, 70);
  p.qk_size = any(1, 3) * 8;
  p.v_size = any(0, 1) != 0 ? p.qk_size : any(1, 3) * 8;
  p.causal = any(0, 1) != 0;
  if (any(0, 1) != 0) p.window.left = any(0, p.rows);
  if (any(0, 2) == 0) p.window.right = any(0, p.rows / 2);
  if (any(0, 3) == 0) p.softcap = 2;
  p.sinks = any(0, 2) == 0;
  if (p.layout == context_layout::contiguous && any(0, 1) != 0) {
    i64 left = p.rows;
    for (int r = 0; r + 1 < p.ranks; ++r) {
      p.lengths.push_back(any(0, static_cast<u32>(left)));
      left -= p.lengths.back();
    }
    p.lengths.push_back(left);
  }
  return p;
}

}  // namespace

TEST_CASE("a ring of each number of ranks, by both layouts and with windows") {
  constexpr context_layout zigzag = context_layout::zigzag, contiguous = context_layout::contiguous;
  check_context<f32>({.ranks = 2, .layout = zigzag, .rows = 25}, true);
  check_context<f32>({.ranks = 2, .layout = contiguous, .rows = 25, .causal = false, .window = {9, 4}}, true);
  check_context<f32>({.ranks = 3, .layout = zigzag, .rows = 37, .window = {9, -1}}, true);
  check_context<f32>({.ranks = 4, .layout = contiguous, .rows = 21}, true);
  check_context<f32>({.ranks = 4, .layout = zigzag, .rows = 21, .causal = false}, true);
  check_context<f32>({.ranks = 8, .layout = zigzag, .rows = 37, .heads = 1}, true);
}

TEST_CASE("ranks that exchange heads, alone and in rings") {
  const auto exchange = [](int ranks, int head_ranks, context_layout layout) {
    const u32 heads = static_cast<u32>(head_ranks);
    check_context<f32>({.ranks = ranks,
                        .head_ranks = head_ranks,
                        .layout = layout,
                        .rows = 19,
                        .heads = 2 * heads,
                        .key_heads = heads,
                        .qk_size = 8,
                        .sinks = true},
                       true);
  };
  exchange(2, 2, context_layout::zigzag);
  exchange(4, 2, context_layout::zigzag);
  exchange(4, 2, context_layout::contiguous);
  exchange(8, 4, context_layout::zigzag);
}

TEST_CASE("16-bit elements, joined in f32") {
  check_context<f16>({.ranks = 3, .rows = 70, .heads = 2, .key_heads = 1, .qk_size = 64, .v_size = 64}, true);
  if (under_test().properties().target.sm < 80) return;
  check_context<bf16>({.ranks = 2, .rows = 70, .qk_size = 64, .v_size = 64, .causal = false}, true);
}

TEST_CASE("random problems") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) check_context<f32>(any_case(seed), true);
}

TEST_CASE("repeated calls give equal bits, on either transport") {
  const context_case p{
      .ranks = 4, .head_ranks = 2, .rows = 50, .heads = 4, .key_heads = 2, .qk_size = 32, .v_size = 32};
  const context_tensors t = inputs_of<f16>(p);
  const context_tensors a = run_on_ranks<f16>(p, t, true), b = run_on_ranks<f16>(p, t, true, false);
  CHECK(a.out.x == b.out.x);
  CHECK(a.lse.x == b.lse.x);
  CHECK(a.dq.x == b.dq.x);
  CHECK(a.dk.x == b.dk.x);
  CHECK(a.dv.x == b.dv.x);
}

TEST_CASE("one rank gives the bits of attention") {
  const context_case p{.ranks = 1, .rows = 50, .heads = 4, .key_heads = 2, .qk_size = 64, .v_size = 64};
  const context_tensors t = inputs_of<f16>(p);
  const context_tensors got = run_on_ranks<f16>(p, t, false);
  const device gpu = device::open("emulator:0");
  const auto all = p.rows_of(0);
  auto q = gpu.upload(t.q.rows_in<f16>(all)), k = gpu.upload(t.k.rows_in<f16>(all)),
       v = gpu.upload(t.v.rows_in<f16>(all));
  auto out = gpu.allocate<f16>(q.size());
  attention(gpu.stream(), tensor_view(q, 1, 50, 4, 64), tensor_view(k, 1, 50, 2, 64),
            tensor_view(v, 1, 50, 2, 64), tensor_view(out, 1, 50, 4, 64),
            {.causal = causal_alignment::bottom_right});
  whole_tensor want(1, 50, 4, 64);
  want.set_rows(all, out.download());
  CHECK(want.x == got.out.x);
}

TEST_CASE("arguments that do not match are refused on all ranks before anything is sent") {
  const int kind = GENERATE(0, 1, 2, 3, 4);
  run_all(group_of(2), [&](int r, const communicator& c, const stream& s) {
    const bool odd = r == 1;
    const u32 rows = 8, heads = odd && kind == 0 ? 4 : 2, size = odd && kind == 1 ? 8 : 16;
    auto q = c.on().upload(std::vector<f32>(rows * heads * size, 0.5f)),
         o = c.on().allocate<f32>(rows * heads * size);
    const tensor_view x(q, 1, rows, heads, size), out(o, 1, rows, heads, size);
    const auto memory = c.on().allocate<u8>(1 << 16);
    context_attention_options options{
        .causal = odd && kind == 2 ? causal_alignment::none : causal_alignment::top_left,
        .workspace = memory};
    if (odd && kind == 3) options.workspace = memory.slice(0, 256);
    if (odd && kind == 4) options.softcap = -1;
    errc code = errc::driver_error;
    std::string text;
    try {
      context_attention(c, s, x, x, x, out, options);
    } catch (const error& e) {
      code = e.code();
      text = e.message();
    }
    must(code == errc::invalid_argument, "refused: " + text);
    s.synchronize();
    must(o.download()[0] == 0, "not written");
    const auto q_part = q.slice(0, 8 * 2 * 8), o_part = o.slice(0, 8 * 2 * 8);
    const tensor_view same(q_part, 1, 8, 2, 8), to(o_part, 1, 8, 2, 8);
    context_attention(c, s, same, same, same, to,
                      {.causal = causal_alignment::top_left, .workspace = memory});
    s.synchronize();
    must(o.download()[0] == 0.5f, "works again");
  });
}

TEST_CASE("the sinks' gradient: any type and stride, ranks without rows, and calls that are refused") {
  run_all(group_of(3), [&](int r, const communicator& c, const stream& s) {
    const u32 rows = r == 1 ? 0 : 6;
    auto x = c.on().upload(std::vector<f32>(2 * 6 * 16, 0.5f)), y = c.on().allocate<f32>(2 * 6 * 16);
    auto l = c.on().allocate<f32>(2 * 6), sink_values = c.on().upload(std::vector<f32>{0.25f, -1.0f});
    auto g = c.on().upload(std::vector<f16>(4, f16(7.0f)));
    const tensor_view v(x, 1, rows, 2, 16), to(y, 1, rows, 2, 16);
    const tensor_view lse(l, 1, 2, rows);
    const tensor_view sinks(sink_values, 2);
    const tensor_view dsinks(g, extents{2}, strides{2});
    const auto memory = c.on().allocate<u8>(1 << 18);
    context_attention_options options{.causal = causal_alignment::top_left,
                                      .sinks = sinks,
                                      .lse = lse,
                                      .layout = context_layout::contiguous,
                                      .workspace = memory};
    context_attention(c, s, v, v, v, to, options);
    const auto backward = [&] {
      context_attention_backward(c, s, v, v, v, v, to, lse, attention_gradient(), attention_gradient(),
                                 attention_gradient(), options);
      s.synchronize();
    };
    options.dsinks = dsinks;
    backward();
    // All scores are 0.5 * 0.5 * 16 / 4 = 1, so query i of head h has the output 0.5 * e * n / (e * n + exp(sink)).
    std::vector<f16> want(4, f16(7.0f));
    for (const u32 h : {0u, 1u}) {
      double sum = 0;
      for (u32 n = 1; n <= 12; ++n) {
        const double keys = std::exp(1.0) * n, sink = std::exp(h == 0 ? 0.25 : -1.0);
        sum -= sink / (keys + sink) * 16 * 0.5 * 0.5 * keys / (keys + sink);
      }
      want[2 * h] = f16(static_cast<float>(sum));
    }
    for (const u32 i : {0u, 1u, 2u, 3u})
      must(std::abs(to_double(g.download()[i]) - to_double(want[i])) < 5e-3, "element " + std::to_string(i));
    const auto refused = [&](const char* why) {
      try {
        backward();
      } catch (const invalid_argument& e) {
        return must(e.message().find(why) != std::string::npos, e.message());
      }
      must(false, why);
    };
    options.sinks = {};
    refused("dsinks is given without sinks");
    options.sinks = sinks;
    options.dsinks = tensor_view(g, 1);
    refused("dsinks");
    if (r == 0) options.dsinks = {};
    if (r != 0) options.dsinks = dsinks;
    refused("differ in sinks or gradients");
  });
}

TEST_CASE("a call in a loading stream writes nothing") {
  run_all(group_of(2), [&](int, const communicator& c, const stream& s) {
    auto x = c.on().upload(std::vector<f32>(8 * 16, 0.5f)), y = c.on().allocate<f32>(8 * 16);
    auto g = c.on().allocate<f32>(8 * 16);
    const tensor_view dq(g, 1, 8, 1, 16);
    auto l = c.on().allocate<f32>(8);
    const tensor_view v(x, 1, 8, 1, 16), to(y, 1, 8, 1, 16);
    const tensor_view lse(l, 1, 1, 8);
    const auto memory = c.on().allocate<u8>(1 << 16);
    const context_attention_options options{
        .causal = causal_alignment::top_left, .lse = lse, .workspace = memory};
    const stream first = stream::loading(c.on());
    context_attention(c, first, v, v, v, to, options);
    context_attention_backward(c, first, v, v, v, v, to, lse, dq, attention_gradient(), attention_gradient(),
                               options);
    s.synchronize();
    must(y.download() == std::vector<f32>(8 * 16), "not written");
  });
}

TEST_CASE("a rank that is killed in the middle of a ring gives the others an error") {
  const auto outcomes = run_ranks(group_of(4), [&](int r, const communicator& c, const stream& s) {
    auto x = c.on().upload(std::vector<f32>(8 * 16, 0.5f)), y = c.on().allocate<f32>(8 * 16);
    const tensor_view v(x, 1, 8, 1, 16), to(y, 1, 8, 1, 16);
    const auto memory = c.on().allocate<u8>(1 << 16);
    const context_attention_options options{.causal = causal_alignment::top_left, .workspace = memory};
    context_attention(c, s, v, v, v, to, options);
    if (r == 2) {  // takes part in the comparison of calls, and goes
      c.gather_numbers("context_attention", std::vector<std::int64_t>(17, 0));
      return;
    }
    context_attention(c, s, v, v, v, to, options);
  });
  for (const int r : {0, 1, 3}) CHECK(outcomes[static_cast<std::size_t>(r)].code != errc::driver_error);
  for (const int r : {0, 1, 3}) CHECK_FALSE(outcomes[static_cast<std::size_t>(r)].error.empty());
}

// context_attention of packed sequences on 2 to 8 ranks gives what attention_varlen gives on one device, within the error of
// double precision.

#include <numeric>

#include "tests/ops/distributed/context_support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

context_case packed(context_case p, std::vector<i64> lengths) {
  p.rows = static_cast<u32>(std::accumulate(lengths.begin(), lengths.end(), i64{0}));
  p.packed = std::move(lengths);
  return p;
}

// Sequences of any lengths: some empty, some of one row, one that is long.
std::vector<i64> any_lengths(std::mt19937_64& engine) {
  std::vector<i64> lengths(1 + engine() % 9);
  for (i64& n : lengths) n = static_cast<i64>(engine() % 3 == 0 ? engine() % 2 : engine() % 14);
  lengths[engine() % lengths.size()] = static_cast<i64>(20 + engine() % 30);
  return lengths;
}

context_case any_case(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  const auto any = [&](u32 from, u32 to) { return static_cast<u32>(from + engine() % (to - from + 1)); };
  context_case p;
  p.seed = seed;
  p.head_ranks = any(0, 1) == 0 ? 1 : 2;
  p.ranks = p.head_ranks * static_cast<int>(any(1, 3));
  p.key_heads = any(1, 2) * static_cast<u32>(p.head_ranks);
  p.heads = p.key_heads * any(1, 2);
  p.layout = any(0, 2) != 0 ? context_layout::zigzag : context_layout::contiguous;
  p.qk_size = any(1, 3) * 8;
  p.v_size = any(0, 1) != 0 ? p.qk_size : any(1, 3) * 8;
  p.causal = any(0, 1) != 0;
  if (any(0, 1) != 0) p.window.left = any(0, 20);
  if (any(0, 2) == 0) p.window.right = any(0, 10);
  if (any(0, 3) == 0) p.softcap = 2;
  p.sinks = any(0, 2) == 0;
  p = packed(p, any_lengths(engine));
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

TEST_CASE("packed sequences in rings of each number of ranks") {
  constexpr context_layout zigzag = context_layout::zigzag, contiguous = context_layout::contiguous;
  check_context<f32>(packed({.ranks = 2, .layout = zigzag}, {5, 0, 23, 1, 9}), true);
  check_context<f32>(packed({.ranks = 2, .layout = contiguous}, {5, 0, 23, 1, 9}), true);
  check_context<f32>(packed({.ranks = 3, .layout = zigzag, .window = {6, -1}}, {31, 4, 2, 1, 8}), true);
  check_context<f32>(packed({.ranks = 4, .layout = zigzag, .causal = false}, {7, 1, 1, 1, 26}), true);
  check_context<f32>(packed({.ranks = 8, .layout = zigzag, .heads = 1}, {3, 29, 1, 16}), true);
}

TEST_CASE("packed sequences of ranks that exchange heads, alone and in rings") {
  const auto exchange = [](int ranks, int head_ranks, context_layout layout) {
    const u32 heads = static_cast<u32>(head_ranks);
    check_context<f32>(packed({.ranks = ranks,
                               .head_ranks = head_ranks,
                               .layout = layout,
                               .heads = 2 * heads,
                               .key_heads = heads,
                               .qk_size = 8,
                               .sinks = true},
                              {6, 1, 18, 0, 3}),
                       true);
  };
  exchange(2, 2, context_layout::zigzag);
  exchange(4, 2, context_layout::zigzag);
  exchange(4, 2, context_layout::contiguous);
  exchange(8, 4, context_layout::zigzag);
}

TEST_CASE("packed sequences of 16-bit elements, joined in f32") {
  check_context<f16>(
      packed({.ranks = 3, .heads = 2, .key_heads = 1, .qk_size = 64, .v_size = 64}, {11, 50, 9}), true);
}

TEST_CASE("random packed sequences") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) check_context<f32>(any_case(seed), true);
}

TEST_CASE("one packed sequence alone has the bits of attention_varlen, and repeated calls equal bits") {
  const context_case p =
      packed({.ranks = 1, .heads = 4, .key_heads = 2, .qk_size = 64, .v_size = 64}, {20, 1, 29});
  const context_tensors t = inputs_of<f16>(p);
  const context_tensors got = run_on_ranks<f16>(p, t, false);
  const device gpu = device::open("emulator:0");
  const auto all = p.rows_of(0);
  auto q = gpu.upload(t.q.rows_in<f16>(all)), k = gpu.upload(t.k.rows_in<f16>(all)),
       v = gpu.upload(t.v.rows_in<f16>(all));
  auto out = gpu.allocate<f16>(q.size());
  auto begins = gpu.upload(std::vector<i32>{0, 20, 21, 50});
  const tensor_view cu(begins, 4);
  attention_varlen(gpu.stream(), tensor_view(q, 50, 4, 64), tensor_view(k, 50, 2, 64),
                   tensor_view(v, 50, 2, 64), tensor_view(out, 50, 4, 64),
                   {.cu_q = cu, .cu_k = cu, .max_q = 29}, {.causal = causal_alignment::bottom_right});
  whole_tensor want(1, 50, 4, 64);
  want.set_rows(all, out.download());
  CHECK(want.x == got.out.x);

  context_case many = p;
  many.ranks = 4;
  many.head_ranks = 2;
  const context_tensors a = run_on_ranks<f16>(many, t, true), b = run_on_ranks<f16>(many, t, true, false);
  for (const auto& [x, y] : {std::pair{&a.out, &b.out}, std::pair{&a.lse, &b.lse}, std::pair{&a.dq, &b.dq},
                             std::pair{&a.dk, &b.dk}, std::pair{&a.dv, &b.dv}})
    CHECK(x->x == y->x);
}

TEST_CASE("packed calls in a loading stream write nothing") {
  run_all(group_of(2), [&](int, const communicator& c, const stream& s) {
    auto x = c.on().upload(std::vector<f32>(8 * 2 * 16, 0.5f)), y = c.on().allocate<f32>(8 * 2 * 16);
    auto l = c.on().allocate<f32>(8 * 2), g = c.on().allocate<f32>(8 * 2 * 16);
    const tensor_view v(x, 1, 8, 2, 16), to(y, 1, 8, 2, 16), dq(g, 1, 8, 2, 16);
    const tensor_view lse(l, 1, 2, 8);
    const auto memory = c.on().allocate<u8>(1 << 16);
    const std::vector<i64> lengths{5, 11};
    for (const int head_ranks : {1, 2}) {
      const context_attention_options options{
          .lse = lse, .lengths = lengths, .head_ranks = head_ranks, .workspace = memory};
      const stream first = stream::loading(c.on());
      context_attention(c, first, v, v, v, to, options);
      context_attention_backward(c, first, v, v, v, v, to, lse, dq, attention_gradient(),
                                 attention_gradient(), options);
    }
    s.synchronize();
    must(y.download() == std::vector<f32>(8 * 2 * 16), "out is not written");
    must(g.download() == std::vector<f32>(8 * 2 * 16), "dq is not written");
  });
}

TEST_CASE("lengths that do not match are refused on all ranks before anything is sent") {
  const int kind = GENERATE(0, 1, 2, 3, 4);
  run_all(group_of(2), [&](int r, const communicator& c, const stream& s) {
    auto x = c.on().upload(std::vector<f32>(8 * 16, 0.5f)), y = c.on().allocate<f32>(8 * 16);
    const tensor_view v(x, 1, 8, 1, 16), to(y, 1, 8, 1, 16), two(x, 2, 4, 1, 16), to_two(y, 2, 4, 1, 16);
    const auto memory = c.on().allocate<u8>(1 << 16);
    const std::vector<i64> right{4, 12};
    std::vector<i64> lengths = right;
    if (r == 1 && kind == 0) lengths = {12, 4};    // other lengths
    if (r == 1 && kind == 1) lengths = {4, 8, 4};  // another number of them
    if (r == 1 && kind == 2) lengths.clear();      // none
    if (kind == 3) lengths = {4, 13};              // other rows than there are
    if (r == 1 && kind == 4) lengths = {-4, 20};   // no lengths
    context_attention_options options{
        .causal = causal_alignment::top_left, .lengths = lengths, .workspace = memory};
    const auto refused = [&](const auto& call) {
      try {
        call();
      } catch (const error& e) {
        return e.code() == errc::invalid_argument;
      }
      return false;
    };
    must(refused([&] { context_attention(c, s, v, v, v, to, options); }), "lengths");
    options.lengths = right;
    must(refused([&] { context_attention(c, s, two, two, two, to_two, options); }), "batches");
    s.synchronize();
    must(y.download()[0] == 0, "not written");
    context_attention(c, s, v, v, v, to, options);
    s.synchronize();
    must(y.download()[0] == 0.5f, "works again");
  });
}

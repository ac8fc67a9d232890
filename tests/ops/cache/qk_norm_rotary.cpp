// qk_norm_rotary: the bits of a norm of each head in f32, rounded, and then of the rotation on the host; and
// of rotary. Nothing else is read or written.
#include "tests/ops/cache/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/qk_norm_rotary.hpp>

#include <functional>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct qk_case {
  i64 batches = 2, tokens = 3, q_heads = 3, k_heads = 2, size = 64;
  u32 pairs = 32;
  tensor_layout layout{};
  bool in_place = true, interleaved = false, q_norm = true, k_norm = true, single_norms = false,
       positions = false;
  f32 weight_offset = 0;
  unsigned seed = 1;
};

// The kernel's steps: `want` gets the head normed in double precision and rotated; the norm may differ in its
// last bit.
template <class T>
void norm_on_host(T* x, i64 size, const std::vector<double>& weight, f32 offset, f32 epsilon) {
  double squares = 0;
  for (i64 e = 0; e < size; ++e) squares += to_double(x[e]) * to_double(x[e]);
  const double inverse = 1 / std::sqrt(squares / static_cast<double>(size) + static_cast<double>(epsilon));
  for (i64 e = 0; e < size; ++e)
    x[e] = from_float<T>(static_cast<float>(
        to_double(x[e]) * inverse * (static_cast<double>(offset) + weight[static_cast<std::size_t>(e)])));
}

template <class T>
void check_qk(const qk_case& c) {
  CAPTURE(c.batches, c.tokens, c.q_heads, c.k_heads, c.size, c.pairs, c.layout.pad, c.layout.shift,
          c.in_place, c.interleaved, c.q_norm, c.k_norm, c.single_norms, c.positions, c.seed, sizeof(T));
  const device& gpu = under_test();
  // Q, K and a head of V, packed.
  const i64 heads = c.q_heads + c.k_heads + 1;
  const auto x = input_tensor<T>(c.batches, c.tokens, heads, c.size, c.layout, c.seed);
  const cache_tensor<T> blank(c.batches, c.tokens, heads, c.size, c.layout);
  const auto own = input_tensor<T>(1, 1, 2, c.size, {}, c.seed + 1);
  const auto single = input_tensor<f32>(1, 1, 2, c.size, {}, c.seed + 2);
  const host_tables<f32> tables(20, c.pairs, 0, c.seed + 3);
  std::vector<i32> positions;
  for (i64 i = 0; i < c.tokens; ++i) positions.push_back(static_cast<i32>((i * 7 + 3) % 20));
  auto on_x = gpu.upload(x.host), on_y = gpu.upload(blank.host), on_own = gpu.upload(own.host);
  auto on_single = gpu.upload(single.host), on_cos = gpu.upload(tables.cos), on_sin = gpu.upload(tables.sin);
  auto on_positions = gpu.upload(positions);
  qk_norm_rotary_options options{.epsilon = 1e-3f, .weight_offset = c.weight_offset};
  const auto norm = [&](i64 which) -> ops::any_view {
    const auto first = static_cast<std::size_t>(which * c.size), count = static_cast<std::size_t>(c.size);
    if (c.single_norms) return tensor_view<const f32, 1>(on_single.slice(first, count), c.size);
    return tensor_view<const T, 1>(on_own.slice(first, count), c.size);
  };
  if (c.q_norm) options.q_norm = norm(0);
  if (c.k_norm) options.k_norm = norm(1);
  if (c.pairs != 0) {
    options.cos = tables.view(on_cos);
    options.sin = tables.view(on_sin);
    options.rotary.interleaved = c.interleaved;
    if (c.positions) options.rotary.positions = numbers_view(on_positions, c.tokens);
  }
  const auto all = x.view(on_x), to = blank.view(on_y);
  const auto q = all.slice(2, 0, c.q_heads), k = all.slice(2, c.q_heads, c.k_heads);
  if (c.in_place)
    qk_norm_rotary(gpu.stream(), q, k, options);
  else
    qk_norm_rotary(gpu.stream(), q, k, to.slice(2, 0, c.q_heads), to.slice(2, c.q_heads, c.k_heads), options);

  cache_tensor<T> want = c.in_place ? x : blank;
  const std::vector<T> got = c.in_place ? on_x.download() : on_y.download();
  for (i64 b = 0; b < c.batches; ++b)
    for (i64 t = 0; t < c.tokens; ++t)
      for (i64 h = 0; h + 1 < heads; ++h) {
        const bool is_k = h >= c.q_heads, norms = is_k ? c.k_norm : c.q_norm;
        std::vector<T> row;
        std::vector<double> weight;
        for (i64 e = 0; e < c.size; ++e) {
          row.push_back(x.at(b, t, h, e));
          weight.push_back(c.single_norms ? to_double(single.at(0, 0, is_k ? 1 : 0, e))
                                          : to_double(own.at(0, 0, is_k ? 1 : 0, e)));
        }
        if (norms) norm_on_host(row.data(), c.size, weight, c.weight_offset, options.epsilon);
        rotate_on_host(row.data(), tables, c.positions ? positions[static_cast<std::size_t>(t)] : t,
                       c.interleaved, false);
        double largest = 0;
        for (const T one : row) largest = std::max(largest, std::abs(to_double(one)));
        for (i64 e = 0; e < c.size; ++e) {
          const double right = to_double(row[static_cast<std::size_t>(e)]),
                       is = to_double(got[want.index(b, t, h, e)]);
          want.at(b, t, h, e) = norms ? got[want.index(b, t, h, e)] : row[static_cast<std::size_t>(e)];
          if (std::abs(is - right) <= 2 * unit_in_last_place<T>(largest) + 4e-6 * largest) continue;
          CAPTURE(b, t, h, e);
          REQUIRE(is == right);
        }
      }
  require_same(got, want.host);
}

template <class T>
void check_all() {
  check_qk<T>({});
  check_qk<T>({.size = 128, .pairs = 64, .in_place = false, .positions = true});
  check_qk<T>({.size = 128,
               .pairs = 32,
               .in_place = false,
               .interleaved = true,
               .single_norms = true,
               .weight_offset = 1});
  check_qk<T>({.size = 512, .pairs = 4, .in_place = false});  // 33 units
  check_qk<T>({.size = 33, .pairs = 5, .layout = {.pad = 2, .shift = 1}, .q_norm = false});
  check_qk<T>({.size = 80, .pairs = 40, .layout = {.heads_first = true}, .k_norm = false});
  check_qk<T>({.size = 96, .pairs = 0});
  check_qk<T>({.tokens = 0});
}

}  // namespace

TEST_CASE("qk_norm_rotary: f16", "[ops][qk_norm_rotary]") { check_all<f16>(); }
TEST_CASE("qk_norm_rotary: bf16", "[ops][qk_norm_rotary]") { check_all<bf16>(); }
TEST_CASE("qk_norm_rotary: f32", "[ops][qk_norm_rotary]") { check_all<f32>(); }

TEST_CASE("qk_norm_rotary: packed sequences", "[ops][qk_norm_rotary]") {
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const i64 tokens = 7, heads = 2, size = 64;
  const auto q = input_tensor<bf16>(1, tokens, heads, size, {}, 3),
             k = input_tensor<bf16>(1, tokens, heads, size, {}, 4);
  const host_tables<f32> tables(20, 32, 0, 5);
  auto on_q = gpu.upload(q.host), on_k = gpu.upload(k.host), rotated = gpu.upload(q.host);
  auto on_cos = gpu.upload(tables.cos), on_sin = gpu.upload(tables.sin);
  auto cu = gpu.upload(std::vector<i32>{0, 3, 6});  // token 6 belongs to none
  const rotary_options of{.cu_seqlens = numbers_view(cu, 3)};
  qk_norm_rotary(s, q.packed(on_q), k.packed(on_k),
                 {.cos = tables.view(on_cos), .sin = tables.view(on_sin), .rotary = of});
  rotary_varlen(s, q.packed(rotated), q.packed(rotated), tables.view(on_cos), tables.view(on_sin), of);
  require_same(on_q.download(), rotated.download());
}

TEST_CASE("qk_norm_rotary: bad input", "[ops][qk_norm_rotary]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(512), b = gpu.allocate<f16>(512), w = gpu.allocate<f16>(64);
  auto table = gpu.allocate<f32>(256), other = gpu.allocate<f32>(256);
  const tensor_view<f16, 4> q(a, 1, 4, 2, 64), k(b, 1, 4, 2, 64);
  const tensor_view<f16, 1> norm(w, 64);
  const tensor_view<f32, 2> cos(table, 8, 32), sin(other, 8, 32);
  const auto refused = [&](const std::string& part, const std::function<void()>& call) {
    require_refusal(errc::invalid_argument, "kaio: qk_norm_rotary: ", part, call);
  };
  const stream& s = gpu.stream();
  refused("q_norm has extent 0 of 63", [&] { qk_norm_rotary(s, q, k, {.q_norm = norm.slice(0, 0, 63)}); });
  refused("k has extent 1 of 3", [&] { qk_norm_rotary(s, q, k.slice(1, 0, 3), {.q_norm = norm}); });
  refused("k_norm has 2 dimensions", [&] { qk_norm_rotary(s, q, k, {.k_norm = cos}); });
  refused("epsilon", [&] { qk_norm_rotary(s, q, k, {.q_norm = norm, .epsilon = -1}); });
  refused("sin", [&] { qk_norm_rotary(s, q, k, {.cos = cos}); });
  refused("output q_out shares memory with argument k", [&] { qk_norm_rotary(s, q, q, {.q_norm = norm}); });
  refused("output q_out shares memory with argument k",
          [&] { qk_norm_rotary(s, q, k, k, q, {.q_norm = norm}); });
  refused("neither rotary.cu_seqlens nor rotary.positions", [&] {
    qk_norm_rotary(s, tensor_view<f16, 3>(a, 4, 2, 64), tensor_view<f16, 3>(b, 4, 2, 64),
                   {.cos = cos, .sin = sin});
  });
}

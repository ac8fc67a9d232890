// ops::attention with a bias, and with a tensor of what is kept: every shape that is broadcast, every order
// in memory, next to the other options. Nothing of a key that is not kept reaches the output.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr attention_case base{
    .batches = 2, .queries = 70, .keys = 90, .heads = 4, .key_heads = 2, .qk_size = 64, .v_size = 64};

template <class T, class Change>
void with(const Change& change) {
  attention_case c = base;
  change(c);
  check_attention<T>(c);
}

template <class T>
void shapes() {
  for (u32 rank = 1; rank <= 4; ++rank)
    with<T>([&](auto& c) { c.bias = {.rank = rank}, c.keep = {.rank = 5 - rank}; });
  for (u32 ones = 1; ones < 16; ones += 2)
    with<T>([&](auto& c) {
      c.bias = {.rank = 4, .ones = ones, .own_type = true};
      c.keep = {.rank = 4, .repeats = 15 - ones};
    });
  with<T>([](auto& c) { c.bias = {.rank = 4, .keys_first = true}; });
  with<T>([](auto& c) { c.bias = {.rank = 3, .keys_first = true, .own_type = true}; });
  with<T>([](auto& c) { c.keep = {.rank = 4, .keys_first = true}; });
  with<T>([](auto& c) { c.keep = {.rank = 2, .repeats = 8}; });
}

template <class T>
void next_to_options() {
  const auto tensors = [](attention_case& c) {
    c.bias = {.rank = 4, .ones = 1, .own_type = true};
    c.keep = {.rank = 3};
  };
  with<T>([&](auto& c) { tensors(c), c.softcap = 2, c.alibi = 2; });
  with<T>([&](auto& c) { tensors(c), c.causal = causal_alignment::bottom_right; });
  with<T>([&](auto& c) { tensors(c), c.causal = causal_alignment::top_left, c.window = {11, -1}; });
  with<T>([&](auto& c) { tensors(c), c.sinks = true, c.scale = -0.25f; });
  with<T>([&](auto& c) { tensors(c), c.scale = 0.0f, c.heads_first = true, c.pad = 3; });
  with<T>([&](auto& c) { tensors(c), c.qk_size = 136, c.v_size = 24, c.queries = 3; });
  with<T>([&](auto& c) { tensors(c), c.queries = 130, c.keys = 1; });
  with<T>([&](auto& c) { tensors(c), c.queries = 5, c.keys = 0; });
}

// Calls that differ only in a tensor's place in memory, by the chosen kernels: the kernel of one does not serve the next.
template <class T>
void layouts_in_turn() {
  attention_case c = base;
  c.batches = 1, c.queries = 128, c.keys = 300;
  std::size_t in_pairs = 0;
  const auto run = [&] {
    check_attention_by<T>(
        c, [&](const auto& q, const auto& k, const auto& v, const auto& o, const auto& options) {
          const stream& s = under_test().stream();
          in_pairs += ops::attention_choice(s, q, k, v, o, options).name.find("pair_biased") !=
                      std::string_view::npos;
          attention(s, q, k, v, o, options);
        });
  };
  const score_tensor_shape biases[] = {{.rank = 4, .own_type = true},
                                       {.rank = 4},
                                       {.rank = 3, .ones = 4, .own_type = true},
                                       {.rank = 4, .keys_first = true, .own_type = true}};
  const score_tensor_shape masks[] = {
      {.rank = 4}, {.rank = 4, .keys_first = true}, {.rank = 2}, {.rank = 2, .repeats = 8}};
  for (int turn = 0; turn < 2; ++turn) {
    c.keep = {};
    for (const score_tensor_shape& bias : biases) c.bias = bias, run();
    c.bias = {};
    for (const score_tensor_shape& keep : masks) c.keep = keep, run();
  }
  const ptx::target target = under_test().properties().target;
  if (sizeof(T) == 2 && target.sm == 90 && target.arch_specific) REQUIRE(in_pairs == 8);
}

// NaN in K and V of keys that no query keeps; the second half of the queries keeps nothing at all.
template <class T>
void masked_nan() {
  constexpr u32 queries = 40, keys = 150, masked = 7;
  tensor4<T> q(1, queries, 2, 64, false, 0), k(1, keys, 1, 64, false, 0), v = k;
  tensor4<T> o(1, queries, 2, 64, false, 0);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  std::vector<u8> kept(std::size_t{queries} * keys);
  for (u32 i = 0; i < queries; ++i)
    for (u32 j = 0; j < keys; ++j) kept[i * keys + j] = i < queries / 2 && j % 10 != masked ? 255 : 0;
  auto on_kept = upload(kept);
  auto bias = upload(std::vector<f32>(keys, 0.5f));
  const auto run = [&] {
    auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
    attention_first_fit(under_test().stream(), q.template view<const T>(on_q), k.template view<const T>(on_k),
                        v.template view<const T>(on_v), o.template view<T>(on_o),
                        {.bias = tensor_view<const f32, 1>(bias, keys),
                         .keep = tensor_view<const u8, 2>(on_kept, queries, keys)});
    return on_o.download();
  };
  const auto clean = run();
  for (u32 j = masked; j < keys; j += 10)
    for (u32 e = 0; e < 64; ++e)
      k.at(0, j, 0, e) = v.at(0, j, 0, e) = from_float<T>(
          e % 2 == 0 ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity());
  const auto planted = run();
  for (std::size_t i = 0; i < clean.size(); ++i) {
    CAPTURE(i, to_double(planted[i]), to_double(clean[i]));
    REQUIRE(std::abs(to_double(planted[i]) - to_double(clean[i])) <= 2 * unit_in_last_place<T>(1.0));
    if (i >= clean.size() / 2) REQUIRE(to_double(planted[i]) == 0);
  }
}

}  // namespace

TEST_CASE("attention: shapes of bias and keep", "[ops][attention]") {
  shapes<f16>();
  shapes<bf16>();
  shapes<f32>();
  const kernels_of few(f32_for_few_queries);
  shapes<f32>();
}
TEST_CASE("attention: a bias, and keep, in one layout after the other", "[ops][attention]") {
  layouts_in_turn<f16>();
  layouts_in_turn<bf16>();
  layouts_in_turn<f32>();
}
TEST_CASE("attention: bias and keep next to other options", "[ops][attention]") {
  next_to_options<f16>();
  next_to_options<bf16>();
  next_to_options<f32>();
  const kernels_of few(f32_for_few_queries);
  next_to_options<f32>();
}
TEST_CASE("attention: nothing of a key that is not kept reaches the output", "[ops][attention]") {
  masked_nan<f16>();
  masked_nan<bf16>();
  masked_nan<f32>();
  const kernels_of few(f32_for_few_queries);
  masked_nan<f32>();
}

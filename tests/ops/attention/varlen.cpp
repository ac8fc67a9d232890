// ops::attention_varlen: sequences of different lengths in one tensor, each as attention computes it alone.
#include "tests/ops/attention/sequences.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// `c` has the heads, sizes and options; used: whether the used lengths are passed.
template <class T>
void check_varlen(const attention_case& c, const std::vector<lengths>& sequences, bool used) {
  CAPTURE(c.text(), used);
  std::vector<i32> cu_q = {0}, cu_k = {0}, used_q, used_k;
  u32 longest = 0;
  for (const lengths& one : sequences) {
    cu_q.push_back(cu_q.back() + static_cast<i32>(one.queries));
    cu_k.push_back(cu_k.back() + static_cast<i32>(one.keys));
    used_q.push_back(static_cast<i32>(one.used_queries));
    used_k.push_back(static_cast<i32>(one.used_keys));
    longest = std::max(longest, one.queries);
  }
  const u32 rows_q = static_cast<u32>(cu_q.back()), rows_k = static_cast<u32>(cu_k.back());
  tensor4<T> q(1, rows_q, c.heads, c.qk_size, c.heads_first, c.pad),
      k(1, rows_k, c.key_heads, c.qk_size, c.heads_first, c.pad);
  tensor4<T> v(1, rows_k, c.key_heads, c.v_size, c.heads_first, c.pad),
      o(1, rows_q, c.heads, c.v_size, c.heads_first, c.pad);
  q.fill(1, 1);
  k.fill(2, 1);
  v.fill(3, 1);
  // Rows that no sequence uses may hold anything.
  if (used)
    for (std::size_t i = 0; i < sequences.size(); ++i)
      for (u32 j = sequences[i].used_keys; j < sequences[i].keys; ++j)
        for (u32 h = 0; h < c.key_heads; ++h)
          for (u32 e = 0; e < c.v_size; ++e)
            v.at(0, static_cast<u32>(cu_k[i]) + j, h, e) =
                from_float<T>(std::numeric_limits<float>::quiet_NaN());
  auto on_q = upload(q.host), on_k = upload(k.host), on_v = upload(v.host), on_o = upload(o.host);
  auto on_cu_q = upload(cu_q), on_cu_k = upload(cu_k), on_used_q = upload(used_q), on_used_k = upload(used_k);
  const std::vector<f32> untouched(std::size_t{c.heads} * rows_q, -12345.0f);
  auto on_lse = upload(untouched);
  const auto view = [&]<class U>(U*, const tensor4<T>& x, buffer<T>& memory) {
    return tensor_view<U, 3>(memory, extents(x.rows, x.heads, x.size), strides(x.row, x.head, 1));
  };
  const auto count = static_cast<i64>(sequences.size());
  ops::attention_sequences where{.cu_q = tensor_view<const i32, 1>(on_cu_q, count + 1),
                                 .cu_k = tensor_view<const i32, 1>(on_cu_k, count + 1),
                                 .max_q = longest};
  if (used) {
    where.used_q = tensor_view<const i32, 1>(on_used_q, count);
    where.used_k = tensor_view<const i32, 1>(on_used_k, count);
  }
  attention_varlen_first_fit(under_test().stream(), view(static_cast<const T*>(nullptr), q, on_q),
                             view(static_cast<const T*>(nullptr), k, on_k),
                             view(static_cast<const T*>(nullptr), v, on_v),
                             view(static_cast<T*>(nullptr), o, on_o), where,
                             {.causal = c.causal,
                              .window = c.window,
                              .softcap = c.softcap,
                              .lse = tensor_view<f32, 2>(on_lse, c.heads, rows_q)});
  tensor4<T> got = o;
  const auto downloaded = on_o.download();
  std::copy(downloaded.begin(), downloaded.begin() + static_cast<std::ptrdiff_t>(got.host.size()),
            got.host.begin());
  const std::vector<f32> lse = on_lse.download();
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    CAPTURE(i);
    attention_case one = c;
    one.heads_first = false;
    one.pad = 0;
    one.queries = used ? sequences[i].used_queries : sequences[i].queries;
    one.keys = used ? sequences[i].used_keys : sequences[i].keys;
    const u32 first_q = static_cast<u32>(cu_q[i]), first_k = static_cast<u32>(cu_k[i]);
    const attention_reference<T> want(one, rows_of(q, first_q, one.queries), rows_of(k, first_k, one.keys),
                                      rows_of(v, first_k, one.keys));
    const tensor4<T> result = rows_of(got, first_q, one.queries);
    compare_attention(one, result, result, want);
    std::vector<f32> of_sequence;
    for (u32 h = 0; h < c.heads; ++h)
      for (u32 r = 0; r < one.queries; ++r) of_sequence.push_back(lse[std::size_t{h} * rows_q + first_q + r]);
    compare_lse(of_sequence, want.lse);
    for (u32 r = one.queries; r < sequences[i].queries; ++r)  // rows that are not used are left as they were
      for (u32 h = 0; h < c.heads; ++h) {
        REQUIRE(lse[std::size_t{h} * rows_q + first_q + r] == -12345.0f);
        REQUIRE(std::isnan(to_double(got.at(0, first_q + r, h, 0))));
      }
  }
}

template <class T>
void check_lengths() {
  if (!has_attention<T>()) return;
  const std::vector<lengths> some = {{70, 90, 60, 80}, {0, 10, 0, 10},   {1, 200, 1, 3},
                                     {130, 0, 130, 0}, {64, 64, 64, 64}, {33, 5, 10, 5}};
  const attention_case base{.heads = 4, .key_heads = 2};
  for (const bool used : {false, true}) {
    attention_case c = base;
    check_varlen<T>(c, some, used);
    c.causal = causal_alignment::bottom_right;
    check_varlen<T>(c, some, used);
    c.causal = causal_alignment::top_left;
    c.window = {20, -1};
    c.softcap = 3;
    c.heads_first = true;
    check_varlen<T>(c, some, used);
    c = base;
    c.qk_size = 40;
    c.pad = 3;
    c.window = {5, 7};
    check_varlen<T>(c, some, used);
  }
}

}  // namespace

TEST_CASE("attention_varlen: lengths of many kinds", "[ops][attention]") {
  check_lengths<f16>();
  check_lengths<bf16>();
  check_lengths<f32>();
}

TEST_CASE("attention_varlen: bad lengths", "[ops][attention]") {
  device& gpu = under_test();
  auto memory = gpu.allocate<f16>(std::size_t{32} * 64), result = gpu.allocate<f16>(std::size_t{32} * 64);
  auto numbers = gpu.upload(std::vector<i32>(64, 0));
  const tensor_view<const f16, 3> x(memory, 32, 1, 64);
  const tensor_view<f16, 3> o(result, 32, 1, 64);
  const tensor_view<const i32, 1> four(numbers, 4), three(numbers, 3), none(numbers, 0);
  const tensor_view<const i32, 1> apart(numbers, extents(4), strides(2));
  const auto refuses = [&](const std::string& part, const ops::attention_sequences& where,
                           const attention_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: attention_varlen", part,
                    [&] { attention_varlen(gpu.stream(), x, x, x, o, where, options); });
  };
  refuses("is not given", {.cu_q = four});
  refuses("argument cu_k", {.cu_q = four, .cu_k = three, .max_q = 8});
  refuses("argument cu_q is empty", {.cu_q = none, .cu_k = none, .max_q = 8});
  refuses("argument used_k", {.cu_q = four, .cu_k = four, .max_q = 8, .used_k = four});
  refuses("argument cu_q has gaps", {.cu_q = apart, .cu_k = four, .max_q = 8});
  refuses("max_q is -1", {.cu_q = four, .cu_k = four, .max_q = -1});
  refuses("max_q is 0, and argument q has 32 rows", {.cu_q = four, .cu_k = four});
  auto lse = gpu.allocate<f32>(64);
  auto bytes = gpu.allocate<u8>(64);
  refuses("argument bias has no meaning", {.cu_q = four, .cu_k = four, .max_q = 8},
          {.bias = tensor_view<const f32, 1>(lse, 32)});
  refuses("argument keep has no meaning", {.cu_q = four, .cu_k = four, .max_q = 8},
          {.keep = tensor_view<const u8, 1>(bytes, 32)});
  refuses("argument lse", {.cu_q = four, .cu_k = four, .max_q = 8},
          {.lse = tensor_view<f32, 3>(lse, 1, 1, 32)});
}

TEST_CASE("attention_varlen: kernels are named, listed and loaded ahead", "[ops][attention]") {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  auto memory = gpu.allocate<f16>(std::size_t{32} * 64);
  const std::vector<f16> before(std::size_t{32} * 64, f16(3.0f));
  auto result = gpu.upload(before);
  auto numbers = gpu.upload(std::vector<i32>{0, 10, 32});
  const tensor_view<const f16, 3> x(memory, 32, 1, 64);
  const tensor_view<f16, 3> o(result, 32, 1, 64);
  const tensor_view<const i32, 1> cu(numbers, 3);
  const ops::attention_sequences where{.cu_q = cu, .cu_k = cu, .max_q = 22},
      forgotten{.cu_q = cu, .cu_k = cu};
  const auto variants = ops::attention_varlen_variants(s, x, x, x, o, where);
  REQUIRE(!variants.empty());
  REQUIRE(variants[0].refusal.empty());
  REQUIRE(variants[0].seconds > 0);
  for (const auto& variant : variants) {
    if (!variant.refusal.empty()) continue;
    const attention_options forced{.variant = variant.name};
    REQUIRE(ops::attention_varlen_choice(s, x, x, x, o, where, forced).name == variant.name);
    attention_varlen_warmup(gpu, x, x, x, o, where, forced);
  }
  REQUIRE(ops::attention_varlen_choice(s, x, x, x, o, where).name == variants[0].name);
  attention_varlen_warmup(gpu, x, x, x, o, where);
  s.synchronize();
  REQUIRE(same_bits(result.download(), before));
  const auto refuses = [&](const std::string& operation, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: " + operation + ": ",
                    "max_q is 0, and argument q has 32 rows", f);
  };
  refuses("attention_varlen_warmup", [&] { attention_varlen_warmup(gpu, x, x, x, o, forgotten); });
  refuses("attention_varlen_choice", [&] { ops::attention_varlen_choice(s, x, x, x, o, forgotten).name; });
  refuses("attention_varlen_variants", [&] { ops::attention_varlen_variants(s, x, x, x, o, forgotten); });
}

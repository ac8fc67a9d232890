// A sequence gives the same bits alone, in a batch, and packed with others, whatever their number and lengths:
// in every family of kernels, with each option that depends on the place of a score.
#include "tests/ops/attention/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 rows_q = 75, rows_k = 140, heads = 4, key_heads = 2;

template <class T>
struct sequence {
  tensor4<T> q, k, v;
  sequence(u32 size, std::uint64_t seed, u32 queries, u32 keys)
      : q(1, queries, heads, size, false, 0),
        k(1, keys, key_heads, size, false, 0),
        v(1, keys, key_heads, size, false, 0) {
    q.fill(seed, 1);
    k.fill(seed + 1, 1);
    v.fill(seed + 2, 1);
  }
};

// Results of a sequence: out, then lse.
template <class O>
struct results {
  std::vector<O> out;
  std::vector<f32> lse;  // [head][query]
  bool operator==(const results& other) const {
    return same_bits(out, other.out) && same_bits(lse, other.lse);
  }
};

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The sequences as batches of tensors; all of one length.
template <class T, class O>
results<O> in_a_batch(const std::vector<const sequence<T>*>& sequences, std::size_t which,
                      attention_options options) {
  std::vector<T> q, k, v;
  for (const auto* s : sequences) append(q, s->q.host), append(k, s->k.host), append(v, s->v.host);
  const auto batches = static_cast<u32>(sequences.size());
  const u32 size = sequences[0]->q.size;
  const std::size_t elements = std::size_t{rows_q} * heads * size, numbers = std::size_t{heads} * rows_q;
  auto on_q = upload(q), on_k = upload(k), on_v = upload(v);
  auto on_o = upload(std::vector<O>(elements * batches));
  auto on_lse = upload(std::vector<f32>(numbers * batches));
  options.lse = tensor_view<f32, 3>(on_lse, batches, heads, rows_q);
  attention(under_test().stream(), tensor_view<const T, 4>(on_q, batches, rows_q, heads, size),
            tensor_view<const T, 4>(on_k, batches, rows_k, key_heads, size),
            tensor_view<const T, 4>(on_v, batches, rows_k, key_heads, size),
            tensor_view<O, 4>(on_o, batches, rows_q, heads, size), options);
  const auto o = on_o.download();
  const auto lse = on_lse.download();
  const auto from = [&](const auto& all, std::size_t count) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(which * count);
    return std::vector(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  return {from(o, elements), from(lse, numbers)};
}

// The sequences one after the other along the rows.
template <class T, class O>
results<O> packed(const std::vector<const sequence<T>*>& sequences, std::size_t which,
                  attention_options options) {
  std::vector<T> q, k, v;
  std::vector<i32> cu_q{0}, cu_k{0};
  u32 longest = 0;
  for (const auto* s : sequences) {
    append(q, s->q.host), append(k, s->k.host), append(v, s->v.host);
    cu_q.push_back(cu_q.back() + static_cast<i32>(s->q.rows));
    cu_k.push_back(cu_k.back() + static_cast<i32>(s->k.rows));
    longest = std::max(longest, s->q.rows);
  }
  const u32 size = sequences[0]->q.size;
  const auto all_q = static_cast<u32>(cu_q.back()), all_k = static_cast<u32>(cu_k.back());
  auto on_q = upload(q), on_k = upload(k), on_v = upload(v);
  auto on_o = upload(std::vector<O>(std::size_t{all_q} * heads * size));
  auto on_lse = upload(std::vector<f32>(std::size_t{heads} * all_q));
  auto on_cu_q = upload(cu_q), on_cu_k = upload(cu_k);
  options.lse = tensor_view<f32, 2>(on_lse, heads, all_q);
  attention_varlen(under_test().stream(), tensor_view<const T, 3>(on_q, all_q, heads, size),
                   tensor_view<const T, 3>(on_k, all_k, key_heads, size),
                   tensor_view<const T, 3>(on_v, all_k, key_heads, size),
                   tensor_view<O, 3>(on_o, all_q, heads, size),
                   {.cu_q = tensor_view<const i32, 1>(on_cu_q, cu_q.size()),
                    .cu_k = tensor_view<const i32, 1>(on_cu_k, cu_k.size()),
                    .max_q = longest},
                   options);
  const auto o = on_o.download();
  const auto lse = on_lse.download();
  const auto first = static_cast<u32>(cu_q[which]);
  results<O> found;
  for (std::size_t i = 0; i < std::size_t{rows_q} * heads * size; ++i)
    found.out.push_back(o[std::size_t{first} * heads * size + i]);
  for (u32 h = 0; h < heads; ++h)
    for (u32 r = 0; r < rows_q; ++r) found.lse.push_back(lse[std::size_t{h} * all_q + first + r]);
  return found;
}

// If O is T, the kernels of the device's best family run; if not, those of mma.sync.
template <class T, class O = T>
void check(u32 size) {
  CAPTURE(size);
  const sequence<T> one(size, 1, rows_q, rows_k), two(size, 11, rows_q, rows_k),
      three(size, 21, rows_q, rows_k);
  const sequence<T> longer(size, 31, 200, 150), shorter(size, 41, 3, 9), empty(size, 51, 20, 0);
  auto slopes = upload(std::vector<f32>{0.5f, 0.25f, 0.125f, 0.0625f});
  const tensor_view<const f32, 1> alibi(slopes, heads);
  const attention_options plain{.batch_invariant = true};
  const attention_options all{.causal = causal_alignment::bottom_right,
                              .window = {100, 0},
                              .softcap = 3,
                              .alibi = alibi,
                              .batch_invariant = true};
  for (const attention_options& options : {plain, all}) {
    if (size != 64 && !options.alibi.view.exists()) continue;
    const results<O> alone = in_a_batch<T, O>({&one}, 0, options);
    // The result depends on the sequence: the comparison below is not one of zeros.
    REQUIRE_FALSE(alone == in_a_batch<T, O>({&two}, 0, options));
    REQUIRE(alone == in_a_batch<T, O>({&two, &one, &three}, 1, options));
    REQUIRE(alone == packed<T, O>({&one}, 0, options));
    REQUIRE(alone == packed<T, O>({&empty, &shorter, &longer, &one}, 3, options));
  }
}

}  // namespace

TEST_CASE("attention: batch invariance, f16 and bf16", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 256u}) check<f16>(size);
  check<bf16>(64);
}
TEST_CASE("attention: batch invariance, mma.sync", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 256u}) check<f16, f32>(size);
  check<f16>(20);  // rows that do not begin at multiples of 16 bytes
}
TEST_CASE("attention: batch invariance, f32", "[ops][attention]") {
  for (const u32 size : {64u, 128u, 256u}) check<f32>(size);
}

// A packed sequence takes no kernel by its length, which only the device knows.
TEST_CASE("attention: a batch-invariant call takes the kernel of packed sequences", "[ops][attention]") {
  const stream& s = under_test().stream();
  if (!under_test().properties().target.arch_specific) return;
  const u32 rows = 8192, heads = 8, size = 128;
  auto memory = under_test().allocate<f16>(u64{rows} * heads * size),
       o = under_test().allocate<f16>(u64{rows} * heads * size);
  const tensor_view<const f16, 4> x(memory, 1, rows, heads, size);
  const tensor_view<f16, 4> out(o, 1, rows, heads, size);
  const auto choice = [&](const attention_options& options) {
    return std::string(ops::attention_choice(s, x, x, x, out, options).name);
  };
  const tensor_view<const f16, 4> few(memory, 1, 64, 1, size);
  const tensor_view<f16, 4> few_out(o, 1, 64, 1, size);
  const attention_options invariant{.batch_invariant = true};
  REQUIRE(choice({}) != std::string(ops::attention_choice(s, few, few, few, few_out).name));
  REQUIRE(choice({}) != choice(invariant));
  REQUIRE(choice(invariant) == std::string(ops::attention_choice(s, few, few, few, few_out, invariant).name));
}

// A small language model that generates: two layers with random weights, rotary positions, grouped heads, a cache in
// shuffled pages; prompts of different lengths, then a token a step for all sequences. Nothing of a step depends
// on the host. Every step's logits are compared with double precision over the whole sequence.
#include <kaio/ops/append_kv.hpp>
#include <kaio/ops/attention_decode.hpp>
#include <kaio/ops/matmul.hpp>
#include <kaio/ops/rotary.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/ops/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

constexpr u32 layers = 2, hidden = 64, heads = 4, key_heads = 2, size = 16, inner = 128, vocabulary = 48;
constexpr u32 page = 3, pages_of_one = 8, sequences = 2;
constexpr f32 epsilon = 1e-5f;

// x[row] = embedding[token[row]]
constexpr auto embed =
    kernel<"generation_embed", 32>([](thread t, in<i32> tokens, in<f16> embedding, out<f16> x) {
      const val row = t.let(block_idx_x());
      const val token = t.let(cast<u32>(tokens[row]));
      for (auto i : t.block_stride(hidden)) x[row * hidden + i] = embedding[token * hidden + i];
    });
// y = x / rms(x), of each row
constexpr auto rms_norm = kernel<"generation_rms_norm", 32>([](thread t, in<f16> x, out<f16> y) {
  const val row = t.let(block_idx_x());
  var squares(t, 0.0f);
  for (auto i : t.block_stride(hidden)) {
    const val e = t.let(cast<f32>(x[row * hidden + i]));
    squares += e * e;
  }
  const val scale = t.let(rsqrt(block_reduce(t, squares, plus{}) / static_cast<f32>(hidden) + epsilon));
  for (auto i : t.block_stride(hidden))
    y[row * hidden + i] = cast<f16>(cast<f32>(x[row * hidden + i]) * scale);
});
// after = before + count, of each sequence
constexpr auto advance =
    kernel<"generation_advance", 1>([](thread t, in<i32> before, out<i32> after, val<i32> count) {
      const val b = t.let(block_idx_x());
      after[b] = before[b] + count;
    });
// The token with the largest logit, of each row.
constexpr auto choose = kernel<"generation_choose", 1>([](thread t, in<f32> logits, out<i32> tokens) {
  const val row = t.let(block_idx_x());
  var best(t, logits[row * vocabulary]);
  var token(t, 0);
  for (auto i : t.range(1u, vocabulary)) {
    const val x = t.let(logits[row * vocabulary + i]);
    if (auto larger = t.when(x > best)) {
      best = x;
      token = cast<i32>(i);
    }
  }
  tokens[row] = token;
});

// (out, in), of a deviation that keeps the scale of what it multiplies
struct weight {
  u32 rows, columns;
  std::vector<f16> host;
  buffer<f16> memory;

  weight(u32 out, u32 in, u32 seed) : rows(out), columns(in), host(std::size_t{out} * in) {
    std::mt19937 engine(seed);
    std::normal_distribution<f32> normal(0.0f, 1 / std::sqrt(static_cast<f32>(in)));
    for (f16& e : host) e = f16(normal(engine));
    memory = upload(host);
  }
  tensor_view<const f16, 2> transposed() const {
    return tensor_view<const f16, 2>(memory, rows, columns).transposed();
  }
  std::vector<double> times(const std::vector<double>& x) const {
    std::vector<double> y(rows, 0.0);
    for (u32 r = 0; r < rows; ++r)
      for (u32 c = 0; c < columns; ++c) y[r] += to_double(host[std::size_t{r} * columns + c]) * x[c];
    return y;
  }
};

struct layer {
  weight q, k, v, o, up, down;
  explicit layer(u32 seed)
      : q(heads * size, hidden, seed),
        k(key_heads * size, hidden, seed + 1),
        v(key_heads * size, hidden, seed + 2),
        o(hidden, heads * size, seed + 3),
        up(inner, hidden, seed + 4),
        down(hidden, inner, seed + 5) {}
};

struct model {
  weight embedding{vocabulary, hidden, 1};
  std::array<layer, layers> of{layer(10), layer(20)};
};

// ---- Double precision: the logits after the last of some tokens

std::vector<double> normed(const std::vector<double>& x) {
  double squares = 0;
  for (const double e : x) squares += e * e;
  std::vector<double> y = x;
  for (double& e : y) e /= std::sqrt(squares / hidden + double{epsilon});
  return y;
}

void rotate(std::vector<double>& x, std::size_t position) {
  for (std::size_t first = 0; first < x.size(); first += size)
    for (u32 i = 0; i < size / 2; ++i) {
      const double angle = static_cast<double>(position) * std::pow(10000.0, -2.0 * i / size);
      double &a = x[first + i], &b = x[first + size / 2 + i];
      const double turned = a * std::cos(angle) - b * std::sin(angle);
      b = b * std::cos(angle) + a * std::sin(angle);
      a = turned;
    }
}

std::vector<double> exact_logits(const model& m, const std::vector<i32>& tokens) {
  std::array<std::vector<std::vector<double>>, layers> keys, values;
  std::vector<double> x;
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    x.clear();
    for (u32 i = 0; i < hidden; ++i)
      x.push_back(to_double(m.embedding.host[static_cast<std::size_t>(tokens[n]) * hidden + i]));
    for (u32 l = 0; l < layers; ++l) {
      const std::vector<double> h = normed(x);
      std::vector<double> q = m.of[l].q.times(h), k = m.of[l].k.times(h);
      rotate(q, n);
      rotate(k, n);
      keys[l].push_back(k);
      values[l].push_back(m.of[l].v.times(h));
      std::vector<double> o(heads * size, 0.0);
      for (u32 a = 0; a < heads; ++a) {
        const std::size_t own = std::size_t{a} * size, group = std::size_t{a / (heads / key_heads)} * size;
        double total = 0;
        for (std::size_t j = 0; j <= n; ++j) {
          double dot = 0;
          for (u32 i = 0; i < size; ++i) dot += q[own + i] * keys[l][j][group + i];
          const double share = std::exp(dot / std::sqrt(double{size}));
          total += share;
          for (u32 i = 0; i < size; ++i) o[own + i] += share * values[l][j][group + i];
        }
        for (u32 i = 0; i < size; ++i) o[own + i] /= total;
      }
      const std::vector<double> attended = m.of[l].o.times(o);
      for (u32 i = 0; i < hidden; ++i) x[i] += attended[i];
      std::vector<double> wide = m.of[l].up.times(normed(x));
      for (double& e : wide) e = std::max(e, 0.0);
      const std::vector<double> narrow = m.of[l].down.times(wide);
      for (u32 i = 0; i < hidden; ++i) x[i] += narrow[i];
    }
  }
  return m.embedding.times(normed(x));
}

// ---- The same on the device

class generator {
 public:
  explicit generator(const model& m) : m_(m), s_(under_test().stream()) {
    std::vector<i32> table(sequences * pages_of_one);
    std::iota(table.begin(), table.end(), 0);
    std::shuffle(table.begin(), table.end(), std::mt19937(3));
    table_ = upload(table);
    for (u32 l = 0; l < layers; ++l)
      for (buffer<f16>* const one : {&k_[l], &v_[l]})
        *one = upload(std::vector<f16>(std::size_t{sequences} * pages_of_one * page * key_heads * size,
                                       f16(std::numeric_limits<f32>::quiet_NaN())));
    cos_ = upload(std::vector<f32>(32 * size / 2));
    sin_ = upload(std::vector<f32>(32 * size / 2));
    rotary_table(s_, table_view(cos_), table_view(sin_));
    before_ = upload(std::vector<i32>(sequences, 0));
    after_ = upload(std::vector<i32>(sequences, 0));
  }

  // `count` tokens of each of some sequences into the cache; logits (sequences, vocabulary) after the last ones.
  void run(u32 first, u32 batches, u32 count, const buffer<i32>& tokens, buffer<f32>& logits) {
    const u32 rows = batches * count;
    const auto matrix = [&](buffer<f16>& x, u32 columns) { return tensor_view<f16, 2>(x, rows, columns); };
    const auto split = [&](buffer<f16>& x, u32 of) {
      return tensor_view<f16, 4>(x, batches, count, of, size);
    };
    const auto memory = [&](u32 columns) { return under_test().allocate<f16>(std::size_t{rows} * columns); };
    auto x = memory(hidden), h = memory(hidden), q = memory(heads * size), k = memory(key_heads * size),
         v = memory(key_heads * size), o = memory(heads * size), wide = memory(inner);
    const auto numbers = [&](const buffer<i32>& of) {
      return tensor_view<const i32, 1>(of, sequences).slice(0, first, batches);
    };
    embed.launch(s_, grid(rows), tokens, m_.embedding.memory, x);
    advance.launch(s_, grid(sequences), before_, after_, static_cast<i32>(count));
    for (u32 l = 0; l < layers; ++l) {
      const layer& of = m_.of[l];
      rms_norm.launch(s_, grid(rows), x, h);
      matmul(s_, matrix(h, hidden), of.q.transposed(), matrix(q, heads * size));
      matmul(s_, matrix(h, hidden), of.k.transposed(), matrix(k, key_heads * size));
      matmul(s_, matrix(h, hidden), of.v.transposed(), matrix(v, key_heads * size));
      const extents places(sequences * pages_of_one, page, key_heads, size);
      kv_cache<f16> cache{.k = tensor_view<f16, 4>(k_[l], places), .v = tensor_view<f16, 4>(v_[l], places)};
      cache.table = tensor_view<const i32, 2>(table_, sequences, pages_of_one).slice(0, first, batches);
      cache.lengths = numbers(before_);
      append_kv(
          s_, split(k, key_heads), split(v, key_heads), cache,
          {.rotary = {
               .cos = table_view(cos_), .sin = table_view(sin_), .q = {split(q, heads), split(q, heads)}}});
      cache.lengths = numbers(after_);
      attention_decode_options options{.causal = causal_alignment::bottom_right};
      const kv_cache<const f16> read = cache;
      const auto bytes = attention_decode_workspace_bytes(s_, split(q, heads), read, options);
      const auto workspace = under_test().allocate<u8>(std::max<u64>(bytes, 16));
      options.workspace = workspace;
      attention_decode(s_, split(q, heads), read, split(o, heads), options);
      matmul(s_, matrix(o, heads * size), of.o.transposed(), matrix(x, hidden),
             {.residual = matrix(x, hidden)});
      rms_norm.launch(s_, grid(rows), x, h);
      matmul(s_, matrix(h, hidden), of.up.transposed(), matrix(wide, inner),
             {.activation = matmul_activation::relu});
      matmul(s_, matrix(wide, inner), of.down.transposed(), matrix(x, hidden),
             {.residual = matrix(x, hidden)});
    }
    rms_norm.launch(s_, grid(rows), x, h);
    const auto last =
        tensor_view<const f16, 2>(h, batches, count * hidden).slice(1, i64{count - 1} * hidden, hidden);
    matmul(s_, last, m_.embedding.transposed(), tensor_view<f32, 2>(logits, batches, vocabulary));
    s_.synchronize();
    // The lengths of the other sequences stay what they are.
    const auto now = after_.download();
    auto lengths = before_.download();
    std::copy_n(now.begin() + first, batches, lengths.begin() + first);
    before_ = upload(lengths);
  }

 private:
  static tensor_view<f32, 2> table_view(buffer<f32>& memory) {
    return tensor_view<f32, 2>(memory, 32, size / 2);
  }
  const model& m_;
  const stream& s_;
  buffer<i32> table_, before_, after_;
  std::array<buffer<f16>, layers> k_, v_;
  buffer<f32> cos_, sin_;
};

void compare(const model& m, const std::vector<i32>& tokens, const f32* logits) {
  const std::vector<double> exact = exact_logits(m, tokens);
  double worst = 0, largest = 0;
  for (u32 i = 0; i < vocabulary; ++i) {
    worst = std::max(worst, std::abs(double{logits[i]} - exact[i]));
    largest = std::max(largest, std::abs(exact[i]));
  }
  CAPTURE(tokens.size(), worst, largest);
  REQUIRE(worst < 0.01 * largest);
}

}  // namespace

TEST_CASE("attention_decode: a small model generates", "[ops][attention_decode]") {
  const model m;
  generator g(m);
  std::array<std::vector<i32>, sequences> tokens{std::vector<i32>{7, 11, 3, 42, 5, 19, 23},
                                                 std::vector<i32>{1, 30}};
  std::vector<f32> logits(sequences * vocabulary);
  for (u32 b = 0; b < sequences; ++b) {  // the prompts
    auto of_one = under_test().allocate<f32>(vocabulary);
    g.run(b, 1, static_cast<u32>(tokens[b].size()), upload(tokens[b]), of_one);
    const auto got = of_one.download();
    compare(m, tokens[b], got.data());
    std::copy(got.begin(), got.end(), logits.begin() + b * vocabulary);
  }
  auto on_logits = upload(logits);
  auto chosen = upload(std::vector<i32>(sequences, 0));
  for (u32 step = 0; step < 12; ++step) {
    choose.launch(under_test().stream(), grid(sequences), on_logits, chosen);
    const auto next = chosen.download();
    for (u32 b = 0; b < sequences; ++b) tokens[b].push_back(next[b]);
    g.run(0, sequences, 1, chosen, on_logits);
    const auto got = on_logits.download();
    for (u32 b = 0; b < sequences; ++b) compare(m, tokens[b], got.data() + b * vocabulary);
  }
}

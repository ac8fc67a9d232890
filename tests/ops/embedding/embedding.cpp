// embedding bit for bit, and its gradient against sums in f32 in the order of tokens: random extents and strides,
// indices outside of the vocabulary, rows with many tokens, padding, accumulation.
#include "tests/ops/reduce/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/embedding.hpp>

#include <algorithm>
#include <limits>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct embedding_case {
  std::array<i64, 2> tokens{3, 7};
  i64 vocabulary = 20, size = 64;
  i64 pad = 0;           // elements after each row
  bool swapped = false;  // tokens in memory by columns
  bool outside = false;  // some indices are none
  i64 hot = -1;          // an index of most tokens
};

template <class Index>
strided_tensor<Index, 2> indices_of(const embedding_case& c, std::mt19937_64& engine) {
  const std::array<std::size_t, 2> order =
      c.swapped ? std::array<std::size_t, 2>{1, 0} : std::array<std::size_t, 2>{0, 1};
  strided_tensor<Index, 2> result(c.tokens, order, c.swapped ? 1 : 0, 0x77);
  std::uniform_int_distribution<i64> any(0, c.vocabulary - 1);
  result.each([&](const auto& i) {
    i64 index = c.hot >= 0 && engine() % 8 != 0 ? c.hot : any(engine);
    if (c.outside && engine() % 5 == 0) index = engine() % 2 == 0 ? -1 : c.vocabulary;
    result.host[result.at(i)] = static_cast<Index>(index);
  });
  return result;
}
template <class T>
strided_tensor<T, 3> rows_of(const embedding_case& c) {
  const std::array<std::size_t, 3> order =
      c.swapped ? std::array<std::size_t, 3>{1, 0, 2} : std::array<std::size_t, 3>{0, 1, 2};
  return strided_tensor<T, 3>({c.tokens[0], c.tokens[1], c.size}, order, c.pad, 0x5a);
}
template <class T>
strided_tensor<T, 2> weight_of(const embedding_case& c, std::mt19937_64& engine) {
  strided_tensor<T, 2> result({c.vocabulary, c.size}, {0, 1}, c.pad, 0x5a);
  result.each([&](const auto& i) { result.host[result.at(i)] = any_number<T>(engine); });
  return result;
}

template <class T, class Index>
void check_lookup(const embedding_case& c, std::uint64_t seed) {
  CAPTURE(c.tokens, c.vocabulary, c.size, c.pad, c.swapped, c.outside, seed);
  std::mt19937_64 engine(seed);
  const auto indices = indices_of<Index>(c, engine);
  const auto weight = weight_of<T>(c, engine);
  auto want = rows_of<T>(c);
  auto on_out = under_test().upload(want.host);
  auto on_weight = under_test().upload(weight.host);
  auto on_indices = under_test().upload(indices.host);
  auto on_errors = under_test().upload(std::vector<u32>{5});
  embedding(under_test().stream(), indices.template view<const Index>(on_indices),
            weight.template view<const T>(on_weight), want.view(on_out),
            {.errors = tensor_view<u32, 1>(on_errors, 1)});
  u32 errors = 5;
  indices.each([&](const auto& i) {
    const i64 index = indices.host[indices.at(i)];
    const bool known = index >= 0 && index < c.vocabulary;
    errors += known ? 0 : 1;
    for (i64 e = 0; e < c.size; ++e)
      want.host[want.at({i[0], i[1], e})] = known ? weight.host[weight.at({index, e})] : T(0);
  });
  const auto got = on_out.download();
  REQUIRE(std::memcmp(got.data(), want.host.data(), got.size() * sizeof(T)) == 0);
  REQUIRE(on_errors.download()[0] == errors);
}

template <class T, class Out, class Index>
void check_gradient(const embedding_case& c, bool accumulate, i64 padding, std::uint64_t seed) {
  CAPTURE(c.tokens, c.vocabulary, c.size, c.pad, c.swapped, c.outside, c.hot, accumulate, padding, seed);
  std::mt19937_64 engine(seed);
  const auto indices = indices_of<Index>(c, engine);
  auto dout = rows_of<T>(c);
  dout.each([&](const auto& i) { dout.host[dout.at(i)] = any_number<T>(engine); });
  auto want = weight_of<Out>(c, engine);
  auto on_dout = under_test().upload(dout.host);
  auto on_indices = under_test().upload(indices.host);
  auto on_dweight = under_test().upload(want.host);
  const auto index_view = indices.template view<const Index>(on_indices);
  auto workspace = under_test().allocate<u32>(
      embedding_backward_workspace_bytes(index_view, want.view(on_dweight)) / 4 + 1);
  embedding_backward(under_test().stream(), dout.template view<const T>(on_dout), index_view,
                     want.view(on_dweight),
                     {.padding_index = padding, .accumulate = accumulate, .workspace = workspace});
  std::vector<float> sums(static_cast<std::size_t>(c.vocabulary * c.size));
  std::vector<bool> has(static_cast<std::size_t>(c.vocabulary));
  indices.each([&](const auto& i) {
    const i64 index = indices.host[indices.at(i)];
    if (index < 0 || index >= c.vocabulary || index == padding) return;
    has[static_cast<std::size_t>(index)] = true;
    for (i64 e = 0; e < c.size; ++e)
      sums[static_cast<std::size_t>(index * c.size + e)] +=
          static_cast<float>(dout.host[dout.at({i[0], i[1], e})]);
  });
  want.each([&](const auto& i) {
    Out& one = want.host[want.at(i)];
    const float sum = sums[static_cast<std::size_t>(i[0] * c.size + i[1])];
    if (!accumulate)
      one = from_float<Out>(sum);
    else if (has[static_cast<std::size_t>(i[0])])
      one = from_float<Out>(sum + static_cast<float>(one));
  });
  const auto got = on_dweight.download();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    wrong += to_double(got[i]) == to_double(want.host[i]) ? 0u : 1u;
  REQUIRE(wrong == 0);
}

embedding_case random_case(std::mt19937_64& engine) {
  const auto below = [&](i64 n) { return std::uniform_int_distribution<i64>(0, n - 1)(engine); };
  return {.tokens = {below(12) == 0 ? 0 : 1 + below(9), 1 + below(40)},
          .vocabulary = 1 + below(60),
          .size = below(2) == 0 ? 8 * (1 + below(20)) : 1 + below(100),
          .pad = below(3) == 0 ? below(9) : 0,
          .swapped = below(2) == 0,
          .outside = below(2) == 0};
}

}  // namespace

TEST_CASE("embedding: random extents and strides", "[ops][embedding]") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 8; ++i) {
    check_lookup<f32, i32>(random_case(engine), engine());
    check_lookup<f16, i64>(random_case(engine), engine());
    check_lookup<bf16, i32>(random_case(engine), engine());
  }
}

TEST_CASE("embedding_backward: random extents and strides", "[ops][embedding]") {
  const std::uint64_t seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937_64 engine(seed);
  for (int i = 0; i < 6; ++i) {
    const bool accumulate = engine() % 2 == 0;
    const i64 padding = engine() % 2 == 0 ? -1 : 3;
    check_gradient<f32, f32, i32>(random_case(engine), accumulate, padding, engine());
    check_gradient<f16, f16, i64>(random_case(engine), accumulate, padding, engine());
    check_gradient<bf16, f32, i32>(random_case(engine), accumulate, padding, engine());
    check_gradient<bf16, bf16, i32>(random_case(engine), accumulate, padding, engine());
  }
}

TEST_CASE("embedding_backward: rows of many tokens, rows of several blocks, large vocabularies",
          "[ops][embedding]") {
  check_gradient<f32, f32, i32>({.tokens = {1, 3000}, .vocabulary = 5, .size = 16, .hot = 2}, false, -1, 1);
  check_gradient<bf16, f32, i64>({.tokens = {2, 2500}, .vocabulary = 3, .size = 9, .swapped = true, .hot = 1},
                                 true, -1, 2);
  check_gradient<f16, f16, i32>({.tokens = {2, 20}, .vocabulary = 7, .size = 2100}, false, -1, 3);
  check_gradient<f16, f16, i32>({.tokens = {1, 50}, .vocabulary = 17000, .size = 3}, false, 4, 4);
}

TEST_CASE("embedding: bad input", "[ops][embedding]") {
  const device& gpu = under_test();
  auto a = gpu.allocate<f16>(4096), b = gpu.allocate<f16>(4096);
  auto i = gpu.allocate<i32>(64);
  auto w = gpu.allocate<u32>(4096);
  const tensor_view<i32, 1> indices(i, 8);
  const tensor_view<f16, 2> weight(a, 16, 64), out(b, 8, 64);
  const auto refused = [&](const std::string& part, const auto& of, const auto& from, const auto& to,
                           const embedding_options& options = {}) {
    require_refusal(errc::invalid_argument, "kaio: embedding: ", part,
                    [&] { embedding(gpu.stream(), of, from, to, options); });
  };
  refused("argument out has extent 0 of 7", indices, weight, out.slice(0, 0, 7));
  refused("argument out has extent 1 of 63", indices, weight, out.slice(1, 0, 63));
  refused("argument weight has stride 2", indices, tensor_view<f16, 2>(a, extents(16, 64), strides(128, 2)),
          out);
  refused("output out shares memory with argument weight", indices, weight, tensor_view<f16, 2>(a, 8, 64));
  refused("argument errors has extent 0 of 2", indices, weight, out, {.errors = tensor_view<u32, 1>(w, 2)});
  require_refusal(errc::invalid_argument, "kaio: embedding_backward: ", "argument workspace is null",
                  [&] { embedding_backward(gpu.stream(), out, indices, weight); });
  require_refusal(
      errc::invalid_argument, "kaio: embedding_backward: ", "dweight shares memory with argument dout", [&] {
        embedding_backward(gpu.stream(), out, indices, tensor_view<f16, 2>(b, 16, 64), {.workspace = w});
      });
}

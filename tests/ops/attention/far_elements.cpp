// Attention of tensors whose elements are more than 2^31 elements, and more than 2^32 bytes, apart: in each
// dimension of each tensor, next to the same call on compact memory. The memory between them is hardly touched,
// so it costs the emulator no memory of the host.
#include "tests/ops/attention/support.hpp"

#include <array>
#include <utility>

using namespace kaio;
using namespace kaio::tests;

namespace {

using four = std::array<i64, 4>;
constexpr int nowhere = -1;

// Numbers of four dimensions, compact in order, or with `span` elements and more from the first to the last
// place along one dimension. Those of the last dimension are adjacent.
template <class T>
class spread_tensor {
 public:
  spread_tensor(const four& extent, const std::vector<T>& content, int far_dimension, i64 span)
      : extent_(extent) {
    i64 next = 1, last = 0;
    for (int d = 3; d >= 0; --d) {
      stride_[d] = next;
      if (d == far_dimension) stride_[d] = (span / (extent[d] - 1) / 64 + 1) * 64;
      last += (extent[d] - 1) * stride_[d];
      if (d != far_dimension) next *= extent[d];
    }
    memory_ = under_test().allocate<T>(static_cast<std::size_t>(last) + 1);
    std::size_t from = 0;
    for_lines([&](std::size_t at) {
      memory_.copy_from(&content[from], line(), under_test().stream(), at);
      from += line();
    });
    under_test().stream().synchronize();
  }
  std::vector<T> download() const {
    std::vector<T> content;
    for_lines([&](std::size_t at) {
      content.resize(content.size() + line());
      memory_.copy_to(content.data() + content.size() - line(), line(), under_test().stream(), at);
      under_test().stream().synchronize();
    });
    return content;
  }
  // A view of `Rank` dimensions, from dimension `first` on.
  template <class U, std::size_t Rank = 4>
  tensor_view<U, Rank> view(std::size_t first = 0) {
    return [&]<std::size_t... D>(std::index_sequence<D...>) {
      return tensor_view<U, Rank>(memory_, extents(extent_[first + D]...), strides(stride_[first + D]...));
    }(std::make_index_sequence<Rank>());
  }

 private:
  std::size_t line() const { return static_cast<std::size_t>(extent_[3]); }
  template <class F>
  void for_lines(const F& f) const {
    for (i64 a = 0; a < extent_[0]; ++a)
      for (i64 b = 0; b < extent_[1]; ++b)
        for (i64 c = 0; c < extent_[2]; ++c)
          f(static_cast<std::size_t>(a * stride_[0] + b * stride_[1] + c * stride_[2]));
  }

  four extent_, stride_{};  // a far one is a multiple of 16 bytes
  buffer<T> memory_;
};

template <class T>
std::vector<T> drawn(const four& extent, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<float> any(-1, 1);
  std::vector<T> content(static_cast<std::size_t>(extent[0] * extent[1] * extent[2] * extent[3]));
  for (T& x : content) x = from_float<T>(any(engine));
  return content;
}

enum class tensor : std::uint8_t { q, k, v, out, lse, bias, keep, none };

struct far_case {
  i64 size = 64;            // of heads
  bool has_scores = false;  // bias and keep
  bool packed = false;
  attention_precision precision = attention_precision::ieee;
};

template <class T>
struct results {
  std::vector<T> out;
  std::vector<f32> lse;
};

// The call with one tensor spread along one dimension.
template <class T>
results<T> run(const far_case& c, tensor which, int dimension, i64 span) {
  const i64 batches = c.packed ? 1 : 2, queries = 40, keys = 50, heads = 2, key_heads = 2;
  const auto far = [&](tensor it) { return it == which ? dimension : nowhere; };
  const four of_q{batches, queries, heads, c.size}, of_k{batches, keys, key_heads, c.size};
  const four of_lse{batches, heads, queries, 1}, of_scores{batches, heads, queries, keys};
  spread_tensor<T> q(of_q, drawn<T>(of_q, 1), far(tensor::q), span);
  spread_tensor<T> k(of_k, drawn<T>(of_k, 2), far(tensor::k), span);
  spread_tensor<T> v(of_k, drawn<T>(of_k, 3), far(tensor::v), span);
  spread_tensor<T> o(of_q, drawn<T>(of_q, 4), far(tensor::out), span);
  spread_tensor<f32> lse(of_lse, drawn<f32>(of_lse, 5), far(tensor::lse), span);
  attention_options options{.causal = causal_alignment::bottom_right, .precision = c.precision};
  if (c.packed) {
    auto cu_q = upload(std::vector<i32>{0, 3, 40}), cu_k = upload(std::vector<i32>{0, 9, 50});
    options.lse = lse.view<f32, 2>(1);
    attention_varlen_first_fit(
        under_test().stream(), q.template view<const T, 3>(1), k.template view<const T, 3>(1),
        v.template view<const T, 3>(1), o.template view<T, 3>(1),
        {.cu_q = tensor_view<const i32, 1>(cu_q, 3), .cu_k = tensor_view<const i32, 1>(cu_k, 3), .max_q = 37},
        options);
    return {o.download(), lse.download()};
  }
  options.lse = lse.view<f32, 3>();
  std::optional<spread_tensor<f32>> bias;
  std::optional<spread_tensor<u8>> keep;
  if (c.has_scores) {
    std::vector<u8> kept(static_cast<std::size_t>(batches * heads * queries * keys));
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = i % 5 != 2;
    options.bias =
        bias.emplace(of_scores, drawn<f32>(of_scores, 6), far(tensor::bias), span).template view<const f32>();
    options.keep = keep.emplace(of_scores, kept, far(tensor::keep), span).template view<const u8>();
  }
  attention_first_fit(under_test().stream(), q.template view<const T>(), k.template view<const T>(),
                      v.template view<const T>(), o.template view<T>(), options);
  return {o.download(), lse.download()};
}

template <class T>
void check(const far_case& c) {
  if (!has_attention<T>()) return;
  const results<T> want = run<T>(c, tensor::none, 0, 0);
  const auto check_one = [&](tensor which, int dimension, i64 span) {
    const std::size_t bytes = which == tensor::keep                           ? 1
                              : which == tensor::lse || which == tensor::bias ? 4
                                                                              : sizeof(T);
    // A little more than is needed, for other memory and for pages.
    if (under_test().memory_info().free < static_cast<u64>(span) * bytes + (u64{1} << 30)) {
      WARN("not run: " << span << " elements of " << bytes << " bytes are more than the device has left");
      return;
    }
    CAPTURE(static_cast<int>(which), dimension, span, c.size, c.packed);
    const results<T> got = run<T>(c, which, dimension, span);
    REQUIRE(same_bits(got.out, want.out));
    REQUIRE(same_bits(got.lse, want.lse));
  };
  for (const i64 span : {i64{1} << 31, i64{1} << 32}) {
    if (under_test().is_emulator() && span > i64{1} << 31) continue;
    for (int dimension = c.packed ? 1 : 0; dimension < 3; ++dimension) {
      for (const tensor which : {tensor::q, tensor::k, tensor::v, tensor::out, tensor::lse})
        check_one(which, dimension, span);
      if (!c.has_scores) continue;
      check_one(tensor::bias, dimension, span);
      check_one(tensor::keep, dimension, span);
    }
  }
}

}  // namespace

TEST_CASE("attention: elements beyond 2^31 others, f16 and bf16", "[ops][attention]") {
  check<f16>({});
  check<f16>({.size = 20});  // rows that do not begin at multiples of 16 bytes
  check<bf16>({.has_scores = true});
  check<f16>({.packed = true});
}
TEST_CASE("attention: elements beyond 2^31 others, f32", "[ops][attention]") {
  check<f32>({});
  check<f32>({.precision = attention_precision::tf32});
  const kernels_of few(f32_for_few_queries);
  check<f32>({.has_scores = true});
}

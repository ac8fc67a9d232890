// attention_decode of caches whose elements are more than 2^31 elements, and more than 2^32 bytes, apart: in each
// dimension of K and V, next to the same call on compact memory. The memory between them is hardly touched, so it
// costs the emulator no memory of the host.
#include <array>

#include "tests/ops/attention_decode/support.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

// The elements of `from` with more than 2^31 of them from the first to the last place along one dimension.
template <class T>
struct far_tensor {
  buffer<T> memory;
  tensor_view<const T, 4> view;

  far_tensor(const tensor4<T>& from, int far_dimension) {
    const std::array<i64, 3> extent{from.batches, from.rows, from.heads};
    std::array<i64, 3> stride{};
    i64 next = from.size, last = from.size - 1;
    for (int i = 2; i >= 0; --i) {
      const auto d = static_cast<std::size_t>(i);
      stride[d] = i == far_dimension ? ((i64{1} << 31) / (extent[d] - 1) / 64 + 1) * 64 : next;
      last += (extent[d] - 1) * stride[d];
      if (i != far_dimension) next *= extent[d];
    }
    memory = under_test().allocate<T>(static_cast<std::size_t>(last) + 1);
    const stream& s = under_test().stream();
    for (u32 b = 0; b < from.batches; ++b)
      for (u32 r = 0; r < from.rows; ++r)
        for (u32 h = 0; h < from.heads; ++h)
          memory.copy_from(&from.at(b, r, h, 0), from.size, s,
                           static_cast<std::size_t>(b * stride[0] + r * stride[1] + h * stride[2]));
    s.synchronize();
    view = tensor_view<const T, 4>(memory, extents(extent[0], extent[1], extent[2], from.size),
                                   strides(stride[0], stride[1], stride[2], 1));
  }
};

}  // namespace

namespace {

template <class T, class C = T>
void check_far() {
  for (const std::string_view variant : {std::string_view(), std::string_view("attention_decode_simt")}) {
    decode_case c{.lengths = {9, 30}, .kind = cache_kind::table, .page = 8, .variant = variant};
    c.qk_size = c.v_size = 16;
    decode_memory<T, C> memory(c);
    const auto want = run_decode<T>(c, memory);
    compare_decode(c, memory, want);
    for (int d = 0; d < 3; ++d) {
      const far_tensor<C> k(memory.k, d), v(memory.v, d);
      memory.cache.k = k.view, memory.cache.v = v.view;
      const auto got = run_decode<T>(c, memory);
      CAPTURE(d, variant);
      REQUIRE(same_bits(got.out.host, want.out.host));
      REQUIRE(same_bits(got.lse, want.lse));
    }
  }
}

}  // namespace

TEST_CASE("attention_decode: caches of more than 2^31 elements", "[ops][attention_decode]") {
  check_far<f16>();
  check_far<f16, e4m3>();
}

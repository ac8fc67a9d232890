// Bad input of attention is a typed error that names the argument, before anything runs: outputs stay as they
// were.
#include <functional>
#include <limits>
#include <string>

#include "tests/ops/attention/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  std::vector<f16> poison = std::vector<f16>(std::size_t{2} * 32 * 4 * 64, f16(12345.0f));
  buffer<f16> q_memory = gpu.allocate<f16>(poison.size()), k_memory = gpu.allocate<f16>(poison.size()),
              v_memory = gpu.allocate<f16>(poison.size()), o_memory = gpu.upload(poison);
  buffer<f32> numbers = gpu.allocate<f32>(4096), more_numbers = gpu.allocate<f32>(4096);
  tensor_view<const f16, 4> q{q_memory, 2, 32, 4, 64}, k{k_memory, 2, 24, 2, 64}, v{v_memory, 2, 24, 2, 32};
  tensor_view<f16, 4> o{o_memory, 2, 32, 4, 32};
  const stream& s = gpu.stream();

  // f throws an error of this code whose text has `part`, and the output is untouched.
  void refuses(errc code, const std::string& part, const std::function<void()>& f) {
    require_refusal(code, "kaio: attention", part, f);
    s.synchronize();
    REQUIRE(same_bits(o_memory.download(), poison));
  }
  void refuses(const std::string& part, const std::function<void()>& f) {
    refuses(errc::invalid_argument, part, f);
  }
  tensor_view<const f16, 4> of_q(i64 b, i64 r, i64 h, i64 d) { return {q_memory, extents(b, r, h, d)}; }
  tensor_view<const f16, 4> of_k(i64 b, i64 r, i64 h, i64 d) { return {k_memory, extents(b, r, h, d)}; }
  tensor_view<const f16, 4> of_v(i64 b, i64 r, i64 h, i64 d) { return {v_memory, extents(b, r, h, d)}; }
};

}  // namespace

TEST_CASE("attention: the call that the next cases change is right", "[ops][attention]") {
  fixture t;
  attention(t.s, t.q, t.k, t.v, t.o);
  REQUIRE(!same_bits(t.o_memory.download(), t.poison));
}

TEST_CASE("attention: bad views", "[ops][attention]") {
  fixture t;
  const tensor_view<const f16, 4> none;
  t.refuses("argument q is a null", [&] { attention(t.s, none, t.k, t.v, t.o); });
  t.refuses("argument k is a null", [&] { attention(t.s, t.q, none, t.v, t.o); });
  t.refuses("argument v is a null", [&] { attention(t.s, t.q, t.k, none, t.o); });
  t.refuses("argument out is a null", [&] { attention(t.s, t.q, t.k, t.v, tensor_view<f16, 4>()); });
  t.refuses("output out", [&] {
    attention(t.s, t.q, t.k, t.v,
              tensor_view<f16, 4>(t.o_memory, extents(2, 32, 4, 32), strides(0, 128, 32, 1)));
  });
  t.refuses("argument k has stride 2", [&] {
    tensor_view<const f16, 4> apart(t.k_memory, extents(2, 24, 2, 64), strides(6144, 256, 128, 2));
    attention(t.s, t.q, apart, t.v, t.o);
  });
  tensor_view<f32, 4> wide(t.numbers, 2, 16, 2, 32);
  t.refuses("the batches of out", [&] { attention(t.s, t.of_q(1, 16, 2, 64), t.k, t.v, wide); });
  t.refuses("output out shares memory with argument bias", [&] {
    attention(t.s, t.of_q(2, 16, 2, 64), t.k, t.v, wide, {.bias = tensor_view<const f32, 1>(t.numbers, 24)});
  });
  t.refuses("arguments q and out have different element types", [&] {
    const tensor_view<const f32, 4> q(t.numbers, 1, 4, 1, 64);
    ops::attention_choice(t.s, q, q, q, tensor_view<f16, 4>(t.o_memory, 1, 4, 1, 64)).name;
  });
  t.refuses("no multiple of", [&] {
    device_pointer<f16> odd{t.q_memory.address() + 1, 16384, t.q_memory.as_argument().device};
    attention(t.s, tensor_view<const f16, 4>(odd, extents(2, 32, 4, 64)), t.k, t.v, t.o);
  });
  t.refuses("another device", [&] {
    device other = device::open("emulator");
    buffer<f16> elsewhere = other.allocate<f16>(16384);
    attention(t.s, tensor_view<const f16, 4>(elsewhere, 2, 32, 4, 64), t.k, t.v, t.o);
  });
}

TEST_CASE("attention: bad extents", "[ops][attention]") {
  fixture t;
  t.refuses("the batches of out", [&] { attention(t.s, t.of_q(1, 32, 4, 64), t.k, t.v, t.o); });
  t.refuses("argument k", [&] { attention(t.s, t.q, t.of_k(1, 24, 2, 64), t.v, t.o); });
  t.refuses("argument v", [&] { attention(t.s, t.q, t.k, t.of_v(1, 24, 2, 32), t.o); });
  t.refuses("argument q", [&] { attention(t.s, t.of_q(2, 31, 4, 64), t.k, t.v, t.o); });
  t.refuses("argument v", [&] { attention(t.s, t.q, t.k, t.of_v(2, 23, 2, 32), t.o); });
  t.refuses("the heads of out", [&] { attention(t.s, t.of_q(2, 32, 3, 64), t.k, t.v, t.o); });
  t.refuses("the heads of k", [&] { attention(t.s, t.q, t.k, t.of_v(2, 24, 1, 32), t.o); });
  t.refuses("the head size of q", [&] { attention(t.s, t.q, t.of_k(2, 24, 2, 60), t.v, t.o); });
  t.refuses("the head size of v", [&] { attention(t.s, t.q, t.k, t.of_v(2, 24, 2, 40), t.o); });
  t.refuses("must be a multiple of the heads of k",
            [&] { attention(t.s, t.q, t.of_k(2, 24, 3, 64), t.of_v(2, 24, 3, 32), t.o); });
  t.refuses("must be a multiple of the heads of k",
            [&] { attention(t.s, t.q, t.of_k(2, 24, 0, 64), t.of_v(2, 24, 0, 32), t.o); });
  t.refuses("at most 512", [&] {
    attention(t.s, t.of_q(1, 1, 1, 513), t.of_k(1, 1, 1, 513), t.of_v(1, 1, 1, 32),
              tensor_view<f16, 4>(t.o_memory, 1, 1, 1, 32));
  });
  t.refuses("head size 0", [&] { attention(t.s, t.of_q(2, 32, 4, 0), t.of_k(2, 24, 2, 0), t.v, t.o); });
  // Views whose elements repeat span little memory.
  t.refuses("at most 2147483647", [&] {
    const extents many(2, i64{1} << 31, 2, 64), same(2, i64{1} << 31, 2, 32);
    attention(t.s, t.q, tensor_view<const f16, 4>(t.k_memory, many, strides(0, 0, 0, 1)),
              tensor_view<const f16, 4>(t.v_memory, same, strides(0, 0, 0, 1)), t.o);
  });
}

TEST_CASE("attention: outputs that share memory", "[ops][attention]") {
  fixture t;
  const tensor_view<f16, 4> o(t.o_memory, 2, 24, 2, 64);
  const tensor_view<const f16, 4> k = t.of_k(2, 24, 2, 64), v = t.of_v(2, 24, 2, 64),
                                  q = t.of_q(2, 24, 2, 64);
  t.refuses("output out shares memory with argument q", [&] { attention(t.s, o, k, v, o); });
  t.refuses("output out shares memory with argument k", [&] { attention(t.s, q, o, v, o); });
  t.refuses("output out shares memory with argument v", [&] { attention(t.s, q, k, o, o); });
  const tensor_view<f32, 1> slopes(t.numbers, 4);
  const tensor_view<const f16, 1> bias(t.o_memory, 24);
  t.refuses("output out shares memory with argument bias",
            [&] { attention(t.s, t.q, t.k, t.v, t.o, {.bias = bias}); });
  const device_pointer<u8> bytes{t.o_memory.address(), 24, t.o_memory.as_argument().device};
  t.refuses("output out shares memory with argument keep",
            [&] { attention(t.s, t.q, t.k, t.v, t.o, {.keep = tensor_view<const u8, 1>(bytes, 24)}); });
  const device_pointer<u8> numbers{t.numbers.address(), 24, t.numbers.as_argument().device};
  const tensor_view<f32, 3> lse(t.numbers, 2, 4, 32);
  t.refuses("output lse shares memory with argument bias", [&] {
    attention(t.s, t.q, t.k, t.v, t.o, {.bias = tensor_view<const f32, 1>(t.numbers, 24), .lse = lse});
  });
  t.refuses("output lse shares memory with argument keep", [&] {
    attention(t.s, t.q, t.k, t.v, t.o, {.keep = tensor_view<const u8, 1>(numbers, 24), .lse = lse});
  });
  t.refuses("output lse shares memory with argument alibi", [&] {
    attention(t.s, t.q, t.k, t.v, t.o, {.alibi = slopes, .lse = tensor_view<f32, 3>(t.numbers, 2, 4, 32)});
  });
}

TEST_CASE("attention: bad options", "[ops][attention]") {
  fixture t;
  const f32 infinite = std::numeric_limits<f32>::infinity(), nan = std::numeric_limits<f32>::quiet_NaN();
  const auto with = [&](const attention_options& options) {
    return [&t, options] { attention(t.s, t.q, t.k, t.v, t.o, options); };
  };
  t.refuses("scale", with({.scale = infinite}));
  t.refuses("scale", with({.scale = nan}));
  t.refuses("softcap", with({.softcap = -1.0f}));
  t.refuses("softcap", with({.softcap = nan}));
  t.refuses("softcap", with({.softcap = 1e-40f}));
  t.refuses("softcap", with({.softcap = 1e31f}));
  t.refuses("a scale that is not from -1e30", with({.scale = 3e38f}));
  t.refuses("a scale that is not from -1e30", with({.scale = -3e38f}));
  t.refuses("scale / softcap", with({.scale = 1e9f, .softcap = 1e-30f}));
  t.refuses("scale / softcap", with({.scale = 1e-15f, .softcap = 1e30f}));
  t.refuses("window", with({.window = {-2, 0}}));
  t.refuses("window", with({.window = {0, -2}}));
  t.refuses("causal", with({.causal = static_cast<causal_alignment>(3)}));
  t.refuses("argument alibi", with({.alibi = tensor_view<const f32, 1>(t.numbers, 3)}));
  t.refuses("argument alibi", with({.alibi = tensor_view<const f32, 2>(t.numbers, 3, 4)}));
  // bias and keep for scores of 2 x 4 x 32 x 24
  buffer<u8> bytes = t.gpu.allocate<u8>(8192);
  buffer<bf16> other = t.gpu.allocate<bf16>(64);
  t.refuses("argument bias is a null", with({.bias = tensor_view<const f32, 2>()}));
  t.refuses("argument keep is a null", with({.keep = tensor_view<const u8, 2>()}));
  t.refuses("the batches, or one for all", with({.bias = tensor_view<const f32, 4>(t.numbers, 3, 1, 1, 1)}));
  t.refuses("the heads of q, or one for all", with({.bias = tensor_view<const f32, 3>(t.numbers, 2, 1, 24)}));
  t.refuses("the queries, or one for all", with({.keep = tensor_view<const u8, 2>(bytes, 24, 24)}));
  t.refuses("the keys, or one for all", with({.keep = tensor_view<const u8, 1>(bytes, 32)}));
  t.refuses("argument bias", with({.bias = tensor_view<const f32, 1>(t.numbers, 0)}));
  t.refuses("argument bias has elements of bf16; they are f32, or f16 as those of q",
            with({.bias = tensor_view<const bf16, 1>(other, 24)}));
  const device_pointer<f32> far{t.numbers.address(), u64{1} << 40, nullptr};
  t.refuses("along the keys; it is below 2^31 bytes",
            with({.bias = tensor_view<const f32, 1>(far, extents(24), strides(i64{1} << 29))}));
  t.refuses("another device", [&] {
    device elsewhere = device::open("emulator");
    buffer<u8> memory = elsewhere.allocate<u8>(24);
    attention(t.s, t.q, t.k, t.v, t.o, {.keep = tensor_view<const u8, 1>(memory, 24)});
  });
  t.refuses("lse", with({.lse = tensor_view<f32, 3>(t.numbers, 2, 4, 31)}));
  t.refuses("lse", with({.lse = tensor_view<f32, 3>(t.numbers, 2, 3, 32)}));
  t.refuses("lse", with({.lse = tensor_view<f32, 3>(t.numbers, extents(2, 4, 32), strides(0, 32, 1))}));
}

TEST_CASE("attention: bad block masks", "[ops][attention][blocks]") {
  fixture t;
  auto lists = t.gpu.upload(std::vector<i32>(256, 0));
  // 32 queries in blocks of 16, 2 batches, 4 heads.
  const tensor_view<const i32, 3> counts(lists, 2, 4, 2);
  const tensor_view<const i32, 4> indices(lists, 2, 4, 2, 3);
  const ops::block_mask_size size{16, 16};
  const auto with = [&](const block_mask& blocks) {
    return [&t, blocks] { attention(t.s, t.q, t.k, t.v, t.o, {.blocks = blocks}); };
  };
  t.refuses("argument blocks.kv_num_blocks without blocks.kv_indices, i32 of (batches, heads, ",
            with({.kv_num_blocks = counts, .size = size}));
  t.refuses("argument blocks.kv_indices without blocks.kv_num_blocks, i32 of (batches, heads, ",
            with({.kv_indices = indices, .size = size}));
  t.refuses("blocks.full_kv_indices without blocks.kv_num_blocks and blocks.kv_indices",
            with({.full_kv_num_blocks = counts, .full_kv_indices = indices, .size = size}));
  t.refuses("argument blocks.full_kv_num_blocks without blocks.full_kv_indices",
            with({.full_kv_num_blocks = counts, .size = size}));
  t.refuses("argument blocks.full_kv_indices without blocks.full_kv_num_blocks",
            with({.kv_num_blocks = counts, .kv_indices = indices, .full_kv_indices = indices, .size = size}));
  t.refuses("argument bias is not read next to blocks", [&] {
    attention(t.s, t.q, t.k, t.v, t.o,
              {.bias = tensor_view<const f32, 1>(t.numbers, 24),
               .blocks = {.kv_num_blocks = counts, .kv_indices = indices, .size = size}});
  });
  t.refuses("argument keep is not read next to blocks", [&] {
    const buffer<u8> bytes = t.gpu.allocate<u8>(24);
    attention(t.s, t.q, t.k, t.v, t.o,
              {.keep = tensor_view<const u8, 1>(bytes, 24),
               .blocks = {.kv_num_blocks = counts, .kv_indices = indices, .size = size}});
  });
  t.refuses("both are from 1", with({.kv_num_blocks = counts, .kv_indices = indices, .size = {0, 16}}));
  t.refuses("both are from 1", with({.kv_num_blocks = counts, .kv_indices = indices, .size = {16, -1}}));
  t.refuses("both are from 1",
            with({.kv_num_blocks = counts, .kv_indices = indices, .size = {i64{1} << 31, 16}}));
  t.refuses("the blocks of queries", with({.kv_num_blocks = counts, .kv_indices = indices, .size = {8, 16}}));
  t.refuses("argument blocks.kv_num_blocks", with({.kv_num_blocks = tensor_view<const i32, 3>(lists, 3, 4, 2),
                                                   .kv_indices = indices,
                                                   .size = size}));
  t.refuses("argument blocks.kv_indices", with({.kv_num_blocks = counts,
                                                .kv_indices = tensor_view<const i32, 4>(lists, 2, 2, 2, 3),
                                                .size = size}));
  t.refuses("argument blocks.full_kv_indices",
            with({.kv_num_blocks = counts,
                  .kv_indices = indices,
                  .full_kv_num_blocks = counts,
                  .full_kv_indices = tensor_view<const i32, 4>(lists, 2, 4, 3, 3),
                  .size = size}));
  t.refuses("gaps along its last dimension",
            with({.kv_num_blocks = counts,
                  .kv_indices = tensor_view<const i32, 4>(lists, extents(2, 4, 2, 3), strides(48, 12, 6, 2)),
                  .size = size}));
  t.refuses("argument blocks.kv_num_blocks is a null",
            with({.kv_num_blocks = tensor_view<const i32, 3>(), .kv_indices = indices, .size = size}));
  t.refuses("another device", [&] {
    device other = device::open("emulator");
    auto elsewhere = other.upload(std::vector<i32>(256, 0));
    with({.kv_num_blocks = tensor_view<const i32, 3>(elsewhere, 2, 4, 2),
          .kv_indices = indices,
          .size = size})();
  });
  const device_pointer<i32> inside{t.o_memory.address(), 256, t.o_memory.as_argument().device};
  t.refuses("output out shares memory with argument blocks.kv_indices",
            with({.kv_num_blocks = counts,
                  .kv_indices = tensor_view<const i32, 4>(inside, 2, 4, 2, 3),
                  .size = size}));
  t.refuses("output lse shares memory with argument blocks.kv_num_blocks", [&] {
    const device_pointer<i32> of_lse{t.numbers.address(), 256, t.numbers.as_argument().device};
    attention(t.s, t.q, t.k, t.v, t.o,
              {.lse = tensor_view<f32, 3>(t.numbers, 2, 4, 32),
               .blocks = {.kv_num_blocks = tensor_view<const i32, 3>(of_lse, 2, 4, 2),
                          .kv_indices = indices,
                          .size = size}});
  });
  attention(
      t.s, t.q, t.k, t.v, t.o,
      {.blocks = {.kv_num_blocks = counts, .kv_indices = indices, .size = size}});  // and one that is right
  const auto result = t.o_memory.download();
  for (std::size_t i = 0; i < std::size_t{2} * 32 * 4 * 32; ++i) REQUIRE(float(result[i]) == 0);
}

TEST_CASE("attention: block masks where there are none", "[ops][attention][blocks]") {
  fixture t;
  auto lists = t.gpu.upload(std::vector<i32>(16, 0));
  const block_mask blocks{.kv_num_blocks = tensor_view<const i32, 3>(lists, 1, 1, 1),
                          .kv_indices = tensor_view<const i32, 4>(lists, 1, 1, 1, 1)};
  t.refuses("attention_varlen takes no blocks", [&] {
    const tensor_view<const f16, 3> x(t.q_memory, 32, 1, 64);
    const tensor_view<const i32, 1> cu(lists, 2);
    attention_varlen(t.s, x, x, x, tensor_view<f16, 3>(t.o_memory, 32, 1, 64),
                     {.cu_q = cu, .cu_k = cu, .max_q = 8}, {.blocks = blocks});
  });
}

TEST_CASE("attention: an extent of 0 does nothing, and a warmup does not run", "[ops][attention]") {
  fixture t;
  attention(t.s, t.of_q(0, 32, 4, 64), t.of_k(0, 24, 2, 64), t.of_v(0, 24, 2, 32),
            tensor_view<f16, 4>(t.o_memory, 0, 32, 4, 32));
  attention(t.s, t.of_q(2, 0, 4, 64), t.k, t.v, tensor_view<f16, 4>(t.o_memory, 2, 0, 4, 32));
  ops::attention_warmup(t.gpu, t.q, t.k, t.v, t.o);
  t.s.synchronize();
  REQUIRE(same_bits(t.o_memory.download(), t.poison));
  REQUIRE(
      ops::attention_choice(t.s, t.of_q(2, 0, 4, 64), t.k, t.v, tensor_view<f16, 4>(t.o_memory, 2, 0, 4, 32))
          .name.empty());
  REQUIRE(!ops::attention_choice(t.s, t.q, t.k, t.v, t.o).name.empty());
  // Only f32 has another precision, where there are kernels for it.
  const auto one = upload(std::vector<f32>(64, 1.0f));
  auto into = upload(std::vector<f32>(64, 1.0f));
  const tensor_view<const f32, 4> x(one, 1, 1, 1, 64);
  const tensor_view<f32, 4> y(into, 1, 1, 1, 64);
  const auto rounds = [&](const auto& q, const auto& o, attention_precision precision) {
    return ops::attention_choice(t.s, q, q, q, o, {.precision = precision}).name.find("tf32") !=
           std::string_view::npos;
  };
  REQUIRE(!rounds(x, y, attention_precision::ieee));
  REQUIRE(rounds(x, y, attention_precision::tf32) == (under_test().properties().target.sm >= 80));
}

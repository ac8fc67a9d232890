// Bad input is a typed error that names the argument, before anything runs: outputs stay as they were.
#include "tests/ops/matmul/support.hpp"
#include "tests/ops/refusal.hpp"

#include <kaio/ops/matmul_backward.hpp>
#include <kaio/ops/tune.hpp>

#include <functional>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  buffer<f16> a_memory = gpu.allocate<f16>(64 * 64), b_memory = gpu.allocate<f16>(64 * 64);
  std::vector<f32> poison = std::vector<f32>(64 * 64, 12345.0f);
  buffer<f32> c_memory = gpu.upload(poison);
  tensor_view<const f16, 2> a{a_memory, 32, 16}, b{b_memory, 16, 24};
  tensor_view<f32, 2> c{c_memory, 32, 24};
  const stream& s = gpu.stream();

  // f throws an error of this code whose text has `part`, and C is untouched.
  void refuses(errc code, const std::string& part, const std::function<void()>& f) {
    require_refusal(code, "kaio: ", part, f);
    s.synchronize();
    REQUIRE(same_bits(c_memory.download(), poison));
  }
  void refuses(const std::string& part, const std::function<void()>& f) {
    refuses(errc::invalid_argument, part, f);
  }
};

}  // namespace

TEST_CASE("matmul: bad views", "[ops][matmul]") {
  fixture t;
  t.refuses("argument a is a null", [&] { matmul(t.s, tensor_view<const f16, 2>{}, t.b, t.c); });
  t.refuses("argument b is a null", [&] { matmul(t.s, t.a, tensor_view<const f16, 2>{}, t.c); });
  t.refuses("output c", [&] {
    tensor_view<f32, 2> repeated(t.c_memory, extents(32, 24), strides(0, 1));
    matmul(t.s, t.a, t.b, repeated);
  });
  t.refuses("output c", [&] {
    tensor_view<f32, 2> overlapping(t.c_memory, extents(32, 24), strides(7, 1));
    matmul(t.s, t.a, t.b, overlapping);
  });
  t.refuses("argument c is a null", [&] { matmul(t.s, t.a, t.b, tensor_view<f32, 2>{}); });
  t.refuses("argument a", [&] {
    buffer<f16> moved = t.gpu.allocate<f16>(512);
    buffer<f16> to = std::move(moved);
    matmul(t.s, tensor_view<const f16, 2>(moved, 32, 16), t.b, t.c);
  });
  t.refuses("argument a", [&] {
    buffer<f16> freed = t.gpu.allocate<f16>(512);
    freed.release();
    matmul(t.s, tensor_view<const f16, 2>(freed, 32, 16), t.b, t.c);
  });
  t.refuses("tensor_view", [&] { matmul(t.s, tensor_view<const f16, 2>(t.a_memory, 32, 1000), t.b, t.c); });
  t.refuses("tensor_view", [&] { matmul(t.s, tensor_view<const f16, 2>(t.a_memory, -32, 16), t.b, t.c); });
  t.refuses("tensor_view", [&] {
    matmul(t.s, tensor_view<const f16, 2>(t.a_memory, extents(32, 16), strides(-16, 1)), t.b, t.c);
  });
  t.refuses("another device", [&] {
    device other = device::open("emulator");
    buffer<f16> elsewhere = other.allocate<f16>(512);
    matmul(t.s, tensor_view<const f16, 2>(elsewhere, 32, 16), t.b, t.c);
  });
  t.refuses("another device", [&] {
    device other = device::open("emulator");
    matmul(other.stream(), t.a, t.b, t.c);
  });
  t.refuses("null stream", [&] { matmul(stream(), t.a, t.b, t.c); });
  for (const std::uint64_t off : {1u, 3u, 5u, 7u})
    t.refuses("no multiple of", [&] {
      device_pointer<f16> odd{t.a_memory.address() + off, 512, t.a_memory.as_argument().device};
      matmul(t.s, tensor_view<const f16, 2>(odd, extents(32, 16)), t.b, t.c);
    });
  t.refuses("no multiple of", [&] {
    device_pointer<f32> odd{t.c_memory.address() + 2, 800, t.c_memory.as_argument().device};
    matmul(t.s, t.a, t.b, tensor_view<f32, 2>(odd, extents(32, 24)));
  });
}

TEST_CASE("matmul: bad extents and strides", "[ops][matmul]") {
  fixture t;
  t.refuses("argument a", [&] { matmul(t.s, tensor_view<const f16, 2>(t.a_memory, 31, 16), t.b, t.c); });
  t.refuses("argument b", [&] { matmul(t.s, t.a, tensor_view<const f16, 2>(t.b_memory, 15, 24), t.c); });
  t.refuses("argument b", [&] { matmul(t.s, t.a, tensor_view<const f16, 2>(t.b_memory, 16, 23), t.c); });
  t.refuses("one of the last two must be 1", [&] {
    matmul(t.s, tensor_view<const f16, 2>(t.a_memory, extents(32, 16), strides(64, 2)), t.b, t.c);
  });
  t.refuses("one of the last two must be 1",
            [&] { matmul(t.s, t.a, t.b, tensor_view<f32, 2>(t.c_memory, extents(32, 24), strides(50, 2))); });
  t.refuses("the batches of c", [&] {
    buffer<f32> batch = t.gpu.allocate<f32>(3 * 32 * 24);
    matmul(t.s, tensor_view<const f16, 3>(t.a_memory, 2, 32, 16), t.b, tensor_view<f32, 3>(batch, 3, 32, 24));
  });
  // 2^31 and beyond: views whose elements repeat span little memory.
  for (const std::int64_t k : {std::int64_t{1} << 31, (std::int64_t{1} << 31) + 1, std::int64_t{1} << 40})
    t.refuses("at most 2147483647", [&] {
      matmul(t.s, tensor_view<const f16, 2>(t.a_memory, extents(32, k), strides(1, 0)),
             tensor_view<const f16, 2>(t.b_memory, extents(k, 24), strides(0, 1)), t.c);
    });
  t.refuses("64 bits", [&] {
    matmul(t.s, tensor_view<const f16, 2>(t.a_memory, extents(std::int64_t{1} << 40, std::int64_t{1} << 40)),
           t.b, t.c);
  });
}

TEST_CASE("matmul: outputs that share memory with inputs", "[ops][matmul]") {
  fixture t;
  buffer<f32> all = t.gpu.upload(t.poison);
  tensor_view<f32, 2> whole(all, 64, 64);
  const auto a = whole.slice(0, 0, 16).slice(1, 0, 16), b = whole.slice(0, 16, 16).slice(1, 0, 16);
  t.refuses("output c shares memory with argument a", [&] { matmul(t.s, a, b, a); });
  t.refuses("output c shares memory with argument b", [&] { matmul(t.s, a, b, b.transposed()); });
  t.refuses("output c shares memory with argument a",
            [&] { matmul(t.s, a, b, whole.slice(0, 8, 16).slice(1, 8, 16)); });
  const auto c = whole.slice(0, 32, 16).slice(1, 0, 16);
  t.refuses("shares memory with argument bias", [&] {
    tensor_view<const f32, 1> bias = tensor_view<const f32, 2>(c)[0];
    matmul(t.s, a, b, c, {.bias = per_column(bias)});
  });
  t.refuses("shares memory with argument residual",
            [&] { matmul(t.s, a, b, c, {.residual = whole.slice(0, 33, 16).slice(1, 0, 16)}); });
  t.refuses("workspace", [&] { matmul(t.s, a, b, c, {.workspace = all}); });
  REQUIRE(same_bits(all.download(), t.poison));
  // The residual may be C itself, and parts of one buffer side by side are apart.
  matmul(t.s, a, b, c, {.residual = c});
}

TEST_CASE("matmul: bad options", "[ops][matmul]") {
  fixture t;
  buffer<f32> extra = t.gpu.allocate<f32>(4096);
  t.refuses("argument bias",
            [&] { matmul(t.s, t.a, t.b, t.c, {.bias = per_column(tensor_view<const f32, 1>(extra, 23))}); });
  t.refuses("argument bias",
            [&] { matmul(t.s, t.a, t.b, t.c, {.bias = per_row(tensor_view<const f32, 1>(extra, 24))}); });
  t.refuses("argument residual",
            [&] { matmul(t.s, t.a, t.b, t.c, {.residual = tensor_view<const f32, 2>(extra, 32, 23)}); });
  t.refuses("argument residual is a null",
            [&] { matmul(t.s, t.a, t.b, t.c, {.residual = tensor_view<const f32, 2>{}}); });
  t.refuses("none of matmul_activation",
            [&] { matmul(t.s, t.a, t.b, t.c, {.activation = static_cast<matmul_activation>(9)}); });
  t.refuses("an invalid precision",
            [&] { matmul(t.s, t.a, t.b, t.c, {.precision = static_cast<matmul_precision>(9)}); });
  t.refuses("no variant nonsense", [&] { matmul(t.s, t.a, t.b, t.c, {.variant = "nonsense"}); });
  t.refuses("another device", [&] {
    device other = device::open("emulator");
    buffer<f32> elsewhere = other.allocate<f32>(64);
    matmul(t.s, t.a, t.b, t.c, {.workspace = elsewhere});
  });
}

TEST_CASE("matmul: a type that the device has no kernel of", "[ops][matmul]") {
  fixture t;
  if (t.gpu.properties().target.sm >= 80) return;
  auto a = t.gpu.allocate<bf16>(2 * 96), b = t.gpu.allocate<bf16>(96 * 8);
  t.refuses(errc::unsupported_device, "left out because it needs a later architecture", [&] {
    matmul(t.s, tensor_view<const bf16, 2>(a, 2, 96), tensor_view<const bf16, 2>(b, 96, 8),
           t.c.slice(0, 0, 2).slice(1, 0, 8));
  });
}

TEST_CASE("matmul: bad batches of views", "[ops][matmul]") {
  fixture t;
  std::vector<tensor_view<const f16, 2>> a{t.a, t.a}, b{t.b, t.b};
  std::vector<tensor_view<f32, 2>> c{t.c};
  const auto run = [&] {
    matmul_batch(t.s, std::span<const tensor_view<const f16, 2>>(a),
                 std::span<const tensor_view<const f16, 2>>(b), std::span<const tensor_view<f32, 2>>(c));
  };
  t.refuses("give the same number of each", run);
  c.push_back(t.c);  // the same output twice
  t.refuses("shares memory", run);
}

TEST_CASE("matmul_backward: bad input", "[ops][matmul]") {
  fixture t;
  buffer<f16> da_memory = t.gpu.allocate<f16>(512), db_memory = t.gpu.allocate<f16>(384);
  tensor_view<f16, 2> da(da_memory, 32, 16), db(db_memory, 16, 24);
  const tensor_view<const f32, 2> dc = t.c;
  t.refuses("workspace", [&] { matmul_backward(t.s, dc, t.a, t.b, da, db); });
  t.refuses("the rows of dc",
            [&] { matmul_backward(t.s, dc, tensor_view<const f16, 2>(t.a_memory, 31, 16), t.b, da, db); });
  t.refuses("argument da", [&] { matmul_backward(t.s, dc, t.a, t.b, db, {}); });
  t.refuses("shares memory",
            [&] { matmul_backward(t.s, dc, t.a, t.b, tensor_view<f16, 2>(t.a_memory, 32, 16), {}); });
}

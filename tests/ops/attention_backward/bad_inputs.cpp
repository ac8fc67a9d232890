// Bad input of attention_backward is a typed error that names the argument, before anything runs: gradients
// stay as they were. And the names of KAIO.
#include <kaio/ops/parity/attention.hpp>

#include <functional>
#include <limits>
#include <string>

#include "tests/ops/attention_backward/support.hpp"
#include "tests/ops/refusal.hpp"

using namespace kaio;
using namespace kaio::tests;

namespace {

struct fixture {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  std::vector<f16> poison = std::vector<f16>(std::size_t{2} * 32 * 4 * 64, f16(12345.0f));
  buffer<f16> dout_memory = gpu.allocate<f16>(poison.size()), q_memory = gpu.allocate<f16>(poison.size()),
              k_memory = gpu.allocate<f16>(poison.size()), v_memory = gpu.allocate<f16>(poison.size()),
              o_memory = gpu.allocate<f16>(poison.size());
  buffer<f16> dq_memory = gpu.upload(poison), dk_memory = gpu.upload(poison), dv_memory = gpu.upload(poison);
  buffer<f32> lse_memory = gpu.allocate<f32>(256), numbers = gpu.allocate<f32>(4096);
  buffer<u8> workspace = gpu.allocate<u8>(1 << 20);
  tensor_view<const f16, 4> dout{dout_memory, 2, 32, 4, 32}, q{q_memory, 2, 32, 4, 64},
      k{k_memory, 2, 24, 2, 64}, v{v_memory, 2, 24, 2, 32}, o{o_memory, 2, 32, 4, 32};
  tensor_view<const f32, 3> lse{lse_memory, 2, 4, 32};
  tensor_view<f16, 4> dq{dq_memory, 2, 32, 4, 64}, dk{dk_memory, 2, 24, 2, 64}, dv{dv_memory, 2, 24, 2, 32};

  attention_backward_options options(const attention_options& forward = {}) const {
    attention_backward_options result;
    result.forward = forward;
    result.workspace = workspace;
    return result;
  }
  void refuses(const std::string& part, const std::function<void()>& f) {
    require_refusal(errc::invalid_argument, "kaio: attention_backward", part, f);
    s.synchronize();
    for (const buffer<f16>* one : {&dq_memory, &dk_memory, &dv_memory})
      REQUIRE(same_bits(one->download(), poison));
  }
};

}  // namespace

TEST_CASE("attention_backward: bad views", "[ops][attention_backward]") {
  fixture t;
  const tensor_view<const f16, 4> none;
  const auto call = [&](const ops::attention_view& dout, const ops::attention_view& q,
                        const ops::attention_view& k, const ops::attention_view& out,
                        const ops::attention_row_input& lse, const ops::attention_gradient& dq,
                        const ops::attention_gradient& dk, const ops::attention_gradient& dv) {
    attention_backward(t.s, dout, q, k, t.v, out, lse, dq, dk, dv, t.options());
  };
  using short_rows = tensor_view<const f16, 4>;
  t.refuses("argument dout is a null", [&] { call(none, t.q, t.k, t.o, t.lse, t.dq, t.dk, t.dv); });
  t.refuses("argument q is a null", [&] { call(t.dout, none, t.k, t.o, t.lse, t.dq, t.dk, t.dv); });
  t.refuses("lse is not given", [&] { call(t.dout, t.q, t.k, t.o, {}, t.dq, t.dk, t.dv); });
  t.refuses("dout",
            [&] { call(short_rows(t.dout_memory, 2, 31, 4, 32), t.q, t.k, t.o, t.lse, t.dq, t.dk, t.dv); });
  t.refuses("argument dout has another element type", [&] {
    call(tensor_view<const f32, 4>(t.numbers, 2, 32, 4, 8), t.q, t.k, t.o, t.lse, t.dq, t.dk, t.dv);
  });
  t.refuses("lse", [&] {
    call(t.dout, t.q, t.k, t.o, tensor_view<const f32, 3>(t.lse_memory, 2, 4, 31), t.dq, t.dk, t.dv);
  });
  t.refuses("dq", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, tensor_view<f16, 4>(t.dq_memory, 2, 32, 4, 63), t.dk, t.dv);
  });
  t.refuses("argument dk has another element type", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, t.dq, tensor_view<f32, 4>(t.numbers, 2, 24, 2, 32), t.dv);
  });
  t.refuses("argument dv has 3 dimensions", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, t.dq, t.dk, tensor_view<f16, 3>(t.dv_memory, 24, 2, 32));
  });
  t.refuses("stride 2 along its last dimension", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, t.dq, t.dk,
         tensor_view<f16, 4>(t.dv_memory, extents(2, 24, 2, 32), strides(3072, 128, 64, 2)));
  });
  t.refuses("dv", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, t.dq, t.dk,
         tensor_view<f16, 4>(t.dv_memory, extents(2, 24, 2, 32), strides(0, 64, 32, 1)));
  });
  t.refuses("dk", [&] {
    call(t.dout, t.q, t.k, t.o, t.lse, t.dq, tensor_view<f16, 4>(t.dq_memory, 2, 24, 2, 64), t.dv);
  });
  t.refuses("dq", [&] {
    call(t.dout, tensor_view<const f16, 4>(t.dq_memory, 2, 32, 4, 64), t.k, t.o, t.lse, t.dq, t.dk, t.dv);
  });
  REQUIRE_THROWS_AS(attention_backward(stream(), t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv),
                    invalid_argument);
}

TEST_CASE("attention_backward: bad options and workspaces", "[ops][attention_backward]") {
  fixture t;
  const auto call = [&](const attention_backward_options& options) {
    attention_backward(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv, options);
  };
  t.refuses("workspace", [&] { call({}); });
  t.refuses("workspace", [&] {
    auto few = t.options();
    few.workspace.bytes = 100;
    call(few);
  });
  t.refuses("workspace", [&] {
    auto uneven = t.options();
    uneven.workspace.address += 4;
    uneven.workspace.bytes -= 4;
    call(uneven);
  });
  t.refuses("workspace", [&] {
    auto shared = t.options();
    shared.workspace = t.q_memory;
    call(shared);
  });
  t.refuses("argument workspace is memory of another device", [&] {  // whose addresses may be the same
    device other = device::open("emulator");
    const buffer<u8> elsewhere = other.allocate<u8>(1 << 20);
    auto foreign = t.options();
    foreign.workspace = elsewhere;
    call(foreign);
  });
  t.refuses("softcap", [&] { call(t.options({.softcap = -1})); });
  t.refuses("scale", [&] { call(t.options({.scale = std::numeric_limits<f32>::infinity()})); });
  t.refuses("window", [&] { call(t.options({.window = {-2, 0}})); });
  t.refuses("dbias is given without bias", [&] {
    auto options = t.options();
    options.dbias = tensor_view<f32, 2>(t.numbers, 32, 24);
    call(options);
  });
  t.refuses("dsinks is given without sinks", [&] {
    auto options = t.options();
    options.dsinks = tensor_view<f32, 1>(t.numbers, 4);
    call(options);
  });
  auto bias_memory = t.gpu.allocate<f32>(32 * 24);
  t.refuses("dbias", [&] {
    auto options = t.options({.bias = tensor_view<const f32, 2>(bias_memory, 32, 24)});
    options.dbias = tensor_view<f32, 2>(t.numbers, 32, 1);
    call(options);
  });
  t.refuses("dbias", [&] {
    auto options = t.options({.bias = tensor_view<const f32, 2>(bias_memory, 32, 24)});
    options.dbias = tensor_view<f32, 2>(bias_memory, 32, 24);
    call(options);
  });
  t.refuses("dlse", [&] {
    auto options = t.options();
    options.dlse = tensor_view<const f32, 3>(t.numbers, 2, 4, 31);
    call(options);
  });
  t.refuses("blocks", [&] {
    auto lists = t.gpu.allocate<i32>(64);
    attention_options forward;
    forward.blocks.kv_num_blocks = tensor_view<const i32, 3>(lists, 1, 1, 1);
    forward.blocks.kv_indices = tensor_view<const i32, 4>(lists, 1, 1, 1, 1);
    call(t.options(forward));
  });
  const std::string_view chosen =
      ops::attention_backward_choice(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv).name;
  // Also where it is a name of one of its own kernels.
  for (const std::string_view name : {std::string_view("attention_simt_f16_d64_64x64"), chosen}) {
    const std::string part = "variant is \"" + std::string(name) + "\", a kernel of the attention";
    const attention_backward_options options = t.options({.variant = name});
    t.refuses(part, [&] { call(options); });
    t.refuses(part, [&] {
      ops::attention_backward_choice(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv, options).name;
    });
    t.refuses(part, [&] {
      attention_backward_warmup(t.gpu, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv, options);
    });
  }
  const ptx::target target = t.gpu.properties().target;
  const bool has_sm90 = target.sm == 90 && target.arch_specific;
  REQUIRE(chosen.starts_with(has_sm90          ? "attention_backward_sm90_f16_d64_"
                             : target.sm >= 80 ? "attention_backward_mma_keys_f16_d64_"
                                               : "attention_backward_simt_keys_d64_"));
  ops::attention_backward_warmup(t.gpu, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv);
  attention_backward(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, t.dq, t.dk, t.dv, t.options());
  REQUIRE(!same_bits(t.dq_memory.download(), t.poison));
}

TEST_CASE("attention_backward: without a gradient that is wanted nothing is written",
          "[ops][attention_backward]") {
  fixture t;
  const attention_gradient none;
  attention_backward(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, none, none, none, t.options());
  t.refuses("workspace",
            [&] { attention_backward(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, none, none, none); });
  t.refuses("softcap", [&] {
    attention_backward(t.s, t.dout, t.q, t.k, t.v, t.o, t.lse, none, none, none, t.options({.softcap = -1}));
  });
}

TEST_CASE("attention_backward_varlen: kernels are named and loaded ahead", "[ops][attention_backward]") {
  fixture t;
  const auto numbers = t.gpu.upload(std::vector<i32>{0, 10, 32});
  const tensor_view<const i32, 1> cu(numbers, 3);
  const ops::attention_sequences where{.cu_q = cu, .cu_k = cu, .max_q = 22},
      forgotten{.cu_q = cu, .cu_k = cu};
  const tensor_view<const f16, 3> x(t.q_memory, 32, 2, 64), y(t.dout_memory, 32, 2, 64);
  const tensor_view<const f32, 2> lse(t.lse_memory, 2, 32);
  const tensor_view<f16, 3> dq(t.dq_memory, 32, 2, 64), dk(t.dk_memory, 32, 2, 64),
      dv(t.dv_memory, 32, 2, 64);
  attention_backward_varlen_warmup(t.gpu, y, x, x, x, y, lse, dq, dk, dv, where);
  t.s.synchronize();
  REQUIRE(same_bits(t.dq_memory.download(), t.poison));
  REQUIRE(ops::attention_backward_varlen_choice(t.s, y, x, x, x, y, lse, dq, dk, dv, where)
              .name.starts_with("attention_backward_"));
  const std::string part = "max_q is 0, and argument q has 32 rows";
  require_refusal(errc::invalid_argument, "kaio: attention_backward_varlen_warmup: ", part, [&] {
    attention_backward_varlen_warmup(t.gpu, y, x, x, x, y, lse, dq, dk, dv, forgotten);
  });
  require_refusal(errc::invalid_argument, "kaio: attention_backward_varlen_choice: ", part, [&] {
    ops::attention_backward_varlen_choice(t.s, y, x, x, x, y, lse, dq, dk, dv, forgotten).name;
  });
}

TEST_CASE("attention_backward: the names of KAIO", "[ops][attention_backward]") {
  constexpr u32 rows = 37, size = 40;
  const device& gpu = under_test();
  for (const bool causal : {false, true}) {
    backward_case c;
    c.queries = c.keys = rows;
    c.qk_size = c.v_size = size;
    if (causal) c.causal = causal_alignment::top_left;
    const attention_inputs<f32> inputs(c);
    tensor4<f32> dout(1, rows, 1, size, false, 0);
    dout.fill(4, 1);
    const backward_reference<f32> want(c, inputs.q, inputs.k, inputs.v, dout);
    auto on_dout = upload(dout.host);
    auto out = gpu.allocate<f32>(rows * size), stats = gpu.allocate<f32>(rows);
    // The forward's own results.
    const auto forward = causal ? ops::attention_flash_causal_with_stats : ops::attention_flash_with_stats;
    forward(gpu, inputs.on_q, inputs.on_k, inputs.on_v, out, stats, rows, size);
    std::vector<decltype(&ops::attention_flash_bwd)> names{ops::attention_flash_bwd};
    if (causal) names = {ops::attention_flash_bwd_causal, ops::attention_flash_causal_bwd};
    for (const auto f : names) {
      auto dq = gpu.allocate<f32>(rows * size), dk = gpu.allocate<f32>(rows * size),
           dv = gpu.allocate<f32>(rows * size);
      f(gpu, on_dout, inputs.on_q, inputs.on_k, inputs.on_v, out, stats, dq, dk, dv, rows, size);
      compare_numbers("dq", dq.download(), want.dq);
      compare_numbers("dk", dk.download(), want.dk);
      compare_numbers("dv", dv.download(), want.dv);
    }
  }
}

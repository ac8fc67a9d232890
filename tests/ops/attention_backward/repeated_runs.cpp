// Repeated calls give the same bits. Each kernel of attention_backward that the device can run is repeated
// next to itself in another stream, so that blocks do not always find the same neighbours. So are calls with
// heads that share keys, packed sequences, and gradients of biases.
#include "ops/attention/backward/choice/table.hpp"
#include "tests/ops/attention/sequences.hpp"
#include "tests/ops/attention_backward/support.hpp"

#include <algorithm>
#include <array>
#include <string>

using namespace kaio;
using namespace kaio::tests;

namespace {

u32 runs() { return under_test().is_emulator() ? 2 : 250; }

// The gradients of one call in memory of its own, and a workspace that each run finds as the run before left it.
template <class T>
struct gradient_memory {
  buffer<T> dq, dk, dv;
  buffer<f32> dbias, dsinks;
  buffer<u8> workspace;

  gradient_memory(const backward_case& c, u64 workspace_bytes)
      : dq(zeros<T>(std::size_t{c.batches} * c.queries * c.heads * c.qk_size)),
        dk(zeros<T>(std::size_t{c.batches} * c.keys * c.key_heads * c.qk_size)),
        dv(zeros<T>(std::size_t{c.batches} * c.keys * c.key_heads * c.v_size)),
        dbias(zeros<f32>(bias_place(c).count())),
        dsinks(zeros<f32>(c.heads)),
        workspace(upload(std::vector<u8>(std::max<u64>(workspace_bytes, 1), 0xab))) {}

  void clear(const stream& s) {
    dq.fill_zero(s);
    dk.fill_zero(s);
    dv.fill_zero(s);
    dbias.fill_zero(s);
    dsinks.fill_zero(s);
  }
  // All of them, one after the other.
  std::vector<std::vector<u8>> download(const stream& s) const {
    return {bytes_of(dq.download(s)), bytes_of(dk.download(s)), bytes_of(dv.download(s)),
            bytes_of(dbias.download(s)), bytes_of(dsinks.download(s))};
  }

 private:
  template <class U>
  static buffer<U> zeros(std::size_t count) {
    return upload(std::vector<U>(count, from_float<U>(0)));
  }
  template <class U>
  static std::vector<u8> bytes_of(const std::vector<U>& numbers) {
    std::vector<u8> bytes(numbers.size() * sizeof(U));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
  }
};

// run(s, memory) puts the call into a stream: here two memories, in two streams.
template <class T, class Run>
void run_again(gradient_memory<T>& here, gradient_memory<T>& there, const Run& run) {
  device& gpu = under_test();
  const stream& s = gpu.stream();
  const stream other = gpu.create_stream();
  s.synchronize();
  std::vector<std::vector<u8>> first;
  for (u32 i = 0; i < runs(); ++i) {
    CAPTURE(i);
    here.clear(s);
    run(other, there);
    run(s, here);
    const auto got = here.download(s);
    if (i == 0) first = got;
    for (std::size_t n = 0; n < got.size(); ++n) {
      CAPTURE(n);
      REQUIRE(same_bits(got[n], first[n]));
    }
  }
  for (std::size_t n = 0; n < 3; ++n) {  // something was written
    CAPTURE(n);
    REQUIRE(std::any_of(first[n].begin(), first[n].end(), [](u8 byte) { return byte != 0; }));
  }
  other.synchronize();
  REQUIRE(there.download(s) == first);
}

// The inputs of a case on the device, and the arguments of a call.
template <class T>
struct repeated_call {
  backward_case c;
  attention_inputs<T> inputs;
  tensor4<T> dout, out;
  buffer<T> on_dout, on_out;
  buffer<f32> lse, dlse;
  buffer<T> sinks;
  score_tensor<T> bias;

  explicit repeated_call(const backward_case& given)
      : c(given),
        inputs(c),
        dout(c.batches, c.queries, c.heads, c.v_size, false, 0),
        out(dout),
        bias(c.bias.exists() ? c.bias : score_tensor_shape{.rank = 1},
             {c.batches, c.heads, c.queries, c.keys}, T{}, [](u32 b, u32 h, u32 i, u32 j) {
               return from_float<T>(static_cast<float>(bias_at(b, h, i, j)));
             }) {
    dout.fill(c.seed + 3, 1);
    on_dout = upload(dout.host);
    on_out = upload(out.host);
    const std::size_t rows = std::size_t{c.batches} * c.heads * c.queries;
    lse = upload(std::vector<f32>(rows));
    std::vector<f32> numbers(rows);
    for (std::size_t i = 0; i < rows; ++i) numbers[i] = 0.25f * static_cast<f32>(i % 7) - 0.75f;
    dlse = upload(numbers);
    std::vector<T> of_sinks;
    for (u32 h = 0; h < c.heads; ++h) of_sinks.push_back(from_float<T>(static_cast<float>(c.sink(h))));
    sinks = upload(of_sinks);
  }

  auto q() { return inputs.q.template view<const T>(inputs.on_q); }
  auto k() { return inputs.k.template view<const T>(inputs.on_k); }
  auto v() { return inputs.v.template view<const T>(inputs.on_v); }
  auto extents_of_rows() const { return extents(c.batches, c.heads, c.queries); }
  attention_options forward_options() {
    attention_options options{.causal = c.causal, .window = c.window, .softcap = c.softcap};
    if (c.bias.exists()) options.bias = bias.template view<ops::attention_bias>();
    if (c.sinks) options.sinks = tensor_view<const T, 1>(sinks, c.heads);
    return options;
  }
  attention_backward_options options(gradient_memory<T>& to) {
    attention_backward_options result;
    result.forward = forward_options();
    if (c.dlse) result.dlse = tensor_view<const f32, 3>(dlse, extents_of_rows());
    const auto& e = bias_place(c).extent;
    if (c.dbias) result.dbias = tensor_view<f32, 4>(to.dbias, e[0], e[1], e[2], e[3]);
    if (c.dsinks) result.dsinks = tensor_view<f32, 1>(to.dsinks, c.heads);
    result.workspace = to.workspace;
    return result;
  }
  void forward() {
    attention_options options = forward_options();
    options.lse = tensor_view<f32, 3>(lse, extents_of_rows());
    attention(under_test().stream(), q(), k(), v(), out.template view<T>(on_out), options);
  }
  u64 workspace_bytes() { return attention_backward_workspace_bytes(under_test().stream(), q(), k(), v()); }
  // f(dout, q, k, v, out, lse, dq, dk, dv)
  template <class F>
  void with_arguments(gradient_memory<T>& to, const F& f) {
    f(dout.template view<const T>(on_dout), q(), k(), v(), out.template view<const T>(on_out),
      tensor_view<const f32, 3>(lse, extents_of_rows()),
      tensor_view<T, 4>(to.dq, c.batches, c.queries, c.heads, c.qk_size),
      tensor_view<T, 4>(to.dk, c.batches, c.keys, c.key_heads, c.qk_size),
      tensor_view<T, 4>(to.dv, c.batches, c.keys, c.key_heads, c.v_size));
  }
};

// By one kernel of the table, whether the call would take it or not; without one, by the kernel that the call takes.
template <class T>
void check_again(const backward_case& c, const ops::attention_backward_variant* kernel = nullptr) {
  CAPTURE(c.text(), c.dbias);
  repeated_call<T> x(c);
  x.forward();
  gradient_memory<T> here(c, x.workspace_bytes()), there(c, x.workspace_bytes());
  run_again(here, there, [&](const stream& s, gradient_memory<T>& to) {
    const attention_backward_options options = x.options(to);
    x.with_arguments(to, [&](const auto& dout, const auto& q, const auto& k, const auto& v, const auto& out,
                             const auto& lse, const auto& dq, const auto& dk, const auto& dv) {
      if (kernel == nullptr) {
        attention_backward(s, dout, q, k, v, out, lse, dq, dk, dv, options);
        return;
      }
      ops::attention_backward_call call = ops::detail::resolve_attention_backward(
          s.device_identity(), {"attention_backward", dout, q, k, v, out, lse, dq, dk, dv, &options});
      const std::array only{*kernel};
      REQUIRE(ops::detail::choose_attention_backward("attention_backward", call, only, s.properties()) == 0);
      if (kernel->place_workspace != nullptr) kernel->place_workspace(call);
      call.gradients.dbias.direct = kernel->writes_dbias && ops::detail::has_full_bias_gradient(call) ? 1 : 0;
      ops::detail::prepare_attention_backward(s, call);
      kernel->run(s, call);
    });
  });
}

bool has_room(const ops::attention_backward_variant& kernel) {
  const u64 most = under_test().properties().shared_per_block_optin;
  return std::all_of(kernel.images.begin(), kernel.images.end(), [&](const ptx::kernel_image* image) {
    return image == nullptr || std::max(image->needs.shared_bytes, image->needs.dynamic_shared_bytes) <= most;
  });
}

template <class T>
void check_all_again(ops::element_kind type) {
  const bool emulated = under_test().is_emulator();
  for (const ops::attention_backward_variant& kernel : ops::all_attention_backward_variants()) {
    if ((!kernel.any_type && kernel.type != type) || !has_room(kernel) ||
        !ops::detail::is_made_for(kernel, under_test().properties().target))
      continue;
    if (emulated && kernel.depth_qk > 64) continue;
    CAPTURE(std::string(kernel.name()));
    backward_case c;
    c.batches = emulated ? 1 : 2;
    c.queries = emulated ? 70 : 700;
    c.keys = emulated ? 140 : 500;
    c.heads = emulated ? 2 : 8;
    c.key_heads = emulated ? 1 : 2;
    c.qk_size = c.v_size = std::min(kernel.depth_qk, 256u);
    c.causal = causal_alignment::bottom_right;
    c.sinks = c.dsinks = c.dlse = true;
    if (!kernel.plain) c.softcap = 2;
    check_again<T>(c, &kernel);
    if (!kernel.is_biased) continue;
    c.bias = {.rank = 4, .own_type = true};
    c.dbias = kernel.writes_dbias;
    check_again<T>(c, &kernel);
  }
}

}  // namespace

TEST_CASE("attention_backward: the same bits by every kernel, f16", "[ops][attention_backward]") {
  check_all_again<f16>(ops::element_kind::f16);
}
TEST_CASE("attention_backward: the same bits by every kernel, bf16", "[ops][attention_backward]") {
  if (has_attention<bf16>()) check_all_again<bf16>(ops::element_kind::bf16);
}
TEST_CASE("attention_backward: the same bits by every kernel, f32", "[ops][attention_backward]") {
  check_all_again<f32>(ops::element_kind::f32);
}

TEST_CASE("attention_backward: the same bits of heads that share keys, d128", "[ops][attention_backward]") {
  const bool emulated = under_test().is_emulator();
  backward_case c;
  c.queries = emulated ? 70 : 900;
  c.keys = emulated ? 200 : 1100;
  c.heads = emulated ? 3 : 12;
  c.key_heads = emulated ? 1 : 3;
  c.qk_size = c.v_size = 128;
  for (const auto causal : {causal_alignment::none, causal_alignment::bottom_right}) {
    c.causal = causal;
    check_again<f16>(c);
  }
  if (!emulated) check_again<bf16>(c);
}

// Gradients of a bias with an element for each score, and gradients summed over queries, heads and batches.
TEST_CASE("attention_backward: the same bits of gradients of biases", "[ops][attention_backward]") {
  const bool emulated = under_test().is_emulator();
  backward_case c;
  c.batches = 2;
  c.queries = emulated ? 40 : 600;
  c.keys = emulated ? 70 : 500;
  c.heads = emulated ? 2 : 6;
  c.key_heads = emulated ? 1 : 2;
  c.dbias = true;
  for (const u32 ones : {0b0000u, 0b0001u, 0b0111u, 0b1100u}) {
    c.bias = {.rank = 4, .ones = ones, .own_type = true};
    check_again<f16>(c);
    if (!emulated) check_again<f32>(c);
  }
}

template <class T>
void check_sequences_again(u32 size) {
  const bool emulated = under_test().is_emulator();
  const std::vector<i32> all_begins{0, 300, 300, 1000, 1007, 1500}, some_begins{0, 70, 70, 150, 157};
  const std::vector<i32>& begins = emulated ? some_begins : all_begins;
  backward_case c;
  c.queries = c.keys = static_cast<u32>(begins.back());
  c.heads = emulated ? 2 : 8;
  c.key_heads = emulated ? 1 : 2;
  c.qk_size = c.v_size = size;
  c.dlse = true;
  repeated_call<T> x(c);
  const auto on_begins = upload(begins);
  const tensor_view<const i32, 1> cu(on_begins, begins.size());
  const ops::attention_sequences sequences{.cu_q = cu, .cu_k = cu, .max_q = emulated ? 80 : 700};
  const auto packed = [&]<class U>(U*, const auto& memory, u32 rows, u32 heads) {
    return tensor_view<U, 3>(memory.view(), extents(rows, heads, size));
  };
  const T* const read = nullptr;
  T* const written = nullptr;
  const auto q = packed(read, x.inputs.on_q, c.queries, c.heads),
             k = packed(read, x.inputs.on_k, c.keys, c.key_heads),
             v = packed(read, x.inputs.on_v, c.keys, c.key_heads);
  const extents rows(c.heads, c.queries);
  attention_varlen(under_test().stream(), q, k, v, packed(written, x.on_out, c.queries, c.heads), sequences,
                   {.causal = causal_alignment::bottom_right, .lse = tensor_view<f32, 2>(x.lse, rows)});
  const u64 bytes = attention_backward_varlen_workspace_bytes(under_test().stream(), q, k, v, sequences);
  gradient_memory<T> here(c, bytes), there(c, bytes);
  run_again(here, there, [&](const stream& s, gradient_memory<T>& to) {
    attention_backward_options options;
    options.forward.causal = causal_alignment::bottom_right;
    options.dlse = tensor_view<const f32, 2>(x.dlse, rows);
    options.workspace = to.workspace;
    attention_backward_varlen(
        s, packed(read, x.on_dout, c.queries, c.heads), q, k, v, packed(read, x.on_out, c.queries, c.heads),
        tensor_view<const f32, 2>(x.lse, rows), packed(written, to.dq, c.queries, c.heads),
        packed(written, to.dk, c.keys, c.key_heads), packed(written, to.dv, c.keys, c.key_heads), sequences,
        options);
  });
}

TEST_CASE("attention_backward_varlen: the same bits in every run", "[ops][attention_backward]") {
  check_sequences_again<f16>(64);
  check_sequences_again<bf16>(under_test().is_emulator() ? 72 : 128);
  check_sequences_again<f32>(40);
}

// Made by src/c/generate.py from src/c/operations/distributed.json.
// clang-format off

#include <kaio/c/distributed.h>
#include <kaio/ops/context_attention.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/call/ranks.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::context_layout::contiguous) == KAIO_CONTEXT_LAYOUT_CONTIGUOUS);
static_assert(static_cast<int>(ops::context_layout::zigzag) == KAIO_CONTEXT_LAYOUT_ZIGZAG);
static_assert(ops::communicator_options{}.time_limit == 60.0);
static_assert(ops::communicator_options{}.staging_bytes == 8388608);
static_assert(ops::communicator_options{}.compare == true);
static_assert(!ops::context_attention_options{}.scale);
static_assert(ops::context_attention_options{}.softcap == 0.0f);
static_assert(ops::context_attention_options{}.causal.alignment == static_cast<ops::causal_alignment>(0));
static_assert(ops::context_attention_options{}.layout == static_cast<ops::context_layout>(1));
static_assert(ops::context_attention_options{}.window.left == -1);
static_assert(ops::context_attention_options{}.window.right == -1);
static_assert(ops::context_attention_options{}.head_ranks == 1);

void read(call& in, const char* name, const kaio_communicator_options* given, ops::communicator_options& to) {
  kaio_communicator_options from = kaio_communicator_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.time_limit = from.time_limit;
  to.staging_bytes = from.staging_bytes;
  to.compare = in.flag("compare", from.compare);
  in.zero("reserved_28", from.reserved_28);
}

void read(call& in, const char* name, const kaio_communicator_means* given, ops::communicator_means& to) {
  kaio_communicator_means from = kaio_communicator_means_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.data = from.data;
  to.gather = from.gather;
  to.allocate = from.allocate;
  to.release = from.release;
}

void read(call& in, const char* name, const kaio_context_attention_options* given, ops::context_attention_options& to) {
  kaio_context_attention_options from = kaio_context_attention_options_default();
  in.take(name, given, &from, sizeof from);
  if (from.scale != 0) to.scale = from.scale;
  to.softcap = from.softcap;
  in.enumerated("causal", from.causal, 3, to.causal.alignment);
  in.enumerated("layout", from.layout, 2, to.layout);
  in.zero("reserved_20", from.reserved_20);
  to.window.left = from.window_left;
  to.window.right = from.window_right;
  in.optional_tensor("sinks", from.sinks, {element::f32 | element::f16 | element::bf16, 1, 1}, to.sinks.view);
  in.optional_tensor("lse", from.lse, {element::f32, 3, 3}, to.lse.view);
  to.head_ranks = from.head_ranks;
  in.zero("reserved_60", from.reserved_60);
  in.workspace("workspace", from.workspace, to.workspace);
  in.list("lengths", from.lengths, from.length_count, to.lengths);
  in.optional_tensor("dsinks", from.dsinks, {element::f32 | element::f16 | element::bf16, 1, 1}, to.dsinks.view);
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_communicators_create(const DLDevice* devices, uint64_t ranks, int32_t direct_given,
                                      const kaio_communicator_options* options_given,
                                      kaio_communicator** communicators) {
  return guarded([&] {
    call in("communicators_create");
    in.need("devices", devices);
    const bool direct = in.flag("direct", direct_given);
    ops::communicator_options options;
    read(in, "options", options_given, options);
    in.need("communicators", communicators);
    c::make_ranks(devices, ranks, direct, options, communicators);
  });
}

kaio_status kaio_nccl_create_id(uint8_t* id) {
  return guarded([&] {
    call in("nccl_create_id");
    in.need("id", id);
    c::make_nccl_id(id);
  });
}

kaio_status kaio_communicator_create_nccl(DLDevice device, const uint8_t* id, int32_t ranks, int32_t rank,
                                          const kaio_communicator_options* options_given,
                                          kaio_communicator** communicator) {
  return guarded([&] {
    call in("communicator_create_nccl");
    in.device("device", device);
    in.need("id", id);
    ops::communicator_options options;
    read(in, "options", options_given, options);
    in.need("communicator", communicator);
    const runtime::device& gpu = in.gpu();
    *communicator = c::make_nccl_rank(gpu, id, ranks, rank, options);
  });
}

kaio_status kaio_communicator_create_program(DLDevice device, const kaio_communicator_means* means_given,
                                             int32_t ranks, int32_t rank,
                                             const kaio_communicator_options* options_given,
                                             kaio_communicator** communicator) {
  return guarded([&] {
    call in("communicator_create_program");
    in.device("device", device);
    in.need("means", means_given);
    ops::communicator_means means;
    read(in, "means", means_given, means);
    ops::communicator_options options;
    read(in, "options", options_given, options);
    in.need("communicator", communicator);
    const runtime::device& gpu = in.gpu();
    *communicator = c::make_program_rank(gpu, means, ranks, rank, options);
  });
}

kaio_status kaio_communicator_destroy(kaio_communicator* communicator) {
  return guarded([&] {
    call in("communicator_destroy");
    c::destroy(communicator);
  });
}

kaio_status kaio_communicator_abort(const kaio_communicator* communicator, const char* why) {
  return guarded([&] {
    call in("communicator_abort");
    in.need("communicator", communicator);
    communicator->rank.abort(why);
  });
}

kaio_status kaio_all_gather(const kaio_communicator* communicator, void* stream, const DLTensor* from_given,
                            const DLTensor* to_given) {
  return guarded([&] {
    call in("all_gather");
    in.need("communicator", communicator);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 1, 5}, from);
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 1, 5}, to);
    in.same_elements("to", to_given, "from", from_given);
    communicator->rank.all_gather(in.stream(stream), from, to);
    in.finish();
  });
}

kaio_status kaio_reduce_scatter(const kaio_communicator* communicator, void* stream,
                                const DLTensor* from_given, const DLTensor* to_given) {
  return guarded([&] {
    call in("reduce_scatter");
    in.need("communicator", communicator);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16, 1, 5}, from);
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16, 1, 5}, to);
    in.same_elements("to", to_given, "from", from_given);
    communicator->rank.reduce_scatter(in.stream(stream), from, to);
    in.finish();
  });
}

kaio_status kaio_communicator_all_reduce(const kaio_communicator* communicator, void* stream,
                                         const DLTensor* from_given, const DLTensor* to_given) {
  return guarded([&] {
    call in("communicator_all_reduce");
    in.need("communicator", communicator);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16, 1, 5}, from);
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16, 1, 5}, to);
    in.same_elements("to", to_given, "from", from_given);
    communicator->rank.all_reduce(in.stream(stream), from, to);
    in.finish();
  });
}

kaio_status kaio_all_to_all(const kaio_communicator* communicator, void* stream, const DLTensor* from_given,
                            const DLTensor* to_given) {
  return guarded([&] {
    call in("all_to_all");
    in.need("communicator", communicator);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 1, 5}, from);
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 1, 5}, to);
    in.same_elements("to", to_given, "from", from_given);
    communicator->rank.all_to_all(in.stream(stream), from, to);
    in.finish();
  });
}

kaio_status kaio_broadcast(const kaio_communicator* communicator, void* stream, const DLTensor* memory_given,
                           int32_t root) {
  return guarded([&] {
    call in("broadcast");
    in.need("communicator", communicator);
    ops::any_view memory;
    in.tensor("memory", memory_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 1, 5}, memory);
    communicator->rank.broadcast(in.stream(stream), memory, root);
    in.finish();
  });
}

kaio_status kaio_context_attention_workspace_bytes(const kaio_communicator* communicator,
                                                   const DLTensor* q_given, const DLTensor* k_given,
                                                   const DLTensor* v_given,
                                                   const kaio_context_attention_options* options_given,
                                                   uint64_t* bytes) {
  return guarded([&] {
    call in("context_attention_workspace_bytes");
    in.need("communicator", communicator);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::context_attention_options options;
    read(in, "options", options_given, options);
    in.need("bytes", bytes);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::context_attention_workspace_bytes(communicator->rank, stream, q, k, v, options);
  });
}

kaio_status kaio_context_attention(const kaio_communicator* communicator, void* stream,
                                   const DLTensor* q_given, const DLTensor* k_given, const DLTensor* v_given,
                                   const DLTensor* out_given,
                                   const kaio_context_attention_options* options_given) {
  return guarded([&] {
    call in("context_attention");
    in.need("communicator", communicator);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    in.same_elements("out", out_given, "q", q_given);
    in.need("options", options_given);
    ops::context_attention_options options;
    read(in, "options", options_given, options);
    ops::context_attention(communicator->rank, in.stream(stream), q, k, v, out, options);
    in.finish();
  });
}

kaio_status kaio_context_attention_backward_workspace_bytes(const kaio_communicator* communicator,
                                                            const DLTensor* q_given, const DLTensor* k_given,
                                                            const DLTensor* v_given,
                                                            const kaio_context_attention_options* options_given,
                                                            uint64_t* bytes) {
  return guarded([&] {
    call in("context_attention_backward_workspace_bytes");
    in.need("communicator", communicator);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::context_attention_options options;
    read(in, "options", options_given, options);
    in.need("bytes", bytes);
    const runtime::stream& stream = in.gpu().stream();
    *bytes = ops::context_attention_backward_workspace_bytes(communicator->rank, stream, q, k, v, options);
  });
}

kaio_status kaio_context_attention_backward(const kaio_communicator* communicator, void* stream,
                                            const DLTensor* dout_given, const DLTensor* q_given,
                                            const DLTensor* k_given, const DLTensor* v_given,
                                            const DLTensor* out_given, const DLTensor* lse_given,
                                            const DLTensor* dq_given, const DLTensor* dk_given,
                                            const DLTensor* dv_given,
                                            const kaio_context_attention_options* options_given) {
  return guarded([&] {
    call in("context_attention_backward");
    in.need("communicator", communicator);
    ops::attention_view dout;
    in.tensor("dout", dout_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dout);
    in.same_elements("dout", dout_given, "q", q_given);
    ops::attention_view q;
    in.tensor("q", q_given, {element::f32 | element::f16 | element::bf16, 4, 4}, q);
    ops::attention_view k;
    in.tensor("k", k_given, {element::f32 | element::f16 | element::bf16, 4, 4}, k);
    in.same_elements("k", k_given, "q", q_given);
    ops::attention_view v;
    in.tensor("v", v_given, {element::f32 | element::f16 | element::bf16, 4, 4}, v);
    in.same_elements("v", v_given, "q", q_given);
    ops::attention_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 4, 4}, out);
    in.same_elements("out", out_given, "q", q_given);
    ops::attention_row_input lse;
    in.tensor("lse", lse_given, {element::f32, 3, 3}, lse.view);
    ops::attention_gradient dq;
    in.optional_tensor("dq", dq_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dq.view);
    in.same_elements("dq", dq_given, "q", q_given);
    ops::attention_gradient dk;
    in.optional_tensor("dk", dk_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dk.view);
    in.same_elements("dk", dk_given, "q", q_given);
    ops::attention_gradient dv;
    in.optional_tensor("dv", dv_given, {element::f32 | element::f16 | element::bf16, 4, 4}, dv.view);
    in.same_elements("dv", dv_given, "q", q_given);
    in.need("options", options_given);
    ops::context_attention_options options;
    read(in, "options", options_given, options);
    ops::context_attention_backward(communicator->rank, in.stream(stream), dout, q, k, v, out, lse, dq, dk, dv, options);
    in.finish();
  });
}
}

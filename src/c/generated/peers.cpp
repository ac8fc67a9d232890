// Made by src/c/generate.py from src/c/operations/peers.json.
// clang-format off

#include <kaio/c/peers.h>
#include <kaio/ops/all_reduce.hpp>
#include <kaio/ops/all_reduce_rms_norm.hpp>
#include <kaio/ops/exchange_experts.hpp>
#include <kaio/ops/matmul_all_reduce.hpp>

#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/call/peers.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(static_cast<int>(ops::gather_schedule::launches) == KAIO_GATHER_SCHEDULE_LAUNCHES);
static_assert(static_cast<int>(ops::gather_schedule::one_launch) == KAIO_GATHER_SCHEDULE_ONE_LAUNCH);
static_assert(ops::peer_workspace_options{}.sum_bytes == 8388608);
static_assert(ops::peer_workspace_options{}.one_shot_bytes == 524288);
static_assert(ops::peer_workspace_options{}.product_bytes == 0);
static_assert(ops::peer_workspace_options{}.blocks == 64);
static_assert(ops::peer_workspace_options{}.compares_repeated_calls == true);
static_assert(ops::matmul_reduce_options{}.alpha == 1.0f);
static_assert(ops::matmul_reduce_options{}.f32_parts == false);
static_assert(ops::matmul_reduce_options{}.precision == static_cast<ops::matmul_precision>(0));
static_assert(ops::matmul_reduce_options{}.constant == static_cast<ops::constant_inputs>(0));

void read(call& in, const char* name, const kaio_peer_workspace_options* given, ops::peer_workspace_options& to) {
  kaio_peer_workspace_options from = kaio_peer_workspace_options_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.sum_bytes = from.sum_bytes;
  to.one_shot_bytes = from.one_shot_bytes;
  to.product_bytes = from.product_bytes;
  to.blocks = from.blocks;
  to.compares_repeated_calls = in.flag("compares_repeated_calls", from.compares_repeated_calls);
}

void read(call& in, const char* name, const kaio_matmul_reduce_options* given, ops::matmul_reduce_options& to) {
  kaio_matmul_reduce_options from = kaio_matmul_reduce_options_default();
  in.take(name, given, &from, sizeof from);
  to.alpha = from.alpha;
  to.f32_parts = in.flag("f32_parts", from.f32_parts);
  in.enumerated("precision", from.precision, 3, to.precision);
  in.workspace("workspace", from.workspace, to.workspace);
  in.set_of("constant", from.constant, 7, to.constant);
  in.zero("reserved_28", from.reserved_28);
  if (from.variant != nullptr) to.variant = from.variant;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_peer_workspace_create(const kaio_communicator* communicator,
                                       const kaio_peer_workspace_options* options_given,
                                       kaio_peer_workspace** workspace) {
  return guarded([&] {
    call in("peer_workspace_create");
    in.need("communicator", communicator);
    ops::peer_workspace_options options;
    read(in, "options", options_given, options);
    in.need("workspace", workspace);
    *workspace = c::make_peer_workspace(communicator, options);
  });
}

kaio_status kaio_peer_workspace_destroy(kaio_peer_workspace* workspace) {
  return guarded([&] {
    call in("peer_workspace_destroy");
    c::destroy(workspace);
  });
}

kaio_status kaio_peer_buffer_create(const kaio_communicator* communicator, uint64_t bytes,
                                    kaio_peer_buffer** buffer) {
  return guarded([&] {
    call in("peer_buffer_create");
    in.need("communicator", communicator);
    in.need("buffer", buffer);
    *buffer = c::make_peer_buffer(communicator, bytes);
  });
}

kaio_status kaio_peer_buffer_pointer(const kaio_peer_buffer* buffer, int32_t rank, void** memory) {
  return guarded([&] {
    call in("peer_buffer_pointer");
    in.need("buffer", buffer);
    in.need("memory", memory);
    *memory = c::pointer_of(buffer, rank);
  });
}

kaio_status kaio_peer_buffer_destroy(kaio_peer_buffer* buffer) {
  return guarded([&] {
    call in("peer_buffer_destroy");
    c::destroy(buffer);
  });
}

kaio_status kaio_all_reduce(const kaio_peer_workspace* workspace, void* stream, const DLTensor* from_given,
                            const DLTensor* to_given) {
  return guarded([&] {
    call in("all_reduce");
    in.need("workspace", workspace);
    ops::any_view from;
    in.tensor("from", from_given, {element::f32 | element::f16 | element::bf16, 1, 5}, from);
    ops::any_view to;
    in.tensor("to", to_given, {element::f32 | element::f16 | element::bf16, 1, 5}, to);
    in.same_elements("to", to_given, "from", from_given);
    ops::all_reduce(workspace->memory, in.stream(stream), from, ops::output_view(to));
    in.finish();
  });
}

kaio_status kaio_all_reduce_rms_norm(const kaio_peer_workspace* workspace, void* stream,
                                     const DLTensor* x_given, const DLTensor* weight_given,
                                     const DLTensor* out_given, const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("all_reduce_rms_norm");
    in.need("workspace", workspace);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view out;
    in.tensor("out", out_given, {element::f32 | element::f16 | element::bf16, 2, 2}, out);
    in.same_elements("out", out_given, "x", x_given);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    ops::detail::run_all_reduce_rms_norm(workspace->memory, in.stream(stream), x, weight, out, options);
    in.finish();
  });
}

kaio_status kaio_all_reduce_rms_norm_codes(const kaio_peer_workspace* workspace, void* stream,
                                           const DLTensor* x_given, const DLTensor* weight_given,
                                           const DLTensor* codes_given, const DLTensor* scales_given,
                                           const kaio_rms_norm_options* options_given) {
  return guarded([&] {
    call in("all_reduce_rms_norm_codes");
    in.need("workspace", workspace);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16, 2, 2}, x);
    ops::any_view weight;
    in.tensor("weight", weight_given, {element::f32 | element::f16 | element::bf16, 1, 1}, weight);
    ops::any_view codes;
    in.tensor("codes", codes_given, {element::e4m3 | element::i8, 2, 2}, codes);
    ops::any_view scales;
    in.tensor("scales", scales_given, {element::f32, 1, 2}, scales);
    ops::rms_norm_options options;
    read(in, "options", options_given, options);
    ops::detail::run_all_reduce_rms_norm_codes(workspace->memory, in.stream(stream), x, weight, codes, scales, 0, options);
    in.finish();
  });
}

kaio_status kaio_all_gather_matmul(const kaio_peer_workspace* workspace, void* stream,
                                   const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                   int32_t schedule_given, const kaio_matmul_options* options_given) {
  return guarded([&] {
    call in("all_gather_matmul");
    in.need("workspace", workspace);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::gather_schedule schedule{};
    in.enumerated("schedule", schedule_given, 2, schedule);
    ops::matmul_options options;
    read(in, "options", options_given, options);
    ops::detail::run_all_gather_matmul(workspace->memory, in.stream(stream), a, b, c, options, schedule);
    in.finish();
  });
}

kaio_status kaio_matmul_reduce_scatter(const kaio_peer_workspace* workspace, void* stream,
                                       const DLTensor* a_given, const DLTensor* b_given,
                                       const DLTensor* c_given,
                                       const kaio_matmul_reduce_options* options_given) {
  return guarded([&] {
    call in("matmul_reduce_scatter");
    in.need("workspace", workspace);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_reduce_options options;
    read(in, "options", options_given, options);
    ops::detail::run_matmul_reduce_scatter(workspace->memory, in.stream(stream), a, b, c, options);
    in.finish();
  });
}

kaio_status kaio_matmul_all_reduce(const kaio_peer_workspace* workspace, void* stream,
                                   const DLTensor* a_given, const DLTensor* b_given, const DLTensor* c_given,
                                   const kaio_matmul_reduce_options* options_given) {
  return guarded([&] {
    call in("matmul_all_reduce");
    in.need("workspace", workspace);
    ops::matmul_view a;
    in.tensor("a", a_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, a);
    ops::matmul_view b;
    in.tensor("b", b_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2, 2, 2}, b);
    in.same_elements("b", b_given, "a", a_given);
    ops::matmul_view c;
    in.tensor("c", c_given, {element::f32 | element::f16 | element::bf16, 2, 2}, c);
    ops::matmul_reduce_options options;
    read(in, "options", options_given, options);
    ops::detail::run_matmul_all_reduce(workspace->memory, in.stream(stream), a, b, c, options);
    in.finish();
  });
}

kaio_status kaio_send_to_experts(const kaio_peer_workspace* workspace, void* stream, const DLTensor* x_given,
                                 const DLTensor* rows_given, const DLTensor* offsets_given,
                                 const kaio_peer_buffer* to, const DLTensor* local_offsets_given) {
  return guarded([&] {
    call in("send_to_experts");
    in.need("workspace", workspace);
    ops::any_view x;
    in.tensor("x", x_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 2, 2}, x);
    ops::any_view rows;
    in.optional_tensor("rows", rows_given, {element::i32, 1, 1}, rows);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    in.need("to", to);
    ops::any_view local_offsets;
    in.tensor("local_offsets", local_offsets_given, {element::i32, 1, 1}, local_offsets);
    ops::detail::run_send_to_experts(workspace->memory, in.stream(stream), x, offsets, to->memory, local_offsets, {.rows = rows});
    in.finish();
  });
}

kaio_status kaio_return_from_experts(const kaio_peer_workspace* workspace, void* stream,
                                     const DLTensor* z_given, const DLTensor* offsets_given,
                                     const kaio_peer_buffer* to) {
  return guarded([&] {
    call in("return_from_experts");
    in.need("workspace", workspace);
    ops::any_view z;
    in.tensor("z", z_given, {element::f32 | element::f16 | element::bf16 | element::e4m3 | element::e5m2 | element::i8 | element::i32 | element::i64, 2, 2}, z);
    ops::any_view offsets;
    in.tensor("offsets", offsets_given, {element::i32, 1, 1}, offsets);
    in.need("to", to);
    ops::detail::run_return_from_experts(workspace->memory, in.stream(stream), z, offsets, to->memory);
    in.finish();
  });
}
}

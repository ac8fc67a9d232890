// Made by src/c/generate.py from src/c/operations/block_mask.json.
// clang-format off

#include <kaio/c/block_mask.h>
#include <kaio/ops/attention/block_mask/arguments.hpp>

#include "c/call/band_block_mask.hpp"
#include "c/call/call.hpp"
#include "c/call/error.hpp"
#include "c/generated/structs.hpp"

namespace kaio::c {

static_assert(ops::block_mask_output{}.size.queries == 128);
static_assert(ops::block_mask_output{}.size.keys == 128);
static_assert(ops::block_mask_options{}.causal.alignment == static_cast<ops::causal_alignment>(0));
static_assert(ops::block_mask_options{}.queries == 0);
static_assert(ops::block_mask_options{}.keys == 0);
static_assert(ops::block_mask_options{}.window.left == -1);
static_assert(ops::block_mask_options{}.window.right == -1);

void read(call& in, const char* name, const kaio_block_mask_output* given, ops::block_mask_output& to) {
  kaio_block_mask_output from = kaio_block_mask_output_default();
  in.take(name, given, &from, sizeof from);
  in.zero("reserved_4", from.reserved_4);
  to.size.queries = from.block_queries;
  to.size.keys = from.block_keys;
  in.optional_tensor("kv_num_blocks", from.kv_num_blocks, {element::i32, 3, 3}, to.kv_num_blocks.view);
  in.optional_tensor("kv_indices", from.kv_indices, {element::i32, 4, 4}, to.kv_indices.view);
  in.optional_tensor("full_kv_num_blocks", from.full_kv_num_blocks, {element::i32, 3, 3}, to.full_kv_num_blocks.view);
  in.optional_tensor("full_kv_indices", from.full_kv_indices, {element::i32, 4, 4}, to.full_kv_indices.view);
  in.optional_tensor("q_num_blocks", from.q_num_blocks, {element::i32, 3, 3}, to.q_num_blocks.view);
  in.optional_tensor("q_indices", from.q_indices, {element::i32, 4, 4}, to.q_indices.view);
  in.optional_tensor("full_q_num_blocks", from.full_q_num_blocks, {element::i32, 3, 3}, to.full_q_num_blocks.view);
  in.optional_tensor("full_q_indices", from.full_q_indices, {element::i32, 4, 4}, to.full_q_indices.view);
}

void read(call& in, const char* name, const kaio_block_mask_options* given, ops::block_mask_options& to) {
  kaio_block_mask_options from = kaio_block_mask_options_default();
  in.take(name, given, &from, sizeof from);
  in.enumerated("causal", from.causal, 3, to.causal.alignment);
  to.queries = from.queries;
  to.keys = from.keys;
  to.window.left = from.window_left;
  to.window.right = from.window_right;
}

}  // namespace kaio::c

using namespace kaio;
using namespace kaio::c;

extern "C" {

kaio_status kaio_make_block_mask(void* stream_handle, DLDevice device,
                                 const kaio_block_mask_output* output_given,
                                 const kaio_block_mask_options* options_given) {
  return guarded([&] {
    call in("make_block_mask");
    in.device("device", device);
    in.need("output", output_given);
    ops::block_mask_output output;
    read(in, "output", output_given, output);
    in.need("options", options_given);
    ops::block_mask_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.stream(stream_handle);
    make_band_block_mask(stream, output, options);
    in.finish();
  });
}

kaio_status kaio_make_block_mask_warmup(DLDevice device, const kaio_block_mask_output* output_given,
                                        const kaio_block_mask_options* options_given) {
  return guarded([&] {
    call in("make_block_mask_warmup");
    in.device("device", device);
    in.need("output", output_given);
    ops::block_mask_output output;
    read(in, "output", output_given, output);
    in.need("options", options_given);
    ops::block_mask_options options;
    read(in, "options", options_given, options);
    const runtime::stream& stream = in.loading();
    make_band_block_mask(stream, output, options);
  });
}
}

#pragma once
// make_block_mask for the mask of a causal option and a window, with its kernel. Other masks are compiled where they are
// used, which C cannot do.

#include <kaio/ops/attention/block_mask/arguments.hpp>
#include <kaio/runtime/stream.hpp>

namespace kaio::c {

void make_band_block_mask(const runtime::stream& s, const ops::block_mask_output& output,
                          const ops::block_mask_options& options);

}  // namespace kaio::c

#include "c/call/band_block_mask.hpp"

#include <kaio/ops/make_block_mask.hpp>

namespace kaio::c {

void make_band_block_mask(const runtime::stream& s, const ops::block_mask_output& output,
                          const ops::block_mask_options& options) {
  ops::make_block_mask(s, ops::band_mask(), output, options);
}

}  // namespace kaio::c

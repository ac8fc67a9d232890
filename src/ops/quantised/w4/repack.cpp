// The launches of repack and dequantise.

#include <kaio/ops/quantised/w4/repack.hpp>
#include <kaio/ops/repack_w4.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/quantised/w4/resolve.hpp"
#include "ops/quantised/w4/variant.hpp"

namespace kaio::ops {

namespace detail {

void run_repack_w4(const stream& s, const w4_source_arguments& arguments, const w4_weights& to) {
  s.properties();  // a null stream is refused before anything is looked at
  const w4_source source = resolve_repack_w4(s.device_identity(), arguments, to);
  if (source.w.rows != 0)
    repack_w4_order.launch(s, over(source.w.k), device_pointer<i32>(source.order, source.w.k),
                           device_pointer<i32>(source.w.rows, source.w.k), source.w.k, source.w.group.value);
  const u64 blocks = u64{source.w.tiles_n} * source.w.tiles_k + u64{source.w.tiles_n} * source.w.groups;
  repack_w4_tiles.launch(s, grid(blocks), source);
}

void run_dequantise_w4(const stream& s, const w4_weights& w, const any_view& out) {
  s.properties();
  run_dequantise_w4_matrix(s, resolve_dequantise_w4(s.device_identity(), w, out));
}

}  // namespace detail

void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix) {
  dequantise_w4_tiles.launch(s, grid(u64{matrix.w.tiles_n} * matrix.w.tiles_k), matrix);
}

void repack_w4_warmup(const runtime::device& gpu) {
  gpu.warmup(repack_w4_order.image());
  gpu.warmup(repack_w4_tiles.image());
  gpu.warmup(dequantise_w4_tiles.image());
}

const ptx::kernel_image& dequantise_w4_image() { return dequantise_w4_tiles.image(); }

void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto* const image :
       {&dequantise_w4_tiles.image(), &repack_w4_tiles.image(), &repack_w4_order.image()})
    list.push_back(image);
}

}  // namespace kaio::ops

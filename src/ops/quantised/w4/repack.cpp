// The launches of repack and dequantise.

#include <kaio/ops/quantised/repack_w4.hpp>
#include <kaio/ops/quantised/w4/dequantise.hpp>
#include <kaio/ops/quantised/w4/repack.hpp>
#include <kaio/ops/quantised/w4/repack_bytes.hpp>
#include <kaio/runtime/device.hpp>

#include <vector>

#include "ops/quantised/w4/families.hpp"
#include "ops/quantised/w4/resolve.hpp"

namespace kaio::ops {

namespace detail {

namespace {

u64 repack_blocks(const w4_packed& w) { return u64{w.tiles_n} * w.tiles_k + u64{w.tiles_n} * w.groups; }

void order_rows(const stream& s, const w4_packed& w, u64 order) {
  if (w.rows != 0)
    repack_w4_order.launch(s, over(w.k), device_pointer<i32>(order, w.k), device_pointer<i32>(w.rows, w.k),
                           w.k, w.group.value);
}

}  // namespace

void run_repack_w4(const stream& s, const w4_source_arguments& arguments, const w4_weights& to) {
  s.properties();  // a null stream is refused before anything is looked at
  const w4_source source = resolve_repack_w4(s.device_identity(), arguments, to);
  order_rows(s, source.w, source.order);
  repack_w4_tiles.launch(s, grid(repack_blocks(source.w)), source);
}

void run_repack_w4(const stream& s, const w4_bytes_arguments& arguments, const w4_weights& to) {
  s.properties();
  const w4_bytes_source source = resolve_repack_w4(s.device_identity(), arguments, to);
  order_rows(s, source.w, source.order);
  repack_w4_from_bytes.launch(s, grid(repack_blocks(source.w)), source);
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
  gpu.warmup(repack_w4_from_bytes.image());
  gpu.warmup(dequantise_w4_tiles.image());
}

const ptx::kernel_image& dequantise_w4_image() { return dequantise_w4_tiles.image(); }

void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto* const image : {&dequantise_w4_tiles.image(), &repack_w4_tiles.image(),
                                  &repack_w4_order.image(), &repack_w4_from_bytes.image()})
    list.push_back(image);
}

}  // namespace kaio::ops

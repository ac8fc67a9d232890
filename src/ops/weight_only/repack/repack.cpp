// The launches of repack and dequantise.

#include <kaio/ops/weight_only/repack/dequantise.hpp>
#include <kaio/ops/weight_only/repack/dequantise_rows.hpp>
#include <kaio/ops/weight_only/repack/repack.hpp>
#include <kaio/ops/weight_only/repack/repack_bytes.hpp>
#include <kaio/ops/weight_only/repack_w4.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <vector>

#include "ops/weight_only/common/families.hpp"
#include "ops/weight_only/common/resolve.hpp"

namespace kaio::ops {

namespace detail {

namespace {

u64 repack_blocks(const w4_packed& w) { return u64{w.tiles_n} * w.tiles_k + u64{w.tiles_n} * w.groups; }

void order_rows(const stream& s, const w4_packed& w, u64 act_order) {
  if (w.rows != 0)
    repack_w4_act_order.launch(s, over(w.k), device_pointer<i32>(act_order, w.k),
                               device_pointer<i32>(w.rows, w.k), w.k, w.group.value);
}

}  // namespace

void run_repack_w4(const stream& s, const w4_source_arguments& arguments, const w4_weights& to) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced("repack");
  const w4_source source = resolve_repack_w4(s.device_identity(), arguments, to);
  order_rows(s, source.w, source.act_order);
  repack_w4_tiles.launch(s, grid(repack_blocks(source.w)), source);
}

void run_repack_w4(const stream& s, const w4_bytes_arguments& arguments, const w4_weights& to) {
  s.properties();
  const operation_scope traced("repack");
  const w4_bytes_source source = resolve_repack_w4(s.device_identity(), arguments, to);
  order_rows(s, source.w, source.act_order);
  repack_w4_from_bytes.launch(s, grid(repack_blocks(source.w)), source);
}

void run_dequantise_w4(const stream& s, const w4_weights& w, const any_view& out) {
  s.properties();
  const operation_scope traced("dequantise");
  run_dequantise_w4_matrix(s, resolve_dequantise_w4(s.device_identity(), w, out));
}

}  // namespace detail

void run_dequantise_w4_matrix(const stream& s, const w4_matrix& matrix) {
  const w4_packed& w = matrix.w;  // n may be less than what is packed
  dequantise_w4_tiles.launch(s, grid((u64{w.n} + w4_tile_n - 1) / w4_tile_n * w.tiles_k), matrix);
}

namespace {

constexpr std::uint32_t programmatic = 90;

// Kernels of rows need sm_80 and weights without act-order.
bool dequantises_by_tiles(const w4_packed& w, const device_properties& device) {
  return w.rows != 0 || device.target.sm < 80;
}

bool is_programmatic(const device_properties& device) { return device.target.sm >= programmatic; }

// Tiles of K per warp: many, so that what they share is found once, but few enough to fill the device.
u32 strip_of(const w4_packed& w, const device_properties& device) {
  constexpr u32 most = 8, warps_of_multiprocessor = 32;
  const u64 all = (u64{w.n} + w4_rows_of_warp - 1) / w4_rows_of_warp * w.tiles_k;
  const u64 fill = u64{std::max(device.multiprocessors, 1u)} * warps_of_multiprocessor;
  return static_cast<u32>(std::clamp<u64>(all / fill, 1, most));
}

}  // namespace

void run_dequantise_w4_rows(const stream& s, const w4_matrix& matrix, bool early) {
  const device_properties& device = s.properties();
  const w4_packed& w = matrix.w;
  if (dequantises_by_tiles(w, device)) return run_dequantise_w4_matrix(s, matrix);
  const u32 strip = strip_of(w, device);
  const w4_rows_problem problem{.w = w,
                                .out = matrix.out,
                                .out_n = matrix.out_n,
                                .type = matrix.type,
                                .early = early ? 1u : 0u,
                                .strip = strip,
                                .strips = divisor::of((w.tiles_k + strip - 1) / strip)};
  const u64 warps = (u64{w.n} + w4_rows_of_warp - 1) / w4_rows_of_warp * problem.strips.value;
  const auto blocks = grid((warps * 32 + w4_rows_threads - 1) / w4_rows_threads);
  if (is_programmatic(device))
    dequantise_w4_rows<programmatic>.launch(s, blocks.programmatic(), problem);
  else
    dequantise_w4_rows<80>.launch(s, blocks, problem);
}

const ptx::kernel_image& dequantise_w4_rows_image(const w4_packed& w, const device_properties& device) {
  if (dequantises_by_tiles(w, device)) return dequantise_w4_tiles.image();
  return is_programmatic(device) ? dequantise_w4_rows<programmatic>.image() : dequantise_w4_rows<80>.image();
}

void repack_w4_warmup(const runtime::device& gpu) {
  gpu.warmup(repack_w4_act_order.image());
  gpu.warmup(repack_w4_tiles.image());
  gpu.warmup(repack_w4_from_bytes.image());
  gpu.warmup(dequantise_w4_tiles.image());
}

void list_w4_repack_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const auto* const image : {&dequantise_w4_tiles.image(), &dequantise_w4_rows<80>.image(),
                                  &dequantise_w4_rows<programmatic>.image(), &repack_w4_tiles.image(),
                                  &repack_w4_act_order.image(), &repack_w4_from_bytes.image()})
    list.push_back(image);
}

}  // namespace kaio::ops

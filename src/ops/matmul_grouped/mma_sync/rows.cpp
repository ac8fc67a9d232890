#include "ops/matmul_grouped/mma_sync/rows.hpp"

#include <kaio/ops/matmul/mma_sync/config.hpp>
#include <kaio/ops/matmul_grouped/mma_sync/kernel.hpp>
#include <kaio/ops/shared/ceil_div.hpp>
#include <kaio/runtime/buffer.hpp>

#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

namespace {

// Groups often have few rows, so tiles have half the rows of matmul's large ones.
constexpr mma_sync_config grouped_cut(major b) {
  return {.m = 64,
          .n = 128,
          .k = 32,
          .warp_m = 32,
          .warp_n = 64,
          .stages = 4,
          .min_blocks = 3,
          .a = major::k,
          .b = b};
}

template <class T, major B>
void launch(const stream& s, const grouped_call& call) {
  constexpr mma_sync_config config = grouped_cut(B);
  const any_view &a = call.a, &b = call.b, &c = call.c;
  const auto tiles_n = static_cast<u32>(ceil_div(call.n(), std::uint64_t{config.n}));
  const bool by_four =
      c.address % (4 * c.element_bytes()) == 0 && (c.extents[0] == 1 || c.strides[0] % 4 == 0);
  grouped_mma_problem problem{
      .tiles = grouped_tiles::of(call.offsets.address, call.groups(), call.rows(), tiles_n), .of = {}};
  problem.of.lda = a.strides[0];
  problem.of.ldb = b.strides[B == major::k ? 2 : 1];
  problem.of.batch_b = b.strides[0];
  problem.of.c = {c.strides[0], 0, static_cast<u32>(call.rows()), static_cast<u32>(call.n()),
                  by_four ? 1u : 0u};
  problem.of.k = static_cast<u32>(call.k());
  const auto memory = [](const any_view& v) {
    return device_pointer<T>{v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device, true};
  };
  const grid blocks(grouped_tiles::most(call.rows(), call.groups(), config.m) * tiles_n);
  grouped_mma<config, T>.launch(s, blocks, memory(a), memory(b),
                                output_memory{c.address, static_cast<u32>(c.type)}, problem);
}

// Calls f<T, B>().
template <class F>
auto of_call(const grouped_call& call, const F& f) {
  const bool along_k = call.b_is_along_k();
  if (call.a.type == element_kind::f16)
    return along_k ? f.template operator()<f16, major::k>() : f.template operator()<f16, major::mn>();
  return along_k ? f.template operator()<bf16, major::k>() : f.template operator()<bf16, major::mn>();
}

}  // namespace

void launch_grouped_mma(const stream& s, const grouped_call& call) {
  of_call(call, [&]<class T, major B>() { launch<T, B>(s, call); });
}
const ptx::kernel_image& grouped_mma_image(const grouped_call& call) {
  return *of_call(call, []<class T, major B>() { return &grouped_mma<grouped_cut(B), T>.image(); });
}
std::vector<const ptx::kernel_image*> grouped_mma_images() {
  return {&grouped_mma<grouped_cut(major::k), f16>.image(), &grouped_mma<grouped_cut(major::mn), f16>.image(),
          &grouped_mma<grouped_cut(major::k), bf16>.image(),
          &grouped_mma<grouped_cut(major::mn), bf16>.image()};
}

void list_matmul_grouped_mma_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : grouped_mma_images()) list.push_back(image);
}

}  // namespace kaio::ops

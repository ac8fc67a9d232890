#include "ops/matmul_grouped/mma_sync/sums.hpp"

#include <kaio/ops/matmul/mma_sync/config.hpp>
#include <kaio/ops/matmul_grouped/mma_sync/sums.hpp>
#include <kaio/runtime/buffer.hpp>

#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

namespace {

constexpr mma_sync_config config{
    .m = 128, .n = 128, .k = 32, .warp_m = 64, .warp_n = 64, .stages = 4, .a = major::mn, .b = major::mn};

template <class T>
void launch(const stream& s, const grouped_sums_call& call) {
  grouped_sums_problem problem{.tiles = call.tiles_of(config.m, config.n), .of = {}, .terms = call.terms()};
  problem.of.lda = call.a.strides[0];
  problem.of.ldb = call.b.strides[0];
  problem.of.c = call.lines_of_c();
  const auto memory = [](const any_view& v) {
    return device_pointer<T>{v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device, true};
  };
  grouped_sums_mma<config, T>.launch(s, grid(call.tiles(config.m, config.n)), memory(call.a), memory(call.b),
                                     call.memory_of_c(), problem);
}

}  // namespace

void launch_grouped_sums_mma(const stream& s, const grouped_sums_call& call) {
  if (call.a.type == element_kind::f16)
    launch<f16>(s, call);
  else
    launch<bf16>(s, call);
}
const ptx::kernel_image& grouped_sums_mma_image(element_kind type) {
  return type == element_kind::f16 ? grouped_sums_mma<config, f16>.image()
                                   : grouped_sums_mma<config, bf16>.image();
}

void list_matmul_grouped_sums_mma_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&grouped_sums_mma_image(element_kind::f16));
  list.push_back(&grouped_sums_mma_image(element_kind::bf16));
}

}  // namespace kaio::ops

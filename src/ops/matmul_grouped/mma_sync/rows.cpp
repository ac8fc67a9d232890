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

// Paired: gate_up_grouped.
template <class T, major B, bool Paired>
constexpr auto& kernel_of = []() -> auto& {
  if constexpr (Paired)
    return grouped_gate_up_mma<grouped_cut(B), T>;
  else
    return grouped_mma<grouped_cut(B), T>;
}();

template <class T, major B, bool Paired>
void launch(const stream& s, const grouped_call& call) {
  constexpr mma_sync_config config = grouped_cut(B);
  using body = grouped_mma_body<config, T, Paired>;
  const any_view &a = call.a, &b = call.b, &c = call.c;
  typename body::problem_type problem{.tiles = call.tiles(ceil_div(call.n(), std::uint64_t{body::columns})),
                                      .of = {},
                                      .gather = call.gather(),
                                      .terms = {},
                                      .second = call.up.address};
  if constexpr (Paired)
    problem.terms = call.gate();
  else
    problem.terms = grouped_call::terms_of(call.bias);
  problem.of.lda = a.strides[0];
  problem.of.ldb = b.strides[B == major::k ? 2 : 1];
  problem.of.batch_b = b.strides[0];
  problem.of.c = {c.strides[0], 0, static_cast<u32>(call.rows()), static_cast<u32>(call.n()),
                  call.stores_by_four() ? 1u : 0u};
  problem.of.k = static_cast<u32>(call.k());
  const auto memory = [](const any_view& v) {
    return device_pointer<T>{v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device, true};
  };
  kernel_of<T, B, Paired>.launch(s, grid(call.most_tiles(config.m, body::columns)), memory(a), memory(b),
                                 output_memory{c.address, static_cast<u32>(c.type)}, problem);
}

// Calls f<T, B, Paired>().
template <class F>
auto of_call(const grouped_call& call, const F& f) {
  const auto typed = [&]<class T, major B>() {
    return call.is_paired() ? f.template operator()<T, B, true>() : f.template operator()<T, B, false>();
  };
  const bool along_k = call.b_is_along_k();
  if (call.a.type == element_kind::f16)
    return along_k ? typed.template operator()<f16, major::k>() : typed.template operator()<f16, major::mn>();
  return along_k ? typed.template operator()<bf16, major::k>() : typed.template operator()<bf16, major::mn>();
}

template <bool Paired>
std::vector<const ptx::kernel_image*> images() {
  return {&kernel_of<f16, major::k, Paired>.image(), &kernel_of<f16, major::mn, Paired>.image(),
          &kernel_of<bf16, major::k, Paired>.image(), &kernel_of<bf16, major::mn, Paired>.image()};
}

}  // namespace

void launch_grouped_mma(const stream& s, const grouped_call& call) {
  of_call(call, [&]<class T, major B, bool Paired>() { launch<T, B, Paired>(s, call); });
}
const ptx::kernel_image& grouped_mma_image(const grouped_call& call) {
  return *of_call(call, []<class T, major B, bool Paired>() { return &kernel_of<T, B, Paired>.image(); });
}
std::vector<const ptx::kernel_image*> grouped_mma_images() { return images<false>(); }
std::vector<const ptx::kernel_image*> gate_up_mma_images() { return images<true>(); }

void list_matmul_grouped_mma_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : grouped_mma_images()) list.push_back(image);
  for (const ptx::kernel_image* image : gate_up_mma_images()) list.push_back(image);
}

}  // namespace kaio::ops

#include "ops/distributed/peer/gathered_matmul.hpp"

#include <kaio/ops/distributed/peer/gathered_matmul.hpp>
#include <kaio/ops/matmul/sm90/table_row.hpp>

#include "ops/families.hpp"

namespace kaio::ops {

namespace detail {

namespace {

// The tile of matmul for large products.
inline constexpr sm90_config gathered_tile{
    .m = 128, .n = 256, .stages = 4, .cluster_m = 2, .b_by_launch = true};

template <sm90_config C, class T>
void launch_gathered(const stream& s, const matmul_call& call, const matmul_operand& sent,
                     const peer_arrivals& arrivals) {
  using body = sm90_matmul_body<C, T, T, with_terms<T>>;
  using store = typename body::store;
  constexpr auto& kernel = gathered_matmul<C, T>;
  const auto rows = lines_for<T>(sent, call.m, call.k, call.batches);
  // A along K comes in whole boxes, so both maps of A have the same.
  const sm90_boxes boxes = body::mainloop::whole_boxes(C.cluster_m);
  const auto to = output_for<T>(call);
  prepare_sm90_clusters<C, T, true>(
      s, lines_for<T>(call.a, call.m, call.k, call.batches),
      lines_for<T>(call.b, call.n, call.k, call.batches), to, call.k, {C.cluster_m, C.cluster_n},
      s.max_active_clusters(kernel.image(), {0, 0, 0}), sm90_group,
      [&](const auto& shape, const sm90_problem& problem, const auto& own, const auto& b) {
        kernel.launch(s, shape, own, rows.map(s, boxes.a.sizes, sm90_config::row_bytes), b,
                      to.map(s, store::box, store::row_bytes), problem, arrivals,
                      addend_for<T>(call).map(s, store::box, store::row_bytes),
                      tile_terms::of(call.terms, term_type_of<T>));
      });
}

template <sm90_config C, class T>
gathered_variant describe() {
  gathered_variant result{.of_matmul = {.image = &gathered_matmul<C, T>.image(),
                                        .family = matmul_family::sm90,
                                        .operand = element_kind_of<T>(),
                                        .output = element_kind_of<T>(),
                                        .a = direction_of(C.a),
                                        .b = direction_of(C.b),
                                        .general = false,
                                        .adds_tile_terms = true,
                                        .m = C.m,
                                        .n = C.n,
                                        .k = sm90_config::row_bytes / sizeof(T) * C.depth,
                                        .stages = C.stages,
                                        .cluster_m = C.cluster_m,
                                        .cluster_n = C.cluster_n,
                                        .a_alignment = 16,
                                        .b_alignment = 16,
                                        .c_alignment = 16,
                                        .halves = C.halves()},
                          .launch = launch_gathered<C, T>};
  return result;
}

}  // namespace

std::span<const gathered_variant> gathered_variants() {
  constexpr sm90_config along = with_lines<gathered_tile>(major::k, major::k),
                        across = with_lines<gathered_tile>(major::k, major::mn);
  static const gathered_variant all[] = {describe<along, f16>(), describe<across, f16>(),
                                         describe<along, bf16>(), describe<across, bf16>()};
  return all;
}

}  // namespace detail

void list_distributed_gathered_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&gathered_matmul<detail::gathered_tile, f16>.image());
  list.push_back(&gathered_matmul<detail::gathered_tile, bf16>.image());
}

}  // namespace kaio::ops

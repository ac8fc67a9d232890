#include "ops/matmul_grouped/sm90/sums.hpp"

#include <kaio/ops/matmul_grouped/sm90/sums.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ops/families.hpp"
#include "ops/matmul_grouped/sm90/launch.hpp"

namespace kaio::ops {

namespace {

constexpr sm90_config config{.m = 128,
                             .n = 256,
                             .stages = 4,
                             .panels = 1,
                             .whole_producer = true,
                             .a = major::mn,
                             .b = major::mn,
                             .type_by_launch = true};
template <bool Copied>
constexpr auto& kernel = grouped_sums_sm90<config, detail::grouped_element, Copied>;

template <bool Copied>
void launch(const stream& s, const grouped_sums_call& call) {
  using loop = grouped_sums_loop<config, detail::grouped_element>;
  constexpr sm90_boxes boxes = sm90_mainloop<config, detail::grouped_element>::whole_boxes(1);
  constexpr sm90_box box_of_a = loop::box_of_a, box_of_b = loop::box_of_b;
  const auto tile = [&]<class T>(std::type_identity<T>) {
    return sm90_tile::of<T>(boxes, config.a, config.b);
  };
  const grouped_sums_sm90_problem problem{.tiles = call.tiles_of(config.m, config.n),
                                          .tile = call.a.type == element_kind::f16
                                                      ? tile(std::type_identity<f16>{})
                                                      : tile(std::type_identity<bf16>{}),
                                          .terms = call.terms()};
  const auto map_of = [&](const any_view& v, const sm90_box& box) {
    return detail::grouped_lines(v, v.extents[1], v.extents[0], v.strides[0], 1, 0)
        .map(s, box.sizes, sm90_config::row_bytes);
  };
  const auto to = [&] {
    if constexpr (Copied) {
      using store = typename grouped_sums_body<config, detail::grouped_element, true>::store;
      const any_view& c = call.c;
      return detail::grouped_lines(c, c.extents[2], c.extents[1], c.strides[1], call.groups(), c.strides[0])
          .map(s, store::box, store::row_bytes);
    } else {
      return call.memory_of_c();
    }
  }();
  constexpr auto& own = kernel<Copied>;
  const std::uint64_t blocks =
      std::min(call.tiles(config.m, config.n), std::uint64_t{s.max_active_clusters(own.image(), {0, 0, 0})});
  own.launch(s, grid(blocks).programmatic(), map_of(call.a, box_of_a), map_of(call.b, box_of_b), to, problem);
}

}  // namespace

void launch_grouped_sums_sm90(const stream& s, const grouped_sums_call& call) {
  if (call.stores_by_copies())
    launch<true>(s, call);
  else
    launch<false>(s, call);
}
std::vector<const ptx::kernel_image*> grouped_sums_sm90_images() {
  return {&kernel<true>.image(), &kernel<false>.image()};
}

void list_matmul_grouped_sums_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : grouped_sums_sm90_images()) list.push_back(image);
}

}  // namespace kaio::ops

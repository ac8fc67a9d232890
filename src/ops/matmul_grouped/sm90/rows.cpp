#include "ops/matmul_grouped/sm90/rows.hpp"

#include <algorithm>
#include <vector>

#include "ops/families.hpp"
#include "ops/matmul_grouped/sm90/launch.hpp"

namespace kaio::ops {

namespace {

// Wide tiles read A half as often, but are fewer, and take longer to store. So they are for groups with many rows, or
// many columns and a long K. Measured on an H200: with 512 rows a group they gain 3 to 10 %, even at K = 768. With few
// rows they gain 2 to 13 % if K and n are at least 2048, and lose 3 to 10 % at n = 768.
bool is_for_wide(const grouped_call& call) {
  // A gather costs a tile the same, however wide it is.
  const bool has_many_rows = call.rows() / call.groups() >= (call.indices.exists() ? 64u : 256u);
  const bool is_long = call.k() >= 2048 && call.n() >= 1024;
  return call.n() > 128 && (has_many_rows || is_long || call.k() >= 4096);
}

// How a call is computed: by wide tiles, which tensor copies store, or others.
enum class way { any, copied, copied_wide };
template <way W>
constexpr sm90_config config_of(major b) {
  return detail::with_b(
      W == way::copied_wide ? detail::grouped_config(256, 4, 1) : detail::grouped_config(128, 6, 2), b);
}
template <way W>
constexpr auto& grouped_kernel =
    grouped_sm90<config_of<W>(major::k).of_kernel(), detail::grouped_element, W != way::any>;

template <major B, way W>
void launch(const stream& s, const grouped_call& call) {
  constexpr sm90_config config = config_of<W>(B);
  using body = grouped_sm90_body<config_of<W>(major::k).of_kernel(), detail::grouped_element, W != way::any>;
  constexpr sm90_boxes boxes = sm90_mainloop<config, detail::grouped_element>::whole_boxes(1);
  auto problem = detail::grouped_problem<body>(call, boxes, B == major::k);
  problem.terms = grouped_call::terms_of(call.bias);
  constexpr auto& kernel = grouped_kernel<W>;
  const auto to = [&] {
    if constexpr (W != way::any)
      return detail::grouped_copies_to<body>(s, call);
    else
      return output_memory{call.c.address, static_cast<u32>(call.c.type)};
  }();
  kernel.launch(s, grid(detail::grouped_blocks<body, config>(s, call, kernel.image())).programmatic(),
                detail::grouped_lines_of_a(call).map(s, boxes.a.sizes, sm90_config::row_bytes),
                detail::lines_of_b(call.b, B == major::k).map(s, boxes.b.sizes, sm90_config::row_bytes), to,
                problem);
}

}  // namespace

// A gather counts pieces of 16 bytes in 32 bits.
bool grouped_sm90_takes(const grouped_call& call) {
  return !call.indices.exists() || call.a.bytes < (std::uint64_t{1} << 36);
}

void launch_grouped_sm90(const stream& s, const grouped_call& call) {
  const auto with = [&]<major B>() {
    if (!call.stores_by_copies())
      launch<B, way::any>(s, call);
    else if (is_for_wide(call))
      launch<B, way::copied_wide>(s, call);
    else
      launch<B, way::copied>(s, call);
  };
  if (call.b_is_along_k())
    with.template operator()<major::k>();
  else
    with.template operator()<major::mn>();
}

std::vector<const ptx::kernel_image*> grouped_sm90_images() {
  return {&grouped_kernel<way::copied>.image(), &grouped_kernel<way::copied_wide>.image(),
          &grouped_kernel<way::any>.image()};
}

void list_matmul_grouped_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : grouped_sm90_images()) list.push_back(image);
}

}  // namespace kaio::ops

#include "ops/matmul_grouped/sm90/rows.hpp"

#include <kaio/ops/matmul/call/matrix_lines.hpp>
#include <kaio/ops/matmul_grouped/sm90/kernel.hpp>
#include <kaio/ops/shared/ceil_div.hpp>

#include <algorithm>
#include <type_traits>
#include <vector>

#include "ops/families.hpp"

namespace kaio::ops {

namespace {

// Wide tiles read A half as often, but take longer to store, with one block for a multiprocessor. So they are for a
// long K. Measured on a warm H200: they gain 1 to 11 % from K = 4096 on; at 2048, from 3 % less time to 4 % more.
constexpr std::uint64_t least_k_of_wide = 4096;
template <bool Wide>
constexpr sm90_config grouped_config(major b) {
  if constexpr (Wide)
    return {.m = 128,
            .n = 256,
            .stages = 4,
            .panels = 1,
            .whole_producer = true,
            .b = b,
            .b_by_launch = true,
            .type_by_launch = true};
  else
    return {.m = 128, .n = 128, .stages = 6, .b = b, .b_by_launch = true, .type_by_launch = true};
}
using element = f16;  // names both types of 16 bits

// How a call is computed: by wide tiles, which tensor copies store, or others.
enum class way { any, copied, copied_wide };
template <way W>
constexpr sm90_config config_of(major b) {
  return grouped_config<W == way::copied_wide>(b);
}
template <way W>
constexpr auto& grouped_kernel = grouped_sm90<config_of<W>(major::k).of_kernel(), element, W != way::any>;

template <class T>
matrix_lines<T> lines(const any_view& v, std::int64_t length, std::int64_t count, std::int64_t pitch,
                      std::uint64_t batches, std::int64_t batch_pitch) {
  // The stride of one line is never used, but is a stride of a tensor map.
  const std::int64_t used = count == 1 ? (length + 7) / 8 * 8 : pitch;
  return {device_pointer<T>{v.address, static_cast<std::size_t>(v.bytes / sizeof(T)), v.device, true},
          static_cast<std::uint64_t>(length),
          static_cast<std::uint64_t>(count),
          static_cast<std::uint64_t>(used),
          batches,
          static_cast<std::uint64_t>(batch_pitch)};
}

template <class T, major B, way W>
void launch(const stream& s, const grouped_call& call) {
  constexpr sm90_config config = config_of<W>(B);
  using mainloop = sm90_mainloop<config, element>;
  constexpr sm90_boxes boxes = mainloop::whole_boxes(1);
  const any_view &a = call.a, &b = call.b, &c = call.c;
  const auto of_a = lines<element>(a, a.extents[1], a.extents[0], a.strides[0], call.groups(), 0);
  const auto of_b =
      B == major::k
          ? lines<element>(b, b.extents[1], b.extents[2], b.strides[2], call.groups(), b.strides[0])
          : lines<element>(b, b.extents[2], b.extents[1], b.strides[1], call.groups(), b.strides[0]);
  const auto tiles_n = static_cast<u32>(ceil_div(call.n(), std::uint64_t{config.n}));
  const bool by_four =
      c.address % (4 * c.element_bytes()) == 0 && (c.extents[0] == 1 || c.strides[0] % 4 == 0);
  const grouped_sm90_problem problem{
      .tiles = grouped_tiles::of(call.offsets.address, call.groups(), call.rows(), tiles_n),
      .c = {c.strides[0], 0, static_cast<u32>(call.rows()), static_cast<u32>(call.n()), by_four ? 1u : 0u},
      .k_blocks = static_cast<u32>(ceil_div(call.k(), std::uint64_t{mainloop::k})),
      .tile = sm90_tile::of<T>(boxes, config.a, B),
      .c_address = c.address};
  const std::uint64_t tiles = grouped_tiles::most(call.rows(), call.groups(), config.m) * tiles_n;
  constexpr auto& kernel = grouped_kernel<W>;
  const auto to = [&] {
    if constexpr (W != way::any) {
      using body = grouped_sm90_body<config.of_kernel(), element, true>;
      return lines<element>(c, c.extents[1], c.extents[0], c.strides[0], call.groups(), 0)
          .map(s, body::store::box, body::store::row_bytes);
    } else {
      return output_memory{c.address, static_cast<u32>(c.type)};
    }
  }();
  const std::uint64_t blocks = std::min(tiles, s.max_active_clusters(kernel.image(), {0, 0, 0}));
  kernel.launch(s, grid(blocks).programmatic(), of_a.map(s, boxes.a.sizes, sm90_config::row_bytes),
                of_b.map(s, boxes.b.sizes, sm90_config::row_bytes), to, problem);
}

}  // namespace

void launch_grouped_sm90(const stream& s, const grouped_call& call) {
  // Tensor copies write whole pieces of 16 bytes.
  const any_view& c = call.c;
  const bool copied =
      c.type == call.a.type && c.address % 16 == 0 && grouped_call::is_aligned(c, 0) && c.extents[1] % 8 == 0;
  const auto with = [&]<class T, major B>() {
    if (!copied)
      launch<T, B, way::any>(s, call);
    else if (call.k() < least_k_of_wide || call.n() <= 128)
      launch<T, B, way::copied>(s, call);
    else
      launch<T, B, way::copied_wide>(s, call);
  };
  const auto typed = [&]<class T>(std::type_identity<T>) {
    if (call.b_is_along_k())
      with.template operator()<T, major::k>();
    else
      with.template operator()<T, major::mn>();
  };
  if (call.a.type == element_kind::f16)
    typed(std::type_identity<f16>{});
  else
    typed(std::type_identity<bf16>{});
}

std::vector<const ptx::kernel_image*> grouped_sm90_images() {
  return {&grouped_kernel<way::copied>.image(), &grouped_kernel<way::copied_wide>.image(),
          &grouped_kernel<way::any>.image()};
}

void list_matmul_grouped_sm90_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const ptx::kernel_image* image : grouped_sm90_images()) list.push_back(image);
}

}  // namespace kaio::ops

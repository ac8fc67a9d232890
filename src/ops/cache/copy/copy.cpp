// The checks of copy_pages and gather_kv before anything runs, and their launches.

#include <kaio/ops/cache/copy/kernel.hpp>
#include <kaio/ops/copy_pages.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "ops/cache/common/check.hpp"

namespace kaio::ops {

namespace detail {

namespace {

u32 pieces_of(u32 bytes) { return std::max(1u, bytes / 16); }

gathered_rows gathered_of(const validation& check, std::string_view operation, std::string_view name,
                          const any_view& from, const any_view& to, const any_view& scale) {
  gathered_rows rows{};
  rows.from = page_strides_of(from);
  rows.to = strides_of(to);
  rows.size = static_cast<u32>(to.extents[to.rank - 1]);
  rows.kept = static_cast<u32>(from.type == to.type ? kept_type::same : kept_as(from.type));
  const bool same = from.type == to.type;
  if (!same && !(is_quantised(from.type) && is_wide(to.type)))
    refuse(operation,
           "k and v have another element type than the cache; only elements of 8 bits are converted, "
           "to f32, f16 or bf16");
  const std::uint64_t bytes = std::uint64_t{rows.size} * to.element_bytes();
  rows.aligned = begins_at(from, same ? 16 : 8) && begins_at(to, 16) && (!same || bytes % 16 == 0) ? 1 : 0;
  if (!is_given(scale)) return rows;
  if (same)
    refuse(operation, std::string(name) + " of elements that are moved as they are; it has no scales");
  const scale_strides by = check_scale(check, operation, name, scale, from);
  rows.scale = by.address;
  rows.scale_page = by.page;
  rows.scale_row = by.row;
  rows.scale_head = by.head;
  return rows;
}

}  // namespace

void run_copy_pages(const stream& s, const any_view& pages, const tensor_view<const i32, 2>& pairs) {
  constexpr std::string_view operation = "copy_pages";
  const operation_scope traced(operation);
  s.properties();  // a null stream is refused before anything is looked at
  const validation check(operation, s.device_identity());
  check.output("pages", pages);
  check.input("pairs", pairs);
  check.extent("pairs", pairs, 1, 2, "the page that is read and the one that is written");
  check_rows(operation, "pages", pages);
  check.apart("pages", pages, "pairs", pairs);
  if (pages.empty() || pairs.empty()) return;
  const std::uint32_t first = pages.rank - 4;
  copy_pages_problem problem{};
  problem.address = pages.address;
  problem.layer = first == 1 ? pages.strides[0] : 0;
  problem.page = pages.strides[first];
  problem.row = pages.strides[first + 1];
  problem.head = pages.strides[first + 2];
  problem.pairs = pairs.address();
  problem.pair = pairs.stride(0);
  problem.pair_second = pairs.stride(1);
  problem.layers = first == 1 ? static_cast<u32>(pages.extents[0]) : 1;
  problem.pages = static_cast<u32>(pages.extents[first]);
  problem.page_rows = static_cast<u32>(pages.extents[first + 1]);
  problem.heads = static_cast<u32>(pages.extents[first + 2]);
  const std::uint64_t rows =
      row_count(operation, {pairs.extent(0), pages.extents[first + 1], pages.extents[first + 2], 0});
  problem.rows = static_cast<u32>(rows);
  problem.shift = shift_of(pages.element_bytes());
  problem.bytes = static_cast<u32>(pages.extents[first + 3]) * pages.element_bytes();
  problem.aligned = begins_at(pages, 16) && problem.bytes % 16 == 0 ? 1 : 0;
  problem.lanes_log = lanes_log2(pieces_of(problem.bytes));
  const std::uint64_t layers = std::min<std::uint64_t>(problem.layers, 65535);
  copy_pages_rows.launch(s, grid(row_blocks(rows, problem.lanes_log), layers), problem);
}

void run_gather_kv(const stream& s, const any_cache& cache, const any_view& k, const any_view& v,
                   const gather_kv_options& options) {
  const bool packed = k.rank == 3, has_cu = !options.cu_seqlens.is_null();
  const std::string_view operation = packed ? "gather_kv_varlen" : "gather_kv";
  const operation_scope traced(operation);
  s.properties();
  const validation check(operation, s.device_identity());
  check.input("cache.k", cache.k);
  check.input("cache.v", cache.v);
  check.output("k", k);
  check.output("v", v);
  check_rows(operation, "k", k);
  check_rows(operation, "v", v);
  for (std::uint32_t d = 0; d + 1 < k.rank; ++d) check.extent("v", v, d, k.extents[d], "as of k");
  check_cache_extents(check, operation, cache, k, v);
  if (packed != has_cu)
    refuse(operation, packed ? "cu_seqlens is missing; give it"
                             : "cu_seqlens of tensors of four dimensions; gather_kv_varlen takes it");
  row_shape shape = row_shape::of(k);
  gather_problem problem{};
  const std::int64_t sequences =
      has_cu ? check_sequences(check, operation, options.cu_seqlens) : shape.batches;
  problem.places = check_places(check, operation, cache, sequences);
  set_pages(problem.places, cache.k);
  problem.k = gathered_of(check, operation, "k_scale", cache.k, k, options.k_scale.view);
  problem.v = gathered_of(check, operation, "v_scale", cache.v, v, options.v_scale.view);
  std::vector<named_argument> inputs{{"cache.k", cache.k}, {"cache.v", cache.v}};
  list_numbers(inputs, cache);
  if (has_cu) inputs.push_back({"cu_seqlens", options.cu_seqlens});
  if (is_given(options.k_scale.view)) inputs.push_back({"k_scale", options.k_scale.view});
  if (is_given(options.v_scale.view)) inputs.push_back({"v_scale", options.v_scale.view});
  for (const named_argument& input : inputs) {
    check.apart("k", k, input.name, input.view);
    check.apart("v", v, input.name, input.view);
  }
  check.apart("v", v, "k", k);

  shape.heads *= 2;
  const std::uint64_t rows = sequences == 0 ? 0 : row_count(operation, shape);
  if (rows == 0) return;
  if (has_cu) problem.cu = options.cu_seqlens.address();
  problem.sequences = static_cast<u32>(sequences);
  problem.tokens = static_cast<u32>(shape.tokens);
  problem.heads = static_cast<u32>(shape.heads / 2);
  problem.rows = static_cast<u32>(rows);
  problem.shift = shift_of(k.element_bytes());
  problem.type = is_wide(k.type) ? element_type_of(k.type) : 0;
  const auto most = static_cast<u32>(std::max(shape.size, v.extents[v.rank - 1])) * k.element_bytes();
  problem.lanes_log = lanes_log2(pieces_of(most));
  gather_kv_rows.launch(s, grid(row_blocks(rows, problem.lanes_log)), problem);
}

}  // namespace detail

void copy_pages_warmup(const runtime::device& gpu) {
  gpu.warmup(copy_pages_rows.image());
  gpu.warmup(gather_kv_rows.image());
}

void list_cache_copy_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&copy_pages_rows.image());
  list.push_back(&gather_kv_rows.image());
}

}  // namespace kaio::ops

// attention_decode with values that are the first elements of the keys (MLA): f16 and bf16 on sm_80 and
// later.

#include <kaio/ops/attention/decode/choice/variant.hpp>
#include <kaio/ops/attention/decode/mla/kernel.hpp>

#include <array>

#include "ops/attention/decode/choice/table.hpp"

namespace kaio::ops {

namespace {

// The row of one type in the table; the kernel serves f16 and bf16.
template <attention_mla_config C, scalar T>
attention_decode_variant row_of() {
  return {.image = &attention_mla<C, any_half>.image(),
          .run =
              [](const stream& s, const attention_decode_call& call, std::uint64_t blocks) {
                attention_mla<C, any_half>.launch(s, grid(blocks), call.problem, call.cache, call.split,
                                                  call.terms, call.band);
              },
          .own_name = attention_mla_kernel<C, T>::name.view(),
          .type = element_kind_of<T>(),
          .copies_rows = true,
          .values_in_keys = true,
          .depth = C.depth,
          .depth_v = C.depth_v,
          .rows = C.rows,
          .least_rows = C.least_rows,
          .keys = C.keys,
          .resident = C.min_blocks};
}

}  // namespace

std::span<const attention_decode_variant> attention_mla_rows() {
  static const auto& rows =
      *new std::array{row_of<attention_mla_many, f16>(), row_of<attention_mla_few, f16>(),
                      row_of<attention_mla_many, bf16>(), row_of<attention_mla_few, bf16>()};
  return rows;
}

void list_attention_mla_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_decode_variant& v : attention_mla_rows())
    if (v.type == element_kind::f16) list.push_back(v.image);
}

}  // namespace kaio::ops

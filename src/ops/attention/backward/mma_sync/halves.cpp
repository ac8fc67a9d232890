// The backward of attention with matrix instructions of a warp: f16 and bf16 on sm_80 and later. A kernel
// serves both types, and is two rows of the table.

#include <kaio/ops/attention/backward/mma_sync/table_row.hpp>
#include <kaio/ops/attention/common/biased_score.hpp>

#include <array>
#include <cstdint>

#include "ops/attention/backward/choice/table.hpp"

namespace kaio::ops {

namespace {

template <std::uint32_t Depth, scalar T>
constexpr auto name_of = dsl::fixed_string("attention_backward_mma_keys_") + dsl::type_name<T> + "_d" +
                         dsl::decimal<Depth> + "_" + dsl::decimal<attention_backward_mma_keys(Depth).own> +
                         "x" + dsl::decimal<attention_backward_mma_keys(Depth).step> + "_biased_band";

template <std::uint32_t Depth>
void run(const stream& s, const attention_backward_call& call) {
  attention_backward_call of_types = call;
  of_types.forward.bias.is_f32 = static_cast<u32>(detail::element_type_of(call.bias_type));
  attention_backward_call flagged =
      launch_attention_backward_mma<attention_backward_mma_keys(Depth), attention_backward_mma_queries(Depth),
                                    any_half, biased_score, band_mask>(s, of_types);
  flagged.forward.bias = call.forward.bias;
  run_attention_backward_simt(s, flagged, Depth);
}

template <std::uint32_t Depth>
attention_backward_variant own_kernels() {
  return describe_attention_backward_mma<attention_backward_mma_keys(Depth),
                                         attention_backward_mma_queries(Depth), any_half, biased_score,
                                         band_mask>();
}

template <std::uint32_t Depth, scalar T>
attention_backward_variant row_of() {
  attention_backward_variant row = own_kernels<Depth>();
  row.own_name = name_of<Depth, T>.view();
  row.type = element_kind_of<T>();
  row.run = run<Depth>;
  const attention_backward_variant& again = attention_backward_simt_row(Depth);
  row.images[2] = again.images[0];
  row.images[3] = again.images[1];
  return row;
}

template <scalar T>
std::span<const attention_backward_variant> rows_of() {
  static const auto& rows = *new std::array{row_of<64, T>(), row_of<128, T>(), row_of<256, T>()};
  return rows;
}

}  // namespace

std::span<const attention_backward_variant> attention_backward_mma_f16() { return rows_of<f16>(); }
std::span<const attention_backward_variant> attention_backward_mma_bf16() { return rows_of<bf16>(); }

void list_attention_backward_mma_16bit_kernels(std::vector<const ptx::kernel_image*>& list) {
  for (const attention_backward_variant& v : {own_kernels<64>(), own_kernels<128>(), own_kernels<256>()})
    list.insert(list.end(), {v.images[0], v.images[1]});
}

}  // namespace kaio::ops

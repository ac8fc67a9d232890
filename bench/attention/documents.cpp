#include "bench/attention/documents.hpp"

#include <kaio/ops/attention_with.hpp>

namespace kaio::bench {

template <class T>
void attention_of_documents(const stream& s, const tensor_view<const T, 4>& q,
                            const tensor_view<const T, 4>& k, const tensor_view<const T, 4>& v,
                            const tensor_view<T, 4>& o, const block_mask_output& lists,
                            const buffer<u32>& document) {
  const attention_options options{.blocks = lists};
  if (q.extent(3) <= 64)
    attention_with<64>(s, q, k, v, o, ops::plain_score{}, ops::block_sparse<same_document>{}, options,
                       document);
  else
    attention_with<128>(s, q, k, v, o, ops::plain_score{}, ops::block_sparse<same_document>{}, options,
                        document);
}
template void attention_of_documents(const stream&, const tensor_view<const f16, 4>&,
                                     const tensor_view<const f16, 4>&, const tensor_view<const f16, 4>&,
                                     const tensor_view<f16, 4>&, const block_mask_output&,
                                     const buffer<u32>&);
template void attention_of_documents(const stream&, const tensor_view<const bf16, 4>&,
                                     const tensor_view<const bf16, 4>&, const tensor_view<const bf16, 4>&,
                                     const tensor_view<bf16, 4>&, const block_mask_output&,
                                     const buffer<u32>&);

}  // namespace kaio::bench

#pragma once
// The attention of packed documents, by a mask in C++: its kernels are compiled here, in a file of their own.

#include <kaio/kaio.hpp>
#include <kaio/ops/attention.hpp>
#include <kaio/ops/make_block_mask.hpp>

namespace kaio::bench {

struct same_document {
  static constexpr fixed_string name = "same_document";
  constexpr val<bool> operator()(thread t, ops::attention_place at, in<u32> document) const {
    return t.let(document[at.query] == document[at.key]);
  }
};

inline bool has_document_kernels(u32 size) { return size <= 128; }

// Operands have 16 bits and up to 128 elements a head. `lists` are the blocks of same_document.
template <class T>
void attention_of_documents(const stream& s, const tensor_view<const T, 4>& q,
                            const tensor_view<const T, 4>& k, const tensor_view<const T, 4>& v,
                            const tensor_view<T, 4>& o, const block_mask_output& lists,
                            const buffer<u32>& document);
extern template void attention_of_documents(const stream&, const tensor_view<const f16, 4>&,
                                            const tensor_view<const f16, 4>&,
                                            const tensor_view<const f16, 4>&, const tensor_view<f16, 4>&,
                                            const block_mask_output&, const buffer<u32>&);
extern template void attention_of_documents(const stream&, const tensor_view<const bf16, 4>&,
                                            const tensor_view<const bf16, 4>&,
                                            const tensor_view<const bf16, 4>&, const tensor_view<bf16, 4>&,
                                            const block_mask_output&, const buffer<u32>&);

}  // namespace kaio::bench

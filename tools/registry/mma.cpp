// Matrix instructions of a warp: every one of them, and the moves of matrices.
#include "tests/kernels/mma/mma_kernels.hpp"
#include "tests/ops/matmul/mma_sync_kernels.hpp"
#include "tools/registry.hpp"

#include <boost/hana/for_each.hpp>

namespace kaio::tools {
namespace {

template <class List, tests::mma_operation Operation = tests::mma_operation::multiply_add>
void add(image_list& all) {
  boost::hana::for_each(List{}, [&](auto type) {
    all.push_back(&tests::multiplication<typename decltype(type)::type, Operation>.image());
  });
}

template <class List>
void add_sparse(image_list& all) {
  boost::hana::for_each(List{}, [&](auto type) {
    all.push_back(&tests::sparse_multiplication<typename decltype(type)::type, 0>.image());
  });
}

const family list("mma", [] {
  using namespace tests;
  image_list all =
      images(fragment_moves<mma_m16n8k16<f32, f16>, f16>, fragment_moves<mma_m16n8k8<f32, tf32>, f32>,
             fragment_moves<mma_m16n8k32<i32, i8>, i8>, fragment_moves<mma_m16n8k32<f32, e4m3>, e4m3>,
             ldmatrix_forms<swizzled<128>, 2>, ldmatrix_products<mma_m16n8k16<f32, f16>, swizzled<128>, 2>,
             ldmatrix_products<mma_m16n8k32<f32, e4m3>, swizzled<64>, 3>,
             stmatrix_forms<f16, swizzled<128>, 2>, stmatrix_forms<bf16, padded<8>, 1>, matrix_words,
             dequantising_matmul<from_bytes>, dequantising_matmul<from_nibbles>);
  add<mma_f16>(all);
  add<quads<f32, f32>>(all);
  add<quads<f16, f16>>(all);
  add<quads<f32, f16>>(all);
  add<mma_f64>(all);
  add<mma_i8<i8, i8>>(all);
  add<mma_i8<u8, i8>>(all);
  add<mma_i8<i8, u8>>(all);
  add<mma_i8<u8, u8>>(all);
  add<mma_i4<i4, i4>>(all);
  add<mma_i4<u4, i4>>(all);
  add<mma_i4<i4, u4>>(all);
  add<mma_i4<u4, u4>>(all);
  add<mma_i8<i8, i8>, mma_operation::saturated>(all);
  add<mma_i4<i4, i4>, mma_operation::saturated>(all);
  add<mma_b1, mma_operation::xor_popc>(all);
  add<mma_b1, mma_operation::and_popc>(all);
  add<mma_f8<f32, e4m3, e4m3>>(all);
  add<mma_f8<f32, e4m3, e5m2>>(all);
  add<mma_f8<f32, e5m2, e4m3>>(all);
  add<mma_f8<f32, e5m2, e5m2>>(all);
  add<mma_f8<f16, e4m3, e4m3>>(all);
  add<mma_f8<f16, e5m2, e4m3>>(all);
  add_sparse<sparse_wide>(all);
  add_sparse<sparse_narrow>(all);
  return all;
});

}  // namespace
}  // namespace kaio::tools

// The kernels for sm_90a of 8-bit floats, which lie along K.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

namespace {
template <class T, class Out>
void add_scaled(variant_list& list) {
  add_sm90_scaled<sm90_pair, T, Out>(list);
  add_sm90_scaled<sm90_medium, T, Out>(list);
  add_sm90_scaled<sm90_small, T, Out>(list);
}

template <class T>
void add(variant_list& list) {
  add_scaled<T, f32>(list);
  add_scaled<T, f16>(list);
  add_scaled<T, bf16>(list);
  add_sm90_general<sm90_medium, T>(list);
  add_sm90_split<sm90_rows(16, 5, 4, 2), T>(list);
  add_sm90_split<sm90_rows(64, 6, 2, 2), T>(list);
}
}  // namespace

void add_sm90_f8(variant_list& list) {
  add<e4m3>(list);
  add<e5m2>(list);
}

}  // namespace kaio::ops

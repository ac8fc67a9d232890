// The kernels for sm_90a of 8-bit floats, which lie along K.

#include "ops/matmul/sm90_configs.hpp"

namespace kaio::ops {

namespace {
template <class T, class Out>
void add(variant_list& list) {
  list.push_back(sm90_variant<sm90_pair, T, Out, scaled>());
  list.push_back(sm90_variant<sm90_medium, T, Out, scaled>());
  list.push_back(sm90_variant<sm90_medium, T, Out, general>());
  list.push_back(sm90_variant<sm90_small, T, Out, scaled>());
  list.push_back(sm90_split_variant<sm90_rows(16, 5, 4, 2), T, Out>());
  list.push_back(sm90_split_variant<sm90_rows(64, 6, 2, 2), T, Out>());
}
}  // namespace

void add_sm90_f8(variant_list& list) {
  add<e4m3, f32>(list);
  add<e4m3, f16>(list);
  add<e4m3, bf16>(list);
  add<e5m2, f32>(list);
  add<e5m2, f16>(list);
  add<e5m2, bf16>(list);
}

}  // namespace kaio::ops

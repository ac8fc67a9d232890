// Measures the kernels for a call of matmul_int8, on memory of its own.

#include <kaio/ops/tune.hpp>

#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul_8bit/int8/call.hpp"

namespace kaio::ops {

template <class F>
void for_each_term(int8_call& call, const F& f) {
  int8_terms& terms = call.epilogue;
  for (matmul_term* t : {&terms.general.bias, &terms.general.residual, &terms.scale_a, &terms.scale_b,
                         &terms.zero_a, &terms.column_sums})
    f(*t, call.m, call.n);
}

tune_report tune_matmul_int8(const device& gpu, const matmul_view& a, const matmul_view& b,
                             const matmul_view& c, const matmul_int8_options& options,
                             const tune_options& how) {
  const int8_call call = resolve_matmul_int8(gpu.identity(), {"tune_matmul_int8", a, b, c, &options});
  if (call.empty() || call.k == 0) return {};
  const matmul_variant& before = choose_int8("tune_matmul_int8", call, gpu.properties(), {});
  const auto run = [](const stream& s, const int8_call& one, const matmul_variant& v) { v.run(s, one, v); };
  return tune_product(gpu, call, call.operand, variants_for(call), before, run, tuning_key(call), how);
}

}  // namespace kaio::ops

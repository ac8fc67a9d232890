// Measures the kernels for a call of matmul_fp8, on memory of its own.

#include <kaio/ops/tune.hpp>

#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul_8bit/fp8/call.hpp"

namespace kaio::ops {

template <class F>
void for_each_term(fp8_call& call, const F& f) {
  fp8_terms& terms = call.epilogue;
  for (matmul_term* t : {&terms.general.bias, &terms.general.residual, &terms.scale_a, &terms.scale_b})
    f(*t, call.m, call.n);
  f(terms.groups_a, call.m, terms.groups);
  f(terms.blocks_b, terms.groups, ceil_div(call.n, 128));
}

tune_report tune_matmul_fp8(const device& gpu, const matmul_view& a, const matmul_view& b,
                            const matmul_view& c, const matmul_fp8_options& options,
                            const tune_options& how) {
  const fp8_call call = resolve_matmul_fp8(gpu.identity(), {"tune_matmul_fp8", a, b, c, &options});
  if (call.empty() || call.k == 0) return {};
  const matmul_variant& before = choose_fp8("tune_matmul_fp8", call, gpu.properties(), {});
  const auto run = [](const stream& s, const fp8_call& one, const matmul_variant& v) { v.run(s, one, v); };
  return tune_product(gpu, call, call.operand_b, variants_for(call), before, run, tuning_key(call), how);
}

}  // namespace kaio::ops

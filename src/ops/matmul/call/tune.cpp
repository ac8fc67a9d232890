// Measures the variants of a call on memory of its own.

#include <kaio/ops/parity/matmul.hpp>
#include <kaio/ops/tune.hpp>

#include <cstdint>
#include <string>

#include "ops/matmul/call/product_trial.hpp"
#include "ops/matmul/choice/signature.hpp"

namespace kaio::ops {

tune_report tune_matmul(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                        const matmul_options& options, const tune_options& how) {
  const matmul_call call = detail::resolve_matmul(gpu.identity(), {"tune_matmul", a, b, c, &options});
  if (call.empty() || call.k == 0) return {};
  const matmul_variant& before = choose("tune_matmul", call, gpu.properties(), {});
  return tune_product(gpu, call, call.operand, variants_for(call), before, run_variant,
                      call_signature::of(call).text(), how);
}

namespace {

template <class T>
std::string tune_compact(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  // Memory is not read: only the extents of the views count.
  const auto pointer = [&]<class U>(U, std::uint64_t elements) {
    constexpr std::uint64_t anywhere = 4096;
    return device_pointer<U>{anywhere, elements, gpu.identity()};
  };
  const auto a = pointer(T{}, std::uint64_t{m} * k), b = pointer(T{}, std::uint64_t{k} * n);
  auto c = pointer(f32{}, std::uint64_t{m} * n);
  // Three places that do not overlap.
  device_pointer<T> b_apart = b;
  b_apart.address += (std::uint64_t{m} * k * sizeof(T) + 255) / 256 * 256;
  c.address = b_apart.address + (std::uint64_t{k} * n * sizeof(T) + 255) / 256 * 256;
  return tune_matmul(gpu, tensor_view<const T, 2>(a, extents{m, k}),
                     tensor_view<const T, 2>(b_apart, extents{k, n}), tensor_view<f32, 2>(c, extents{m, n}))
      .variant;
}

}  // namespace

std::string tune_matmul(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return tune_compact<f32>(gpu, m, n, k);
}
std::string tune_matmul_tc(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  return tune_compact<f16>(gpu, m, n, k);
}

}  // namespace kaio::ops

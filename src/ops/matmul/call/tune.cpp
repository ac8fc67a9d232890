// Measures the variants of a call on memory of its own.

#include <kaio/ops/parity/matmul.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/matmul/choice/signature.hpp"
#include "ops/matmul/choice/table.hpp"
#include "ops/tune/measure.hpp"

namespace kaio::ops {

namespace {

buffer<u32> pattern_of(const device& gpu, matmul_type type) {
  switch (type) {
    case matmul_type::f32: return make_pattern<f32>(gpu);
    case matmul_type::f16: return make_pattern<f16>(gpu);
    case matmul_type::bf16: return make_pattern<bf16>(gpu);
    case matmul_type::e4m3: return make_pattern<e4m3>(gpu);
    default: break;
  }
  return make_pattern<e5m2>(gpu);
}

void replace(matmul_operand& x, const stand_in& by) {
  x.address = by.address();
  x.bytes = by.bytes();
  x.device = by.device();
}

// From the first element of an operand to the end of its last one.
std::uint64_t bytes_spanned(const matmul_operand& x, std::uint64_t lines, std::uint64_t length,
                            std::uint64_t batches, std::uint64_t size) {
  return ((batches - 1) * x.batch_pitch + (lines - 1) * x.pitch + length) * size;
}
std::uint64_t bytes_spanned(const matmul_term& t, const matmul_call& call) {
  const auto at = [](std::uint64_t extent, i64 stride) {
    return (extent - 1) * static_cast<std::uint64_t>(stride);
  };
  const std::uint64_t size = t.type == static_cast<u32>(term_type::f32) ? 4 : 2;
  return (at(call.batches, t.batch) + at(call.m, t.row) + at(call.n, t.column) + 1) * size;
}

// A call on memory of its own.
class trial {
 public:
  trial(const device& gpu, const matmul_call& call, const buffer<u32>& pattern) : call_(call) {
    const std::uint64_t size = bytes_of(call.operand), c_size = bytes_of(call.output);
    const auto add_operand = [&](matmul_operand& x, std::uint64_t across) {
      const bool along = x.lines == line_direction::along_k;
      memory_.emplace_back(
          gpu, x.address,
          bytes_spanned(x, along ? across : call.k, along ? call.k : across, call.batches, size));
      memory_.back().fill(gpu.stream(), pattern);
      replace(x, memory_.back());
    };
    add_operand(call_.a, call.m);
    add_operand(call_.b, call.n);
    memory_.emplace_back(gpu, call.c.address, bytes_spanned(call.c, call.m, call.n, call.batches, c_size));
    replace(call_.c, memory_.back());
    for (matmul_term* t : {&call_.terms.c, &call_.terms.bias, &call_.terms.residual}) {
      if (t->type == 0) continue;
      memory_.emplace_back(gpu, t->address, bytes_spanned(*t, call));
      t->address = memory_.back().address();
    }
    if (call.workspace.address != 0) {
      // What the largest split takes is enough.
      const std::uint64_t most = std::min(call.workspace.bytes, call.m * call.n * 16 * sizeof(f32));
      memory_.emplace_back(gpu, call.workspace.address, most);
      call_.workspace.address = memory_.back().address();
      call_.workspace.bytes = most;
      call_.workspace.device = memory_.back().device();
    }
  }
  const matmul_call& call() const { return call_; }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const stand_in& m : memory_) sum += m.bytes();
    return sum;
  }

 private:
  matmul_call call_;
  std::vector<stand_in> memory_;
};

}  // namespace

tune_report tune(const device& gpu, const matmul_view& a, const matmul_view& b, const matmul_view& c,
                 const matmul_options& options, const tune_options& how) {
  const matmul_call call = detail::resolve_matmul(gpu.identity(), {"tune", a, b, c, &options});
  tune_report report;
  if (call.empty() || call.k == 0) return report;
  const device_properties& properties = gpu.properties();
  const matmul_variant& before = choose("tune", call, properties, {});

  const buffer<u32> pattern = pattern_of(gpu, call.operand);
  const auto trials = make_trials<trial>(gpu, [&] { return trial(gpu, call, pattern); });
  for (const matmul_variant* v : variants_for(call)) {
    if (!accepts(*v, trials[0].call(), properties)) continue;
    const double seconds = measure_trials(
        gpu, trials, how.repetitions, [&](const stream& s, const trial& t) { run_variant(s, t.call(), *v); });
    report.entries.push_back({v->name(), seconds});
    if (v == &before) report.seconds_before = seconds;
  }
  report.variant_before = before.name();
  conclude(report, properties, call_signature::of(call).text(), how);
  return report;
}

namespace {

template <class T>
std::string tune_compact(const device& gpu, std::uint32_t m, std::uint32_t n, std::uint32_t k) {
  // One element is enough: memory is not read, and the views' extents are all that counts.
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
  return tune(gpu, tensor_view<const T, 2>(a, extents{m, k}), tensor_view<const T, 2>(b_apart, extents{k, n}),
              tensor_view<f32, 2>(c, extents{m, n}))
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

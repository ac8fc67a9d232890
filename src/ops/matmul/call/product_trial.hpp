#pragma once
// A product on memory of its own, in place of the caller's, and the times of its kernels there. The tuners of
// matmul, matmul_int8 and matmul_fp8 share it.
//
// A kind of call has an overload of for_each_term, which names the tensors that its epilogue reads:
//
//   for_each_term(call, [](matmul_term& t, std::uint64_t rows, std::uint64_t columns) { ... });

#include <kaio/ops/matmul/call/call.hpp>
#include <kaio/ops/tune.hpp>
#include <kaio/runtime/buffer.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/choice/measure.hpp"
#include "ops/matmul/choice/table.hpp"

namespace kaio::ops {

template <class F>
void for_each_term(matmul_call& call, const F& f) {
  for (matmul_term* t : {&call.terms.c, &call.terms.bias, &call.terms.residual}) f(*t, call.m, call.n);
}

// Random elements for an operand.
inline buffer<u32> pattern_of(const device& gpu, element_kind type) {
  switch (type) {
    case element_kind::f32: return make_pattern<f32>(gpu);
    case element_kind::f16: return make_pattern<f16>(gpu);
    case element_kind::bf16: return make_pattern<bf16>(gpu);
    case element_kind::e4m3: return make_pattern<e4m3>(gpu);
    case element_kind::e5m2: return make_pattern<e5m2>(gpu);
    default: break;
  }
  return make_pattern_of_bytes(gpu);
}

template <class Call>
class product_trial {
 public:
  product_trial(const device& gpu, const Call& call, const buffer<u32>& a, const buffer<u32>& b)
      : memory_(gpu), call_(call) {
    const std::uint64_t size = bytes_of(call.operand);  // B's too
    const auto add_operand = [&](matmul_operand& x, std::uint64_t across, const buffer<u32>& pattern) {
      const bool along = x.lines == line_direction::along_k;
      replace(x,
              memory_.add(x.address, bytes_spanned(x, along ? across : call.k, along ? call.k : across, size),
                          &pattern));
    };
    add_operand(call_.a, call.m, a);
    add_operand(call_.b, call.n, b);
    replace(call_.c,
            memory_.add(call.c.address, bytes_spanned(call.c, call.m, call.n, bytes_of(call.output))));
    for_each_term(call_, [&](matmul_term& t, std::uint64_t rows, std::uint64_t columns) {
      if (t.type == 0) return;
      // A term that is C itself stays C itself: some kernels refuse it.
      t.address = t.address == call.c.address
                      ? call_.c.address
                      : memory_.add(t.address, bytes_spanned(t, rows, columns)).address();
    });
    if (call.workspace.address != 0) {
      // Enough for the largest split.
      const std::uint64_t most = std::min(call.workspace.bytes, call.m * call.n * 16 * sizeof(f32));
      const stand_in& by = memory_.add(call.workspace.address, most);
      call_.workspace.address = by.address();
      call_.workspace.bytes = most;
      call_.workspace.device = by.device();
    }
  }
  const Call& call() const { return call_; }
  std::uint64_t bytes() const { return memory_.bytes(); }

 private:
  static void replace(matmul_operand& x, const stand_in& by) {
    x.address = by.address();
    x.bytes = by.bytes();
    x.device = by.device();
  }
  // Bytes from the first element to the end of the last one.
  std::uint64_t bytes_spanned(const matmul_operand& x, std::uint64_t lines, std::uint64_t length,
                              std::uint64_t size) const {
    return ((call_.batches - 1) * x.batch_pitch + (lines - 1) * x.pitch + length) * size;
  }
  std::uint64_t bytes_spanned(const matmul_term& t, std::uint64_t rows, std::uint64_t columns) const {
    const auto at = [](std::uint64_t extent, i64 stride) {
      return (extent - 1) * static_cast<std::uint64_t>(stride);
    };
    const std::uint64_t size = t.type == static_cast<u32>(term_type::f32) ? 4 : 2;
    return (at(call_.batches, t.batch) + at(rows, t.row) + at(columns, t.column) + 1) * size;
  }

  stand_ins memory_;
  Call call_;
};

// The report of a call with the kernels `variants`; calls took `before` until now. run(stream, call, variant)
// launches one. The fastest is remembered for `key`.
template <class Call, class Run>
tune_report tune_product(const device& gpu, const Call& call, element_kind type_of_b,
                         std::span<const matmul_variant* const> variants, const matmul_variant& before,
                         const Run& run, std::string_view key, const tune_options& how) {
  const buffer<u32> a = pattern_of(gpu, call.operand), b = pattern_of(gpu, type_of_b);
  using trial = product_trial<Call>;
  const auto trials = make_trials<trial>(gpu, [&] { return trial(gpu, call, a, b); });
  std::vector<const matmul_variant*> accepted;
  for (const matmul_variant* v : variants)
    if (accepts(*v, trials[0].call(), gpu.properties())) accepted.push_back(v);
  return measure_choices(
      gpu, accepted, trials, [](const matmul_variant* v) { return v->name(); },
      [&](const stream& s, const trial& t, const matmul_variant* v) { run(s, t.call(), *v); }, before.name(),
      key, how);
}

// The kernel of a list that tuning found for `key`, if it accepts the call; else nullptr.
inline const matmul_variant* tuned_among(std::span<const matmul_variant* const> variants,
                                         const matmul_call& call, const device_properties& device,
                                         std::string_view key) {
  const std::string name = find_tuned(device, key);
  if (name.empty()) return nullptr;
  for (const matmul_variant* v : variants)
    if (v->name() == name) return accepts(*v, call, device) ? v : nullptr;
  return nullptr;
}

}  // namespace kaio::ops

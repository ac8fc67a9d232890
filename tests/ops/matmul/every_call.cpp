// Every product that the contract promises finds a kernel, on every architecture, and no other does:
// thousands of random calls of all types, layouts, alignments, batches and epilogues.
#include "bench/matmul_choice/paper_devices.hpp"
#include "bench/matmul_choice/random_problem.hpp"
#include "ops/matmul/choice/table.hpp"
#include "tests/catch.hpp"

using namespace kaio;

namespace {

// docs/ops/matmul.md, "devices".
bool is_promised(const ops::matmul_call& call, const device_properties& device) {
  const std::uint16_t sm = device.target.sm;
  switch (call.operand) {
    case ops::element_kind::f16: return true;
    case ops::element_kind::f32: return call.precision == ops::matmul_precision::ieee || sm >= 80;
    case ops::element_kind::bf16: return sm >= 80;
    default: return sm >= 89;
  }
}

bool is_accepted(const ops::matmul_call& call, const device_properties& device) {
  for (const ops::matmul_variant* v : ops::variants_for(call))
    if (ops::accepts(*v, call, device)) return true;
  return false;
}

}  // namespace

TEST_CASE("matmul: every promised call finds a kernel", "[ops][matmul]") {
  for (std::uint64_t seed = 1; seed <= 5000; ++seed) {
    const auto p = bench::random_problem::draw(seed);
    const ops::matmul_call call = p.call_of(p.on_paper());
    for (const device_properties& device : bench::paper_devices()) {
      if (is_accepted(call, device) == is_promised(call, device)) continue;
      CAPTURE(device.name, p.text());
      CHECK(is_accepted(call, device) == is_promised(call, device));
    }
  }
}

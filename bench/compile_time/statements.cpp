// Scalar code of many different statements, none of which the compiler can share: compile_time.py writes them,
// values v0, v1, ... of which LAST is the last.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto measured = kernel<"statements", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a) {
  val i = t.global_id();
#include "statements.inc"
  y[i] = LAST;
});

#include "stage.hpp"

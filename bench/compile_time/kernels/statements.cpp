// Scalar code of many different statements, none of which the compiler can share. compile_time.py writes
// them: the values v0, v1, ... up to LAST.
#include <kaio/dsl/dsl.hpp>
using namespace kaio;

inline constexpr auto measured = kernel<"statements", 256>([](thread t, in<f32> x, out<f32> y, val<f32> a) {
  val i = t.global_id();
#include "statements.inc"
  y[i] = LAST;
});

#include "stage.hpp"

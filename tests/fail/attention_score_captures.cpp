// A score of an attention is a type alone: what it reads are arguments of the launch.
// EXPECT: kaio: a score or a mask of an attention has no data members, a lambda no captures
// EXPECT: pass their arguments after the options: docs/ops/attention.md
// LATE(clang): it prints the chain of the concept before the line of the call
#include <kaio/ops/attention_with.hpp>
using namespace kaio;

void call(const stream& s, tensor_view<const f32, 4> q, tensor_view<f32, 4> o, f32 slope) {
#ifdef KAIO_FIXED
  const auto score = [](thread t, val<f32> x, ops::attention_place at, val<f32> by) {
    return t.let(x - by * cast<f32>(abs_diff(at.query, at.key)));
  };
  attention_with<64>(s, q, q, q, o, score, ops::every_key{}, {}, slope);
#else
  const auto score = [slope](thread t, val<f32> x, ops::attention_place at) {
    return t.let(x - slope * cast<f32>(abs_diff(at.query, at.key)));
  };
  attention_with<64>(s, q, q, q, o, score, ops::every_key{}, {});
#endif
}

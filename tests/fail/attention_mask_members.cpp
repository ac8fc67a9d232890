// A mask of an attention is a type alone: what it reads are arguments of the launch.
// EXPECT: kaio: a score or a mask of an attention has no data members
// EXPECT: pass their arguments after the options: docs/ops/attention.md
// LATE(clang): it prints the chain of the concept before the line of the call
#include <kaio/ops/make_block_mask.hpp>
using namespace kaio;

#ifdef KAIO_FIXED
struct near {
  constexpr val<bool> operator()(thread t, ops::attention_place at, val<u32> most) const {
    return t.let(abs_diff(at.query, at.key) < most);
  }
};
void lists(const stream& s, const block_mask_output& output, u32 most) {
  make_block_mask(s, near{}, output, {.queries = 256, .keys = 256}, most);
}
#else
struct near {
  u32 most;
  constexpr val<bool> operator()(thread t, ops::attention_place at) const {
    return t.let(abs_diff(at.query, at.key) < most);
  }
};
void lists(const stream& s, const block_mask_output& output, u32 most) {
  make_block_mask(s, near{most}, output, {.queries = 256, .keys = 256});
}
#endif

#pragma once
// attention and attention_varlen by the first kernel of the table that can run a call. The table lists
// kernels for sm_90a, then mma.sync, then multiply-adds. Among the latter, those for many queries come before
// the others. The smallest head size comes first. The cost model takes other kernels for the small problems
// of these tests; so small problems test the kernels of large ones.
#include "ops/attention/forward/choice/table.hpp"
#include "tests/ops/support.hpp"

#include <kaio/ops/attention.hpp>

#include <stdexcept>
#include <string>
#include <string_view>

namespace kaio::tests {

// In its block, the first kernel is the first one whose name begins with `begin`. There must be one.
class kernels_of {
 public:
  explicit kernels_of(std::string_view begin) : before_(begin_) { begin_ = begin; }
  ~kernels_of() { begin_ = before_; }
  kernels_of(const kernels_of&) = delete;
  kernels_of& operator=(const kernels_of&) = delete;
  static std::string_view begin() { return begin_; }

 private:
  static inline std::string_view begin_;
  std::string_view before_;
};
// The kernels of f32 for few queries, which in the table come after those for many.
inline constexpr std::string_view f32_for_few_queries = "attention_simt_f32_";

inline std::string_view first_variant(const ops::detail::attention_arguments& arguments) {
  const ops::attention_call call = ops::detail::resolve_attention(under_test().identity(), arguments);
  if (call.empty()) return {};
  const bool is_long = call.problem.packed == 0 && call.problem.keys >= 4096;
  for (const ops::attention_variant& v : ops::all_attention_variants())
    if ((v.keys != 176 || is_long) && v.name().starts_with(kernels_of::begin()) &&
        ops::accepts(v, call, under_test().properties()))
      return v.name();
  if (!kernels_of::begin().empty())
    throw std::logic_error("no kernel " + std::string(kernels_of::begin()) + "... can run the call");
  return {};
}

template <class Q, class K, class V, class O>
void attention_first_fit(const stream& s, const tensor_view<Q, 4>& q, const tensor_view<K, 4>& k,
                         const tensor_view<V, 4>& v, const tensor_view<O, 4>& out,
                         const attention_options& given = {}) {
  attention_options options = given;
  options.variant = first_variant({"attention", q, k, v, out, &given});
  attention(s, q, k, v, out, options);
}
template <class Q, class K, class V, class O>
void attention_varlen_first_fit(const stream& s, const tensor_view<Q, 3>& q, const tensor_view<K, 3>& k,
                                const tensor_view<V, 3>& v, const tensor_view<O, 3>& out,
                                const attention_sequences& sequences, const attention_options& given = {}) {
  attention_options options = given;
  options.variant = first_variant({"attention_varlen", q, k, v, out, &given, false, false, &sequences});
  attention_varlen(s, q, k, v, out, sequences, options);
}

}  // namespace kaio::tests

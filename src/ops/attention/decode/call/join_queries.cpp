#include "ops/attention/decode/call/join_queries.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "ops/attention/common/operands.hpp"

namespace kaio::ops::detail {

namespace {

struct named {
  std::string_view name;
  const attention_view* view;
};

void check_value_queries(const validation& check, const attention_decode_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const attention_view &q = arguments.q, &qv = arguments.options->qv.view;
  const attention_view &k = arguments.cache.k, &v = arguments.cache.v;
  if (qv.rank != q.rank) refuse_attention(operation, "argument qv has another number of dimensions than q");
  if (qv.type != q.type)
    refuse_attention(operation, "arguments q and qv have different element types; cast one of them");
  if (arguments.cache.has_codes()) refuse_attention(operation, "qv needs a cache with the element type of q");
  if (k.type != q.type || v.type != q.type)
    refuse_attention(operation, "arguments q and k or v have different element types; cast one of them");
  const std::uint32_t last = q.rank - 1;
  check.input("q", q);
  check.input("qv", qv);
  check.input("k", k);
  check.input("v", v);
  for (std::uint32_t d = 0; d < last; ++d) check.extent("qv", qv, d, q.extents[d], "as of q");
  check.extent("qv", qv, last, v.extents[3], "the head size of v");
  check.extent("k", k, 3, q.extents[last], "the head size of q");
  for (const auto& [name, view] : {named{"q", &q}, named{"qv", &qv}})
    if (view->extents[last] > 1 && view->strides[last] != 1)
      refuse_attention(operation, "argument " + std::string(name) +
                                      " has elements of a head that are not neighbours; their stride is 1");
}

void check_parts_of_rows(const attention_decode_arguments& arguments) {
  const attention_view &k = arguments.cache.k, &v = arguments.cache.v;
  bool at_once = k.address == v.address + static_cast<std::uint64_t>(v.extents[3]) * v.element_bytes();
  for (std::size_t d = 0; d < 3; ++d)
    at_once = at_once && k.extents[d] == v.extents[d] && (k.extents[d] <= 1 || k.strides[d] == v.strides[d]);
  if (!at_once)
    refuse_attention(
        arguments.operation,
        "qv of a cache whose keys do not follow its values in the same rows; a row is read once, so "
        "keep both in one tensor: v is rows.slice(3, 0, Dv), and k is rows.slice(3, Dv, D)");
}

// Checks that the call writes no memory of q and qv. The joined call has no views of them any more.
void check_apart(const validation& check, const attention_decode_arguments& arguments) {
  const attention_decode_options& options = *arguments.options;
  for (const auto& [name, view] : {named{"q", &arguments.q}, named{"qv", &options.qv.view}}) {
    for (const named& to : {named{"out", &arguments.out}, named{"lse", &options.lse.view}})
      if (to.view->exists()) check.apart(to.name, *to.view, name, *view);
    if (options.append.exists())
      for (const named& to : {named{"k", &arguments.cache.k}, named{"v", &arguments.cache.v}})
        check.apart(to.name, *to.view, name, *view);
    if (options.workspace.address != 0) check.workspace_apart(options.workspace.facts(), name, *view);
  }
}

}  // namespace

attention_decode_arguments join_queries(const validation& check, const attention_decode_arguments& arguments,
                                        attention_decode_options& options) {
  options = *arguments.options;
  attention_decode_arguments joined = arguments;
  joined.options = &options;
  if (!options.qv.view.exists()) return joined;
  check_value_queries(check, arguments);
  check_parts_of_rows(arguments);
  check_apart(check, arguments);
  options.qv = {};

  // A placeholder at a multiple of 16 bytes, as q will be in the workspace.
  attention_view& q = joined.q;
  const std::int64_t size = q.extents[q.rank - 1] + arguments.cache.v.extents[3];
  q.address = q.bytes = std::uint64_t{1} << 60;
  q.extents[q.rank - 1] = size;
  std::int64_t stride = 1;
  for (std::size_t d = q.rank; d-- > 0;) {
    q.strides[d] = stride;
    stride *= std::max<std::int64_t>(q.extents[d], 1);
  }
  attention_cache_view& cache = joined.cache;
  cache.k = cache.v;
  cache.k.extents[3] = size;
  cache.cache.k = cache.cache.v;
  cache.cache.k.extents[3] = size;
  return joined;
}

}  // namespace kaio::ops::detail

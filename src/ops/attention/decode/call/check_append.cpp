#include "ops/attention/decode/call/check_append.hpp"

#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "ops/attention/common/operands.hpp"

namespace kaio::ops::detail {

namespace {

struct named {
  std::string_view name;
  const attention_view* view;
};

}  // namespace

// Checks what an append reads and writes against the rest of the call. append_kv checks its own arguments.
void check_append_apart(const validation& check, const attention_decode_arguments& arguments) {
  const attention_decode_options& options = *arguments.options;
  const attention_append& append = options.append;
  if (!append.exists()) return;
  struct any_named {
    std::string_view name;
    any_view view;
  };
  const std::array<any_named, 8> of_append{{{"append.k", append.k.view},
                                            {"append.v", append.v.view},
                                            {"append.cu_k", append.cu_k},
                                            {"append.rotary.cos", append.rotary.cos.view},
                                            {"append.rotary.sin", append.rotary.sin.view},
                                            {"append.rotary.positions", append.rotary.positions.view},
                                            {"append.k_scale_out", append.k_scale_out},
                                            {"append.v_scale_out", append.v_scale_out}}};
  for (const auto& [name, view] : of_append) {
    if (!view.exists() || view.address == 0) continue;
    for (const named& to : {named{"out", &arguments.out}, named{"lse", &options.lse.view}})
      if (to.view->exists()) check.apart(to.name, *to.view, name, view);
    if (options.workspace.address != 0) check.workspace_apart(options.workspace.facts(), name, view);
  }
  for (const named& written : {named{"k", &arguments.cache.k}, named{"v", &arguments.cache.v}})
    for (const named& from :
         {named{"q", &arguments.q}, named{"alibi", &options.alibi.view}, named{"sinks", &options.sinks.view}})
      if (from.view->exists()) check.apart(written.name, *written.view, from.name, *from.view);
}

namespace {

void check_cu_k(const validation& check, const attention_decode_arguments& arguments,
                std::int64_t sequences) {
  const std::string_view operation = arguments.operation;
  const attention_append& append = arguments.options->append;
  const tensor_view<const i32, 1>& cu_k = append.cu_k;
  check.input("append.cu_k", cu_k);
  check.extent("append.cu_k", cu_k, 0, sequences + 1, "the sequences and one more");
  if (cu_k.extent(0) > 1 && cu_k.stride(0) != 1)
    refuse_attention(operation, "argument append.cu_k has gaps; its numbers follow each other");
  for (const auto& [name, rows] : {std::pair{"k", &append.k}, std::pair{"v", &append.v}})
    if (rows->view.rank != 3)
      refuse_attention(operation,
                       "append." + std::string(name) +
                           " has four dimensions next to append.cu_k; it is (tokens, heads, size)");
  if (!append.rotates()) return;
  if (arguments.cache.last_page_len.exists())
    refuse_attention(
        operation,
        "append.rotary with append.cu_k of a cache by last_page_len; give lengths, after which the "
        "queries are rotated");
  const any_view& positions = append.rotary.positions.view;
  if (positions.exists() && positions.address != 0)
    refuse_attention(operation,
                     "append.rotary.positions next to append.cu_k; they are of new keys, not of the queries");
}

}  // namespace

// Checks new keys and values, except what append_kv checks.
void check_append(const validation& check, const attention_decode_arguments& arguments,
                  std::int64_t sequences) {
  const attention_decode_options& options = *arguments.options;
  const attention_append& append = options.append;
  const bool scales = !append.k_scale_out.is_null() || !append.v_scale_out.is_null();
  if (!append.exists()) {
    if (!append.cu_k.is_null())
      refuse_attention(arguments.operation,
                       "append.cu_k without append.k and append.v, whose rows it divides");
    if (append.rotates() || scales)
      refuse_attention(arguments.operation,
                       "append.rotary or append.k_scale_out without append.k and append.v, which they belong "
                       "to; rotate queries alone by rotary");
    return;
  }
  if (!append.k.view.exists() || !append.v.view.exists())
    refuse_attention(arguments.operation, "one of append.k and append.v is missing; give both");
  if (!append.cu_k.is_null())
    check_cu_k(check, arguments, sequences);
  else if (append.k.view.rank != arguments.q.rank || append.v.view.rank != arguments.q.rank)
    refuse_attention(
        arguments.operation,
        "append.k or append.v has another number of dimensions than q; rows of sequences that follow "
        "each other come with append.cu_k");
  if (!arguments.cache.is_written)
    refuse_attention(arguments.operation,
                     "append to a cache of const elements; pass a kv_cache that is written");
  if (append.rotary.q.in.exists())
    refuse_attention(arguments.operation,
                     "append.rotary.q is given; leave it out: the call rotates its own queries");
  for (const auto& [name, given, computed] : {std::tuple{"k_scale", &options.k_scale, &append.k_scale_out},
                                              std::tuple{"v_scale", &options.v_scale, &append.v_scale_out}})
    if (given->view.exists() && !computed->is_null())
      refuse_attention(arguments.operation, std::string(name) + " next to append." + name +
                                                "_out, which is read in its place; give one of them");
}

}  // namespace kaio::ops::detail

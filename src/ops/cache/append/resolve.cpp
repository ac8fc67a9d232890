#include "ops/cache/append/resolve.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/cache/common/check.hpp"

namespace kaio::ops::detail {

namespace {

template <class T, std::size_t Rank>
void list_given(std::vector<named_argument>& list, std::string_view name, const tensor_view<T, Rank>& v) {
  if (!v.is_null()) list.push_back({name, v});
}

// One call, as it is checked.
struct resolution {
  std::string_view operation;
  validation check;
  const any_view &k, &v;
  const any_cache& cache;
  const append_kv_options& options;
  row_shape shape{};
  std::int64_t sequences = 0;
  bool any_queries = false, by_slots = false, turns = false;
  append_call call{};

  append_problem& problem() { return call.problem; }
  [[noreturn]] void wrong(const std::string& what) const { refuse(operation, what); }

  void check_new_rows() {
    check.input("k", k);
    check.input("v", v);
    check_rows(operation, "k", k);
    check_rows(operation, "v", v);
    if (v.type != k.type) wrong("argument v has another element type than k; cast one of them");
    for (std::uint32_t d = 0; d + 1 < k.rank; ++d) check.extent("v", v, d, k.extents[d], "as of k");
    shape = row_shape::of(k);
    problem().k = strides_of(k);
    problem().v = strides_of(v);
    problem().type = element_type_of(k.type);
    problem().tokens = static_cast<u32>(shape.tokens);
    problem().key_tokens = problem().query_tokens = problem().tokens;
    problem().key_heads = static_cast<u32>(shape.heads);
  }

  void check_cache_rows() {
    check.output("cache.k", cache.k);
    check.output("cache.v", cache.v);
    if (cache.k.type != k.type && !is_quantised(cache.k.type))
      wrong(
          "argument k has another element type than the cache, whose elements have 16 or 32 bits; cast k and v");
    check_cache_extents(check, operation, cache, k, v);
  }

  // Sequences, and where their new tokens go.
  void check_sequences_and_places() {
    const bool packed = k.rank == 3, has_cu = !options.cu_seqlens.is_null();
    by_slots = is_given(options.slots.view);
    problem().slots = check_token_numbers(check, "slots", options.slots, shape);
    if (!packed && has_cu) wrong("cu_seqlens of tensors of four dimensions; append_kv_varlen takes it");
    if (packed && !has_cu && !by_slots) wrong("neither cu_seqlens nor slots; give one of them");
    if (has_cu && by_slots) wrong("cu_seqlens next to slots; each token has its place already");
    sequences = shape.batches;
    if (has_cu) {
      sequences = check_sequences(check, operation, options.cu_seqlens);
      problem().cu = options.cu_seqlens.address();
      problem().sequences = static_cast<u32>(sequences);
    }
    if (by_slots) {
      if (cache.k.extents[0] * cache.k.extents[1] > 0xffffffffLL)
        wrong("slots in a cache of 2^32 rows or more; slots below 2^32 are supported");
    } else {
      problem().places = check_places(check, operation, cache, sequences);
      if (cache.lengths.is_null() && cache.last_page_len.is_null())
        wrong("neither cache.lengths nor cache.last_page_len nor slots; give one of them");
    }
    set_pages(problem().places, cache.k);
  }

  void check_rotary() {
    const append_rotary& rotary = options.rotary;
    turns = is_given(rotary.cos.view) || is_given(rotary.sin.view);
    if (!turns) {
      if (rotary.q.in.exists()) wrong("rotary.q without the tables; give rotary.cos and rotary.sin");
      if (is_given(rotary.positions.view))
        wrong("rotary.positions without the tables; give rotary.cos and rotary.sin");
      return;
    }
    problem().tables = check_tables(check, operation, "rotary.", rotary.cos.view, rotary.sin.view, shape.size,
                                    rotary.interleaved, false);
    problem().positions = check_token_numbers(check, "rotary.positions", rotary.positions, shape);
    if (by_slots && !is_given(rotary.positions.view))
      wrong("slots with a rotation need rotary.positions: a slot has no position");
    if (rotary.q_at_first && problem().positions.address != 0)
      wrong("rotary.q_at_first next to rotary.positions, which q is rotated by");
    problem().q_at_first = rotary.q_at_first ? 1 : 0;
    if (rotary.q.in.exists()) check_queries(rotary.q);
  }

  void check_queries(const append_queries& q) {
    if (q.in.rank != k.rank)
      wrong("argument rotary.q has " + std::to_string(q.in.rank) + " dimensions, and k has " +
            std::to_string(k.rank));
    if (q.in.type != k.type) wrong("argument rotary.q has another element type than k; cast one of them");
    check.input("rotary.q", q.in);
    check.output("rotary.q.out", q.out);
    check_rows(operation, "rotary.q", q.in);
    check_rows(operation, "rotary.q.out", q.out);
    for (std::uint32_t d = 0; d < k.rank; ++d) {
      if (d != k.rank - 2 && !(d == 1 && any_queries && k.rank == 4))
        check.extent("rotary.q", q.in, d, k.extents[d], "as of k");
      check.extent("rotary.q.out", q.out, d, q.in.extents[d], "as of rotary.q");
    }
    const bool in_place =
        q.in.address == q.out.address && q.in.extents == q.out.extents && q.in.strides == q.out.strides;
    if (!in_place) check.apart("rotary.q.out", q.out, "rotary.q", q.in);
    problem().q = strides_of(q.in);
    problem().q_out = strides_of(q.out);
    const row_shape of_queries = row_shape::of(q.in);
    if (of_queries.tokens != shape.tokens && problem().positions.address != 0)
      wrong("rotary.positions has one number per new token, and the number of queries differs");
    problem().query_heads = static_cast<u32>(of_queries.heads);
    problem().query_tokens = static_cast<u32>(of_queries.tokens);
    problem().tokens = std::max(problem().tokens, problem().query_tokens);
    problem().q_in_place = in_place ? 1 : 0;
    problem().q_aligned = is_aligned(q.in, q.out, problem().tables.pairs) ? 1 : 0;
  }

  static bool is_aligned(const any_view& from, const any_view& to, u32 pairs) {
    return begins_at(from, 16) && begins_at(to, to.element_bytes() == 1 ? 8 : 16) && pairs % run_size == 0 &&
           from.extents[from.rank - 1] % run_size == 0;
  }

  cache_rows rows_of(std::string_view name, const any_view& from, const any_view& to, u32 pairs,
                     const append_scale_input& given, const tensor_view<f32, 3>& computed) {
    cache_rows rows{};
    rows.at = page_strides_of(to);
    rows.kept = static_cast<u32>(kept_as(to.type));
    rows.size = static_cast<u32>(to.extents[3]);
    rows.aligned = is_aligned(from, to, pairs) ? 1 : 0;
    const std::string scale = std::string(name) + "_scale";
    const bool has_given = is_given(given.view), has_computed = !computed.is_null();
    if ((has_given || has_computed) && rows.kept == static_cast<u32>(kept_type::same))
      wrong(scale + (has_given ? "" : "_out") +
            " of a cache whose elements are those of k and v; it has no scales");
    if (has_given && has_computed) wrong(scale + " next to " + scale + "_out; give one of them");
    if (has_given) {
      const scale_strides by = check_scale(check, operation, scale, given.view, to,
                                           by_slots ? std::nullopt : std::optional(sequences));
      rows.scale = by.address;
      rows.scale_page = by.page;
      rows.scale_row = by.row;
      rows.scale_head = by.head;
      rows.scales_are = static_cast<u32>(by.of_sequence ? scale_source::of_sequence : scale_source::given);
    }
    if (has_computed) {
      check.output(scale + "_out", computed);
      for (std::size_t d = 0; d < 3; ++d)
        check.extent(scale + "_out", computed, d, to.extents[d], "as of the cache");
      rows.scale = computed.address();
      rows.scale_page = computed.stride(0);
      rows.scale_row = computed.stride(1);
      rows.scale_head = computed.stride(2);
      rows.scales_are = static_cast<u32>(scale_source::computed);
      problem().computes_scales = 1;
    }
    if (rows.kept != 0 && units_of_row(pairs, rows.size, true) > 32)
      wrong("heads of " + std::to_string(rows.size) + " elements in 8 bits with " + std::to_string(pairs) +
            " rotated pairs; at most 32 groups of 16 elements are supported");
    return rows;
  }

  // No output overlaps an input or another output.
  void check_apart() const {
    std::vector<named_argument> inputs{{"k", k}, {"v", v}},
        outputs{{"cache.k", cache.k}, {"cache.v", cache.v}};
    list_given(outputs, "k_scale_out", options.k_scale_out);
    list_given(outputs, "v_scale_out", options.v_scale_out);
    const std::size_t of_cache = outputs.size();
    if (problem_has_queries()) outputs.push_back({"rotary.q.out", options.rotary.q.out});
    if (!by_slots) list_numbers(inputs, cache);
    list_given(inputs, "cu_seqlens", options.cu_seqlens);
    for (const auto& [name, v_] :
         {std::pair{"slots", &options.slots.view}, std::pair{"k_scale", &options.k_scale.view},
          std::pair{"v_scale", &options.v_scale.view}, std::pair{"rotary.cos", &options.rotary.cos.view},
          std::pair{"rotary.sin", &options.rotary.sin.view},
          std::pair{"rotary.positions", &options.rotary.positions.view}})
      if (is_given(*v_)) inputs.push_back({name, *v_});
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (const named_argument& input : inputs)
        check.apart(outputs[i].name, outputs[i].view, input.name, input.view);
      for (std::size_t j = 0; j < i; ++j)
        check.apart(outputs[i].name, outputs[i].view, outputs[j].name, outputs[j].view);
      if (i < of_cache && problem_has_queries())
        check.apart(outputs[i].name, outputs[i].view, "rotary.q", options.rotary.q.in);
    }
  }
  bool problem_has_queries() const { return turns && options.rotary.q.in.exists(); }

  void count_rows() {
    append_problem& p = problem();
    row_shape all = shape;
    all.tokens = p.tokens;
    all.heads = 2 * shape.heads + p.query_heads;
    call.rows = sequences == 0 ? 0 : row_count(operation, all);
    p.rows = static_cast<u32>(call.rows);
    const u32 pairs = p.tables.pairs;
    u32 pieces = 1;
    for (const auto& [rows, turned] : {std::pair{&p.of_k, pairs}, std::pair{&p.of_v, 0u}})
      pieces = std::max({pieces, units_of_row(turned, rows->size, rows->kept != 0), rows->size / 16});
    p.lanes_log = lanes_log2(pieces);
    p.constant = has_any(options.constant, constant_inputs::indices) ? 1 : 0;
  }
};

}  // namespace

append_call resolve_append_kv(const void* device, const any_view& k, const any_view& v,
                              const any_cache& cache, const append_kv_options& options,
                              std::string_view caller) {
  const std::string_view operation = !caller.empty() ? caller
                                     : k.rank == 3   ? "append_kv_varlen"
                                                     : "append_kv";
  resolution r{operation, validation(operation, device), k, v, cache, options};
  r.any_queries = !caller.empty();
  r.check_new_rows();
  r.check_cache_rows();
  r.check_sequences_and_places();
  r.check_rotary();
  const u32 pairs = r.problem().tables.pairs;
  r.problem().of_k = r.rows_of("k", k, cache.k, pairs, options.k_scale, options.k_scale_out);
  r.problem().of_v = r.rows_of("v", v, cache.v, 0, options.v_scale, options.v_scale_out);
  r.check_apart();
  r.count_rows();
  return r.call;
}

}  // namespace kaio::ops::detail

#include "ops/qkv_project/common/resolve.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/cache/append/resolve.hpp"
#include "ops/cache/common/check.hpp"
#include "ops/norm/call/in_front.hpp"
#include "ops/qkv_project/call/weights.hpp"

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

// A tensor without memory, with the batches and tokens of `like`: K or V before they are appended.
any_view nowhere(const any_view& like, std::int64_t heads, std::int64_t size) {
  any_view v = like;
  v.address = std::uint64_t{1} << 60;
  v.bytes = std::uint64_t{1} << 60;
  v.device = nullptr;
  v.extents[like.rank - 2] = heads;
  v.extents[like.rank - 1] = size;
  std::int64_t stride = 1;
  for (std::uint32_t d = like.rank; d-- > 0;) {
    v.strides[d] = stride;
    stride *= std::max<std::int64_t>(v.extents[d], 1);
  }
  return v;
}

struct resolution {
  const qkv_arguments& a;
  validation check;
  const qkv_outputs& out;
  const qkv_project_options& options;
  qkv_call call{};
  row_shape shape{};  // rows of q
  std::int64_t k_heads = 0, v_heads = 0, v_size = 0;
  std::int64_t sequences = 0;
  std::vector<named_argument> inputs{}, outputs{};

  qkv_problem& problem() { return call.problem; }
  append_problem& append() { return call.problem.append; }
  bool cached() const { return out.cache.has_value(); }
  bool has_tables() const { return is_given(options.rotary.cos.view) || is_given(options.rotary.sin.view); }
  [[noreturn]] void wrong(const std::string& what) const { refuse(a.operation, what); }

  void check_x() {
    const any_view& x = a.x;
    check.input("x", x);
    const std::uint32_t last = x.rank - 1;
    if (x.strides[last] != 1 && x.extents[last] > 1)
      wrong("argument x has stride " + std::to_string(x.strides[last]) +
            " along its last dimension; the elements of a token are neighbours: stride 1");
    for (std::uint32_t d = 0; d < x.rank; ++d) check.at_most("x", x, d, most);
    if (x.rank + 1 != out.q.rank)
      wrong("argument x has " + std::to_string(x.rank) + " dimensions and q has " +
            std::to_string(out.q.rank) +
            "; (tokens, K) goes with (tokens, heads, size), a batch before both");
    if (!is_quantised(x.type) && x.type != out.q.type)
      wrong("argument x has another element type than q; cast one of them");
    call.k = static_cast<u32>(x.extents[last]);
    call.follows =
        x.rank == 2 || x.extents[0] <= 1 || x.extents[1] == 0 || x.strides[0] == x.extents[1] * x.strides[1];
    inputs.push_back({"x", x});
    check_x_norm(a.operation, check_device, x, options.x_norm);
    if (is_given(options.x_norm.residual_out))
      outputs.push_back({"x_norm.residual_out", options.x_norm.residual_out});
  }

  // A tensor of heads, with the tokens of x.
  void check_heads(std::string_view name, const any_view& v) {
    check.output(name, v);
    check_rows(a.operation, name, v);
    for (std::uint32_t d = 0; d + 2 < v.rank; ++d) check.extent(name, v, d, a.x.extents[d], "as of x");
    outputs.push_back({name, v});
  }

  void check_outputs() {
    check_heads("q", out.q);
    shape = row_shape::of(out.q);
    append().type = element_type_of(out.q.type);
    append().tokens = static_cast<u32>(shape.tokens);
    const std::uint32_t last = out.q.rank - 1;
    if (out.cache.has_value()) {
      const any_cache& cache = *out.cache;
      k_heads = v_heads = cache.k.extents[2];
      v_size = cache.v.extents[3];
      check.input("cache.k", cache.k);
      check.extent("cache.k", cache.k, 3, shape.size, "the head size of q");
      outputs.push_back({"cache.k", cache.k});
      outputs.push_back({"cache.v", cache.v});
      list_numbers(inputs, cache);
    } else {
      check_heads("k", out.k);
      check_heads("v", out.v);
      check.extent("k", out.k, last, shape.size, "the head size of q");
      k_heads = out.k.extents[last - 1];
      v_heads = out.v.extents[last - 1];
      v_size = out.v.extents[last];
    }
  }

  void check_tokens() {
    if (out.cache.has_value()) return check_cache(*out.cache);
    const bool packed = out.q.rank == 3, has_cu = !options.cu_seqlens.is_null();
    sequences = shape.batches;
    if (!packed && has_cu) wrong("cu_seqlens of tensors of four dimensions; they are of three");
    if (has_cu) {
      sequences = check_sequences(check, a.operation, options.cu_seqlens);
      append().cu = options.cu_seqlens.address();
      append().sequences = static_cast<u32>(sequences);
    }
    for (const auto& [name, given] : {std::pair{"slots", is_given(options.slots.view)},
                                      std::pair{"k_scale", is_given(options.k_scale.view)},
                                      std::pair{"v_scale", is_given(options.v_scale.view)},
                                      std::pair{"k_scale_out", !options.k_scale_out.is_null()},
                                      std::pair{"v_scale_out", !options.v_scale_out.is_null()}})
      if (given) wrong(std::string(name) + " without a cache; it is of one");
    const qkv_rotary& rotary = options.rotary;
    if (!has_tables() && !a.has_own) {
      if (is_given(rotary.positions.view) || !rotary.offsets.is_null())
        wrong("rotary.positions or rotary.offsets without the tables; give rotary.cos and rotary.sin");
      return;
    }
    if (has_tables())
      append().tables = check_tables(check, a.operation, "rotary.", rotary.cos.view, rotary.sin.view,
                                     shape.size, rotary.interleaved, false);
    append().positions = check_token_numbers(check, "rotary.positions", rotary.positions, shape);
    const bool has_positions = append().positions.address != 0;
    if (has_tables() && packed && !has_cu && !has_positions)
      wrong("a rotation of (tokens, heads, size) without cu_seqlens or rotary.positions; give one of them");
    if (has_positions && !rotary.offsets.is_null())
      wrong("rotary.offsets next to rotary.positions; add them to the positions");
    problem().offsets =
        check_numbers(check, a.operation, "rotary.offsets", rotary.offsets, sequences, "the sequences");
  }

  // Checks as append_kv does, with a K and a V that are not in memory yet.
  void check_cache(const any_cache& cache) {
    if (!options.rotary.offsets.is_null())
      wrong("rotary.offsets with a cache; positions are those of its keys, or rotary.positions");
    for (const append_scale_input* scale : {&options.k_scale, &options.v_scale})
      if (scale->view.rank == 2)
        wrong("k_scale or v_scale of (sequences, heads); give (1), (heads) or (pages, rows, heads)");
    append_kv_options of{};
    of.cu_seqlens = options.cu_seqlens;
    of.slots = options.slots;
    of.rotary.cos = options.rotary.cos;
    of.rotary.sin = options.rotary.sin;
    of.rotary.interleaved = options.rotary.interleaved;
    const bool for_own = a.has_own && !has_tables();
    if (!for_own) of.rotary.positions = options.rotary.positions;
    of.k_scale = options.k_scale;
    of.v_scale = options.v_scale;
    of.k_scale_out = options.k_scale_out;
    of.v_scale_out = options.v_scale_out;
    const u32 type = append().type;
    const append_call resolved = resolve_append_kv(check_device, nowhere(out.q, k_heads, shape.size),
                                                   nowhere(out.q, v_heads, v_size), cache, of, a.operation);
    append() = resolved.problem;
    append().type = type;
    if (for_own)
      append().positions = check_token_numbers(check, "rotary.positions", options.rotary.positions, shape);
    problem().cached = 1;
    sequences = append().cu != 0 ? append().sequences : shape.batches;
    if (!options.k_scale_out.is_null()) outputs.push_back({"k_scale_out", options.k_scale_out});
    if (!options.v_scale_out.is_null()) outputs.push_back({"v_scale_out", options.v_scale_out});
  }
  const void* check_device;

  void check_weights() {
    const std::array<std::int64_t, 3> n{shape.heads * shape.size, k_heads * shape.size, v_heads * v_size};
    std::int64_t all = 0;
    for (const std::int64_t one : n) {
      if (one > most - all) wrong("2^31 columns of Q, K and V or more; give fewer heads");
      all += one;
    }
    call.n = static_cast<u32>(all);
    problem().q.column = 0;
    problem().k.column = static_cast<u32>(n[0]);
    problem().v.column = static_cast<u32>(n[0] + n[1]);
    call.count = a.weights->count;
    const weight_checks weights{a, check, call.k, inputs};
    weights.check_x_scales(shape.batches * shape.tokens);
    if (call.count == 1) {
      call.projections[0] = {0, call.n};
      weights.check_weight("weights", a.weights->of[0], all);
    } else {
      constexpr std::array<std::string_view, 3> names{"weights.q", "weights.k", "weights.v"};
      std::uint32_t column = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        call.projections[i] = {column, static_cast<u32>(n[i])};
        weights.check_weight(names[i], a.weights->of[i], n[i]);
        column += static_cast<u32>(n[i]);
      }
    }
  }

  u64 vector(std::string_view name, const qkv_vector& given, std::int64_t count) {
    const any_view& v = given.view;
    if (!is_given(v)) return 0;
    check.input(name, v);
    check.extent(name, v, 0, count, name.ends_with("bias") ? "heads times their size" : "the head size");
    if (v.type != out.q.type) wrong("argument " + std::string(name) + " has another element type than q");
    if (v.strides[0] != 1 && count > 1)
      wrong("argument " + std::string(name) + " has stride " + std::to_string(v.strides[0]) +
            "; its elements are neighbours: stride 1");
    inputs.push_back({name, v});
    return v.address;
  }

  void fill_part(qkv_part& split, std::int64_t heads, std::int64_t size, u32 pairs) {
    split.scale = 1;
    split.heads = static_cast<u32>(heads);
    split.to.size = static_cast<u32>(size);
    const bool whole = size % run_size == 0 && pairs % run_size == 0;
    split.terms_aligned = whole && split.bias % 16 == 0 && split.norm % 16 == 0 ? 1 : 0;
    if (units_of_row(pairs, split.to.size, true) > 32)
      wrong("heads of " + std::to_string(size) + " elements with " + std::to_string(pairs) +
            " rotated pairs; at most 32 groups of 16 elements are supported");
  }
  void to_tensor(qkv_part& split, const any_view& v, u32 pairs) {
    const row_strides at = strides_of(v);
    split.to.at = {at.address, at.batch, at.token, at.head};
    const std::int64_t size = v.extents[v.rank - 1];
    split.to.aligned = begins_at(v, 16) && size % run_size == 0 && pairs % run_size == 0 ? 1 : 0;
  }
  void to_cache(qkv_part& split, const cache_rows& rows, const any_view& v, u32 pairs) {
    split.to = rows;
    split.to.aligned =
        begins_at(v, v.element_bytes() == 1 ? 8 : 16) && rows.size % run_size == 0 && pairs % run_size == 0
            ? 1
            : 0;
  }

  void fill_parts() {
    const u32 pairs = append().tables.pairs;
    qkv_problem& p = problem();
    to_tensor(p.q, out.q, pairs);
    if (cached()) {
      to_cache(p.k, append().of_k, out.cache->k, pairs);
      to_cache(p.v, append().of_v, out.cache->v, 0);
    } else {
      to_tensor(p.k, out.k, pairs);
      to_tensor(p.v, out.v, 0);
    }
    p.q.bias = vector("q_bias", options.q_bias, shape.heads * shape.size);
    p.k.bias = vector("k_bias", options.k_bias, k_heads * shape.size);
    p.v.bias = vector("v_bias", options.v_bias, v_heads * v_size);
    p.q.norm = vector("q_norm", options.q_norm, shape.size);
    p.k.norm = vector("k_norm", options.k_norm, shape.size);
    p.has_norms = p.q.norm != 0 || p.k.norm != 0 ? 1 : 0;
    check_epsilon(a.operation, "epsilon", options.epsilon);
    p.epsilon = options.epsilon;
    p.norm_offset = options.norm_offset;
    fill_part(p.q, shape.heads, shape.size, pairs);
    fill_part(p.k, k_heads, shape.size, pairs);
    fill_part(p.v, v_heads, v_size, 0);
    p.q.scale = options.q_scale;
    u32 pieces = 1;
    for (const auto& [split, turned] : {std::pair{&p.q, pairs}, std::pair{&p.k, pairs}, std::pair{&p.v, 0u}})
      pieces = std::max(pieces, units_of_row(turned, split->to.size, true));
    append().lanes_log = lanes_log2(pieces);
  }

  void count_rows() {
    row_shape all = shape;
    all.heads = shape.heads + k_heads + v_heads;
    call.tokens = static_cast<std::uint64_t>(shape.batches * shape.tokens);
    call.rows = sequences == 0 ? 0 : row_count(a.operation, all);
    if (call.tokens > static_cast<std::uint64_t>(most))
      wrong("2^31 tokens or more; take the batches in splits");
    problem().heads = static_cast<u32>(all.heads);
    problem().all_tokens = static_cast<u32>(call.tokens);
    append().rows = static_cast<u32>(call.rows);
  }

  void check_apart() {
    const auto list = [&](std::string_view name, const any_view& v) {
      if (is_given(v)) inputs.push_back({name, v});
    };
    list("x_norm.weight", options.x_norm.weight);
    if (!same_view(options.x_norm.residual, options.x_norm.residual_out))
      list("x_norm.residual", options.x_norm.residual);
    list("rotary.cos", options.rotary.cos.view);
    list("rotary.sin", options.rotary.sin.view);
    list("rotary.positions", options.rotary.positions.view);
    list("slots", options.slots.view);
    list("k_scale", options.k_scale.view);
    list("v_scale", options.v_scale.view);
    if (!options.rotary.offsets.is_null()) list("rotary.offsets", options.rotary.offsets);
    if (!options.cu_seqlens.is_null()) list("cu_seqlens", options.cu_seqlens);
    const workspace_view& workspace = options.workspace;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      for (const named_argument& input : inputs)
        check.apart(outputs[i].name, outputs[i].view, input.name, input.view);
      for (std::size_t j = 0; j < i; ++j)
        check.apart(outputs[i].name, outputs[i].view, outputs[j].name, outputs[j].view);
    }
    if (workspace.address == 0) return;
    for (const auto* list_of : {&inputs, &outputs})
      for (const named_argument& one : *list_of) check.workspace_apart(workspace.facts(), one.name, one.view);
  }
};

}  // namespace

qkv_call resolve_qkv(const void* device, const qkv_arguments& arguments) {
  resolution r{.a = arguments,
               .check = validation(arguments.operation, device),
               .out = *arguments.outputs,
               .options = *arguments.options,
               .check_device = device};
  r.check_x();
  r.check_outputs();
  r.check_tokens();
  r.check_weights();
  r.fill_parts();
  r.count_rows();
  r.check_apart();
  return r.call;
}

}  // namespace kaio::ops::detail

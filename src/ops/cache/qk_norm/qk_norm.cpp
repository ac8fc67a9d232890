// Checks calls of qk_norm_rotary before anything runs, and launches them.

#include <kaio/ops/cache/qk_norm/kernel.hpp>
#include <kaio/ops/qk_norm_rotary.hpp>
#include <kaio/runtime/device.hpp>

#include <string>
#include <string_view>
#include <vector>

#include "ops/cache/common/check.hpp"

namespace kaio::ops {

namespace {

constexpr std::string_view operation = "qk_norm_rotary";

using detail::is_given, detail::named_argument, detail::refuse, detail::row_shape;

qk_norm check_norm(const validation& check, std::string_view name, const any_view& v, const any_view& q) {
  if (!is_given(v)) return {};
  const std::string argument = "argument " + std::string(name);
  if (v.rank != 1) refuse(operation, argument + " has " + std::to_string(v.rank) + " dimensions; it has one");
  check.input(name, v);
  if (v.type != q.type && v.type != element_kind::f32)
    refuse(operation, argument + " is neither f32 nor of the element type of q; cast it");
  check.extent(name, v, 0, q.extents[q.rank - 1], "the elements of a head");
  if (v.strides[0] != 1 && v.extents[0] > 1)
    refuse(operation, argument + " has stride " + std::to_string(v.strides[0]) +
                          "; its numbers are neighbours: stride 1");
  return {v.address, detail::element_type_of(v.type), detail::begins_at(v, 16) ? 1u : 0u};
}

// k and an output: the extents of q except the heads.
void check_like(const validation& check, std::string_view name, const any_view& v, const any_view& like,
                bool heads) {
  if (v.rank != like.rank || v.type != like.type)
    refuse(operation,
           "argument " + std::string(name) + " has another element type or number of dimensions than q");
  for (std::uint32_t d = 0; d < like.rank; ++d)
    if (heads || d + 2 != like.rank)
      check.extent(name, v, d, like.extents[d], heads ? "those of its input" : "as of q");
  detail::check_rows(operation, name, v);
}

}  // namespace

namespace detail {

void run_qk_norm_rotary(const stream& s, const any_view& q, const any_view& k, const any_view& q_out,
                        const any_view& k_out, const qk_norm_rotary_options& options) {
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  const rotary_options& of = options.rotary;
  const bool has_k = is_given(k);
  check.input("q", q);
  if (q.rank != 3 && q.rank != 4) refuse(operation, "argument q has neither three nor four dimensions");
  if (!is_wide(q.type)) refuse(operation, "argument q is neither f32, f16 nor bf16");
  check_rows(operation, "q", q);
  check.output("q_out", q_out);
  check_like(check, "q_out", q_out, q, true);
  if (has_k) {
    check.input("k", k);
    check_like(check, "k", k, q, false);
    check.output("k_out", k_out);
    check_like(check, "k_out", k_out, k, true);
  } else if (is_given(k_out)) {
    refuse(operation, "k_out is given without k; give both");
  }
  row_shape shape = row_shape::of(q);
  check_epsilon(operation, "epsilon", options.epsilon);
  const bool rotates = is_given(options.cos) || is_given(options.sin);
  qk_norm_problem problem{};
  problem.q_norm = check_norm(check, "q_norm", options.q_norm, q);
  problem.k_norm = check_norm(check, "k_norm", options.k_norm, q);
  rotary_problem& rotary = problem.rotary;
  if (rotates)
    for (const auto& [name, v] : {named_argument{"cos", options.cos}, {"sin", options.sin}})
      if (v.rank != 2 || !is_wide(v.type))
        refuse(operation,
               "argument " + std::string(name) + " is no table: two dimensions of f32, f16 or bf16");
  if (rotates)
    rotary.tables =
        check_tables(check, operation, {}, options.cos, options.sin, shape.size, of.interleaved, of.inverse);
  rotary.positions = check_token_numbers(check, "rotary.positions", of.positions, shape);
  const bool has_cu = !of.cu_seqlens.is_null();
  if (rotary.positions.address != 0 && (has_cu || !of.offsets.is_null()))
    refuse(
        operation,
        "rotary.offsets or rotary.cu_seqlens next to rotary.positions; each token has its position already");
  if (q.rank == 4 && has_cu)
    refuse(operation, "rotary.cu_seqlens of a tensor of four dimensions; give (tokens, heads, size)");
  if (q.rank == 3 && rotates && !has_cu && !is_given(of.positions.view))
    refuse(operation, "neither rotary.cu_seqlens nor rotary.positions; give one of them");
  std::int64_t sequences = shape.batches;
  if (has_cu) {
    sequences = check_sequences(check, operation, of.cu_seqlens);
    rotary.cu = of.cu_seqlens.address();
    rotary.sequences = static_cast<u32>(sequences);
  }
  rotary.offsets = check_numbers(check, operation, "rotary.offsets", of.offsets, sequences, "the sequences");

  std::vector<named_argument> inputs{{"q", q},
                                     {"k", k},
                                     {"q_norm", options.q_norm},
                                     {"k_norm", options.k_norm},
                                     {"cos", options.cos},
                                     {"sin", options.sin},
                                     {"rotary.positions", of.positions.view}};
  if (!of.offsets.is_null()) inputs.push_back({"rotary.offsets", of.offsets});
  if (has_cu) inputs.push_back({"rotary.cu_seqlens", of.cu_seqlens});
  for (const auto& [to, own] :
       {std::pair{named_argument{"q_out", q_out}, "q"}, {named_argument{"k_out", k_out}, "k"}})
    for (const named_argument& from : inputs)
      if (is_given(to.view) && is_given(from.view) && !(from.name == own && same_view(to.view, from.view)))
        check.apart(to.name, to.view, from.name, from.view);
  if (has_k) check.apart("k_out", k_out, "q_out", q_out);

  const row_shape of_k = has_k ? row_shape::of(k) : row_shape{};
  problem.q_heads = static_cast<u32>(shape.heads);
  shape.heads += of_k.heads;
  const std::uint64_t rows = row_count(operation, shape);
  if (rows == 0 || shape.size == 0 || (has_cu && sequences == 0)) return;
  rotary.x = strides_of(q);
  rotary.y = strides_of(q_out);
  if (has_k) {
    problem.k = strides_of(k);
    problem.k_out = strides_of(k_out);
  }
  rotary.tokens = static_cast<u32>(shape.tokens);
  rotary.heads = static_cast<u32>(shape.heads);
  rotary.rows = static_cast<u32>(rows);
  rotary.size = static_cast<u32>(shape.size);
  rotary.type = element_type_of(q.type);
  problem.units = units_of_row(rotary.tables.pairs, rotary.size, true);
  rotary.lanes_log = lanes_log2(problem.units);
  bool aligned = rotary.tables.pairs % run_size == 0 && rotary.size % run_size == 0;
  for (const any_view* v : {&q, &q_out, &k, &k_out})
    aligned = aligned && (!is_given(*v) || begins_at(*v, 16));
  rotary.aligned = aligned ? 1 : 0;
  problem.first_pass = problem.q_norm.weight == 0 && problem.k_norm.weight == 0 ? 1 : 0;
  problem.epsilon = options.epsilon;
  problem.weight_offset = options.weight_offset;
  qk_norm_rotary_rows.launch(s, grid(row_blocks(rows, rotary.lanes_log)), problem);
}

}  // namespace detail

void qk_norm_rotary_warmup(const runtime::device& gpu) { gpu.warmup(qk_norm_rotary_rows.image()); }

void list_cache_qk_norm_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&qk_norm_rotary_rows.image());
}

}  // namespace kaio::ops

// The checks of an attention_backward before anything runs: those of the attention, and those of the
// additional arguments.

#include <kaio/ops/attention/backward/call/call.hpp>
#include <kaio/ops/shared/validation.hpp>
#include <kaio/runtime/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::ops::detail {

namespace {

constexpr std::int64_t most_extent = std::numeric_limits<std::int32_t>::max();

[[noreturn]] void refuse(std::string_view operation, const std::string& what) {
  throw invalid_argument("kaio: " + std::string(operation) + ": " + what);
}

struct named {
  std::string_view name;
  const attention_view* view;
};

// Strides of (batch, row, head, element), or of (row, head, element) if sequences are packed.
attention_strides strides_of(const attention_view& v) {
  const auto stride = [&](std::size_t d) { return v.extents[d] > 1 ? v.strides[d] : 0; };
  const std::size_t row = v.rank - 3;
  const std::int64_t size = bytes_of(v.type);
  bool by_16 = v.address % 16 == 0 && v.extents[row + 2] * size % 16 == 0;
  for (std::size_t d = 0; d + 1 < v.rank; ++d) by_16 = by_16 && stride(d) * size % 16 == 0;
  return {v.address, row == 0 ? 0 : stride(0), stride(row), stride(row + 1), by_16 ? 1u : 0u, 0};
}

// Checks that a tensor has the shape of `as`, which is argument `of`.
void check_shaped(const validation& check, std::string_view operation, const named& argument,
                  std::string_view of, const attention_view& as) {
  const attention_view& v = *argument.view;
  if (v.rank != as.rank)
    refuse(operation, "argument " + std::string(argument.name) + " has " + std::to_string(v.rank) +
                          " dimensions, and " + std::string(of) + " has " + std::to_string(as.rank) +
                          "; they have the same extents");
  if (v.type != as.type)
    refuse(operation, "argument " + std::string(argument.name) + " has another element type than " +
                          std::string(of) + "; cast it");
  const std::string reason = "the extent of " + std::string(of);
  for (std::size_t d = 0; d < v.rank; ++d) check.extent(argument.name, v, d, as.extents[d], reason);
  const std::size_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    refuse(operation, "argument " + std::string(argument.name) + " has stride " +
                          std::to_string(v.strides[last]) +
                          " along its last dimension, the head size; it is 1: copy the tensor");
}

void check_bias_gradient(const validation& check, std::string_view operation, const attention_view& dbias,
                         const attention_arguments& forward) {
  const attention_view& bias = forward.options->bias.view;
  if (!bias.exists()) refuse(operation, "dbias is given without bias; give bias, or leave dbias out");
  if (dbias.rank != bias.rank)
    refuse(operation, "argument dbias has " + std::to_string(dbias.rank) + " dimensions, and bias has " +
                          std::to_string(bias.rank) + "; they have the same extents");
  if (dbias.type != element_kind::f32 && dbias.type != forward.q.type)
    refuse(operation, "argument dbias has another element type than q; it has that, or is f32");
  check.output("dbias", dbias);
  for (std::size_t d = 0; d < dbias.rank; ++d)
    check.extent("dbias", dbias, d, bias.extents[d], "the extent of bias");
}

attention_bias_gradient bias_gradient_of(const attention_view& v) {
  std::array<std::int64_t, 4> extent{1, 1, 1, 1}, stride{};
  for (std::size_t d = 0; d < v.rank; ++d) {
    const std::size_t of_scores = d + 4 - v.rank;
    extent[of_scores] = v.extents[d];
    stride[of_scores] = v.extents[d] > 1 ? v.strides[d] : 0;
  }
  return {v.address,
          stride[0],
          stride[1],
          stride[2],
          stride[3],
          static_cast<u32>(extent[0]),
          static_cast<u32>(extent[1]),
          static_cast<u32>(extent[2]),
          static_cast<u32>(extent[3]),
          static_cast<u32>(element_type_of(v.type)),
          0};
}

// Checks an argument with one f32 per query.
void check_rows(const validation& check, std::string_view operation, const char* name,
                const attention_view& v, const attention_view& lse) {
  if (v.rank != lse.rank)
    refuse(operation, "argument " + std::string(name) + " has " + std::to_string(v.rank) +
                          " dimensions, and lse has " + std::to_string(lse.rank) +
                          "; they have the same extents");
  check.input(name, v);
  for (std::size_t d = 0; d < v.rank; ++d) check.extent(name, v, d, lse.extents[d], "the extent of lse");
}

std::uint64_t longest_keys(std::string_view operation, const attention_view& k,
                           const attention_sequences* sequences) {
  const auto rows = static_cast<std::uint64_t>(k.extents[sequences == nullptr ? 1 : 0]);
  if (sequences == nullptr || sequences->max_k == 0) return rows;
  if (sequences->max_k < 0 || sequences->max_k > most_extent)
    refuse(operation, "max_k is " + std::to_string(sequences->max_k) + "; it is from 0 to 2^31 - 1");
  return std::min(rows, static_cast<std::uint64_t>(sequences->max_k));
}

}  // namespace

std::uint64_t attention_backward_numbers(std::string_view operation, const attention_view& q) {
  // Shifts and deltas, f32 each, at multiples of 16 bytes.
  std::uint64_t numbers = 1;
  for (std::size_t d = 0; d + 1 < q.rank; ++d)
    if (__builtin_mul_overflow(numbers, static_cast<std::uint64_t>(std::max<std::int64_t>(q.extents[d], 0)),
                               &numbers))
      refuse(operation, "argument q has more rows than 64 bits can count; give smaller extents");
  if (numbers > std::numeric_limits<std::uint64_t>::max() / 16)
    refuse(operation, "argument q has more rows than 64 bits can count; give smaller extents");
  return 2 * ((numbers + 3) / 4 * 16);
}

attention_backward_call size_attention_backward(std::string_view operation, const attention_view& q,
                                                const attention_view& k, const attention_view& v,
                                                const attention_sequences* sequences) {
  const std::size_t row = sequences == nullptr ? 1 : 0;
  for (const named& one : {named{"q", &q}, named{"k", &k}, named{"v", &v}}) {
    if (one.view->rank != row + 3)
      refuse(operation,
             "argument " + std::string(one.name) + " has " + std::to_string(one.view->rank) +
                 " dimensions; it has " +
                 (row == 0 ? "three: rows, heads, head size" : "four: batches, sequence, heads, head size"));
    for (std::size_t d = 0; d < one.view->rank; ++d)
      if (one.view->extents[d] < 0 || one.view->extents[d] > most_extent)
        refuse(operation, "argument " + std::string(one.name) + " has an extent of " +
                              std::to_string(one.view->extents[d]) + "; it is from 0 to 2^31 - 1");
  }
  if (sequences != nullptr) {
    if (!sequences->cu_q.view.exists())
      refuse(operation, "cu_q is not given; it says how many sequences there are");
    if (sequences->max_q < 0 || sequences->max_q > most_extent)
      refuse(operation, "max_q is " + std::to_string(sequences->max_q) + "; it is from 0 to 2^31 - 1");
  }
  attention_backward_call call;
  call.forward.type = q.type;
  attention_problem& problem = call.forward.problem;
  problem.batches = static_cast<u32>(q.extents[0]);
  if (sequences != nullptr)
    problem.batches = static_cast<u32>(std::max<std::int64_t>(sequences->cu_q.view.extents[0] - 1, 0));
  problem.heads = static_cast<u32>(q.extents[row + 1]);
  problem.queries = static_cast<u32>(sequences == nullptr ? q.extents[row] : sequences->max_q);
  problem.qk_size = static_cast<u32>(q.extents[row + 2]);
  problem.v_size = static_cast<u32>(v.extents[row + 2]);
  problem.packed = sequences == nullptr ? 0 : 1;
  call.gradients.q_rows = static_cast<u32>(q.extents[row]);
  call.gradients.key_heads = static_cast<u32>(k.extents[row + 1]);
  call.longest_keys = longest_keys(operation, k, sequences);
  return call;
}

void check_backward_workspace(const void* device, const attention_backward_arguments& arguments,
                              std::uint64_t own_bytes) {
  validation(arguments.operation, device)
      .workspace("workspace", arguments.options->workspace.facts(),
                 attention_backward_numbers(arguments.operation, arguments.q) + own_bytes, 16);
}

attention_backward_call resolve_attention_backward(const void* device,
                                                   const attention_backward_arguments& arguments) {
  const std::string_view operation = arguments.operation;
  const attention_backward_options& options = *arguments.options;
  const validation check(operation, device);
  const bool packed = arguments.sequences != nullptr;
  if (options.forward.blocks.exists())
    refuse(operation, "blocks have no gradient here; leave them out, and mask by keep or a mask of your own");
  if (!options.forward.variant.empty())
    refuse(operation,
           "variant is \"" + std::string(options.forward.variant) +
               "\", a kernel of the attention; no option chooses one of its gradients: leave it out");
  if (!arguments.lse.exists())
    refuse(operation, "argument lse is not given; the attention writes it with its option lse");
  attention_options forward = options.forward;
  forward.lse.view = arguments.lse;
  const attention_arguments of_forward{operation,
                                       arguments.q,
                                       arguments.k,
                                       arguments.v,
                                       arguments.out,
                                       &forward,
                                       arguments.own_score,
                                       arguments.own_mask,
                                       arguments.sequences,
                                       use_of_blocks::none,
                                       arguments.with_functions};
  attention_backward_call call;
  call.forward = resolve_attention(device, of_forward);
  attention_problem& problem = call.forward.problem;

  const attention_view& dout = arguments.dout;
  const attention_view of_out = [&] {
    attention_view v = arguments.out;
    v.type = arguments.q.type;
    return v;
  }();
  check.input("dout", dout);
  check_shaped(check, operation, {"dout", &dout}, "out", of_out);
  const attention_view &dbias = options.dbias.view, &dsinks = options.dsinks.view;
  const attention_view &dlse = options.dlse.view, &sinks = forward.sinks.view;
  std::vector<named> outputs;
  const std::array<named, 3> gradients{{{"dq", &arguments.dq}, {"dk", &arguments.dk}, {"dv", &arguments.dv}}};
  const std::array<named, 3> operands{{{"q", &arguments.q}, {"k", &arguments.k}, {"v", &arguments.v}}};
  for (std::size_t i = 0; i < 3; ++i)
    if (gradients[i].view->exists()) {
      check.output(gradients[i].name, *gradients[i].view);
      check_shaped(check, operation, gradients[i], operands[i].name, *operands[i].view);
      outputs.push_back(gradients[i]);
    }
  if (dlse.exists()) check_rows(check, operation, "dlse", dlse, arguments.lse);
  if (dbias.exists()) {
    check_bias_gradient(check, operation, dbias, of_forward);
    outputs.push_back({"dbias", &dbias});
  }
  if (dsinks.exists()) {
    if (!sinks.exists()) refuse(operation, "dsinks is given without sinks; give sinks, or leave dsinks out");
    if (dsinks.rank != 1) refuse(operation, "argument dsinks has one dimension, the heads of q");
    check.output("dsinks", dsinks);
    check.extent("dsinks", dsinks, 0, sinks.extents[0], "the heads of q");
    outputs.push_back({"dsinks", &dsinks});
  }
  std::vector<named> inputs{{"dout", &dout},     {"q", &arguments.q},     {"k", &arguments.k},
                            {"v", &arguments.v}, {"out", &arguments.out}, {"lse", &arguments.lse},
                            {"dlse", &dlse}};
  for (const named& option : {named{"alibi", &forward.alibi.view}, named{"bias", &forward.bias.view},
                              named{"keep", &forward.keep.view}, named{"sinks", &sinks}})
    inputs.push_back(option);
  if (packed)
    for (const named& numbers :
         {named{"cu_q", &arguments.sequences->cu_q.view}, named{"cu_k", &arguments.sequences->cu_k.view},
          named{"used_q", &arguments.sequences->used_q.view},
          named{"used_k", &arguments.sequences->used_k.view}})
      inputs.push_back(numbers);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const named& input : inputs)
      if (input.view->exists()) check.apart(outputs[i].name, *outputs[i].view, input.name, *input.view);
    for (std::size_t j = 0; j < i; ++j)
      check.apart(outputs[i].name, *outputs[i].view, outputs[j].name, *outputs[j].view);
  }

  const std::uint64_t numbers = attention_backward_numbers(operation, arguments.q);
  if (options.workspace.address != 0)
    for (const std::vector<named>& list : {inputs, outputs})
      for (const named& one : list)
        if (one.view->exists()) check.workspace_apart(options.workspace.facts(), one.name, *one.view);
  const std::uint64_t workspace = options.workspace.address;
  call.own_workspace = workspace + numbers;

  const std::size_t row = packed ? 0 : 1;
  call.longest_keys = longest_keys(operation, arguments.k, arguments.sequences);
  attention_gradients& g = call.gradients;
  g.key_heads = call.forward.k.heads;
  if (static_cast<double>(call.key_tiles(16)) * g.key_heads * problem.batches >
      static_cast<double>(most_extent))
    refuse(operation, "more than 2^31 tiles of 16 keys; split the batch");
  // Without queries the forward has nothing to do; here keys get zeros.
  problem.heads_of_group = g.key_heads == 0 ? 0 : problem.heads / g.key_heads;
  g.dout = strides_of(dout);
  call.dout = call.forward.o;  // same extents
  call.dout.address = dout.address;
  call.dout.bytes = dout.bytes;
  call.dout.device = dout.device;
  for (const auto& [to, view] :
       {std::pair{&g.dq, &arguments.dq}, std::pair{&g.dk, &arguments.dk}, std::pair{&g.dv, &arguments.dv}})
    if (view->exists()) *to = strides_of(*view);
  g.shifts = workspace;
  g.deltas = workspace + numbers / 2;
  if (dlse.exists()) {
    const std::size_t head = dlse.rank - 2;
    g.dlse = dlse.address;
    g.dlse_batch = head == 0 ? 0 : dlse.strides[0];
    g.dlse_head = dlse.strides[head];
    g.dlse_row = dlse.strides[head + 1];
  }
  if (dsinks.exists()) {
    g.dsinks = dsinks.address;
    g.dsink_head = dsinks.strides[0];
    g.dsinks_type = static_cast<u32>(element_type_of(dsinks.type));
  }
  if (forward.bias.view.exists()) call.bias_type = forward.bias.view.type;
  if (dbias.exists()) g.dbias = bias_gradient_of(dbias);
  g.type = static_cast<u32>(element_type_of(arguments.q.type));
  g.out_type = static_cast<u32>(element_type_of(arguments.out.type));
  g.q_rows = static_cast<u32>(arguments.q.extents[row]);
  return call;
}

}  // namespace kaio::ops::detail

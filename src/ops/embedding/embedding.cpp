// Checks calls of embedding and embedding_backward before anything runs, and launches them.

#include <kaio/ops/embedding.hpp>
#include <kaio/ops/embedding/simt/gradient.hpp>
#include <kaio/ops/embedding/simt/lookup.hpp>
#include <kaio/ops/scan.hpp>
#include <kaio/runtime/device.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include "ops/families.hpp"
#include "ops/histogram/clear.hpp"
#include "ops/reduce/call/dimensions.hpp"
#include "ops/shared/row_checks.hpp"

namespace kaio::ops {

namespace {

using detail::begins_at, detail::refuse;

constexpr std::uint64_t most_size = std::uint64_t{1} << 29;
constexpr std::uint64_t blocks_of_gradient = 8192, most_words = 16;

// Checks indices, and `rows` of (..., size) with a row for each; returns how to find both.
embedding_tokens check_tokens(const validation& check, std::string_view operation, const any_view& indices,
                              std::string_view name, const any_view& rows, const any_view& weight) {
  if (rows.rank != indices.rank + 1)
    refuse(operation, "argument " + std::string(name) + " has " + std::to_string(rows.rank) +
                          " dimensions, and indices " + std::to_string(indices.rank) + "; it has one more");
  for (std::uint32_t d = 0; d < indices.rank; ++d)
    check.extent(name, rows, d, indices.extents[d], "the extents of indices");
  check.extent(name, rows, rows.rank - 1, weight.extents[1], "the size of a row");
  check.at_most(name, rows, rows.rank - 1, most_size - 1);
  embedding_tokens of{};
  of.indices = indices.address;
  of.wide = indices.type == element_kind::i64 ? 1 : 0;
  of.vocabulary = static_cast<u64>(weight.extents[0]);
  detail::dimensions tokens;
  double count = 1;
  for (std::uint32_t d = 0; d < indices.rank; ++d) {
    count *= static_cast<double>(indices.extents[d]);
    tokens.push_back({static_cast<std::uint64_t>(indices.extents[d]), indices.strides[d], rows.strides[d]});
  }
  if (count > static_cast<double>(detail::most_rows)) refuse(operation, "2^31 tokens or more; split them");
  if (indices.empty()) return of;
  of.tokens = static_cast<u32>(count);
  of.kept = detail::kept_of(detail::joined(tokens));
  return of;
}

void check_neighbours(std::string_view operation, std::string_view name, const any_view& v) {
  const std::uint32_t last = v.rank - 1;
  if (v.strides[last] != 1 && v.extents[last] > 1)
    refuse(operation, "argument " + std::string(name) + " has stride " + std::to_string(v.strides[last]) +
                          " along its last dimension; neighbours of a row are adjacent: stride 1");
}

// Places in the workspace of a gradient, and its bytes.
struct gradient_places {
  std::uint64_t counts = 0, starts, list, scan, bytes;
  any_view numbers;  // vocabulary + 1 adjacent numbers of u32

  gradient_places(const any_view& indices, const any_view& dweight) {
    std::uint64_t tokens = 1;
    for (std::uint32_t d = 0; d < indices.rank; ++d) tokens *= static_cast<std::uint64_t>(indices.extents[d]);
    const auto words = static_cast<std::uint64_t>(dweight.extents[0]) + 1;
    const auto aligned = [](std::uint64_t numbers_of_u32) { return (numbers_of_u32 * 4 + 255) / 256 * 256; };
    starts = aligned(words);
    list = starts + aligned(words);
    scan = list + aligned(tokens);
    numbers.type = element_kind::i32;
    numbers.rank = 1;
    numbers.extents[0] = static_cast<std::int64_t>(words);
    numbers.strides[0] = 1;
    numbers.bytes = words * 4;
    numbers.address = u64{1} << 59;  // until there is memory; only its alignment matters
    any_view other = numbers;
    other.address += starts;
    bytes = scan + detail::scan_bytes(numbers, other);
  }
};

}  // namespace

namespace detail {

void run_embedding(const stream& s, const any_view& indices, const any_view& weight, const any_view& out,
                   const embedding_options& options) {
  constexpr std::string_view operation = "embedding";
  s.properties();  // a null stream is refused before anything is looked at
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("indices", indices);
  check.input("weight", weight);
  check.output("out", out);
  if (weight.type != out.type)
    refuse(operation, "argument out has another element type than weight; cast it");
  embedding_problem problem{};
  problem.of = check_tokens(check, operation, indices, "out", out, weight);
  check_neighbours(operation, "weight", weight);
  check_neighbours(operation, "out", out);
  check.apart("out", out, "indices", indices);
  check.apart("out", out, "weight", weight);
  if (is_given(options.errors)) {
    const any_view& errors = options.errors;
    check.output("errors", errors);
    if (errors.rank != 1 || errors.element_bytes() != 4)
      refuse(operation, "argument errors is no view (1) of u32");
    check.extent("errors", errors, 0, 1, "one number");
    check.apart("errors", errors, "out", out);
    problem.errors = errors.address;
  }
  if (out.empty()) return;
  problem.weight = weight.address;
  problem.out = out.address;
  problem.weight_row = weight.strides[0];
  problem.size = static_cast<u32>(weight.extents[1]);
  problem.shift = shift_of(weight.element_bytes());
  problem.aligned =
      begins_at(weight, 16) && begins_at(out, 16) && (problem.size << problem.shift) % 16 == 0 ? 1 : 0;
  problem.lanes_log = log_of(ceil(std::uint64_t{problem.size} << problem.shift, 16), 8);
  embedding_rows<>.launch(s, grid(row_blocks(problem.of.tokens, problem.lanes_log)), problem);
}

void run_embedding_backward(const stream& s, const any_view& dout, const any_view& indices,
                            const any_view& dweight, const embedding_backward_options& options) {
  constexpr std::string_view operation = "embedding_backward";
  s.properties();
  const operation_scope traced(operation);
  const validation check(operation, s.device_identity());
  check.input("dout", dout);
  check.input("indices", indices);
  check.output("dweight", dweight);
  if (dweight.type != dout.type && dweight.type != element_kind::f32)
    refuse(operation, "argument dweight has another element type than dout, and is not f32; cast it");
  check.at_most("dweight", dweight, 0, static_cast<std::int64_t>(most_rows) - 1);
  embedding_gradient_problem problem{};
  problem.lists.of = check_tokens(check, operation, indices, "dout", dout, dweight);
  check_neighbours(operation, "dout", dout);
  check_neighbours(operation, "dweight", dweight);
  check.apart("dweight", dweight, "dout", dout);
  check.apart("dweight", dweight, "indices", indices);
  if (dweight.empty()) return;
  const gradient_places places(indices, dweight);
  const workspace_facts memory = options.workspace.facts();
  check.workspace("workspace", memory, places.bytes, 16);
  check.workspace_apart(memory, "dout", dout);
  check.workspace_apart(memory, "indices", indices);
  check.workspace_apart(memory, "dweight", dweight);
  problem.size = static_cast<u32>(dweight.extents[1]);
  problem.column_blocks = static_cast<u32>(ceil(problem.size, gradient_columns));
  // Most rows have few tokens, so a block takes several if there are blocks enough for any GPU.
  const std::uint64_t vocabulary = problem.lists.of.vocabulary;
  const std::uint64_t of_block =
      std::clamp<std::uint64_t>(vocabulary * problem.column_blocks / blocks_of_gradient, 1, most_words);
  problem.word_blocks = static_cast<u32>(ceil(vocabulary, of_block));
  const std::uint64_t blocks = std::uint64_t{problem.word_blocks} * problem.column_blocks;
  if (blocks > most_rows) refuse(operation, "argument dweight is too large for a launch; split its columns");

  embedding_lists& lists = problem.lists;
  lists.counts = memory.address + places.counts;
  lists.starts = memory.address + places.starts;
  lists.list = memory.address + places.list;
  lists.padding = options.padding_index;
  const auto words = static_cast<u64>(dweight.extents[0]) + 1;
  clear_counts(s, lists.counts, 1, words);
  if (lists.of.tokens != 0) embedding_token_lists<>.launch(s, over(lists.of.tokens), lists);
  any_view counts = places.numbers, starts = places.numbers;
  counts.address = lists.counts;
  starts.address = lists.starts;
  counts.device = starts.device = memory.device;
  workspace_view of_scan = rest_of(options.workspace, places.scan);
  run_scan(s, counts, starts, {.exclusive = true, .workspace = of_scan});
  lists.places = 1;
  if (lists.of.tokens != 0) embedding_token_lists<>.launch(s, over(lists.of.tokens), lists);

  problem.dout = dout.address;
  problem.dweight = dweight.address;
  problem.dweight_row = dweight.strides[0];
  problem.dweight_type = element_type_of(dweight.type);
  problem.dout_aligned = begins_at(dout, 16) ? 1 : 0;
  problem.dweight_aligned = begins_at(dweight, 16) ? 1 : 0;
  problem.accumulate = options.accumulate ? 1 : 0;
  switch (dout.type) {
    case element_kind::f16: return embedding_gradient<f16>.launch(s, grid(blocks), problem);
    case element_kind::bf16: return embedding_gradient<bf16>.launch(s, grid(blocks), problem);
    default: return embedding_gradient<f32>.launch(s, grid(blocks), problem);
  }
}

std::uint64_t embedding_backward_bytes(const any_view& indices, const any_view& dweight) {
  return dweight.empty() ? 0 : gradient_places(indices, dweight).bytes;
}

}  // namespace detail

void embedding_warmup(const runtime::device& gpu, element_kind kind) {
  if (!is_wide(kind)) detail::refuse("embedding_warmup", "elements that are not f32, f16 or bf16");
  gpu.warmup(embedding_rows<>.image());
  gpu.warmup(embedding_token_lists<>.image());
  detail::clear_counts_warmup(gpu);
  scan_warmup(gpu, element_kind::i32);
  gpu.warmup(kind == element_kind::f16    ? embedding_gradient<f16>.image()
             : kind == element_kind::bf16 ? embedding_gradient<bf16>.image()
                                          : embedding_gradient<f32>.image());
}

void list_embedding_kernels(std::vector<const ptx::kernel_image*>& list) {
  list.push_back(&embedding_rows<>.image());
  list.push_back(&embedding_token_lists<>.image());
  list.push_back(&embedding_gradient<f32>.image());
  list.push_back(&embedding_gradient<f16>.image());
  list.push_back(&embedding_gradient<bf16>.image());
}

}  // namespace kaio::ops

// Mutants of the kernels of qkv_project and gate_up_project: a sample of each kernel, on calls of its tests.

#include "mutants/calls.hpp"
#include "tests/ops/gate_up_project/support.hpp"
#include "tests/ops/qkv_project/support.hpp"

#include <kaio/ops/matmul_w4.hpp>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

// Elements one by one instead of together.
bool is_unguarded(std::string_view, std::string_view instruction) {
  return instruction.starts_with("unguarded");
}
// The first element of a run that is not whole: it always exists.
bool is_first_of_run(std::string_view, std::string_view instruction) {
  return instruction.find(", 0;") != instruction.npos;
}

bool is_off_by_one(std::string_view, std::string_view instruction) {
  return instruction.starts_with("off by one");
}

constexpr harmless_statement without_effect[] = {
    {"shared/element_run.hpp", "const val count ="},  // of a run at the limit: none either way
    {"shared/element_run.hpp", "t.when(run.whole)"},  // elements one by one instead of together
    {"shared/element_run.hpp", "t.when(run.count > i)", is_first_of_run},
    {"cache/append/quantise.hpp", "t.when(run.whole)", is_unguarded},
    {"cache/append/quantise.hpp", "pack<Float8>"},  // at a border of ranges both ways of rounding agree
    {"combine/kernel.hpp", "t.when(column < columns)", is_off_by_one},  // a run of no elements
    {"cache/append/place.hpp", "var exists(t, token <"},                // Q has the same number of tokens
};

// Every step, of heads of every size up to 16 and of larger ones, in tensors of several layouts.
std::vector<qkv_case> qkv_cases() {
  std::vector<qkv_case> all;
  std::vector<i64> sizes{24, 40, 64, 72, 128};
  for (i64 size = 1; size <= 16; ++size) sizes.push_back(size);
  u64 seed = 0;
  for (const i64 size : sizes) {
    ++seed;
    all.push_back({.batches = 1 + static_cast<i64>(seed % 2),
                   .tokens = 2,
                   .k = 8,
                   .q_heads = 2,
                   .k_heads = 1 + static_cast<i64>(seed % 2),
                   .v_heads = seed % 3 == 1 ? 2 : 1,
                   .size = size,
                   .v_size = seed % 2 == 0 ? size : 17 - size % 16,
                   .biases = seed % 3 != 0,
                   .norms = seed % 2 == 0,
                   .interleaved = seed % 3 == 1,
                   .positions = seed % 4 == 3,
                   .offsets = seed % 4 == 1,
                   .pairs = static_cast<u32>(seed % 3 == 0 ? size / 2 : size / 3),
                   .q_scale = seed % 2 == 0 ? 0.25f : 1.0f,
                   .out = {.heads_first = seed % 2 == 0, .pad = static_cast<u32>(seed % 3), .shift = 1},
                   .seed = seed,
                   .variant = "separate"});
    if (size % 8 == 0) all.back().out = {.pad = 8, .shift = 8};
  }
  return all;
}

enum class place_of { contiguous, batch_index, table, list, last_page, slots, packed, packed_tensors };

// Into a cache whose elements are C; or into tensors of sequences that follow each other.
template <class T, class C>
void project_into_cache(place_of form, i64 size, bool computed, u64 seed) {
  const bool is_whole = size % 8 == 0;
  qkv_case c{.batches = 2, .tokens = 3, .k = 8, .size = size, .v_size = size, .seed = seed};
  c.biases = seed % 2 == 0;
  c.norms = seed % 3 == 0;
  c.pairs = static_cast<u32>(is_whole ? size / 2 : size / 3);
  c.interleaved = seed % 2 == 0;
  c.positions = form == place_of::slots;
  c.variant = "separate";
  qkv_run<T> run(c);
  const device& gpu = under_test();
  const stream& s = gpu.stream();
  const bool is_paged = form >= place_of::table;
  const i64 page_rows = is_paged ? 3 : 16, pages = is_paged ? 8 : 2;
  const auto count = static_cast<std::size_t>(pages * page_rows * size);
  const host_tables<f16> halves(64, c.pairs, 0, seed);
  auto on_cos = upload(halves.cos), on_sin = upload(halves.sin);
  // The first and the last number of a table, and those of none.
  run.on_positions = upload(std::vector<i64>{0, 63, 64, -1, 4294967295, 7});
  const auto on_wide_slots = upload(std::vector<i64>{5, -1, 23, 0, 4294967295, 24});
  const auto on_indptr = upload(std::vector<i32>{0, 2, 5}),
             on_indices = upload(std::vector<i32>{3, 0, 7, 4, 1}),
             on_last_page = upload(std::vector<i32>{3, 2}), on_batches = upload(std::vector<i32>{1, 0});
  const auto on_table = upload(std::vector<i32>{3, 0, 7, 4, 1, 6}),
             on_lengths = upload(std::vector<i32>{4, 5}), on_cu = upload(std::vector<i32>{0, 2, 6}),
             on_slots = upload(std::vector<i32>{5, -1, 23, 0, 9, 24});
  auto q = gpu.template allocate<T>(static_cast<std::size_t>(2 * 3 * c.q_heads * size));
  auto k = gpu.template allocate<C>(count), v = gpu.template allocate<C>(count);
  auto scales = upload(std::vector<f32>(static_cast<std::size_t>(pages * page_rows), 0.5f)),
       v_scales = upload(std::vector<f32>(static_cast<std::size_t>(pages * page_rows), 0.25f));
  kv_cache<C> cache{.k = {k, extents(pages, page_rows, 1, size)},
                    .v = {v, extents(pages, page_rows, 1, size)}};
  if (form == place_of::last_page)
    cache.last_page_len = tensor_view<const i32, 1>(on_last_page, 2);
  else if (form != place_of::slots)
    cache.lengths = tensor_view<const i32, 1>(on_lengths, 2);
  if (form == place_of::batch_index) cache.batch_index = tensor_view<const i32, 1>(on_batches, 2);
  if (form == place_of::list || form == place_of::last_page) {
    cache.indptr = tensor_view<const i32, 1>(on_indptr, 3);
    cache.indices = tensor_view<const i32, 1>(on_indices, 5);
  }
  if (form == place_of::table || form == place_of::packed)
    cache.table = tensor_view<const i32, 2>(on_table, 2, 3);
  qkv_project_options options = run.options();
  if (form == place_of::slots && seed % 2 == 0) options.slots = tensor_view<const i32, 2>(on_slots, 2, 3);
  if (form == place_of::slots && seed % 2 == 1)
    options.slots = tensor_view<const i64, 2>(on_wide_slots, 2, 3);
  if (seed % 3 == 1 && c.pairs != 0) {
    options.rotary.cos = halves.view(on_cos);
    options.rotary.sin = halves.view(on_sin);
  }
  if constexpr (!std::is_same_v<T, C>) {
    if (computed) {
      options.k_scale_out = tensor_view<f32, 3>(scales, pages, page_rows, 1);
      options.v_scale_out = tensor_view<f32, 3>(v_scales, pages, page_rows, 1);
    } else {
      options.k_scale = tensor_view<const f32, 1>(scales, 1);
      options.v_scale = tensor_view<const f32, 1>(v_scales, 1);
    }
  }
  if (form < place_of::packed)
    return run.project({tensor_view<T, 4>(q, 2, 3, c.q_heads, size), cache}, options);
  options.cu_seqlens = tensor_view<const i32, 1>(on_cu, 3);
  const tensor_view<const T, 2> x(run.on_x, 6, c.k);
  const tensor_view<T, 3> of_q(q, 6, c.q_heads, size);
  const qkv_outputs to = [&]() -> qkv_outputs {
    if constexpr (std::is_same_v<T, C>)
      if (form == place_of::packed_tensors)
        return {of_q, tensor_view<T, 3>(k, 6, 1, size), tensor_view<T, 3>(v, 6, 1, size)};
    return {of_q, cache};
  }();
  const auto workspace = gpu.allocate<u8>(qkv_project_workspace_bytes(s, x, run.weights(), to, options));
  options.workspace = workspace;
  qkv_project(s, x, run.weights(), to, options);
}

tally kill_qkv() {
  mutants_of_calls mutants({{"qkv_heads_sm90", 60}}, without_effect);
  mutants.on("sm_90", [] {
    for (const qkv_case& c : qkv_cases()) {
      check_qkv<f16>(c);
      check_qkv<bf16>(c);
    }
    u64 seed = 1;
    const auto of_every_type = [&](place_of form, i64 size) {
      ++seed;
      project_into_cache<f16, f16>(form, size, false, seed);
      project_into_cache<bf16, bf16>(form, size, false, seed);
      project_into_cache<f16, e4m3>(form, size, seed % 2 == 0, seed);
      project_into_cache<bf16, e5m2>(form, size, seed % 2 == 1, seed);
      project_into_cache<bf16, i8>(form, size, seed % 2 == 0, seed);
    };
    for (const place_of form : {place_of::contiguous, place_of::batch_index, place_of::table, place_of::list,
                                place_of::last_page, place_of::slots, place_of::packed})
      for (const i64 size : {64, 13}) of_every_type(form, size);
    for (i64 size = 1; size <= 40; size += size < 16 ? 1 : 8) of_every_type(place_of::slots, size);
    project_into_cache<f16, f16>(place_of::packed_tensors, 40, false, 1);
    project_into_cache<bf16, bf16>(place_of::packed_tensors, 64, false, 2);
  });
  return mutants.result();
}

// Products of K of 8, which are exact.
template <class T>
void project_gate_up(i64 rows, i64 f, i64 pad, bool biases, matmul_activation activation) {
  constexpr i64 k = 8;
  std::mt19937_64 engine(static_cast<u64>(rows + f));
  const auto numbers = [&](i64 count) {
    std::vector<T> result(static_cast<std::size_t>(count));
    for (T& one : result) one = from_float<T>(static_cast<float>(engine() % 9) / 4 - 1);
    return result;
  };
  const auto on_x = upload(numbers(2 * rows * k)), on_w = upload(numbers(2 * f * k)),
             on_bias = upload(numbers(2 * f));
  gate_up_output<T> out(2, rows, f, pad);
  gate_up_project_options options{.activation = activation, .variant = "separate"};
  const tensor_view<const T, 1> bias(on_bias, 2 * f);
  if (biases) options.gate_bias = bias.slice(0, 0, f), options.up_bias = bias.slice(0, f, f);
  gate_up_with_workspace(tensor_view<const T, 3>(on_x, 2, rows, k), tensor_view<const T, 2>(on_w, 2 * f, k),
                         out.view(), options);
}

tally kill_gate_up() {
  mutants_of_calls mutants({{"gate_up_combine_sm70", 60}}, without_effect);
  mutants.on("sm_80", [] {
    constexpr matmul_activation all[] = {matmul_activation::none, matmul_activation::relu,
                                         matmul_activation::gelu, matmul_activation::gelu_tanh,
                                         matmul_activation::silu};
    for (i64 f = 1; f <= 17; ++f)
      for (const matmul_activation which : all) {
        const i64 i = f + static_cast<i64>(which);
        if (i % 3 == 0) project_gate_up<f16>(2, f, i % 4, i % 2 == 0, which);
        if (i % 3 == 1) project_gate_up<f32>(2, f, i % 4, i % 2 == 0, which);
        if (i % 3 == 2) project_gate_up<bf16>(3, f, i % 4, i % 2 == 0, which);
      }
    for (const matmul_activation which : all) project_gate_up<f16>(2, 24, 8, true, which);
    project_gate_up<f16>(1, 1030, 0, true, matmul_activation::relu);
  });
  return mutants.result();
}

}  // namespace

TEST_CASE("mutants of qkv_project and gate_up_project are killed", "[mutants]") {
  tally all = kill_qkv();
  all += kill_gate_up();
  // They append by the same runs, and activations that these calls do not ask for are in their kernels.
  check_rate("qkv_project and gate_up_project", all, 86);
}

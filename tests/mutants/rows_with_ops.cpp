// Mutants of the norms and their gradients, of softmax and of cross entropy: a sample of some kernels of each family, on
// rows of all kinds.

#include "mutants/rows_support.hpp"

#include <kaio/ops/cross_entropy.hpp>
#include <kaio/ops/layer_norm.hpp>
#include <kaio/ops/norm_backward.hpp>
#include <kaio/ops/rms_norm.hpp>
#include <kaio/ops/softmax.hpp>

#include <numeric>

using namespace kaio;
using namespace kaio::tests;
using namespace kaio::tests::mutants;

namespace {

// Rows of one lane to two blocks of a cluster: of 64 and of 128 lanes, too.
constexpr i64 sizes_of_vectors[] = {8, 64, 200, 264, 520, 1040, 2056, 4104, 16 * 1024 + 8};
// Every number of elements of the last round, of one lane to 64.
std::vector<i64> sizes_of_elements() {
  std::vector<i64> sizes(33);
  std::iota(sizes.begin(), sizes.end(), 1);
  for (const i64 more : {129, 300, 1031, 2100, 4101}) sizes.push_back(more);
  return sizes;
}
i64 rows_of(i64 size) { return size > 1000 ? 1 : 5; }

template <class T, class Code>
void run_norm(i64 rows, i64 size) {
  const stream& s = under_test().stream();
  rows_on_device<T> x(rows, size, 1), h(rows, size, 2), gate(rows, size, 3), scale(rows, size, 4),
      y(rows, size, 5);
  rows_on_device<T> weight(1, size, 6), bias(1, size, 7);
  rows_on_device<f32> wide(1, size, 8);
  rms_norm(s, x.view(), weight.row(), y.view(), {.residual = h.view(), .residual_out = h.view()});
  layer_norm(s, x.view(), weight.row(), bias.row(), y.view(), {.casting = norm_casting::llama});
  const layer_norm_options every{.residual = h.view(),
                                 .residual_out = h.view(),
                                 .gate = gate.view(),
                                 .scale = scale.view(),
                                 .shift = gate.view(),
                                 .y_out = y.view()};
  rows_on_device<f32> scales(rows, 1, 9), groups(rows, (size + 127) / 128, 10);
  auto codes = upload(std::vector<Code>(count_of(rows, size)));
  const tensor_view<Code, 2> to(codes, rows, size);
  layer_norm(s, x.view(), wide.row(), wide.row(), to, scales.column(), every);
  layer_norm(s, x.view(), weight.row(), {}, to, groups.view(), every);
  rms_norm(s, x.view(), weight.row(), to, groups.view(), {.y_out = y.view()});
  rms_norm(s, x.view(), weight.row(), to, 0.05f, {.y_out = y.view()});
  if (rows % 2 == 0) return;
  rms_norm(s, x.batches(), weight.row(), y.batches(), {.residual = h.batches(), .residual_out = h.batches()});
  layer_norm(s, x.batches(), wide.row(), {}, y.batches(), {.gate = gate.batches(), .shift = scale.batches()});
}

tally kill_norms() {
  mutants_of_calls mutants({{"norm_f16_sm90_vectors", 25},
                            {"norm_general_f16_sm90_vectors", 35},
                            {"norm_general_bf16_sm70_elements", 30}},
                           faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 size : sizes_of_vectors) run_norm<f16, i8>(rows_of(size), size);
    run_norm<f16, e4m3>(70, 16);
    run_norm<f16, e4m3>(3, 520);
  });
  mutants.on("sm_80", [] {
    for (const i64 size : sizes_of_elements()) run_norm<bf16, e4m3>(rows_of(size), size);
    run_norm<bf16, i8>(70, 9);
    run_norm<bf16, i8>(1, 16 * 1024 + 9);  // longer than shared memory
  });
  return mutants.result();
}

template <class T>
void run_norm_backward(i64 rows, i64 size) {
  const stream& s = under_test().stream();
  rows_on_device<T> x(rows, size, 1), dy(rows, size, 2), dx(rows, size, 3), weight(1, size, 4),
      dweight(1, size, 5), dbias(1, size, 6);
  buffer<u8> memory;
  const ops::workspace_view workspace = workspace_of(memory, norm_backward_workspace_bytes(s, x.view()));
  rms_norm_backward(s, x.view(), weight.row(), dy.view(), dx.view(), dweight.row(), {.workspace = workspace});
  layer_norm_backward(s, x.view(), weight.row(), dy.view(), dx.view(), dweight.row(), dbias.row(),
                      {.dh = dx.view(), .workspace = workspace});
  layer_norm_backward(s, x.view(), {}, dy.view(), dx.view(), {}, {}, {});
  if (rows % 2 != 0)
    rms_norm_backward(s, x.batches(), weight.row(), dy.batches(), dx.batches(), dweight.row(),
                      {.workspace = workspace});
}

tally kill_norm_backward() {
  mutants_of_calls mutants({{"norm_backward_f16_sm90_vectors", 30},
                            {"norm_backward_f32_sm70_elements", 25},
                            {"norm_backward_partials_sm90", 20}},
                           faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 size : sizes_of_vectors) run_norm_backward<f16>(rows_of(size), size);
    run_norm_backward<f16>(300, 24);
  });
  mutants.on("sm_80", [] {
    for (const i64 size : sizes_of_elements()) run_norm_backward<f32>(rows_of(size), size);
    run_norm_backward<f32>(300, 9);
  });
  return mutants.result();
}

template <class T>
void run_softmax(i64 rows, i64 size) {
  const stream& s = under_test().stream();
  rows_on_device<T> x(rows, size, 1), y(rows, size, 2), dy(rows, size, 3), dx(rows, size, 4);
  rows_on_device<f32> lse(rows, 1, 5);
  softmax(s, x.view(), y.view(), {.lse = lse.column(), .scale = 0.5f});
  softmax_backward(s, y.view(), dy.view(), dx.view(), {.scale = 0.5f});
  log_softmax(s, x.view(), y.view());
  log_softmax_backward(s, y.view(), dy.view(), dx.view());
  if (rows % 2 == 0) return;
  softmax(s, x.batches(), y.batches());
  softmax_backward(s, y.batches(), dy.batches(), dx.batches());
}

tally kill_softmax() {
  mutants_of_calls mutants({{"softmax_f16_sm90_vectors", 30},
                            {"softmax_f32_sm70_elements", 25},
                            {"softmax_backward_f16_sm90_vectors", 25},
                            {"softmax_backward_f32_sm70_elements", 20}},
                           faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    for (const i64 size : sizes_of_vectors) run_softmax<f16>(rows_of(size), size);
    run_softmax<f16>(70, 16);
  });
  mutants.on("sm_80", [] {
    for (const i64 size : sizes_of_elements()) run_softmax<f32>(rows_of(size), size);
    run_softmax<f32>(70, 9);
    run_softmax<f32>(1, 8 * 1024 + 9);
  });
  return mutants.result();
}

template <class T>
void run_cross_entropy(i64 rows, i64 classes, loss_reduction how, f32 softcap) {
  const stream& s = under_test().stream();
  rows_on_device<T> x(rows, classes, 1), dx(rows, classes, 2);
  rows_on_device<f32> weights(1, classes, 3), loss(rows, 1, 4), lse(rows, 1, 5), total(1, 1, 6);
  std::vector<i64> classes_of(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < classes_of.size(); ++i)
    classes_of[i] = i % 5 == 3 ? -100 : static_cast<i64>(i * 7 + 1) % classes;
  auto on_device = upload(classes_of);
  const tensor_view<const i64, 1> targets(on_device, rows);
  const bool is_one = how != loss_reduction::none;
  const tensor_view<f32, 1> losses = is_one ? loss.column().slice(0, 0, 1) : loss.column();
  buffer<u8> memory;
  cross_entropy_options options{.label_smoothing = 0.1f,
                                .z_loss = 0.01f,
                                .softcap = softcap,
                                .weights = weights.row(),
                                .reduction = how,
                                .lse = lse.column()};
  if (is_one) {
    options.total_weight = total.row();
    options.workspace = workspace_of(memory, cross_entropy_workspace_bytes(x.view()));
  }
  cross_entropy(s, x.view(), targets, losses, options);
  cross_entropy_backward_options backward{.label_smoothing = 0.1f,
                                          .z_loss = 0.01f,
                                          .softcap = softcap,
                                          .weights = weights.row(),
                                          .reduction = how};
  if (is_one) backward.total_weight = total.row();
  cross_entropy_backward(s, x.view(), targets, lse.column(), losses, dx.view(), backward);
}

tally kill_cross_entropy() {
  mutants_of_calls mutants({{"cross_entropy_f16_vectors", 30},
                            {"cross_entropy_f32_elements", 25},
                            {"cross_entropy_totals", 20},
                            {"cross_entropy_backward_f16_sm90_vectors", 25},
                            {"cross_entropy_backward_f32_sm90_elements", 25}},
                           faults_of_rows_without_effect);
  mutants.on("sm_90", [] {
    u32 turn = 0;
    for (const i64 size : sizes_of_vectors)
      run_cross_entropy<f16>(rows_of(size), size, static_cast<loss_reduction>(turn++ % 3),
                             size % 3 == 0 ? 5.0f : 0);
    for (const i64 size : sizes_of_elements())
      run_cross_entropy<f32>(rows_of(size), size, static_cast<loss_reduction>(turn++ % 3),
                             size % 2 == 0 ? 5.0f : 0);
    for (i64 rows = 700; rows < 8192; rows += 1024)  // every part of the rows' totals
      run_cross_entropy<f32>(rows, 2, loss_reduction::mean, 0);
    run_cross_entropy<f16>(70, 16, loss_reduction::sum, 0);
  });
  return mutants.result();
}

}  // namespace

// Most of the survivors are edges that no row of these sizes has: an element that is the first one beyond the row's end,
// in each of eight places, and a row beyond shared memory.
TEST_CASE("mutants of the norms are killed", "[mutants]") { check_rate("the norms", kill_norms(), 70); }
TEST_CASE("mutants of the gradients of norms are killed", "[mutants]") {
  check_rate("norm_backward", kill_norm_backward(), 70);
}
TEST_CASE("mutants of softmax are killed", "[mutants]") { check_rate("softmax", kill_softmax(), 70); }
TEST_CASE("mutants of cross_entropy are killed", "[mutants]") {
  check_rate("cross_entropy", kill_cross_entropy(), 75);
}

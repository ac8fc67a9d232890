// The generator of the showcase llama on GGUF files that this test writes: each architecture, mixed formats, prompts in
// chunks, replays of a graph; its logits next to double precision. The choice of tokens; files that are refused.

#include "showcase/llama/program.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "catch.hpp"
#include "tests/ops/llama/file_of_model.hpp"
#include "tests/ops/support.hpp"
#include "tests/thrown.hpp"

using namespace kaio;
using namespace kaio::showcase::llama;
using namespace kaio::tests;

namespace {

// Runs a prompt in chunks of 4 and then replays of a graph, and compares the logits of each token.
template <class T = f16>
void check_model(file_of_model of, double bound) {
  const std::string text = of.text();
  gguf_file file = gguf_file::view(bytes_of(text), "m.gguf");
  model_shape shape = shape_of(file, "m.gguf");
  const tensor_set set(std::move(file), "m.gguf");
  const model_tensors tensors = tensors_of(set, shape);
  CHECK(shape.vocabulary == of.vocabulary);
  const device& gpu = under_test();
  const model<T> m(gpu, shape, tensors);
  const std::vector<i32> prompt{5, 1, 17, 17, 2, 39, 0, 8, 30};
  const u32 steps = 5;
  generator<T> g(gpu, m, static_cast<u32>(prompt.size()) + steps, {}, 4);
  g.prompt(prompt);
  std::vector<std::vector<f32>> logits{g.logits()};
  g.step();
  logits.push_back(g.logits());
  const executable_graph step = capture_graph(gpu.stream(), [&] { g.step(); }).instantiate();
  for (u32 i = 2; i < steps; ++i) {
    step.launch(gpu.stream());
    logits.push_back(g.logits());
  }
  const std::vector<i32> chosen = g.tokens(prompt.size(), steps);
  std::vector<i32> all = prompt;
  all.insert(all.end(), chosen.begin(), chosen.end() - 1);
  const auto exact = showcase::llama::reference(shape, tensors).logits(all, prompt.size() - 1);
  comparison compared;
  for (u32 i = 0; i < steps; ++i) compared.add(logits[i], exact[i], chosen[i]);
  INFO("error " << compared.error << ", equal " << compared.equal << ", undecided " << compared.undecided);
  CHECK(compared.right(bound, true));
  CHECK(compared.error > 0);
  // The prompt in one chunk chooses the same tokens.
  generator<T> whole(gpu, m, static_cast<u32>(prompt.size()) + 1, {});
  whole.prompt(prompt);
  CHECK(whole.tokens(prompt.size(), 1)[0] == chosen[0]);
}

std::string message_of(file_of_model of) {
  return catch_damage([&] {
           const std::string text = of.text();
           gguf_file file = gguf_file::view(bytes_of(text), "m.gguf");
           model_shape shape = shape_of(file, "m.gguf");
           tensors_of(tensor_set(std::move(file), "m.gguf"), shape);
         })
      .message;
}

}  // namespace

TEST_CASE("llama: a file of each architecture, in the types of its tensors") {
  check_model({.types = {{"", as_f32}, {"attn_v.weight", as_bf16}, {"ffn_down.weight", as_f16}},
               .has_divisors = true},
              5e-3);
  check_model(
      {.architecture = "qwen2", .types = {{"weight", q8_0}, {"norm.weight", as_f32}}, .has_biases = true},
      5e-3);
  check_model({.architecture = "qwen3", .size = 32, .is_tied = false, .has_head_norms = true}, 5e-3);
  if (under_test().properties().target.sm >= 80) check_model<bf16>({}, 4e-2);
}

TEST_CASE("llama: extents of small models") {
  check_model({.ff = 172, .heads = 8, .key_heads = 4, .size = 8}, 5e-3);
  check_model({.layers = 1,
               .hidden = 96,
               .heads = 2,
               .key_heads = 1,
               .size = 48,
               .types = {{"weight", q4_0}, {"norm.weight", as_f32}}},
              5e-3);
}

TEST_CASE("llama: a file whose layers mix formats") {
  check_model({.types = {{"attn_q.weight", q4_0},
                         {"attn_k.weight", q4_0},
                         {"attn_v.weight", q8_0},
                         {"ffn_gate.weight", q4_0},
                         {"ffn_up.weight", q4_0},
                         {"ffn_down.weight", q5_0},
                         {"attn_output.weight", q4_0},
                         {"token_embd.weight", q8_0}}},
              5e-3);
  check_model({.types = {{"attn_q.weight", q8_0}, {"attn_v.weight", as_f16}, {"ffn_gate.weight", q5_0}}},
              5e-3);
}

TEST_CASE("llama: a file of blocks of 256, as most files are") {
  check_model({.layers = 1,
               .hidden = 256,
               .ff = 256,
               .size = 64,
               .types = {{"attn_q.weight", q4_k},
                         {"attn_k.weight", q4_k},
                         {"attn_v.weight", q6_k},
                         {"attn_output.weight", q4_k},
                         {"ffn_gate.weight", q4_k},
                         {"ffn_up.weight", q4_k},
                         {"ffn_down.weight", q6_k},
                         {"token_embd.weight", q6_k}}},
              5e-3);
}

TEST_CASE("llama: the program writes text of a file, and of models that it makes") {
  device& gpu = under_test();
  folder files;
  options o{.model = files.write("m.gguf", file_of_model{.has_tokens = true}.text()),
            .prompt = "abcd dab",
            .tokens = 20};
  CHECK(showcase::llama::run(gpu, o) == 0);
  o.prompt = "</s>";
  o.temperature = 0.5f;
  CHECK(showcase::llama::run(gpu, o) == 0);
  o.tokens = 4095;
  CHECK(catch_error([&] { showcase::llama::run(gpu, o); }).message ==
        "kaio: llama: the prompt and --tokens are more than the 4096 tokens of the model's context");
  const auto made = [&](weight_format weights) {
    return showcase::llama::run(
        gpu, {.prompt = "x", .tokens = 4, .hidden = 32, .heads = 1, .key_heads = 1, .weights = weights});
  };
  CHECK(made(weight_format::q4_0) == 0);
  CHECK(made(weight_format::q8_0) == 0);
}

TEST_CASE("llama: files that are refused, by the key or the tensor") {
  CHECK(message_of({.architecture = "mamba"})
            .starts_with("kaio: 'm.gguf': key general.architecture is 'mamba';"));
  CHECK(message_of({.left_out = "blk.1.ffn_up.weight"}) ==
        "kaio: 'm.gguf': tensor blk.1.ffn_up.weight is missing");
  CHECK(message_of({.added = "blk.0.ffn_sub_norm.weight"}) ==
        "kaio: 'm.gguf': tensor blk.0.ffn_sub_norm.weight is of no step of this program");
  CHECK(message_of({.added = "rope_freqs.weight"}) ==
        "kaio: 'm.gguf': tensor rope_freqs.weight has another shape than the metadata say");
  CHECK(
      message_of({.heads = 3}).starts_with("kaio: 'm.gguf': key llama.attention.head_count is no multiple"));
}

TEST_CASE("llama: tokens are chosen by the largest logit, or as samples of the softmax") {
  const device& gpu = under_test();
  const u32 count = 300;
  std::vector<f32> logits(count, -20.0f);
  logits[7] = 1;
  logits[299] = 1 + std::log(3.0f);  // three times as likely
  logits[100] = std::numeric_limits<f32>::quiet_NaN();
  const auto on = gpu.upload(logits);
  const u32 draws = 400;
  auto scores = gpu.allocate<f32>(most_parts);
  auto best = gpu.allocate<u32>(most_parts);
  const auto draw = [&](const buffer<f32>& from, f32 scale, f32 random) {
    auto lengths = gpu.upload(std::vector<i32>{-1, 0});
    auto tokens = gpu.allocate<i32>(draws);
    for (u32 i = 0; i < draws; ++i) {
      find_candidates.launch(gpu.stream(), grid(2), from, lengths, scores, best, count, scale, random, 5u);
      choose.launch(gpu.stream(), grid(1), scores, best, lengths, tokens, 2u);
    }
    CHECK(lengths.download() == std::vector<i32>{draws - 1, draws});
    return tokens.download();
  };
  CHECK(draw(on, 1, 0) == std::vector<i32>(draws, 299));
  CHECK(draw(gpu.upload(std::vector<f32>(count, std::numeric_limits<f32>::quiet_NaN())), 1, 1) ==
        std::vector<i32>(draws, 0));
  CHECK(draw(gpu.upload(std::vector<f32>(count, 2.0f)), 1, 0) ==
        std::vector<i32>(draws, 0));  // the lowest of equals
  const std::vector<i32> samples = draw(on, 1, 1);
  const auto large = std::count(samples.begin(), samples.end(), 299),
             small = std::count(samples.begin(), samples.end(), 7);
  CHECK(large + small == draws);
  CHECK((large > 265 && large < 335));  // 300 and four deviations
  CHECK(draw(on, 1, 1) == samples);
}

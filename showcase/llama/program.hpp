#pragma once
// The program: the model and its tokens, the text, the times, and the comparison with double precision.

#include <kaio/kaio.hpp>
#include <kaio/weights/gguf.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "generator.hpp"
#include "made.hpp"
#include "options.hpp"
#include "reference.hpp"
#include "tokenizer.hpp"

namespace kaio::showcase::llama {

using clock_type = std::chrono::steady_clock;
inline double seconds_since(clock_type::time_point begin) {
  return std::chrono::duration<double>(clock_type::now() - begin).count();
}

// A model's numbers, tensors and tokens: of a file, or made.
struct source {
  model_shape shape;
  vocabulary tokens;
  tensor_set tensors;

  static source of(const device& gpu, const options& o) {
    if (o.model.empty()) {
      const model_shape shape = o.shape(gpu.is_emulator());
      return {shape, byte_vocabulary(), made_tensors(gpu, shape, o.seed, o.weights)};
    }
    gguf_file file = gguf_file::open(o.model);
    model_shape shape = shape_of(file, o.model);
    vocabulary tokens = vocabulary_of(file, o.model);
    return {shape, std::move(tokens), tensor_set(std::move(file), o.model)};
  }
};

// What a random model writes is any bytes.
inline std::string visible(const tokenizer& t, std::string text) {
  if (t.of().kind == tokenizer_kind::bytes)
    for (char& c : text) c = c < ' ' || c > '~' ? '.' : c;
  return text;
}

template <class T>
class program {
 public:
  program(device& gpu, const options& o, const source& from)
      : gpu_(gpu), o_(o), shape_(from.shape), text_(from.tokens), tensors_(tensors_of(from.tensors, shape_)) {
    if (from.tokens.pieces.size() > shape_.vocabulary)
      from.tensors.refuse("token_embd.weight", "has fewer rows than the vocabulary has tokens");
    prompt_ = text_.encode(o.prompt);
    if (prompt_.empty()) throw invalid_argument("kaio: llama: the prompt has no tokens; give --prompt TEXT");
    if (prompt_.size() + o.tokens > shape_.context)
      throw invalid_argument("kaio: llama: the prompt and --tokens are more than the " +
                             std::to_string(shape_.context) + " tokens of the model's context");
  }

  int run() {
    const model<T> m(gpu_, shape_, tensors_);
    std::printf("  device      %s\n", std::string(gpu_.description()).c_str());
    std::printf(
        "  model       %u layers, hidden %u, %u heads of %u, %u of keys, FF %u, vocabulary %u, %.1f MB a token\n",
        shape_.layers, shape_.hidden, shape_.heads, shape_.size, shape_.key_heads, shape_.ff,
        shape_.vocabulary, static_cast<double>(m.bytes()) * 1e-6);
    generator<T> g(gpu_, m, static_cast<u32>(prompt_.size()) + o_.tokens,
                   {o_.temperature, static_cast<u32>(o_.seed)});
    g.prompt(prompt_);  // loads the kernels
    const auto begin = clock_type::now();
    if (!gpu_.is_emulator()) g.prompt(prompt_);
    const double prompt_seconds = seconds_since(begin);
    std::printf("%s", visible(text_, o_.prompt).c_str());
    generate(g);
    std::printf("\n  prompt      %zu tokens", prompt_.size());
    if (!gpu_.is_emulator())
      std::printf(", %.0f a second", static_cast<double>(prompt_.size()) / prompt_seconds);
    std::printf("\n  generation  %zu tokens", generated_.size());
    if (timed_ > 0) std::printf(", %.1f a second by replays of a graph", timed_ / timed_seconds_);
    std::puts("");
    return compare();
  }

 private:
  // Step 0 is that of the prompt. The first ones are run one by one and keep their logits. Step 1 loads the kernels of one
  // token, and all others are replays.
  void generate(generator<T>& g) {
    const u32 kept = std::min(o_.check, o_.tokens);
    std::optional<executable_graph> replayed;
    for (u32 step = 0; step < o_.tokens && !ended_;) {
      const u32 some = step < std::max(kept, 2u) ? 1 : std::min(16u, o_.tokens - step);
      const auto begin = clock_type::now();
      for (u32 i = 0; i < some; ++i) {
        if (step + i == 0) continue;
        if (replayed)
          replayed->launch(gpu_.stream());
        else
          g.step();
      }
      gpu_.stream().synchronize();
      if (replayed) {
        timed_seconds_ += seconds_since(begin);
        timed_ += some;
      }
      if (step < kept) logits_.push_back(g.logits());
      take(g.tokens(prompt_.size() + step, some));
      if (step == 1) replayed = capture_graph(gpu_.stream(), [&] { g.step(); }).instantiate();
      step += some;
    }
  }
  void take(const std::vector<i32>& tokens) {
    for (const i32 token : tokens) {
      if (ended_) return;
      generated_.push_back(token);
      ended_ = text_.of().ends(token);
      std::printf("%s", visible(text_, text_.decode(token)).c_str());
    }
    std::fflush(stdout);
  }

  int compare() const {
    if (logits_.empty()) return 0;
    std::vector<i32> tokens = prompt_;
    tokens.insert(tokens.end(), generated_.begin(),
                  generated_.begin() + static_cast<std::ptrdiff_t>(logits_.size()) - 1);
    const auto exact = reference(shape_, tensors_).logits(tokens, prompt_.size() - 1);
    comparison all;
    for (std::size_t i = 0; i < logits_.size(); ++i) all.add(logits_[i], exact[i], generated_[i]);
    const double bound = std::is_same_v<T, f16> ? 2e-2 : 8e-2;
    const bool is_greedy = o_.temperature <= 0, right = all.right(bound, is_greedy);
    std::printf("  compared    logits of %u tokens with double precision: largest error %.2e (bound %.0e)",
                all.positions, all.error, bound);
    if (is_greedy) std::printf(", %u tokens equal, %u undecided", all.equal, all.undecided);
    std::printf("  %s\n", right ? "PASS" : "FAIL");
    if (!(all.error < 1e30))
      std::puts("  An infinity or NaN: f16 may be too small for this model; try --bf16.");
    return right ? 0 : 1;
  }

  device& gpu_;
  const options& o_;
  model_shape shape_;
  tokenizer text_;
  model_tensors tensors_;
  std::vector<i32> prompt_, generated_;
  std::vector<std::vector<f32>> logits_;  // of the first steps
  bool ended_ = false;
  double timed_ = 0, timed_seconds_ = 0;
};

// The exit code of the program.
inline int run(device& gpu, const options& o) {
  const source from = source::of(gpu, o);
  return o.bf16 ? program<bf16>(gpu, o, from).run() : program<f16>(gpu, o, from).run();
}

}  // namespace kaio::showcase::llama

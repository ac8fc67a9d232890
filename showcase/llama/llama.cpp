// A small LLaMA that writes text: kaio's operations on a paged cache, one launch of a graph a token. The weights are made
// from a seed, or those of a GGUF file with its tokenizer. The first tokens are compared with double precision.
//
//   llama                                              a random model
//   llama --model tiny.gguf --prompt "Once upon a time" --tokens 200 --temperature 0.8

#include <kaio/showcase.hpp>

#include <optional>

#include "options.hpp"
#include "program.hpp"

int main(int count, char** words) {
  return kaio::showcase::run("llama", [&](kaio::device& gpu) {
    using namespace kaio::showcase::llama;
    const std::optional<options> o = options_of(count, words, gpu.is_emulator());
    return o ? run(gpu, *o) : 2;
  });
}

// A layer of a LLaMA-like decoder by kaio's operations, for one new token and for many, with weights of f16 and
// of four bits. Every step is compared with double precision, and once more after the replay of a graph of the layer.
// On a GPU the time of the graph is printed next to the time of its bytes at the memory's bandwidth, and next to
// the layer in torch.
//
// Shapes: those of Llama 3 8B on a GPU, small ones on the emulator.

#include "layer.hpp"
#include "verify.hpp"

#include <kaio/showcase.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>

using namespace kaio;
using showcase::decoder_layer, showcase::layer_shape, showcase::layer_verification;

namespace {

// The layer as a graph: verified again, and on a GPU its time next to its floor.
bool run_graph(device& gpu, decoder_layer& layer) {
  layer.poison();
  gpu.stream().synchronize();
  const executable_graph replayed =
      capture_graph(gpu.stream(), [&] { layer.run(gpu.stream()); }).instantiate();
  replayed.launch(gpu.stream());
  gpu.stream().synchronize();
  std::printf("  the same, as a graph:\n");
  if (!layer_verification(layer).run()) return false;
  if (gpu.is_emulator()) return true;
  const double us = 1e3 * showcase::median_ms(gpu, [&] { replayed.launch(gpu.stream()); });
  const auto& of = gpu.properties();
  const double bandwidth = 2e3 * of.memory_clock_khz * of.memory_bus_bits / 8;  // bytes in a second
  std::printf("  one graph        %.1f us, %.1f TFLOP/s\n", us, layer.operations() / us * 1e-6);
  if (bandwidth > 0) {
    const double floor = layer.bytes() / bandwidth * 1e6;
    std::printf("  memory floor     %.1f us: %.1f MB at %.2f TB/s; the graph takes %.2f times as long\n",
                floor, layer.bytes() * 1e-6, bandwidth * 1e-12, us / floor);
  }
  return true;
}

// Runs this layer in torch, if python3 can import it.
void run_torch(const layer_shape& of) {
  const std::filesystem::path script = std::filesystem::path(__FILE__).parent_path() / "torch_layer.py";
  std::string command = "python3 '" + script.string() + "'";
  for (const u32 number : {of.hidden, of.heads, of.key_heads, of.size, of.ff, of.before, of.tokens})
    command += " " + std::to_string(number);
  std::fflush(stdout);
  if (std::system(command.c_str()) != 0) std::puts("  torch            not measured");
}

bool run(device& gpu, const layer_shape& shape) {
  std::printf("%u token%s, %u keys before; hidden %u, %u heads of %u, %u of keys, FF %u, weights of %s\n",
              shape.tokens, shape.tokens == 1 ? "" : "s", shape.before, shape.hidden, shape.heads, shape.size,
              shape.key_heads, shape.ff, shape.four_bits ? "four bits" : "f16");
  decoder_layer layer(gpu, shape);
  layer.run(gpu.stream());
  gpu.stream().synchronize();
  if (!layer_verification(layer).run()) return false;
  if (!run_graph(gpu, layer)) return false;
  if (!gpu.is_emulator() && !shape.four_bits) run_torch(shape);
  return true;
}

}  // namespace

int main() {
  return showcase::run("decoder_layer", [](device& gpu) {
    try {
      if (gpu.properties().target.sm < 80) {
        return showcase::skipped("a GPU from sm_80 on");
      }
      bool right = true;
      for (const u32 tokens : {1u, gpu.is_emulator() ? 20u : 512u})
        for (const bool four_bits : {false, true})
          right =
              run(gpu, gpu.is_emulator() ? layer_shape{256, 4, 2, 64, 384, 45, tokens, four_bits}
                                         : layer_shape{4096, 32, 8, 128, 14336, 1024, tokens, four_bits}) &&
              right;
      std::puts(right ? "PASS" : "FAIL");
      return right ? 0 : 1;
    } catch (const error&) {
      throw;
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
      return 1;
    }
  });
}

// Hostile text: whatever it contains, the emulator answers with a kernel or an exception of its own, and what
// the kernel does ends in a result or a fault, within the limits that it was given. libFuzzer looks for a
// text that makes it do anything else.

#include "emulator/emulator.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace kaio::emulator;

constexpr std::uint64_t most_memory = 16u << 20;
constexpr std::uint64_t most_instructions = 4096;
constexpr std::size_t most_kernels = 4;
constexpr std::uint32_t most_threads = 96;
constexpr std::uint32_t most_parameter_bytes = 256;

// Every parameter that can be an address is one: of a buffer.
void run_kernel(const module& m, const entry& kernel, memory& global, std::uint64_t buffer) {
  launch l;
  l.mod = &m;
  l.kernel = &kernel;
  l.block = kernel.required_threads.x != 0 ? kernel.required_threads : kaio::ptx::dim3{40, 1, 1};
  l.grid = kernel.required_cluster.x != 0 ? kernel.required_cluster : kaio::ptx::dim3{2, 1, 1};
  if (l.block.count() > most_threads || l.grid.count() > 4 || kernel.parameter_bytes > most_parameter_bytes)
    return;
  l.parameters.resize(kernel.parameter_bytes);
  for (std::size_t at = 0; at + 8 <= l.parameters.size(); at += 8)
    std::memcpy(l.parameters.data() + at, &buffer, sizeof buffer);
  std::string printed;
  l.printed = &printed;
  l.dynamic_shared = 256;
  l.threads = 1;
  l.instruction_limit = most_instructions;
  const auto once = [&] {
    try {
      run(l, global);
    } catch (const launch_error&) {
    } catch (const memory_error&) {
    } catch (const fault&) {
    }
  };
  once();
  sanitizer checks(sanitizer_options{.most_reports = 4});
  l.observers.push_back(&checks);
  once();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const module m = parse_module(text, architecture{});
    memory global(most_memory);
    const std::uint64_t buffer = global.allocate(4096);
    std::size_t count = 0;
    for (const entry& kernel : m.decoded().entries) {
      if (++count > most_kernels) break;
      run_kernel(m, kernel, global, buffer);
    }
  } catch (const ptx_error&) {
  }
  return 0;
}

#include "emulator/decode/decode_kernel.hpp"

#include "emulator/decode/function_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>

namespace kaio::emulator {
namespace {

// The depth of calls is known if no function calls itself and none allocates. Otherwise a thread gets the
// budget's stack.
void local_memory(kernel_decoder& kernel, const std::deque<function_decoder>& functions) {
  const module_symbols& module = kernel.module;
  u64 deepest = 0;
  bool bounded = !kernel.reached().recursive;
  std::unordered_map<u32, u64> depths;  // frame of each function with all that it calls
  u64 below_pointers = 0;
  for (const auto& f : functions) {
    bounded = bounded && !f.allocates();
    u64 below = 0;
    for (const u32 callee : module.graph->callees(f.number())) {
      const auto found = depths.find(callee);
      if (found != depths.end()) below = std::max(below, found->second);
    }
    if (module.graph->calls_pointers(f.number())) below = std::max(below, below_pointers);
    deepest = f.frame_bytes() + below;
    depths.emplace(f.number(), deepest);
    const auto& pointed = module.graph->pointed();
    if (std::find(pointed.begin(), pointed.end(), f.number()) != pointed.end())
      below_pointers = std::max(below_pointers, deepest);
  }
  if (!bounded) deepest = std::max<u64>(deepest, module.budget.stack_bytes);
  if (functions.back().frame_bytes() > module.device.local_per_thread ||
      (bounded && deepest > module.device.local_per_thread))
    function_decoder::fail(
        kernel.text().at, fmt::format("'{}' needs {} bytes of local memory, more than {}", kernel.text().name,
                                      deepest, module.device.local_per_thread));
  kernel.result.local_bytes = static_cast<u32>(align_up(deepest, kernel.frame_alignment));
}

}  // namespace

entry decode_kernel(module_symbols& module, u32 root) {
  kernel_decoder kernel(module, root);
  std::deque<function_decoder> functions;  // callees before their callers
  for (const u32 number : kernel.reached().order) {
    const syntax::function* const f = module.functions.functions[number].defined;
    if (f == nullptr || (f->is_entry && number != root)) continue;
    if (number != root) kernel.add_function(number);
    functions.emplace_back(kernel, *f, number, number == root);
  }
  if (!kernel.result.functions.empty()) kernel.result.frame_row = kernel.allocate_row(8, kernel.text().at);
  for (function_decoder& f : functions) f.collect();
  kernel.lay_out_shared();
  for (function_decoder& f : functions) f.decode();
  for (function_decoder& f : functions) f.append();
  local_memory(kernel, functions);
  return std::move(kernel.result);
}

}  // namespace kaio::emulator

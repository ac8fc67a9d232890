#include "emulator/instructions/interpreter.hpp"

#include "emulator/instructions/execute.hpp"
#include "emulator/program/error.hpp"

namespace kaio::emulator {

void bind(decoded_module& module) {
  constexpr handler (*families[])(const instruction&) = {
      integer_handler, floating_handler, approximate_handler,  bit_handler,          compare_handler,
      convert_handler, half_handler,     half_compare_handler, half_convert_handler, memory_handler,
      atomic_handler,  control_handler,  call_handler,         warp_handler,         cluster_handler,
      mma_handler,     matrix_handler,   wgmma_handler,        async_handler,        video_handler,
      texture_handler, surface_handler,
  };
  for (entry& e : module.entries)
    for (instruction& i : e.code) {
      for (const auto family : families) {
        i.execute = family(i);
        if (i.execute != nullptr) break;
      }
      if (i.execute == nullptr)
        throw ptx_error(i.line, 1, "this form of the instruction is not supported by the emulator");
    }
}

}  // namespace kaio::emulator

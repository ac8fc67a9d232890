#pragma once
// The families of operations, each in its own file. A function takes a decoded instruction and returns the
// function that executes it, or nullptr if its family has no such form. interpreter.cpp asks the families in
// turn.

#include "emulator/program/program.hpp"

namespace kaio::emulator {

handler integer_handler(const instruction& i);
handler floating_handler(const instruction& i);
handler approximate_handler(const instruction& i);
handler half_handler(const instruction& i);
handler half_compare_handler(const instruction& i);
handler half_convert_handler(const instruction& i);
handler bit_handler(const instruction& i);
handler compare_handler(const instruction& i);
handler convert_handler(const instruction& i);
handler memory_handler(const instruction& i);
handler atomic_handler(const instruction& i);
handler call_handler(const instruction& i);
handler control_handler(const instruction& i);
handler warp_handler(const instruction& i);
handler cluster_handler(const instruction& i);
handler mma_handler(const instruction& i);
handler matrix_handler(const instruction& i);
handler wgmma_handler(const instruction& i);
handler async_handler(const instruction& i);
handler video_handler(const instruction& i);
handler texture_handler(const instruction& i);
handler surface_handler(const instruction& i);

}  // namespace kaio::emulator

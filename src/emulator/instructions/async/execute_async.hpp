#pragma once
// The families of asynchronous operations, each in its own file; execute_async.cpp asks them in turn.

#include "emulator/instructions/execute.hpp"

namespace kaio::emulator {

handler mbarrier_handler(const instruction& i);
handler bulk_handler(const instruction& i);
handler tensor_handler(const instruction& i);
handler tensormap_handler(const instruction& i);

}  // namespace kaio::emulator

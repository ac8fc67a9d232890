#pragma once
// The families of asynchronous operations, each in its own file; execute_async.cpp asks them in turn.

#include "runtime/emulator/execute.hpp"

namespace kaio::runtime::emulator {

handler mbarrier_handler(const instruction& i);
handler bulk_handler(const instruction& i);
handler tensor_handler(const instruction& i);
handler tensormap_handler(const instruction& i);

}  // namespace kaio::runtime::emulator

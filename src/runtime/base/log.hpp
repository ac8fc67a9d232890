#pragma once
// The runtime's log: standard error, at the level that KAIO_LOG names (trace, debug, info, warn, error, off;
// warn when unset). Nothing on a launch path logs.

#include <spdlog/logger.h>

namespace kaio::runtime {

spdlog::logger& log();

}  // namespace kaio::runtime

#include "runtime/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace kaio::runtime {

namespace {

spdlog::level::level_enum level_of(std::string_view name) {
  for (int level = spdlog::level::trace; level <= spdlog::level::off; ++level) {
    const auto candidate = static_cast<spdlog::level::level_enum>(level);
    const auto full = spdlog::level::to_string_view(candidate);
    if (name == std::string_view(full.data(), full.size())) return candidate;
  }
  if (name == "warn") return spdlog::level::warn;
  if (name == "error") return spdlog::level::err;
  return spdlog::level::n_levels;
}

spdlog::logger* make_logger() {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto* logger = new spdlog::logger("kaio", std::move(sink));
  logger->set_pattern("[%n] [%^%l%$] %v");
  logger->set_level(spdlog::level::warn);
  logger->flush_on(spdlog::level::trace);
  if (const char* wanted = std::getenv("KAIO_LOG"); wanted && *wanted) {
    const auto level = level_of(wanted);
    if (level == spdlog::level::n_levels) {
      logger->warn("KAIO_LOG is '{}'; write trace, debug, info, warn, error or off", wanted);
    } else {
      logger->set_level(level);
    }
  }
  return logger;
}

}  // namespace

spdlog::logger& log() {
  // Never destroyed: devices in static objects may close after every other static object is gone.
  static spdlog::logger& logger = *make_logger();
  return logger;
}

}  // namespace kaio::runtime

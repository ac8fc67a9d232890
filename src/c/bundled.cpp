// The forms of spdlog and fmt that are headers alone, for libkaio.so: it needs neither library when it runs. This file
// defines all of their functions that kaio calls, and the runtime's log. It is compiled without optimisation, so that no
// function is inlined away.

#undef SPDLOG_COMPILED_LIB
#undef SPDLOG_SHARED_LIB
#undef FMT_SHARED
#define SPDLOG_HEADER_ONLY
#define FMT_HEADER_ONLY

#include "runtime/base/log.cpp"  // NOLINT(bugprone-suspicious-include)

#include <fmt/format.h>

#include <string>

namespace kaio::c {

// Used, so that it is emitted with everything that it calls.
extern std::string (*const formatter)(fmt::string_view, fmt::format_args);
std::string (*const formatter)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace kaio::c

#pragma once
// Running another program with a changed environment, and watching what it writes to its standard error
// stream, which is handed on as it comes.
//
//   const outcome o = run_process({"./tests"}, {{"KAIO_DEVICE", "emulator"}}, [](std::string_view line) { ... });

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::tools {

struct outcome {
  int code = 0;    // the exit code; 128 + N for signal N
  int signal = 0;  // 0: it exited
};

using variables = std::vector<std::pair<std::string, std::string>>;

// `on_line` gets each line of the standard error stream. Throws usage_error: the program cannot be started.
outcome run_process(const std::vector<std::string>& command, const variables& environment,
                    const std::function<void(std::string_view)>& on_line);

// The folder that this program is in.
std::string folder_of_this_program();

}  // namespace kaio::tools

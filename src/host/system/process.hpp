#pragma once
// This process, and others that it starts.
//
//   const outcome o = run_process({"./tests"}, {{"KAIO_DEVICE", "emulator"}}, [](std::string_view line) { ... });

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaio::host {

// The number of this process, and of this thread.
int process_number() noexcept;
std::uint64_t thread_number() noexcept;
// The number of its threads; the largest number if the system does not say.
int thread_count();
// The file of this program, in UTF-8; empty: unknown.
std::string program_file();

// Sets a variable of this process's environment, or removes it.
void set_environment(const char* name, const std::string& value);
void unset_environment(const char* name);

struct outcome {
  int code = 0;    // the exit code; 128 + N for signal N
  int signal = 0;  // 0: it exited
};

using variables = std::vector<std::pair<std::string, std::string>>;

// Runs a program, which is looked for in PATH, and waits for it. `on_line` gets each line of its standard error stream, which
// is handed on as it comes; without it, the program has that stream itself. Throws std::system_error: it cannot be started.
outcome run_process(const std::vector<std::string>& command, const variables& environment,
                    const std::function<void(std::string_view)>& on_line);

}  // namespace kaio::host

#include "host/system/process.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>

#include "host/system/terminal.hpp"

extern char** environ;

namespace kaio::host {
namespace {

// Closed at the end of its scope.
class descriptor {
 public:
  explicit descriptor(int number) : number_(number) {}
  ~descriptor() { close_now(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  int number() const { return number_; }
  void close_now() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::vector<std::string> merged(const variables& changes) {
  std::map<std::string, std::string> all;
  for (char** at = environ; *at != nullptr; ++at) {
    const std::string text = *at;
    const std::size_t equal = text.find('=');
    if (equal != std::string::npos) all[text.substr(0, equal)] = text.substr(equal + 1);
  }
  for (const auto& [name, value] : changes) all[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : all) {
    result.push_back(name);
    result.back() += '=';
    result.back() += value;
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

void watch_stream(int from, const std::function<void(std::string_view)>& on_line) {
  std::array<char, 65536> buffer;
  std::string line;
  for (;;) {
    const ssize_t got = read(from, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    const std::string_view part(buffer.data(), static_cast<std::size_t>(got));
    write_to_error_stream(part);
    for (const char c : part) {
      if (c != '\n') {
        line += c;
        continue;
      }
      on_line(line);
      line.clear();
    }
  }
  if (!line.empty()) on_line(line);
}

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

}  // namespace

int process_number() noexcept { return getpid(); }
std::uint64_t thread_number() noexcept { return static_cast<std::uint64_t>(pthread_self()); }

int thread_count() {
  std::error_code failed;
  const std::filesystem::directory_iterator threads("/proc/self/task", failed);
  if (failed) return std::numeric_limits<int>::max();
  return static_cast<int>(std::distance(begin(threads), end(threads)));
}

std::string program_file() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : self.string();
}

void set_environment(const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); }
void unset_environment(const char* name) { ::unsetenv(name); }

outcome run_process(const std::vector<std::string>& command, const variables& environment,
                    const std::function<void(std::string_view)>& on_line) {
  std::array<int, 2> errors_pipe{-1, -1}, start_pipe;
  if (on_line && pipe2(errors_pipe.data(), O_CLOEXEC) != 0) fail("no pipe");
  descriptor errors_in(errors_pipe[0]), errors_out(errors_pipe[1]);
  if (pipe2(start_pipe.data(), O_CLOEXEC) != 0) fail("no pipe");
  descriptor start_in(start_pipe[0]), start_out(start_pipe[1]);

  // All that needs memory is done before the fork.
  std::vector<std::string> words = command, settings = merged(environment);
  const std::vector<char*> argv = pointers(words), envp = pointers(settings);
  const pid_t child = fork();
  if (child < 0) fail("no process");
  if (child == 0) {
    if (errors_out.number() >= 0) dup2(errors_out.number(), STDERR_FILENO);
    environ = const_cast<char**>(envp.data());
    execvp(argv.front(), argv.data());
    const int why = errno;
    const ssize_t told = write(start_out.number(), &why, sizeof why);
    _exit(told == sizeof why ? 127 : 126);
  }
  errors_out.close_now();
  start_out.close_now();
  int why = 0;
  ssize_t told = 0;
  do told = read(start_in.number(), &why, sizeof why);
  while (told < 0 && errno == EINTR);
  if (told == sizeof why) {
    waitpid(child, nullptr, 0);
    errno = why;
    fail("it cannot be executed");
  }
  if (on_line) watch_stream(errors_in.number(), on_line);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  outcome o;
  if (WIFSIGNALED(status)) o.signal = WTERMSIG(status);
  o.code = o.signal != 0 ? 128 + o.signal : WEXITSTATUS(status);
  return o;
}

}  // namespace kaio::host

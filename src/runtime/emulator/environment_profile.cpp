#include "runtime/emulator/environment_profile.hpp"

#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "emulator/profile/report.hpp"
#include "host/lasting.hpp"
#include "runtime/base/elevated.hpp"
#include "runtime/base/process_file.hpp"

namespace kaio::runtime {
namespace {

class program_profile final : public emulator::grid_observer {
 public:
  explicit program_profile(std::string file) : file_(std::move(file)) {}

  void begin(const emulator::grid& g) override {
    {
      const std::lock_guard lock(mutex_);
      ++running_;
    }
    counts_.begin(g);
  }
  std::unique_ptr<emulator::observer> watch(emulator::block& b) override { return counts_.watch(b); }
  void end(const emulator::grid& g) override {
    const std::lock_guard lock(mutex_);
    counts_.end(g);
    --running_;
    emulator::u64 faulted = 0;
    for (const emulator::profile::kernel_profile& p : counts_.kernels()) faulted += p.faulted;
    // After a new fault the report is written at once: the program often ends without doing anything else. After
    // the program's end it is written too: destructors of static objects may launch.
    const bool is_new_fault = std::exchange(faulted_, faulted) != faulted;
    if ((is_new_fault || ended_) && file_ != "-" && running_ == 0) write();
  }

  // At the end of the program.
  void end_program() noexcept {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    write();
  }

 private:
  void write() noexcept {
    try {
      emulator::profile::write_report(counts_.kernels(), file_);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  }

  std::mutex mutex_;
  std::string file_;
  emulator::profile::collector counts_;
  emulator::u64 faulted_ = 0, running_ = 0;
  bool ended_ = false;
};

// It lives as long as the program: launches may still run when static objects are gone.
program_profile* make_profile() {
  const std::string file = file_variable("KAIO_PROFILE");
  if (file.empty()) return nullptr;
  static auto* const profile = host::make_lasting<program_profile>(process_file(file));
  host::at_end([] { profile->end_program(); });
  return profile;
}

}  // namespace

emulator::grid_observer* environment_profile() {
  static program_profile* const profile = make_profile();
  return profile;
}

}  // namespace kaio::runtime

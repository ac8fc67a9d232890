#pragma once
// While such an object lives, a write of this thread beyond the limit on file sizes (ulimit -f) fails with EFBIG.
// Otherwise it ends the program: that is the default of the signal SIGXFSZ.

#include <signal.h>

#include <cerrno>

namespace kaio::host {

class size_limit_is_an_error {
 public:
  size_limit_is_an_error() noexcept {
    sigemptyset(&set_);
    sigaddset(&set_, SIGXFSZ);
    pending_before_ = is_pending();
    pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  size_limit_is_an_error(const size_limit_is_an_error&) = delete;
  size_limit_is_an_error& operator=(const size_limit_is_an_error&) = delete;
  ~size_limit_is_an_error() {
    const int reason = errno;
    int taken = 0;
    if (!pending_before_ && is_pending()) sigwait(&set_, &taken);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = reason;
  }

 private:
  static bool is_pending() noexcept {
    sigset_t pending;
    sigemptyset(&pending);
    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
  }
  sigset_t set_, before_;
  bool pending_before_ = false;
};

}  // namespace kaio::host

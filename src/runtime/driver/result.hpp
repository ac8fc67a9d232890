#pragma once
// What each code of the driver means to a user of kaio: which error it becomes, whether the context survives
// it, and what to do. Source: CUDA Driver API, "CUresult".

#include <kaio/runtime/error.hpp>

#include <string>
#include <string_view>

#include "runtime/driver/functions.hpp"

namespace kaio::runtime::driver {

struct result_meaning {
  errc code = errc::driver_error;
  bool sticky = false;          // the context is lost: every later call on it fails
  std::string_view what;        // what happened
  std::string_view what_to_do;  // empty where there is no general advice
};

result_meaning meaning_of(CUresult result) noexcept;

// "CUDA_ERROR_OUT_OF_MEMORY", as the driver names it; "CUDA error 12345" where it does not.
std::string name_of(const functions& call, CUresult result);

}  // namespace kaio::runtime::driver

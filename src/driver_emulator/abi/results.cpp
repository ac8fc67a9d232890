#include "driver_emulator/abi/results.hpp"

#include <algorithm>
#include <iterator>

namespace kaio::driver_emulator {
namespace {

struct result {
  CUresult code;
  const char* name;
  const char* text;
};
constexpr result results[] = {
#define KAIO_DRIVER_RESULT(name, value, text) {name, #name, text},
#include "driver_abi/results.def"
};
static_assert(std::is_sorted(std::begin(results), std::end(results),
                             [](const result& a, const result& b) { return a.code < b.code; }));

const result* find(CUresult code) {
  const auto* found = std::lower_bound(std::begin(results), std::end(results), code,
                                       [](const result& r, CUresult c) { return r.code < c; });
  return found != std::end(results) && found->code == code ? found : nullptr;
}

}  // namespace

const char* name_of_result(CUresult code) {
  const result* r = find(code);
  return r != nullptr ? r->name : nullptr;
}

const char* text_of_result(CUresult code) {
  const result* r = find(code);
  return r != nullptr ? r->text : nullptr;
}

}  // namespace kaio::driver_emulator

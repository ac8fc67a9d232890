// Hostile files of suppressions: each is a list of rules, or an error that names the file and the line. Whatever the
// patterns, matching a report takes at most the time of the product of the lengths.

#include "emulator/sanitizer/report/suppressions.hpp"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaio::emulator;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    sanitizing::suppressions rules(text, "known.txt");
    fault_report report;
    report.kernel = text.substr(0, 40);
    report.ptx_line = 41;
    report.file = "ops/attention.hpp";
    report.line = 120;
    for (const check c : {check::memory, check::races, check::same_value}) {
      const std::uint64_t before = rules.count();
      if (rules.matches(c, report) != (rules.count() == before + 1)) std::abort();
    }
  } catch (const launch_error& e) {
    if (std::string_view(e.what()).find("kaio: known.txt:") != 0) std::abort();
  }
  return 0;
}

#pragma once
// Reports of a profile: text for a terminal, JSON for programs, and one self-contained HTML file with the
// listing of each kernel, its costs and its gaps in coverage.
//
//   std::fputs(profile::text_report(counts.kernels()).c_str(), stdout);

#include "emulator/profile/summary.hpp"

#include <list>
#include <string>
#include <string_view>

namespace kaio::emulator::profile {

std::string text_report(const std::list<kernel_profile>& kernels);
std::string json_report(const std::list<kernel_profile>& kernels);
std::string html_report(const std::list<kernel_profile>& kernels);

// Writes a report in the format of the name: HTML for .html, JSON for .json, text for any other; "-" is the
// standard output. A file is replaced as a whole. Throws host::write_error.
void write_report(const std::list<kernel_profile>& kernels, const std::string& file);

// ---- shared by the reports ----

std::string grouped(u64 number);                    // 12,345
std::string percent(double share);                  // 97.5 %
std::string ratio(u64 numerator, u64 denominator);  // 3.25; "-" if the denominator is zero
double share_of(u64 part, u64 whole);               // 0 if `whole` is zero
std::string shown_path(const std::string& file);    // relative to the working directory when below it
std::string shown_place(const source_place& place);
std::string extent(const ptx::dim3& d);  // 8 x 8 x 1
// A line of text without the blanks around it.
std::string_view trimmed(std::string_view line);
// Remarks on a line, as "32.0 sectors a request, 4.0 would do".
std::string remarks(const line_figures& line);

}  // namespace kaio::emulator::profile

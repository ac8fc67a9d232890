#pragma once
// Reports of a profile: a text to read in a terminal, JSON for programs, and one HTML file that needs no
// other, with the listing of each kernel, its costs and its gaps in coverage.
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

// Writes the report that the name asks for: HTML for .html, JSON for .json, text for any other; "-" is the
// standard output. A file is replaced as a whole. Throws host::write_error.
void write_report(const std::list<kernel_profile>& kernels, const std::string& file);

// ---- what the reports share ----

std::string grouped(u64 number);                    // 12,345
std::string percent(double share);                  // 97.5 %
std::string ratio(u64 numerator, u64 denominator);  // 3.25; "-" where there is nothing to divide by
double share_of(u64 part, u64 whole);               // 0 where there is nothing to divide by
std::string shown_path(const std::string& file);    // relative to the working directory when below it
std::string shown_place(const source_place& place);
std::string extent(const ptx::dim3& d);  // 8 x 8 x 1
// A line of text without the blanks around it.
std::string_view trimmed(std::string_view line);
// Remarks on a line, as "32.0 sectors a request, 4.0 would do".
std::string remarks(const line_figures& line);

}  // namespace kaio::emulator::profile

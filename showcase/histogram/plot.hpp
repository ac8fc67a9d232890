#pragma once
// A picture of a histogram in SVG: a bar for each bin, and the number of its value under every 32nd.

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace kaio::showcase {

// Whether `file` could be written.
inline bool write_bars(const char* file, const std::vector<u32>& counts) {
  constexpr double bar = 3, height = 320;
  const double most = std::max(1u, *std::max_element(counts.begin(), counts.end()));
  std::FILE* const out = std::fopen(file, "w");
  if (out == nullptr) return false;
  bool written = std::fprintf(out,
                              "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' "
                              "font-family='sans-serif' font-size='12'>\n"
                              "<rect width='100%%' height='100%%' fill='white'/>\n",
                              bar * static_cast<double>(counts.size()) + 40, height + 40) > 0;
  for (std::size_t b = 0; b < counts.size() && written; ++b) {
    const double x = 20 + bar * static_cast<double>(b), tall = height * counts[b] / most;
    written = std::fprintf(out, "<rect x='%.1f' y='%.1f' width='%.1f' height='%.1f' fill='#1f5fbf'/>\n", x,
                           15 + height - tall, bar - 0.5, tall) > 0;
    if (b % 32 == 0)
      written = written && std::fprintf(out, "<text x='%.1f' y='%.1f'>%zu</text>\n", x, height + 32, b) > 0;
  }
  written = std::fprintf(out, "</svg>\n") > 0 && written;
  return std::fclose(out) == 0 && written;
}

}  // namespace kaio::showcase

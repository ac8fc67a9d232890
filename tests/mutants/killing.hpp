#pragma once
// Selects the mutants of a kernel that a test takes, without those that no result could show, and counts how many
// of them it kills.
//
//   tally found;
//   for (const mutation& m : sample_of(image, text_of(image), 40, harmless)) found.add(image, m, dies(m));

#include "catch.hpp"
#include "emulator/machine/schedule.hpp"
#include "mutants/mutation.hpp"

#include <kaio/ptx/kernel_image.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kaio::tests::mutants {

// A missing barrier shows in some order of warps.
inline constexpr emulator::schedule orders[] = {{},
                                                {emulator::schedule_kind::reverse, 0},
                                                {emulator::schedule_kind::random, 1},
                                                {emulator::schedule_kind::random, 2}};

// A statement of C++ whose faults leave every result as it is, given by the end of its file's name and a part of its
// text. If only some of its instructions are harmless, is_harmless() selects them.
struct harmless_statement {
  std::string_view file, statement;
  bool (*is_harmless)(std::string_view kernel, std::string_view instruction) = nullptr;
};

// The C++ line that a line of the text came from.
inline std::string origin_of(const ptx::kernel_image& image, std::size_t line) {
  std::string origin = "nowhere";
  ptx::with_text(image, [&](const ptx::kernel_image& whole) {
    if (line > whole.line_count) return;
    const std::uint16_t statement = whole.statement_of_line[line - 1];
    if (statement == ptx::no_statement) return;
    const auto& at = whole.statements[statement];
    origin = std::string(at.file) + ":" + std::to_string(at.line);
  });
  return origin;
}

// The text of that line.
inline std::string statement_at(const std::string& origin) {
  const std::size_t colon = origin.rfind(':');
  if (colon == std::string::npos) return {};
  std::ifstream file(origin.substr(0, colon));  // from the root of the repository
  REQUIRE(file.is_open());
  std::string statement;
  for (std::size_t i = std::stoul(origin.substr(colon + 1)); i > 0; --i) std::getline(file, statement);
  return statement;
}

inline bool has_no_effect(const ptx::kernel_image& image, const mutation& m,
                          std::span<const harmless_statement> without_effect) {
  const std::string origin = origin_of(image, m.line), statement = statement_at(origin);
  return std::any_of(without_effect.begin(), without_effect.end(), [&](const harmless_statement& h) {
    return origin.substr(0, origin.rfind(':')).ends_with(h.file) &&
           statement.find(h.statement) != statement.npos &&
           (h.is_harmless == nullptr || h.is_harmless(image.name, m.what));
  });
}

// A sample that a seed draws (KAIO_MUTANTS_SEED, 1 by default), without the harmless ones: `ordinary` mutants, or the
// number in KAIO_MUTANTS, or all.
inline std::vector<mutation> sample_of(const ptx::kernel_image& image, std::string_view text,
                                       std::size_t ordinary,
                                       std::span<const harmless_statement> without_effect) {
  std::vector<mutation> sample = mutations_of(text);
  const char* const seed = std::getenv("KAIO_MUTANTS_SEED");
  std::mt19937 engine(seed != nullptr ? static_cast<unsigned>(std::stoul(seed)) : 1);
  std::shuffle(sample.begin(), sample.end(), engine);
  const char* const asked = std::getenv("KAIO_MUTANTS");
  if (asked == nullptr || std::string_view(asked) != "all") {
    const std::size_t count = asked != nullptr ? std::stoul(asked) : ordinary;
    if (sample.size() > count) sample.resize(count);
  }
  std::erase_if(sample, [&](const mutation& m) { return has_no_effect(image, m, without_effect); });
  return sample;
}

struct tally {
  std::size_t count = 0, killed = 0;

  tally& operator+=(const tally& other) {
    count += other.count;
    killed += other.killed;
    return *this;
  }
  void add(const ptx::kernel_image& image, const mutation& m, bool dead, std::string_view note) {
    ++count;
    killed += dead;
    if (!dead)
      std::cout << "survived: " << image.name << " line " << m.line << ", " << m.what << " from "
                << origin_of(image, m.line) << "; " << note << '\n';
  }
};

// `percent` of 100 mutants must be killed. In a sample, two standard deviations more may survive.
inline void check_rate(const char* what, const tally& all, double percent) {
  std::cout << all.killed << " of " << all.count << " mutants of " << what << " killed\n";
  const auto count = static_cast<double>(all.count);
  const double expected = count * (1 - percent / 100);
  INFO(what);
  CHECK(static_cast<double>(all.count - all.killed) <= expected + 2 * std::sqrt(expected * percent / 100));
}

}  // namespace kaio::tests::mutants

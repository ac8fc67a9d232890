#pragma once
// Small faults put into the PTX of a kernel, one at a time: parts that are missing or off by one, as in
// kernels that go wrong. A test suite and a sanitizer are worth the share of them that they notice.
//
//   for (const mutation& m : mutations_of(text)) run(mutated(text, m));

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kaio::tests::mutants {

enum class fault_of { order, guard, comparison, address };

struct mutation {
  fault_of kind;
  std::size_t line;         // from 1
  std::string replacement;  // of that line
  std::string what;         // "a barrier is missing: bar.sync 0;"
};

namespace detail {

inline std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

inline std::string replaced(std::string line, std::string_view from, std::string_view to) {
  const std::size_t at = line.find(from);
  if (at != std::string::npos) line.replace(at, from.size(), to);
  return line;
}

// "[%r1" or "[%r1+8", one word further.
inline std::string shifted(const std::string& address) {
  const std::size_t plus = address.find('+');
  if (plus == std::string::npos) return address + "+4";
  return address.substr(0, plus + 1) + std::to_string(std::stol(address.substr(plus + 1)) + 4);
}

inline bool has(std::string_view line, std::string_view part) { return line.find(part) != line.npos; }

// Whether the line declares a variable: ".shared .align 4 .b8 x[32];".
inline bool is_declaration(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first != line.npos && line[first] == '.';
}

// How often each register is named in a text.
class register_uses {
 public:
  explicit register_uses(std::string_view text) {
    each_register(text, [&](std::string_view name) { ++uses_[std::string(name)]; });
  }
  // Whether nobody reads what the line loads.
  bool is_dead_load(std::string_view line) const {
    if (!has(line, "ld.shared")) return false;
    bool is_read = false;
    each_register(line.substr(0, line.find('[')),
                  [&](std::string_view name) { is_read = is_read || uses_.at(std::string(name)) > 1; });
    return !is_read;
  }

 private:
  template <class F>
  static void each_register(std::string_view text, const F& f) {
    for (std::size_t at = text.find('%'); at != text.npos; at = text.find('%', at + 1)) {
      std::size_t end = at + 1;
      while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        ++end;
      f(text.substr(at, end - at));
    }
  }

  std::unordered_map<std::string, std::size_t> uses_;
};

}  // namespace detail

// The text with one fault.
inline std::string mutated(std::string_view text, const mutation& m) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < m.line; ++line) begin = text.find('\n', begin) + 1;
  const std::size_t end = std::min(text.find('\n', begin), text.size());
  return std::string(text.substr(0, begin)) + m.replacement + std::string(text.substr(end));
}

// Without a barrier, fence or wait; without a guard; with a comparison that is true for one more or one less
// number; with an address in shared memory that is one word further, of what somebody reads.
inline std::vector<mutation> mutations_of(std::string_view text) {
  using detail::has;
  using detail::is_declaration;
  using detail::replaced;
  using detail::shifted;
  const std::vector<std::string> lines = detail::lines_of(text);
  const detail::register_uses registers(text);
  std::vector<mutation> found;
  const auto add = [&](fault_of kind, std::size_t at, const std::string& line, std::string_view what) {
    if (line == lines[at]) return;
    found.push_back({kind, at + 1, line,
                     std::string(what) + ": " + lines[at].substr(lines[at].find_first_not_of(" \t"))});
  };
  constexpr std::string_view order[] = {
      "bar.sync",   "bar.arrive",   "barrier.",         "bar.warp.sync",    "membar.",
      "fence.",     "mbarrier.",    "cp.async.wait_",   "cp.async.commit_", "cp.async.mbarrier.",
      "bulk.wait_", "bulk.commit_", "wgmma.wait_group", "wgmma.fence",      "wgmma.commit_"};
  constexpr std::string_view wider[][2] = {
      {".lt.", ".le."}, {".ge.", ".gt."}, {".le.", ".lt."}, {".gt.", ".ge."}};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (std::any_of(std::begin(order), std::end(order),
                    [&](std::string_view name) { return has(line, name); }))
      add(fault_of::order, i, "", "missing");
    if (const std::size_t guard = line.find('@');
        guard != std::string::npos && line.find_first_not_of(" \t") == guard)
      add(fault_of::guard, i, line.substr(line.find(' ', guard)), "unguarded");
    if (has(line, "setp.") &&
        (has(line, ".u32 ") || has(line, ".s32 ") || has(line, ".u64 ") || has(line, ".s64 ")))
      for (const auto& [from, to] : wider)
        if (has(line, from)) {
          add(fault_of::comparison, i, replaced(line, from, to), "off by one");
          break;
        }
    if (has(line, ".shared") && !is_declaration(line) && !registers.is_dead_load(line)) {
      const std::size_t open = line.find('['), close = line.find(']');
      if (open != std::string::npos && close != std::string::npos)
        add(fault_of::address, i,
            line.substr(0, open) + shifted(line.substr(open, close - open)) + line.substr(close), "shifted");
    }
  }
  return found;
}

}  // namespace kaio::tests::mutants

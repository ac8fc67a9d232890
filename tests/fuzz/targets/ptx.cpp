// Hostile text: whatever it contains, the emulator answers with a kernel or an exception of its own. The
// kernel ends in a result or a fault, within the limits that it was given. libFuzzer looks for a text that
// makes the emulator do anything else.

#include "emulator/emulator.hpp"
#include "emulator/sanitizer/sanitizer.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace kaio::emulator;

constexpr std::uint64_t most_memory = 16u << 20;
constexpr std::uint64_t most_instructions = 4096;
constexpr std::size_t most_kernels = 4;
constexpr std::uint32_t most_threads = 96;
constexpr std::uint32_t most_parameter_bytes = 256;

// Every parameter that can be an address is one: of a buffer.
void run_kernel(const module& m, const entry& kernel, memory& global, std::uint64_t buffer) {
  launch l;
  l.mod = &m;
  l.kernel = &kernel;
  l.block = kernel.required_threads.x != 0 ? kernel.required_threads : kaio::ptx::dim3{40, 1, 1};
  l.grid = kernel.required_cluster.x != 0 ? kernel.required_cluster : kaio::ptx::dim3{2, 1, 1};
  if (l.block.count() > most_threads || l.grid.count() > 4 || kernel.parameter_bytes > most_parameter_bytes)
    return;
  l.parameters.resize(kernel.parameter_bytes);
  for (std::size_t at = 0; at + 8 <= l.parameters.size(); at += 8)
    std::memcpy(l.parameters.data() + at, &buffer, sizeof buffer);
  std::string printed;
  l.printed = &printed;
  l.dynamic_shared = 256;
  l.threads = 1;
  l.instruction_limit = most_instructions;
  const auto once = [&] {
    try {
      run(l, global);
    } catch (const launch_error&) {
    } catch (const memory_error&) {
    } catch (const fault&) {
    }
  };
  once();
  sanitizer checks(sanitizer_options{.most_reports = 4});
  l.observers.push_back(&checks);
  once();
}

// Half of the changes are of lines and of words, which leave a text that is parsed to its end far more often than
// changes of bytes do.
class text_mutator {
 public:
  text_mutator(std::string_view text, unsigned seed) : random_(seed) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      lines_.emplace_back(line);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
  }
  std::string mutate() {
    if (lines_.empty()) return {};
    const std::size_t from = any(lines_.size()), to = any(lines_.size());
    const auto place = lines_.begin() + static_cast<std::ptrdiff_t>(to);
    switch (random_() % 4) {
      case 0: lines_.insert(place, std::string(lines_[from])); break;
      case 1: lines_.erase(place); break;
      case 2: std::swap(lines_[from], lines_[to]); break;
      default: exchange_words(lines_[to], lines_[from]);
    }
    std::string all;
    for (const std::string& line : lines_) all.append(line).append(1, '\n');
    return all;
  }

 private:
  struct word {
    std::size_t begin, bytes;
  };
  std::size_t any(std::size_t count) { return random_() % count; }
  static std::vector<word> words_of(std::string_view line) {
    constexpr std::string_view parting = " ,;[]{}()";
    std::vector<word> words;
    for (std::size_t at = 0; (at = line.find_first_not_of(parting, at)) != std::string_view::npos;) {
      const std::size_t end = std::min(line.find_first_of(parting, at), line.size());
      words.push_back({at, end - at});
      at = end;
    }
    return words;
  }
  void exchange_words(std::string& to, std::string_view from) {
    const std::vector<word> old = words_of(to), fresh = words_of(from);
    if (old.empty() || fresh.empty()) return;
    const word o = old[any(old.size())], f = fresh[any(fresh.size())];
    to.replace(o.begin, o.bytes, std::string(from.substr(f.begin, f.bytes)));
  }

  std::minstd_rand random_;
  std::vector<std::string> lines_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most,
                                               unsigned seed) {
  if (seed % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  text_mutator m({reinterpret_cast<const char*>(data), size}, seed);
  const std::string text = m.mutate();
  if (text.empty() || text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const module m = parse_module(text, architecture{});
    memory global(most_memory);
    const std::uint64_t buffer = global.allocate(4096);
    std::size_t count = 0;
    for (const entry& kernel : m.decoded().entries) {
      if (++count > most_kernels) break;
      run_kernel(m, kernel, global, buffer);
    }
  } catch (const ptx_error&) {
  }
  return 0;
}

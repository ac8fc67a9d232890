// The emulator against a GPU: random PTX programs whose results PTX defines to the bit (generate.py) give the
// same words on both. The results of an H200 are in h200.txt, so that the comparison is made without a GPU
// too.

#include "tests/catch.hpp"

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t threads_of_block = 64, blocks = 2, words_of_thread = 24;
constexpr std::size_t words = threads_of_block * blocks * words_of_thread;

struct ptx_program {
  std::string name, text;
  std::string_view segment;
  kaio::ptx::kernel_image image;
};

constexpr kaio::ptx::parameter parameters[] = {{kaio::ptx::type::u32, kaio::ptx::access::in, 0, 0},
                                               {kaio::ptx::type::u32, kaio::ptx::access::out, 0, 0}};

std::string folder() {
  const char* const named = std::getenv("KAIO_DIFFERENTIAL_PROGRAMS");
  REQUIRE(named != nullptr);
  return named;
}

// The runtime knows a kernel by the address of its image, so the programs stay where they are.
const std::deque<ptx_program>& programs() {
  static std::deque<ptx_program> all;
  if (!all.empty()) return all;
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder()))
    if (file.path().extension() == ".ptx") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    std::ifstream in(file, std::ios::binary);
    ptx_program& p = all.emplace_back();
    p.name = file.stem().string();
    p.text.assign(std::istreambuf_iterator<char>(in), {});
    p.segment = p.text;
    p.image.name = "k";
    p.image.segments = &p.segment;
    p.image.segment_count = 1;
    p.image.parameters = parameters;
    p.image.parameter_count = 2;
    p.image.block = {threads_of_block, 1, 1};
    p.image.needs.target = {90, false};
    p.image.needs.version = {8, 4};
  }
  return all;
}

// Words that mean something as integers, floats and halves: random bits, small numbers, and the ends of
// ranges; of the second block mostly ends, so that they meet.
std::vector<kaio::u32> input(std::uint64_t number) {
  constexpr kaio::u32 ends[] = {0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 0x3f800000,
                                0xbf800000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffa00000, 0x807fffff,
                                0x00800000, 0x7f7fffff, 0x7c003c00, 0x7e000001, 0x3c00bc00, 0x4b800000};
  std::uint64_t state = number * 0x9e3779b97f4a7c15ull + 1;
  std::vector<kaio::u32> result(words);
  for (kaio::u32& word : result) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const auto random = static_cast<kaio::u32>(state >> 32);
    const bool second = &word >= &result[words / 2];
    switch (second && (state & 3u << 27) != 0 ? 0 : state >> 29 & 7) {
      case 0: word = ends[random % std::size(ends)]; break;
      case 1: word = random % 64; break;
      case 2: word = 0x3c000000 + (random & 0x07ffffff); break;  // floats around 1
      case 3: word = (random & 0x83ff83ff) | 0x38003800; break;  // halves around 1
      default: word = random;
    }
  }
  return result;
}

std::vector<kaio::u32> run(kaio::device& on, const ptx_program& program, std::uint64_t number) {
  const auto in = on.upload(input(number));
  const auto out = on.upload(std::vector<kaio::u32>(words, 0xdeadbeef));
  const kaio::ptx::argument arguments[] = {in.as_argument(), out.as_argument()};
  on.stream().launch(program.image, {blocks, 1, 1, 0}, arguments, 2);
  return out.download();
}

// FNV-1a.
std::uint64_t hash_of(const std::vector<kaio::u32>& values) {
  std::uint64_t state = 0xcbf29ce484222325ull;
  for (const kaio::u32 word : values)
    for (unsigned byte = 0; byte < 4; ++byte) state = (state ^ (word >> byte * 8 & 255)) * 0x100000001b3ull;
  return state;
}

std::string hexadecimal(std::uint64_t value) {
  std::ostringstream out;
  out << std::hex << std::setw(16) << std::setfill('0') << value;
  return out.str();
}

// The instruction that a word comes from, where a comment of the program names it.
std::string_view origin(std::string_view text, std::size_t word) {
  const std::size_t at = text.find("// word " + std::to_string(word) + "\n");
  if (at == std::string_view::npos) return {};
  const std::size_t line = text.rfind('\n', at) + 1;
  return text.substr(line, at - line);
}

// Where two results differ, a line of text for each word of a thread; empty where they do not.
std::string difference(const ptx_program& program, const std::vector<kaio::u32>& have,
                       const std::vector<kaio::u32>& want) {
  std::ostringstream out;
  for (std::size_t word = 0; word < words_of_thread; ++word) {
    std::size_t count = 0, first = 0;
    for (std::size_t i = have.size() - words_of_thread + word; i < have.size(); i -= words_of_thread)
      if (have[i] != want[i]) first = i, ++count;
    if (count == 0) continue;
    out << "\n  word " << word << " in " << count << " threads, the first is " << first / words_of_thread
        << ": " << std::hex << have[first] << " on the emulator, " << want[first] << " on the GPU" << std::dec
        << origin(program.text, word);
  }
  return out.str();
}

}  // namespace

TEST_CASE("the emulator gives what an H200 gave", "[recorded]") {
  kaio::device emulator = kaio::device::open("emulator");
  std::map<std::string, std::string> recorded;
  std::ifstream file(KAIO_RECORDED_RESULTS);
  for (std::string name, hash; file >> name >> hash;) recorded[name] = hash;
  REQUIRE(recorded.size() >= 300);
  std::uint64_t number = 0;
  for (const ptx_program& p : programs()) {
    INFO(p.name);
    CHECK(hexadecimal(hash_of(run(emulator, p, number))) == recorded[p.name]);
    ++number;
  }
  CHECK(number == recorded.size());
}

// The results go to the file that KAIO_DIFFERENTIAL_RECORD names, where it does. Where the two differ, run it
// with KAIO_JIT_LEVEL=0 before either is blamed: the driver's optimiser has errors too.
TEST_CASE("the emulator gives what this GPU gives", "[.][gpu]") {
  kaio::device emulator = kaio::device::open("emulator"), gpu = kaio::device::open("cuda:0");
  const char* const record = std::getenv("KAIO_DIFFERENTIAL_RECORD");
  std::ofstream file(record != nullptr ? record : "/dev/null");
  std::uint64_t number = 0, different = 0;
  for (const ptx_program& p : programs()) {
    const std::vector<kaio::u32> want = run(gpu, p, number);
    file << p.name << ' ' << hexadecimal(hash_of(want)) << '\n';
    const std::string found = difference(p, run(emulator, p, number), want);
    if (!found.empty()) std::cout << p.name << ": " << found << '\n', ++different;
    ++number;
  }
  std::cout << number << " programs, " << different << " differ\n";
  CHECK(number >= 300);
  CHECK(different == 0);
}

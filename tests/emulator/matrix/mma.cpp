// mma.sync of every shape and type: fragments laid out by the manual's formulas and loaded lane by lane,
// results against models of their own, exact ones for integers and f64.

#include "tests/emulator/matrix/mma_fragments.hpp"
#include "tests/emulator/matrix/mma_model.hpp"

namespace {

using namespace emulator_test;
namespace fragments = mma_fragments;
using table = std::vector<std::vector<std::uint64_t>>;
__extension__ using wide = __int128;

struct element {
  std::string name;
  unsigned bits;
};

unsigned width(const std::string& type) {
  if (type == "f64") return 64;
  if (type == "tf32" || type == "f32" || type == "s32") return 32;
  if (type == "f16" || type == "bf16") return 16;
  if (type == "s4" || type == "u4") return 4;
  return type == "b1" ? 1 : 8;
}

// One instruction, with its matrices as bits.
struct multiplication {
  unsigned sm = 90;
  unsigned m = 16, k = 16;
  std::string a_type, b_type, c_type, d_type;
  std::string before;  // modifiers between the layouts and the types: .satfinite
  std::string after;   // the operation on bits
  std::string sparse;  // .sp, .sp::ordered_metadata
  unsigned selector = 0;
  table a, b, c;                             // a: m x k, or m x k/2 where it is sparse
  std::vector<std::vector<unsigned>> codes;  // of a sparse A: one a chunk
};

std::string vector_of(char name, unsigned count) {
  std::string result = "{";
  for (unsigned i = 0; i < count; ++i) result += (i ? "," : "") + std::string(1, name) + std::to_string(i);
  return result + "}";
}

const char* register_type(const std::string& type) {
  return type == "f64" ? "f64" : type == "f32" ? "f32" : type == "s32" ? "s32" : "b32";
}

architecture device_of(unsigned sm) { return architecture_of({static_cast<std::uint16_t>(sm), sm == 90}); }

// The registers of all lanes: word [register][lane].
void place_element(table& words, unsigned lane, unsigned i, unsigned bits, std::uint64_t value) {
  const unsigned packed = bits >= 32 ? 1 : 32 / bits;
  words[i / packed][lane] |= value << i % packed * bits;
}

table empty_words(unsigned elements, unsigned bits) {
  return table(bits >= 32 ? elements : elements * bits / 32, std::vector<std::uint64_t>(32));
}

table words_of_a(const multiplication& x) {
  const unsigned bits = width(x.a_type), depth = x.sparse.empty() ? x.k : x.k / 2;
  const unsigned count = x.m * depth / 32;
  table words = empty_words(count, bits);
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; ++i) {
      fragments::place p{};
      if (x.sparse.empty()) {
        p = fragments::a_of(x.m, x.k, bits).at(lane, i);
      } else {
        const fragments::kept_place kept = fragments::sparse_a(bits, lane, i);
        p = {kept.row, kept.chunk * (bits == 32 ? 1 : bits == 4 ? 4 : 2) + kept.number};
      }
      place_element(words, lane, i, bits, x.a[p.row][p.column]);
    }
  return words;
}

// The metadata. Lanes without metadata get a code that no lane should read.
std::vector<std::uint64_t> metadata_words(const multiplication& x) {
  std::vector<std::uint64_t> words(32, 0xffffffff);
  if (x.sparse.empty()) return words;
  const std::size_t chunks = x.codes[0].size();
  const unsigned lanes = static_cast<unsigned>(chunks / 4);
  for (unsigned group = 0; group < 8; ++group)
    for (unsigned lane = 0; lane < lanes; ++lane) words[group * 4 + x.selector * lanes + lane] = 0;
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned chunk = 0; chunk < chunks; ++chunk) {
      const bool high = row >= 8;
      const unsigned first = row % 8 * 4 + x.selector * lanes;
      // Elements of 8 and 4 bits: a lane has 32 bits of one row. Others: 16 bits of row g and of g + 8.
      if (width(x.a_type) <= 8)
        words[first + (high ? 1 : 0) + chunk / 8 * 2] |= std::uint64_t{x.codes[row][chunk]} << chunk % 8 * 4;
      else
        words[first + chunk / 4] |= std::uint64_t{x.codes[row][chunk]} << ((high ? 16 : 0) + chunk % 4 * 4);
    }
  return words;
}

table run(const multiplication& x) {
  const unsigned bits_a = width(x.a_type), bits_b = width(x.b_type);
  const table a = words_of_a(x);
  table b = empty_words(x.k / 4, bits_b), c = empty_words(x.m / 4, width(x.c_type));
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < x.k / 4; ++i) {
      const fragments::place p = fragments::b_of(x.k, bits_b).at(lane, i);
      place_element(b, lane, i, bits_b, x.b[p.row][p.column]);
    }
    for (unsigned i = 0; i < x.m / 4; ++i) {
      const fragments::place p = fragments::c_of(x.m).at(lane, i);
      place_element(c, lane, i, width(x.c_type), x.c[p.row][p.column]);
    }
  }
  const unsigned step = bits_a == 64 ? 8 : 4;
  std::vector<std::uint64_t> words;
  std::string body;
  const auto load = [&](char name, const table& from, const std::string& type) {
    body +=
        ".reg ." + std::string(register_type(type)) + " " + name + "<" + std::to_string(from.size()) + ">;\n";
    for (std::size_t r = 0; r < from.size(); ++r) {
      body += "ld.global." + std::string(register_type(type)) + " " + name + std::to_string(r) + ", [%d1+" +
              std::to_string(words.size() * step) + "];\n";
      words.insert(words.end(), from[r].begin(), from[r].end());
    }
  };
  body += "mad.lo.u64 %d1, %wide, " + std::to_string(step) + ", %p1;\n";
  load('a', a, x.a_type);
  load('b', b, x.b_type);
  load('c', c, x.c_type);
  if (!x.sparse.empty()) load('e', {metadata_words(x)}, "b32");
  const unsigned out = x.m / 4 * width(x.d_type) / (width(x.d_type) == 64 ? 64 : 32);
  body += ".reg ." + std::string(register_type(x.d_type)) + " d<" + std::to_string(out) + ">;\n";
  body += "mma" + x.sparse + ".sync.aligned.m" + std::to_string(x.m) + "n8k" + std::to_string(x.k) +
          ".row.col" + x.before + "." + x.d_type + "." + x.a_type + "." + x.b_type + "." + x.c_type +
          x.after + " " + vector_of('d', out) + ", " + vector_of('a', static_cast<unsigned>(a.size())) +
          ", " + vector_of('b', static_cast<unsigned>(b.size())) + ", " +
          vector_of('c', static_cast<unsigned>(c.size())) +
          (x.sparse.empty() ? "" : ", e0, " + std::to_string(x.selector)) + ";\n";
  body += "mad.lo.u64 %d1, %wide, " + std::to_string(step) + ", %p0;\n";
  for (unsigned r = 0; r < out; ++r)
    body += "st.global." + std::string(register_type(x.d_type)) + " [%d1+" + std::to_string(r * 32 * step) +
            "], d" + std::to_string(r) + ";\n";
  memory global;
  const module program = parsed_module(
      kernel_text(body, 2, "", x.sm < 80 ? "6.5" : "9.0", "sm_" + std::to_string(x.sm)), device_of(x.sm));
  std::vector<std::uint64_t> have;
  if (step == 8) {
    const array<std::uint64_t> to(global, out * 32), from(global, words);
    run_module(program, global, {to.address(), from.address()});
    have = to.values();
  } else {
    const array<std::uint32_t> to(global, out * 32),
        from(global, std::vector<std::uint32_t>(words.begin(), words.end()));
    run_module(program, global, {to.address(), from.address()});
    const std::vector<std::uint32_t> values = to.values();
    have.assign(values.begin(), values.end());
  }
  table d(x.m, std::vector<std::uint64_t>(8));
  const unsigned bits = width(x.d_type), packed = bits >= 32 ? 1 : 32 / bits;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < x.m / 4; ++i) {
      const fragments::place p = fragments::c_of(x.m).at(lane, i);
      const std::uint64_t word = have[i / packed * 32 + lane];
      d[p.row][p.column] = bits == 16 ? word >> i % packed * 16 & 0xffff : word;
    }
  return d;
}

void check(const multiplication& x, const std::function<std::uint64_t(unsigned row, unsigned column)>& want) {
  const table d = run(x);
  unsigned wrong = 0;
  for (unsigned row = 0; row < x.m; ++row)
    for (unsigned column = 0; column < 8; ++column)
      if (d[row][column] != want(row, column)) {
        if (wrong++ != 0) continue;
        INFO("sm_" << x.sm << " m" << x.m << "n8k" << x.k << x.sparse << " " << x.d_type << " " << x.a_type
                   << " " << x.b_type << " " << x.c_type << x.before << x.after << " at " << row << ", "
                   << column);
        CHECK(d[row][column] == want(row, column));
      }
  CHECK(wrong == 0);
}

table random_table(unsigned rows, unsigned columns, const std::function<std::uint64_t()>& draw) {
  table t(rows, std::vector<std::uint64_t>(columns));
  for (auto& row : t)
    for (auto& v : row) v = draw();
  return t;
}

// Valid metadata, and in it which column of the dense A each kept element is of.
std::vector<std::vector<unsigned>> random_metadata(std::mt19937& random, multiplication& x) {
  const unsigned bits = width(x.a_type), chunk = bits == 32 ? 2 : bits == 4 ? 8 : 4;
  constexpr unsigned ordered[] = {0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110};
  constexpr unsigned pairs[] = {0b0100, 0b1110};
  std::vector<std::vector<unsigned>> kept(16);
  x.codes.assign(16, {});
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned c = 0; c < x.k / chunk; ++c) {
      unsigned code = bits == 32 ? pairs[random() % 2] : ordered[random() % 6];
      // Without .ordered_metadata the greater index may come first.
      if (bits != 32 && x.sparse == ".sp" && random() % 2 == 0) code = code >> 2 | (code & 3) << 2;
      x.codes[row].push_back(code);
      if (bits == 32) {
        kept[row].push_back(c * 2 + (code == 0b1110 ? 1 : 0));
      } else if (bits == 4) {
        for (unsigned i = 0; i < 4; ++i) kept[row].push_back(c * 8 + (code >> i / 2 * 2 & 3) * 2 + i % 2);
      } else {
        kept[row].push_back(c * 4 + (code & 3));
        kept[row].push_back(c * 4 + (code >> 2));
      }
    }
  return kept;
}

const mma_model::number_format& format_of(const std::string& name) {
  using namespace mma_model;
  return name == "f16"    ? mma_model::f16
         : name == "bf16" ? mma_model::bf16
         : name == "tf32" ? mma_model::tf32
         : name == "e4m3" ? mma_model::e4m3
         : name == "e5m2" ? mma_model::e5m2
                          : mma_model::f32;
}

void check_floating(multiplication x, mma_model::kind kind, std::mt19937& random) {
  const auto& fa = format_of(x.a_type);
  const auto& fb = format_of(x.b_type);
  const auto& fc = format_of(x.c_type);
  const unsigned depth = x.sparse.empty() ? x.k : x.k / 2;
  x.a = random_table(x.m, depth, [&] { return mma_model::random_code(random, fa, kind); });
  x.b = random_table(x.k, 8, [&] { return mma_model::random_code(random, fb, kind); });
  x.c = random_table(x.m, 8, [&] { return mma_model::random_code(random, fc, kind); });
  std::vector<std::vector<unsigned>> kept(x.m);
  if (x.sparse.empty())
    for (auto& row : kept)
      for (unsigned k = 0; k < x.k; ++k) row.push_back(k);
  else
    kept = random_metadata(random, x);
  check(x, [&](unsigned row, unsigned column) {
    std::vector<std::uint32_t> a, b;
    for (unsigned k = 0; k < depth; ++k) {
      a.push_back(static_cast<std::uint32_t>(x.a[row][k]));
      b.push_back(static_cast<std::uint32_t>(x.b[kept[row][k]][column]));
    }
    return mma_model::dot(x.sm, fa, a, fb, b, static_cast<std::uint32_t>(x.c[row][column]),
                          x.d_type == "f16");
  });
}

std::int64_t signed_value(std::uint64_t bits, const std::string& type) {
  const unsigned shift = 64 - width(type);
  if (type[0] == 'u') return static_cast<std::int64_t>(bits);
  return static_cast<std::int64_t>(bits << shift) >> shift;
}

void check_integers(multiplication x, std::mt19937& random, bool near_limits) {
  x.c_type = x.d_type = "s32";
  const unsigned depth = x.sparse.empty() ? x.k : x.k / 2;
  const auto draw = [&](const std::string& type) -> std::uint64_t {
    return random() & ((std::uint64_t{1} << width(type)) - 1);
  };
  x.a = random_table(x.m, depth, [&] { return draw(x.a_type); });
  x.b = random_table(x.k, 8, [&] { return draw(x.b_type); });
  x.c = random_table(x.m, 8, [&]() -> std::uint64_t {
    if (!near_limits) return random();
    return random() % 2 != 0 ? 0x7ffffff0u + random() % 16 : 0x80000000u + random() % 16;
  });
  std::vector<std::vector<unsigned>> kept;
  if (!x.sparse.empty()) kept = random_metadata(random, x);
  check(x, [&](unsigned row, unsigned column) {
    std::int64_t sum = signed_value(x.c[row][column], "s32");
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned at = x.sparse.empty() ? k : kept[row][k];
      if (x.a_type == "b1")
        sum += static_cast<std::int64_t>(x.after == ".and.popc" ? x.a[row][k] & x.b[at][column]
                                                                : x.a[row][k] ^ x.b[at][column]);
      else
        sum += signed_value(x.a[row][k], x.a_type) * signed_value(x.b[at][column], x.b_type);
    }
    if (x.before == ".satfinite") sum = std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX);
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(sum));
  });
}

// An integer rounded to a double.
double rounded(wide value, const std::string& mode) {
  const bool negative = value < 0;
  wide size = negative ? -value : value;
  int shift = 0;
  while (size >> (53 + shift) != 0) ++shift;
  const wide rest = size & ((wide{1} << shift) - 1);
  const wide half = shift == 0 ? 0 : wide{1} << (shift - 1);
  size >>= shift;
  const bool up = rest != 0 && (mode == ".rz"   ? false
                                : mode == ".rm" ? negative
                                : mode == ".rp" ? !negative
                                                : rest > half || (rest == half && size % 2 != 0));
  const double result =
      std::ldexp(static_cast<double>(static_cast<std::int64_t>(size + (up ? 1 : 0))), shift);
  return negative ? -result : result;
}

}  // namespace

TEST_CASE("mma of floating-point numbers, dense") {
  std::mt19937 random(2);
  struct row {
    unsigned least_sm, m, k;
    const char *a, *b, *accumulators;
  };
  const row rows[] = {
      {75, 16, 8, "f16", "f16", "f16 f32"},    {80, 16, 16, "f16", "f16", "f16 f32"},
      {80, 16, 8, "bf16", "bf16", "f32"},      {80, 16, 16, "bf16", "bf16", "f32"},
      {80, 16, 4, "tf32", "tf32", "f32"},      {80, 16, 8, "tf32", "tf32", "f32"},
      {89, 16, 16, "e4m3", "e4m3", "f16 f32"}, {89, 16, 16, "e4m3", "e5m2", "f16 f32"},
      {89, 16, 32, "e5m2", "e4m3", "f16 f32"}, {89, 16, 32, "e5m2", "e5m2", "f16 f32"},
      {89, 16, 32, "e4m3", "e4m3", "f16 f32"},
  };
  for (const row& r : rows)
    for (unsigned sm : {75u, 80u, 86u, 89u, 90u})
      for (const std::string accumulator : {"f16", "f32"})
        for (mma_model::kind kind : mma_model::all_kinds) {
          if (sm < r.least_sm || std::string(r.accumulators).find(accumulator) == std::string::npos) continue;
          multiplication x;
          x.sm = sm, x.m = r.m, x.k = r.k;
          x.a_type = r.a, x.b_type = r.b, x.c_type = x.d_type = accumulator;
          check_floating(x, kind, random);
        }
}

TEST_CASE("mma of floating-point numbers, sparse") {
  std::mt19937 random(3);
  struct row {
    unsigned least_sm, k, selectors;
    const char *a, *b, *accumulators;
  };
  const row rows[] = {
      {80, 16, 4, "f16", "f16", "f16 f32"}, {80, 32, 2, "f16", "f16", "f16 f32"},
      {80, 16, 4, "bf16", "bf16", "f32"},   {80, 32, 2, "bf16", "bf16", "f32"},
      {80, 8, 4, "tf32", "tf32", "f32"},    {80, 16, 2, "tf32", "tf32", "f32"},
      {89, 64, 1, "e4m3", "e5m2", "f32"},   {89, 64, 1, "e5m2", "e5m2", "f32"},
  };
  for (const row& r : rows)
    for (unsigned sm : {80u, 89u, 90u})
      for (const std::string accumulator : {"f16", "f32"})
        for (const char* variant : {".sp", ".sp::ordered_metadata"})
          for (unsigned selector = 0; selector < r.selectors; ++selector)
            for (mma_model::kind kind : {mma_model::kind::small_integers, mma_model::kind::close}) {
              if (sm < r.least_sm || std::string(r.accumulators).find(accumulator) == std::string::npos)
                continue;
              multiplication x;
              x.sm = sm, x.k = r.k, x.sparse = variant, x.selector = selector;
              x.a_type = r.a, x.b_type = r.b, x.c_type = x.d_type = accumulator;
              check_floating(x, kind, random);
            }
}

TEST_CASE("mma of integers is exact, and wraps or is clamped") {
  std::mt19937 random(4);
  struct row {
    unsigned least_sm, m, k;
    const char* a;
    const char* sparse;
    unsigned selectors;
  };
  const row rows[] = {
      {75, 8, 16, "8", "", 1},
      {80, 16, 16, "8", "", 1},
      {80, 16, 32, "8", "", 1},
      {75, 8, 32, "4", "", 1},
      {80, 16, 32, "4", "", 1},
      {80, 16, 64, "4", "", 1},
      {80, 16, 32, "8", ".sp", 2},
      {80, 16, 64, "8", ".sp", 1},
      {80, 16, 64, "4", ".sp", 2},
      {80, 16, 128, "4", ".sp", 1},
      {80, 16, 32, "8", ".sp::ordered_metadata", 2},
  };
  for (const row& r : rows)
    for (unsigned sm : {75u, 80u, 90u})
      for (const char* a : {"s", "u"})
        for (const char* b : {"s", "u"})
          for (const char* saturation : {"", ".satfinite"})
            for (unsigned selector = 0; selector < r.selectors; ++selector)
              for (bool near_limits : {false, true}) {
                if (sm < r.least_sm) continue;
                multiplication x;
                x.sm = sm, x.m = r.m, x.k = r.k, x.sparse = r.sparse, x.selector = selector;
                x.a_type = std::string(a) + r.a, x.b_type = std::string(b) + r.a, x.before = saturation;
                check_integers(x, random, near_limits);
              }
}

TEST_CASE("mma of single bits counts") {
  std::mt19937 random(5);
  for (auto [m, k] : {std::pair{8u, 128u}, {16u, 128u}, {16u, 256u}})
    for (unsigned sm : {75u, 80u, 90u})
      for (const char* operation : {".xor.popc", ".and.popc"}) {
        if (sm < 80 && (m == 16 || std::string(operation) == ".and.popc")) continue;
        multiplication x;
        x.sm = sm == 75 ? 80 : sm, x.m = m, x.k = k, x.a_type = x.b_type = "b1", x.after = operation;
        check_integers(x, random, false);
      }
}

TEST_CASE("mma of f64 is a chain of fma in the order of k, in each rounding mode") {
  std::mt19937_64 random(6);
  std::mt19937 small(6);
  for (auto [m, k] : {std::pair{8u, 4u}, {16u, 4u}, {16u, 8u}, {16u, 16u}})
    for (const std::string mode : {"", ".rn", ".rz", ".rm", ".rp"}) {
      multiplication x;
      x.m = m, x.k = k, x.a_type = x.b_type = x.c_type = x.d_type = "f64", x.before = mode;
      const auto draw = [&] {
        return bits(static_cast<double>(static_cast<std::int64_t>(random() >> 16) - (std::int64_t{1} << 47)));
      };
      x.a = random_table(m, k, draw);
      x.b = random_table(k, 8, draw);
      x.c = random_table(m, 8, draw);
      check(x, [&](unsigned row, unsigned column) {
        double sum = f64_of(x.c[row][column]);
        for (unsigned i = 0; i < k; ++i)
          sum = rounded(static_cast<wide>(sum) + static_cast<wide>(f64_of(x.a[row][i])) *
                                                     static_cast<wide>(f64_of(x.b[i][column])),
                        mode);
        return bits(sum);
      });
    }
}

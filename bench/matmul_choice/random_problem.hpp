#pragma once
// Products drawn at random, the same ones for the same seeds: types, layouts, shapes of several classes,
// pitches, alignments, batches, epilogues, workspaces. A draw is a caller's view of a product; call_of()
// brings it into the form in which the library chooses a kernel.
//
//   const random_problem p = random_problem::draw(7);
//   const ops::matmul_call call = p.call_of(p.on_paper());    // addresses that nothing reads
//
// Used by the benchmark of the choice, and by the test that every call finds a kernel.

#include <kaio/ops/matmul/call/call.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace kaio::bench {

// Where the memory of a problem begins. Every address is a multiple of 256 bytes.
struct problem_memory {
  const void* device = nullptr;
  std::uint64_t a = 0, b = 0, c = 0, bias = 0, residual = 0, workspace = 0;
};

struct random_problem {
  std::uint64_t seed = 0;
  std::string_view shape_class;
  ops::element_kind operand = ops::element_kind::f32, output = ops::element_kind::f32;
  ops::matmul_precision precision = ops::matmul_precision::ieee;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;

  struct matrix {
    bool by_columns = false;
    std::int64_t pitch = 0;  // elements from row to row, or from column to column
    std::int64_t batch_pitch = 0;
    std::int64_t offset = 0;    // elements from an aligned address to the first one
    std::int64_t elements = 0;  // from there to the end of the last one
  };
  matrix a, b, c;
  bool has_beta = false, has_bias = false, has_residual = false, has_workspace = false;
  ops::matmul_activation activation = ops::matmul_activation::none;
  ops::constant_inputs constant = ops::constant_inputs::none;

  static random_problem draw(std::uint64_t seed);

  std::uint64_t bytes_of_a() const { return bytes(a, ops::bytes_of(operand)); }
  std::uint64_t bytes_of_b() const { return bytes(b, ops::bytes_of(operand)); }
  std::uint64_t bytes_of_c() const { return bytes(c, ops::bytes_of(output)); }
  std::uint64_t bytes_of_workspace() const {
    const std::uint64_t of_part = static_cast<std::uint64_t>(m * n) * sizeof(f32);
    return has_workspace ? std::min(16 * of_part, most_workspace_bytes) : 0;
  }
  bool has_terms() const {
    return has_beta || has_bias || has_residual || activation != ops::matmul_activation::none;
  }

  // Addresses for a choice without a device: the choice depends on their alignment alone.
  problem_memory on_paper() const {
    problem_memory result;
    std::uint64_t next = std::uint64_t{1} << 32;
    const auto place = [&](std::uint64_t size) {
      const std::uint64_t at = next;
      next += (size + 511) / 256 * 256;
      return at;
    };
    result.a = place(bytes_of_a());
    result.b = place(bytes_of_b());
    result.c = place(bytes_of_c());
    result.bias = place(static_cast<std::uint64_t>(n) * sizeof(f32));
    result.residual = place(static_cast<std::uint64_t>(m * n) * sizeof(f32));
    result.workspace = place(bytes_of_workspace());
    return result;
  }

  // The call as a kernel sees it. Throws invalid_argument where memory overlaps.
  ops::matmul_call call_of(const problem_memory& memory) const;

  // As the fields of a JSON object.
  std::string text() const;

 private:
  static constexpr std::uint64_t most_workspace_bytes = 256u << 20;
  static std::uint64_t bytes(const matrix& x, std::uint64_t element) {
    return static_cast<std::uint64_t>(x.offset + x.elements) * element;
  }
  void lay_out(matrix& x, std::int64_t rows, std::int64_t columns, std::int64_t pad_to, std::int64_t more,
               bool shared) const;
};

namespace detail {

// Numbers of one engine; the distributions of the standard library differ from one library to the next.
class draws {
 public:
  explicit draws(std::uint64_t seed) : engine_(seed * 0x9e3779b97f4a7c15u + 1) {}
  std::uint64_t below(std::uint64_t n) { return engine_() % n; }
  bool chance(std::uint64_t part, std::uint64_t of) { return below(of) < part; }
  // Log-uniform, both ends included.
  std::int64_t extent(double least, double most) {
    const double unit = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return static_cast<std::int64_t>(std::floor(least * std::pow((most + 1) / least, unit)));
  }

 private:
  std::mt19937_64 engine_;
};

struct typing {
  ops::element_kind operand, output;
  ops::matmul_precision precision;
  unsigned weight;
};

// How often each combination of types is drawn.
inline constexpr typing typings[] = {
    {ops::element_kind::f16, ops::element_kind::f16, ops::matmul_precision::ieee, 8},
    {ops::element_kind::f16, ops::element_kind::f32, ops::matmul_precision::ieee, 5},
    {ops::element_kind::f16, ops::element_kind::bf16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::bf16, ops::element_kind::bf16, ops::matmul_precision::ieee, 8},
    {ops::element_kind::bf16, ops::element_kind::f32, ops::matmul_precision::ieee, 5},
    {ops::element_kind::bf16, ops::element_kind::f16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::f32, ops::element_kind::f32, ops::matmul_precision::ieee, 5},
    {ops::element_kind::f32, ops::element_kind::f16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::f32, ops::element_kind::bf16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::f32, ops::element_kind::f32, ops::matmul_precision::tf32, 2},
    {ops::element_kind::f32, ops::element_kind::f16, ops::matmul_precision::tf32, 1},
    {ops::element_kind::f32, ops::element_kind::f32, ops::matmul_precision::tf32x3, 2},
    {ops::element_kind::f32, ops::element_kind::bf16, ops::matmul_precision::tf32x3, 1},
    {ops::element_kind::e4m3, ops::element_kind::f32, ops::matmul_precision::ieee, 1},
    {ops::element_kind::e4m3, ops::element_kind::f16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::e4m3, ops::element_kind::bf16, ops::matmul_precision::ieee, 2},
    {ops::element_kind::e5m2, ops::element_kind::f32, ops::matmul_precision::ieee, 1},
    {ops::element_kind::e5m2, ops::element_kind::f16, ops::matmul_precision::ieee, 1},
    {ops::element_kind::e5m2, ops::element_kind::bf16, ops::matmul_precision::ieee, 1},
};

inline ops::matmul_view view_of(const random_problem::matrix& x, ops::element_kind type,
                                std::uint64_t address, const void* device, std::int64_t batch,
                                std::int64_t rows, std::int64_t columns) {
  ops::matmul_view v;
  const std::uint64_t element = ops::bytes_of(type);
  v.type = type;
  v.address = address + static_cast<std::uint64_t>(x.offset) * element;
  v.bytes = static_cast<std::uint64_t>(x.elements) * element;
  v.device = device;
  const std::int64_t row = x.by_columns ? 1 : x.pitch, column = x.by_columns ? x.pitch : 1;
  if (batch == 1) {
    v.rank = 2;
    v.extents = {rows, columns, 0};
    v.strides = {row, column, 0};
  } else {
    v.rank = 3;
    v.extents = {batch, rows, columns};
    v.strides = {x.batch_pitch, row, column};
  }
  return v;
}

}  // namespace detail

inline void random_problem::lay_out(matrix& x, std::int64_t rows, std::int64_t columns, std::int64_t pad_to,
                                    std::int64_t more, bool shared) const {
  const std::int64_t lines = x.by_columns ? columns : rows, length = x.by_columns ? rows : columns;
  x.pitch = (length + pad_to - 1) / pad_to * pad_to + more;
  x.batch_pitch = shared ? 0 : lines * x.pitch;
  x.elements = (batch - 1) * x.batch_pitch + (lines - 1) * x.pitch + length;
}

inline random_problem random_problem::draw(std::uint64_t seed) {
  detail::draws draws(seed);
  random_problem p;
  p.seed = seed;

  std::uint64_t weights = 0;
  for (const detail::typing& t : detail::typings) weights += t.weight;
  std::uint64_t at = draws.below(weights);
  for (const detail::typing& t : detail::typings) {
    p.operand = t.operand;
    p.output = t.output;
    p.precision = t.precision;
    if (at < t.weight) break;
    at -= t.weight;
  }

  using range = std::array<double, 2>;
  const auto extents = [&](std::string_view name, const range& rows, const range& columns,
                           const range& depth) {
    p.shape_class = name;
    p.m = draws.extent(rows[0], rows[1]);
    p.n = draws.extent(columns[0], columns[1]);
    p.k = draws.extent(depth[0], depth[1]);
  };
  constexpr range few{1, 128}, many{256, 16384}, all{1, 16384}, middle{16, 512}, long_k{1024, 16384};
  switch (draws.below(6)) {
    case 0: extents("large", many, many, many); break;
    case 1: extents("few rows", few, many, many); break;
    case 2: extents("few columns", many, few, many); break;
    case 3: extents("long K", middle, middle, long_k); break;
    case 4: extents("small", middle, middle, middle); break;
    default: extents("any", all, all, all); break;
  }
  // Most extents of programs are multiples of something.
  if (draws.chance(3, 4)) {
    const std::int64_t multiple = std::array{8, 16, 64, 128}[draws.below(4)];
    for (std::int64_t* x : {&p.m, &p.n, &p.k})
      if (*x > multiple || (*x > 16 && draws.chance(1, 2))) *x = (*x + multiple - 1) / multiple * multiple;
  }
  if (draws.chance(1, 4)) p.batch = draws.extent(2, p.shape_class == "large" ? 4 : 64);

  // 8-bit operands are fast if both are k-major, as most callers have them.
  const bool eight = ops::bytes_of(p.operand) == 1;
  p.a.by_columns = eight ? draws.chance(1, 8) : draws.chance(1, 3);
  p.b.by_columns = eight ? !draws.chance(1, 8) : draws.chance(1, 2);
  p.c.by_columns = draws.chance(1, 12);
  // In most problems lines begin at multiples of 16 bytes, whatever their length; in the others anywhere.
  const bool padded = draws.chance(4, 5);
  const auto vector = [](ops::element_kind t) { return static_cast<std::int64_t>(16 / ops::bytes_of(t)); };
  const std::int64_t more_a = draws.chance(1, 24) ? 1 : 0, more_b = draws.chance(1, 24) ? 1 : 0;
  const bool shares_b = p.batch > 1 && draws.chance(1, 6);
  p.lay_out(p.a, p.m, p.k, padded ? vector(p.operand) : 1, more_a, false);
  p.lay_out(p.b, p.k, p.n, padded ? vector(p.operand) : 1, more_b, shares_b);
  p.lay_out(p.c, p.m, p.n, padded ? vector(p.output) : 1, 0, false);
  p.a.offset = draws.chance(1, 32) ? 1 : 0;
  p.c.offset = draws.chance(1, 32) ? 1 : 0;

  if (draws.chance(1, 2)) {
    p.has_bias = draws.chance(2, 3);
    p.has_residual = draws.chance(1, 3);
    p.has_beta = draws.chance(1, 4);
    if (draws.chance(1, 2)) p.activation = static_cast<ops::matmul_activation>(1 + draws.below(4));
  }
  p.has_workspace = draws.chance(1, 2);
  if (p.shape_class == "few rows" && draws.chance(1, 2)) p.constant = ops::constant_inputs::b;
  return p;
}

inline ops::matmul_call random_problem::call_of(const problem_memory& memory) const {
  const auto a_view = detail::view_of(a, operand, memory.a, memory.device, batch, m, k);
  const auto b_view = detail::view_of(b, operand, memory.b, memory.device, batch, k, n);
  const auto c_view = detail::view_of(c, output, memory.c, memory.device, batch, m, n);
  ops::matmul_options options;
  options.precision = precision;
  options.activation = activation;
  options.constant = constant;
  options.alpha = 0.5f;
  if (has_beta) options.beta = 0.25f;
  const auto term = [&](std::uint32_t rank, std::uint64_t address, std::int64_t rows) {
    ops::matmul_view v;
    v.type = output;
    v.rank = rank;
    v.address = address;
    v.bytes = static_cast<std::uint64_t>(rows * n) * ops::bytes_of(output);
    v.device = memory.device;
    v.extents = rank == 1 ? decltype(v.extents){n} : decltype(v.extents){rows, n};
    v.strides = rank == 1 ? decltype(v.strides){1} : decltype(v.strides){n, 1};
    return v;
  };
  if (has_bias) options.bias.vector = term(1, memory.bias, 1);
  if (has_residual) options.residual = term(2, memory.residual, m);
  if (has_workspace) {
    options.workspace.address = memory.workspace;
    options.workspace.bytes = bytes_of_workspace();
    options.workspace.device = memory.device;
  }
  return ops::detail::resolve_matmul(memory.device, {"matmul", a_view, b_view, c_view, &options});
}

inline std::string random_problem::text() const {
  constexpr std::string_view types[] = {"f32", "f16", "bf16", "e4m3", "e5m2"};
  constexpr std::string_view precisions[] = {"ieee", "tf32", "tf32x3"};
  std::string result;
  const auto add = [&](std::string_view name, std::string_view value, bool quoted) {
    result += (result.empty() ? "\"" : ", \"") + std::string(name) + "\": ";
    result += quoted ? "\"" + std::string(value) + "\"" : std::string(value);
  };
  const auto number = [&](std::string_view name, std::int64_t x) { add(name, std::to_string(x), false); };
  number("seed", static_cast<std::int64_t>(seed));
  add("class", shape_class, true);
  add("operand", types[static_cast<std::size_t>(operand)], true);
  add("output", types[static_cast<std::size_t>(output)], true);
  add("precision", precisions[static_cast<std::size_t>(precision)], true);
  number("m", m);
  number("n", n);
  number("k", k);
  number("batch", batch);
  add("layout", std::string{a.by_columns ? 't' : 'n', b.by_columns ? 't' : 'n', c.by_columns ? 't' : 'n'},
      true);
  number("lda", a.pitch);
  number("ldb", b.pitch);
  number("ldc", c.pitch);
  number("offset", a.offset + c.offset);
  number("terms", has_terms());
  number("activation", static_cast<std::int64_t>(activation));
  number("workspace", has_workspace);
  return result;
}

}  // namespace kaio::bench

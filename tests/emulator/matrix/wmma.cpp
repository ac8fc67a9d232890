// wmma loads, multiplies and stores matrices of all shapes and types in all layouts, with results that a host
// model computes exactly from small integers.

#include "tests/emulator/kernel.hpp"
#include "tests/emulator/matrix/matrix_model.hpp"

#include <random>

namespace {

using namespace emulator_test;

struct shape_case {
  const char* name;
  unsigned m, n, k;
};

struct type_case {
  const char* factor;  // of A and B
  const char* c;
  const char* d;
  unsigned a_registers, b_registers;
};

// A matrix in memory, `stride` elements from one row (or column) to the next.
struct stored_matrix {
  std::string type;
  unsigned rows, columns, stride;
  bool column_major;
  std::vector<std::uint8_t> bytes;

  stored_matrix(std::string type_, unsigned rows_, unsigned columns_, unsigned padding, bool column_major_)
      : type(std::move(type_)),
        rows(rows_),
        columns(columns_),
        stride((column_major_ ? rows_ : columns_) + padding),
        column_major(column_major_),
        bytes(std::size_t{stride} * (column_major_ ? columns_ : rows_) * element_bits(type) / 8, 0xee) {}

  std::size_t first_bit(unsigned row, unsigned column) const {
    return (column_major ? std::size_t{column} * stride + row : std::size_t{row} * stride + column) *
           element_bits(type);
  }
  void set(unsigned row, unsigned column, std::uint64_t value) {
    const std::size_t bit = first_bit(row, column);
    if (element_bits(type) < 8) {
      const auto mask = static_cast<std::uint8_t>(((1u << element_bits(type)) - 1) << (bit % 8));
      bytes[bit / 8] = static_cast<std::uint8_t>((bytes[bit / 8] & ~mask) | (value << (bit % 8) & mask));
    } else {
      std::memcpy(&bytes[bit / 8], &value, element_bits(type) / 8);
    }
  }
  std::uint64_t get(unsigned row, unsigned column) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes[first_bit(row, column) / 8], element_bits(type) / 8);
    return value;
  }
};

std::string registers(const std::string& type, unsigned first, unsigned count, char integer) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) {
    const char prefix = type == "f64" ? 'g' : type == "f32" ? 'f' : integer;
    text += (i ? ", %" : "%") + std::string(1, prefix) + std::to_string(first + i);
  }
  return text + "}";
}

unsigned accumulator_registers(const shape_case& s, const std::string& type) {
  return s.m * s.n / 32 / (type == "f16" ? 2 : 1);
}

struct layouts {
  bool a, b, c, d;  // by columns
};

// Computes D = A B + C in one kernel and compares all of D with the host's exact result.
void check_product(const shape_case& s, const type_case& t, layouts l, unsigned padding, const char* space,
                   const std::string& operation = "", const std::string& suffix = "") {
  INFO(s.name << " " << t.factor << " " << t.c << " " << t.d << " " << l.a << l.b << l.c << l.d << " "
              << space);
  std::mt19937 random(s.m * 31 + s.n * 7 + s.k + padding);
  const std::string factor = t.factor;
  const bool is_unsigned = factor[0] == 'u', bits = factor == "b1";
  const int low = is_unsigned || bits ? 0 : factor == "s4" ? -8 : -9;
  const int high = bits ? 1 : factor == "s4" ? 7 : factor == "u4" ? 15 : 9;
  std::uniform_int_distribution<int> value(low, high), start(-50, 50);
  const unsigned pad = element_bits(factor) < 8 ? padding / 8 * 8 * (bits ? 16 : 4) : padding;
  stored_matrix a(factor, s.m, s.k, pad, l.a), b(factor, s.k, s.n, pad, l.b);
  stored_matrix c(t.c, s.m, s.n, padding, l.c), d(t.d, s.m, s.n, padding, l.d);
  std::vector<int> host_a(s.m * s.k), host_b(s.k * s.n), host_c(s.m * s.n);
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned k = 0; k < s.k; ++k) a.set(i, k, encoded(factor, host_a[i * s.k + k] = value(random)));
  for (unsigned k = 0; k < s.k; ++k)
    for (unsigned j = 0; j < s.n; ++j) b.set(k, j, encoded(factor, host_b[k * s.n + j] = value(random)));
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned j = 0; j < s.n; ++j) c.set(i, j, encoded(t.c, host_c[i * s.n + j] = start(random)));

  memory global;
  const array<std::uint8_t> a_bytes(global, a.bytes), b_bytes(global, b.bytes), c_bytes(global, c.bytes),
      d_bytes(global, d.bytes);
  const auto layout = [](bool by_columns) { return std::string(by_columns ? ".col" : ".row"); };
  const bool shared = std::string(space) == ".shared";
  std::string body;
  std::string addresses[] = {"%p0", "%p1", "%p2", "%p3"};
  if (shared) {
    // Every matrix goes through shared memory, byte by byte.
    const std::vector<std::uint8_t>* all[] = {&a.bytes, &b.bytes, &c.bytes, &d.bytes};
    for (unsigned m = 0; m < 4; ++m) {
      const std::string n = std::to_string(m);
      body += ".shared .align 32 .b8 sm" + n + "[" + std::to_string(all[m]->size()) + "];\n";
      addresses[m] = "sm" + n;
      if (m == 3) break;
      body += "mov.u32 %r58, sm" + n + "; mov.u32 %r59, %thread;\n" + "copy" + n +
              ": cvt.u64.u32 %d1, %r59; add.u64 %d1, %d1, %p" + n +
              "; ld.global.u8 %r57, [%d1]; add.u32 %r56, %r58, %r59; st.shared.u8 [%r56], %r57;\n"
              "add.u32 %r59, %r59, 32; setp.lt.u32 %q1, %r59, " +
              std::to_string(all[m]->size()) + "; @%q1 bra copy" + n + ";\n";
    }
    body += "bar.warp.sync -1;\n";
  }
  const unsigned nc = accumulator_registers(s, t.c), nd = accumulator_registers(s, t.d);
  const std::string ra = registers(factor, 0, t.a_registers, 'r'),
                    rb = registers(factor, 8, t.b_registers, 'r');
  const std::string rc = registers(t.c, 16, nc, 'r'), rd = registers(t.d, 24, nd, 'r');
  const std::string name = std::string(".") + s.name;
  const auto stride = [&](const stored_matrix& m, unsigned padding_) {
    return padding_ == 0 ? std::string() : ", " + std::to_string(m.stride);
  };
  body += "wmma.load.a.sync.aligned" + layout(l.a) + name + space + "." + factor + " " + ra + ", [" +
          addresses[0] + "]" + stride(a, pad) + ";\n";
  body += "wmma.load.b.sync.aligned" + layout(l.b) + name + space + "." + factor + " " + rb + ", [" +
          addresses[1] + "]" + stride(b, pad) + ";\n";
  body += "wmma.load.c.sync.aligned" + layout(l.c) + name + space + "." + t.c + " " + rc + ", [" +
          addresses[2] + "]" + stride(c, padding) + ";\n";
  const std::string types = factor == "f16"
                                ? "." + std::string(t.d) + "." + t.c
                                : "." + std::string(t.d) + "." + factor + "." + factor + "." + t.c;
  body += "wmma.mma" + operation + ".sync.aligned" + layout(l.a) + layout(l.b) + name + types + suffix + " " +
          rd + ", " + ra + ", " + rb + ", " + rc + ";\n";
  body += "wmma.store.d.sync.aligned" + layout(l.d) + name + space + "." + t.d + " [" + addresses[3] + "], " +
          rd + stride(d, padding) + ";\n";
  if (shared) {
    // Only the elements: the padding of D is never written.
    body +=
        "mov.u32 %r58, sm3; mov.u32 %r59, %thread; bar.warp.sync -1;\n"
        "back: add.u32 %r56, %r58, %r59; ld.shared.u8 %r57, [%r56]; cvt.u64.u32 %d1, %r59;\n"
        "add.u64 %d1, %d1, %p3; st.global.u8 [%d1], %r57; add.u32 %r59, %r59, 32;\n"
        "setp.lt.u32 %q1, %r59, " +
        std::to_string(d.bytes.size()) + "; @%q1 bra back;\n";
  }
  run_module(parsed_module(kernel_text(body, 4)), global,
             {a_bytes.address(), b_bytes.address(), c_bytes.address(), d_bytes.address()});
  const std::vector<std::uint8_t> before = d.bytes;
  d.bytes = d_bytes.values();
  std::size_t wrong = 0;
  for (unsigned i = 0; i < s.m; ++i)
    for (unsigned j = 0; j < s.n; ++j) {
      int sum = host_c[i * s.n + j];
      for (unsigned k = 0; k < s.k; ++k) {
        const int x = host_a[i * s.k + k], y = host_b[k * s.n + j];
        sum += bits ? (operation == ".and.popc" ? x & y : x ^ y) : x * y;
      }
      if (d.get(i, j) != encoded(t.d, sum)) ++wrong;
    }
  CHECK(wrong == 0);
  if (!shared && padding != 0) {
    // Between the rows nothing is written.
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned j = 0; j < s.n; ++j) d.set(i, j, ~std::uint64_t{0});
    std::size_t touched = 0;
    stored_matrix blank = d;
    blank.bytes = before;
    for (unsigned i = 0; i < s.m; ++i)
      for (unsigned j = 0; j < s.n; ++j) blank.set(i, j, ~std::uint64_t{0});
    for (std::size_t at = 0; at < d.bytes.size(); ++at) touched += d.bytes[at] != blank.bytes[at] ? 1 : 0;
    CHECK(touched == 0);
  }
}

constexpr shape_case square{"m16n16k16", 16, 16, 16}, wide{"m8n32k16", 8, 32, 16},
    tall{"m32n8k16", 32, 8, 16};

TEST_CASE("wmma multiplies half-precision matrices of all shapes, layouts and accumulators", "[emulator]") {
  for (const shape_case& s : {square, wide, tall})
    for (unsigned l = 0; l < 16; ++l)
      for (const char* c : {"f16", "f32"})
        for (const char* d : {"f16", "f32"}) {
          const layouts where{(l & 1) != 0, (l & 2) != 0, (l & 4) != 0, (l & 8) != 0};
          check_product(s, {"f16", c, d, 8, 8}, where, l % 3 * 8, l % 2 == 0 ? ".global" : "");
        }
}

TEST_CASE("wmma goes through shared memory", "[emulator]") {
  for (const shape_case& s : {square, wide, tall}) {
    check_product(s, {"f16", "f32", "f32", 8, 8}, {false, true, false, false}, 8, ".shared");
    check_product(s, {"f16", "f16", "f16", 8, 8}, {true, false, true, true}, 0, ".shared");
  }
  check_product(square, {"s8", "s32", "s32", 2, 2}, {false, true, false, true}, 16, ".shared");
}

TEST_CASE("wmma multiplies bf16, tf32 and f64", "[emulator]") {
  for (unsigned l = 0; l < 16; ++l) {
    const layouts where{(l & 1) != 0, (l & 2) != 0, (l & 4) != 0, (l & 8) != 0};
    check_product(square, {"bf16", "f32", "f32", 4, 4}, where, 8, ".global");
    check_product(wide, {"bf16", "f32", "f32", 2, 8}, where, 8, ".global");
    check_product(tall, {"bf16", "f32", "f32", 8, 2}, where, 0, ".global");
    check_product({"m16n16k8", 16, 16, 8}, {"tf32", "f32", "f32", 4, 4}, where, 4, ".global");
    check_product({"m8n8k4", 8, 8, 4}, {"f64", "f64", "f64", 1, 1}, where, 2, ".global");
    check_product({"m8n8k4", 8, 8, 4}, {"f64", "f64", "f64", 1, 1}, where, 2, "", "",
                  l % 2 == 0 ? ".rz" : ".rn");
  }
}

TEST_CASE("wmma multiplies integers of 8, 4 and 1 bits", "[emulator]") {
  for (const char* type : {"s8", "u8"})
    for (unsigned l = 0; l < 16; ++l) {
      const layouts where{(l & 1) != 0, (l & 2) != 0, (l & 4) != 0, (l & 8) != 0};
      const std::string suffix = l % 2 == 0 ? "" : ".satfinite";
      check_product(square, {type, "s32", "s32", 2, 2}, where, 16, ".global", "", suffix);
      check_product(wide, {type, "s32", "s32", 1, 4}, where, 0, "", "", suffix);
      check_product(tall, {type, "s32", "s32", 4, 1}, where, 4, ".global", "", suffix);
    }
  for (const char* type : {"s4", "u4"})
    check_product({"m8n8k32", 8, 8, 32}, {type, "s32", "s32", 1, 1}, {false, true, false, true}, 8,
                  ".global");
  for (const char* operation : {".xor.popc", ".and.popc"})
    check_product({"m8n8k128", 8, 8, 128}, {"b1", "s32", "s32", 1, 1}, {false, true, true, false}, 8,
                  ".global", operation);
}

TEST_CASE("integer products of wmma wrap or are clamped", "[emulator]") {
  const auto run = [](const std::string& suffix, std::uint32_t c) {
    return results("mov.u32 %r0, 0x7f7f7f7f; mov.u32 %r1, %r0; mov.u32 %r2, " + std::to_string(c) + ";\n" +
                       "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32" + suffix +
                       " {%r10, %r11, %r12, %r13, %r14, %r15, %r16, %r17}, {%r0, %r1}, {%r0, %r1}, "
                       "{%r2, %r2, %r2, %r2, %r2, %r2, %r2, %r2};\n"
                       "mul.wide.u32 %d1, %thread, 4; add.u64 %d1, %d1, %p0; st.global.u32 [%d1], %r13;",
                   32)[7];
  };
  CHECK(run("", 0x7ffffff0) == 0x7ffffff0u + 16 * 127 * 127);
  CHECK(run(".satfinite", 0x7ffffff0) == 0x7fffffffu);
  CHECK(run(".satfinite", 5) == 5 + 16 * 127 * 127);
}

TEST_CASE("fragments of wmma are in the registers as those of mma.sync", "[emulator]") {
  memory global;
  std::vector<std::uint16_t> values(256);
  for (unsigned i = 0; i < 256; ++i) values[i] = static_cast<std::uint16_t>(i);
  const array<std::uint16_t> in(global, values);
  const array<std::uint32_t> out(global, 32 * 8);
  const auto fragment = [&](const std::string& load) {
    run_module(parsed_module(kernel_text(load + " {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%p1], 16;\n"
                                                "mul.wide.u32 %d1, %thread, 32; add.u64 %d1, %d1, %p0;\n"
                                                "st.global.v4.u32 [%d1], {%r0, %r1, %r2, %r3};\n"
                                                "st.global.v4.u32 [%d1+16], {%r4, %r5, %r6, %r7};",
                                         2)),
               global, {out.address(), in.address()});
    return out.values();
  };
  const auto a = fragment("wmma.load.a.sync.aligned.row.m16n16k16.global.f16");
  const auto b = fragment("wmma.load.b.sync.aligned.col.m16n16k16.global.f16");
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 8; ++r) {
      const unsigned group = lane / 4, pair = lane % 4 * 2;
      const unsigned a_row = group + r % 2 * 8, a_column = pair + r / 2 % 2 * 8;
      const unsigned b_row = group + r / 2 % 2 * 8, b_column = pair + r % 2 * 8;
      CHECK(a[lane * 8 + r] == (a_row * 16 + a_column) * 0x10001u + 0x10000u);
      CHECK(b[lane * 8 + r] == (b_row * 16 + b_column) * 0x10001u + 0x10000u);
    }
}

TEST_CASE("wmma computes what mma.sync computes from the same registers", "[emulator]") {
  // Any bits, so that rounding, infinities and NaN are the tensor core's.
  std::mt19937 random(11);
  for (unsigned round = 0; round < 40; ++round) {
    std::string body;
    for (unsigned r = 0; r < 24; ++r) {
      const bool half = r < 16;
      body += "mad.lo.u32 %r" + std::to_string(r) + ", %thread, " + std::to_string(random() | 1) + ", " +
              std::to_string(random()) + ";\n";
      // Mostly numbers of like size.
      if (round % 4 != 0)
        body += "and.b32 %r" + std::to_string(r) + ", %r" + std::to_string(r) + ", " +
                (half ? "0x87ff87ff" : "0x83ffffff") + "; or.b32 %r" + std::to_string(r) + ", %r" +
                std::to_string(r) + ", " + (half ? "0x38003800" : "0x3c000000") + ";\n";
    }
    for (unsigned r = 0; r < 8; ++r)
      body += "mov.b32 %f" + std::to_string(r) + ", %r" + std::to_string(16 + r) + ";\n";
    body +=
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f10, %f11, %f12, %f13, %f14, %f15, %f16, %f17}, "
        "{%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7, %r4, %r5, %r6, %r7}, "
        "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7};\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f20, %f21, %f22, %f23}, {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5}, {%f0, %f1, %f2, %f3};\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f24, %f25, %f26, %f27}, {%r0, %r1, %r2, %r3}, "
        "{%r6, %r7}, {%f4, %f5, %f6, %f7};\n"
        "mul.wide.u32 %d1, %thread, 64; add.u64 %d1, %d1, %p0;\n";
    for (unsigned r = 0; r < 8; ++r)
      body += "st.global.f32 [%d1+" + std::to_string(8 * r) + "], %f" + std::to_string(10 + r) +
              "; st.global.f32 [%d1+" + std::to_string(8 * r + 4) + "], %f" + std::to_string(20 + r) + ";\n";
    const auto have = results(body, 512);
    std::size_t different = 0;
    for (unsigned k = 0; k < 512; k += 2) different += have[k] != have[k + 1] ? 1 : 0;
    CHECK(different == 0);
  }
}

TEST_CASE("rows of a wmma matrix that are not in memory or not aligned are faults", "[emulator]") {
  memory global;
  const array<std::uint32_t> buffer(global, 120);  // 480 of 512 bytes
  const std::string load =
      "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 "
      "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%p0";
  const auto outside = fault_of(load + "], 16;", global, {buffer.address()});
  CHECK(outside.kind == fault_kind::out_of_bounds);
  CHECK(outside.address == buffer.address() + 480);
  const auto odd = fault_of(load + "+2], 8;", global, {buffer.address()});
  CHECK(odd.kind == fault_kind::misaligned);
  const auto stride = fault_of(
      ".shared .align 16 .b8 sm[2048];\nwmma.load.a.sync.aligned.row.m16n16k16.shared.f16 "
      "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [sm], 20;",
      global, {buffer.address()});
  CHECK(stride.kind == fault_kind::misaligned);
}

TEST_CASE("forms of wmma that do not exist are rejected", "[emulator]") {
  const auto reason = [&](const std::string& text, const char* version = "8.3",
                          const char* target = "sm_90a") {
    return rejection(kernel_text(text, 1, "", version, target)).reason();
  };
  const std::string a = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}",
                    f = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  const std::string mma = "wmma.mma.sync.aligned.row.col.m16n16k16";
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k8.f16 " + a + ", [%p0];"),
                 "no elements of type .f16"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.f32 " + a + ", [%p0];"),
                 "no elements of type .f32"));
  CHECK(contains(reason("wmma.load.d.sync.aligned.row.m16n16k16.f32 " + a + ", [%p0];"), "a matrix"));
  CHECK(contains(reason("wmma.store.c.sync.aligned.row.m16n16k16.f32 [%p0], " + f + ";"),
                 "stores the matrix .d"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.m16n16k16.f16 " + a + ", [%p0];"), "a layout"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.col.m8n8k32.s4 {%r0}, [%p0];"), "A is .row and B is .col"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r0, %r1}, [%p0];"), "8 registers"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.local.f16 " + a + ", [%p0];"),
                 ".global and .shared"));
  CHECK(contains(reason("wmma.load.a.sync.row.m16n16k16.f16 " + a + ", [%p0];"), "needs .aligned"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.f16 " + f + ", [%p0];"), ".f32"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.f16 " + a + ", [%p0], %d1;"), ".b64"));
  CHECK(
      contains(reason(mma + ".f32.f16.f16.f32 " + f + ", " + a + ", " + a + ", " + f + ";"), "these types"));
  CHECK(contains(reason(mma + ".f32.f32.satfinite " + f + ", " + a + ", " + a + ", " + f + ";"),
                 "PTX ISA 6.5"));
  CHECK(
      contains(reason(mma + ".s32.s8.u8.s32 " + a + ", {%r8, %r9}, {%r8, %r9}, " + a + ";"), "these types"));
  CHECK(contains(
      reason("wmma.mma.sync.aligned.row.m16n16k16.f32.f32 " + f + ", " + a + ", " + a + ", " + f + ";"),
      "layouts of A and B"));
  CHECK(contains(
      reason("wmma.mma.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, {%r2}, {%r3}, {%r0, %r1};"),
      "an operation"));
  CHECK(contains(
      reason("wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r0, %r1}, {%r2}, {%r3}, "
             "{%r0, %r1};",
             "7.0", "sm_80"),
      "PTX ISA 7.1"));
  CHECK(contains(reason("wmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0, %r1}, [%p0];", "6.3", "sm_70"),
                 "sm_72"));
  CHECK(contains(
      reason("wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%r0, %r1, %r2, %r3}, [%p0];", "7.0", "sm_75"),
      "sm_80"));
  CHECK_NOTHROW(parsed_module(
      kernel_text("wmma.load.a.sync.row.m16n16k16.f16 " + a + ", [%p0];", 1, "", "6.0", "sm_70")));
  CHECK_NOTHROW(parsed_module(kernel_text(
      mma + ".f32.f32.satfinite " + f + ", " + a + ", " + a + ", " + f + ";", 1, "", "6.4", "sm_75")));
}

}  // namespace

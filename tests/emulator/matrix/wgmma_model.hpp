#pragma once
// A kernel of one warpgroup that multiplies through wgmma, and the host's expected result. The host lays out
// matrices of small integers in shared memory by its own description of the swizzle. It moves 16-byte piece c
// of an atom's line r to the place of piece c xor (r / lines).

#include "tests/emulator/kernel.hpp"
#include "tests/emulator/matrix/matrix_model.hpp"

#include <functional>
#include <random>
#include <string>
#include <vector>

namespace emulator_test {

// Bytes of a row of the swizzle atom; 16: no swizzle.
struct tile_layout {
  unsigned atom = 128;
  bool mn_major = false;

  unsigned pieces() const { return atom / 16; }
  // Lines that are permuted alike: a line of 128 bytes of memory is the unit.
  unsigned alike() const { return 128 / atom; }
  std::uint64_t mode() const { return atom == 128 ? 1 : atom == 64 ? 2 : atom == 32 ? 3 : 0; }
};

// Rows of A, or columns of B, with `depth` elements each.
struct host_matrix {
  std::string type;
  unsigned rows, depth;
  std::vector<int> values;

  host_matrix(std::string type_, unsigned rows_, unsigned depth_)
      : type(std::move(type_)), rows(rows_), depth(depth_), values(std::size_t{rows_} * depth_) {}
  int& at(unsigned row, unsigned k) { return values[std::size_t{row} * depth + k]; }
  int at(unsigned row, unsigned k) const { return values[std::size_t{row} * depth + k]; }
  unsigned bits() const { return element_bits(type); }

  void randomise(std::mt19937& random, int low, int high) {
    std::uniform_int_distribution<int> value(low, high);
    for (int& v : values) v = value(random);
  }
};

// The bytes of a matrix in shared memory, and the descriptors of its parts in K.
struct shared_image {
  tile_layout layout;
  unsigned rows, row_bytes;  // in K
  std::vector<std::uint8_t> bytes;

  shared_image(const host_matrix& m, tile_layout l)
      : layout(l), rows(m.rows), row_bytes(m.depth * m.bits() / 8) {
    for (unsigned row = 0; row < m.rows; ++row)
      for (unsigned k = 0; k < m.depth; ++k) {
        const std::uint64_t code = encoded(m.type, m.at(row, k));
        const unsigned bit = k * m.bits();
        const std::size_t place = l.mn_major ? along_mn(row, k) : along_k(row, bit / 8);
        const std::size_t need = place + (m.bits() + 7) / 8;
        if (bytes.size() < need) bytes.resize(need);
        for (unsigned b = 0; b < (m.bits() + 7) / 8; ++b)
          bytes[place + b] = static_cast<std::uint8_t>(bytes[place + b] | code >> (8 * b) << (bit % 8));
      }
    bytes.resize((bytes.size() + 2047) / 2048 * 2048);
  }

  // One tile of an atom's width in K after another; within it the rows.
  std::size_t along_k(unsigned row, unsigned byte) const {
    const unsigned tile = byte / layout.atom, within = byte % layout.atom;
    const unsigned piece = (within / 16) ^ (row % 8 / layout.alike() % layout.pieces());
    return std::size_t{tile} * rows * layout.atom + row * layout.atom + piece * 16 + within % 16;
  }
  // One tile of an atom's width in M or N after another; within it the lines of K. Elements of 2 bytes.
  std::size_t along_mn(unsigned row, unsigned k) const {
    const unsigned byte = row * 2, tile = byte / layout.atom, within = byte % layout.atom;
    const unsigned piece = (within / 16) ^ (k % 8 / layout.alike() % layout.pieces());
    return std::size_t{tile} * (row_bytes / 2) * layout.atom + k * layout.atom + piece * 16 + within % 16;
  }

  // Without the address of the image. `from`: a byte of K.
  std::uint64_t descriptor(unsigned from) const {
    const std::uint64_t eight = 8 * layout.atom;
    std::uint64_t start, leading, stride;
    if (layout.mn_major) {
      start = std::uint64_t{from / 2} * layout.atom;
      const std::uint64_t tile = std::uint64_t{row_bytes / 2} * layout.atom;
      leading = layout.atom == 16 ? eight : tile;
      stride = layout.atom == 16 ? tile : eight;
    } else {
      start = std::uint64_t{from / layout.atom} * rows * layout.atom + from % layout.atom;
      leading = std::uint64_t{rows} * layout.atom;
      stride = eight;
    }
    return start >> 4 | (leading >> 4 & 0x3fff) << 16 | (stride >> 4 & 0x3fff) << 32 | layout.mode() << 62;
  }
};

// Which elements of K a sparse A stores, and how it is given to the lanes.
struct sparse_choice {
  host_matrix full;                     // with its zeros
  std::vector<std::uint32_t> metadata;  // [step][thread]
};

inline std::string reg_list(const std::string& prefix, unsigned count) {
  std::string text = "{";
  for (unsigned i = 0; i < count; ++i) text += (i ? ", %" : "%") + prefix + std::to_string(i);
  return text + "}";
}

struct wgmma_case {
  std::string d = "f32", a = "f16", b = "f16";
  unsigned n = 64;
  unsigned steps = 4;  // in K
  tile_layout a_layout, b_layout;
  bool a_registers = false;
  bool negate_a = false, negate_b = false;
  bool accumulate = false;  // start from values of D, by a predicate that is true
  bool sparse = false;
  unsigned selector = 0;
  std::string suffix;

  unsigned step_depth() const { return 256 / element_bits(a) * (sparse ? 2 : 1); }
  unsigned stored_step_depth() const { return 256 / element_bits(a); }
  unsigned registers() const { return d == "f16" ? n / 4 : n / 2; }
  std::string name() const {
    return d + "." + a + "." + b + " n" + std::to_string(n) + " atoms " + std::to_string(a_layout.atom) +
           (a_layout.mn_major ? "mn " : "k ") + std::to_string(b_layout.atom) +
           (b_layout.mn_major ? "mn" : "k") + (a_registers ? " registers" : "") + (sparse ? " sparse" : "");
  }
};

// A random sparse A of 64 rows: the stored elements, the matrix they represent, and the metadata.
inline sparse_choice choose_elements(const wgmma_case& c, const host_matrix& stored, std::mt19937& random) {
  sparse_choice result{host_matrix(c.a, 64, c.step_depth() * c.steps), {}};
  result.metadata.resize(std::size_t{c.steps} * 128);
  const unsigned bits = element_bits(c.a), depth = c.step_depth();
  for (unsigned step = 0; step < c.steps; ++step)
    for (unsigned row = 0; row < 64; ++row) {
      const unsigned warp = row / 16, group = row % 8, upper = row % 16 / 8;
      // Chunks of 4 elements have 2 of them, of tf32 chunks of 2 have 1; 4 bits select them.
      const unsigned chunk = bits == 32 ? 2 : 4, chunks = depth / chunk;
      for (unsigned q = 0; q < chunks; ++q) {
        unsigned nibble;
        const unsigned at = step * depth + q * chunk, from = step * depth / 2 + q * chunk / 2;
        if (bits == 32) {
          const unsigned which = random() % 2;
          nibble = which == 0 ? 0b0100 : 0b1110;
          result.full.at(row, at + which) = stored.at(row, from);
        } else {
          unsigned first = random() % 4, second = random() % 4;
          while (first == second) second = random() % 4;
          if (first > second) std::swap(first, second);
          nibble = first | second << 2;
          result.full.at(row, at + first) = stored.at(row, from);
          result.full.at(row, at + second) = stored.at(row, from + 1);
        }
        const unsigned half = q / (chunks / 2), within = q % (chunks / 2);
        const unsigned lane = bits == 8 ? group * 4 + half * 2 + upper : group * 4 + c.selector * 2 + half;
        const unsigned shift = bits == 8 ? within * 4 : 16 * upper + within * 4;
        result.metadata[step * 128 + warp * 32 + lane] |= nibble << shift;
      }
    }
  return result;
}

// The text of the kernel. p0: D, a register of all threads after another; p1: the image of A, or its
// registers; p2: the image of B; p3: metadata.
inline std::string wgmma_text(const wgmma_case& c, const shared_image& a, const shared_image& b,
                              const std::string& before_wait = "") {
  const std::string prefix = c.d == "f32" ? "x" : "y";
  const auto copy = [](const std::string& to, const std::string& from, std::size_t bytes,
                       const std::string& n) {
    return "mov.u32 %r1, %thread;\ncopy" + n + ": mul.wide.u32 %d1, %r1, 16; add.u64 %d1, %d1, " + from +
           "; ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d1];\nshl.b32 %r3, %r1, 4; add.u32 %r3, %r3, " + to +
           "; st.shared.v4.u32 [%r3], {%r4, %r5, %r6, %r7};\nadd.u32 %r1, %r1, 128; setp.lt.u32 %q1, %r1, " +
           std::to_string(bytes / 16) + "; @%q1 bra copy" + n + ";\n";
  };
  std::string body = ".reg .f32 %x<128>; .reg .b32 %y<128>; .reg .b32 %z<64>; .reg .b32 %m<16>;\n";
  body += ".shared .align 1024 .b8 sa[" + std::to_string(a.bytes.size()) + "];\n.shared .align 1024 .b8 sb[" +
          std::to_string(b.bytes.size()) + "];\nmov.u32 %r30, sa; mov.u32 %r31, sb;\n";
  if (!c.a_registers) body += copy("%r30", "%p1", a.bytes.size(), "a");
  body += copy("%r31", "%p2", b.bytes.size(), "b");
  // Descriptors without offsets: the addresses.
  body += "shr.u32 %r30, %r30, 4; shr.u32 %r31, %r31, 4; cvt.u64.u32 %d30, %r30; cvt.u64.u32 %d31, %r31;\n";
  body += "mul.wide.u32 %d40, %thread, 4;\n";
  if (c.a_registers)
    for (unsigned i = 0; i < 4 * c.steps; ++i)
      body += "add.u64 %d1, %d40, %p1; ld.global.u32 %z" + std::to_string(i) + ", [%d1+" +
              std::to_string(i * 512) + "];\n";
  if (c.sparse)
    for (unsigned i = 0; i < c.steps; ++i)
      body += "add.u64 %d1, %d40, %p3; ld.global.u32 %m" + std::to_string(i) + ", [%d1+" +
              std::to_string(i * 512) + "];\n";
  for (unsigned i = 0; i < c.registers(); ++i)
    body += "add.u64 %d1, %d40, %p0; ld.global.b32 %" + prefix + std::to_string(i) + ", [%d1+" +
            std::to_string(i * 512) + "];\n";
  body += "setp.eq.u32 %q3, %r30, %r30;\nfence.proxy.async;\nbar.sync 0;\nwgmma.fence.sync.aligned;\n";
  for (unsigned step = 0; step < c.steps; ++step) {
    const unsigned b_bytes = c.step_depth() * element_bits(c.b) / 8;
    const std::string n = std::to_string(step);
    body += "add.u64 %d32, %d30, " + std::to_string(a.descriptor(step * 32)) + "; add.u64 %d33, %d31, " +
            std::to_string(b.descriptor(step * b_bytes)) + ";\n";
    std::string a_text = "%d32";
    if (c.a_registers) {
      a_text = "{";
      for (unsigned i = 0; i < 4; ++i) a_text += (i ? ", %z" : "%z") + std::to_string(step * 4 + i);
      a_text += "}";
    }
    body += std::string("wgmma.mma_async") + (c.sparse ? ".sp" : "") + ".sync.aligned.m64n" +
            std::to_string(c.n) + "k" + std::to_string(c.step_depth()) + "." + c.d + "." + c.a + "." + c.b +
            c.suffix + " " + reg_list(prefix, c.registers()) + ", " + a_text + ", %d33";
    if (c.sparse) body += ", %m" + n + ", " + std::to_string(c.selector);
    body += step == 0 ? (c.accumulate ? ", %q3" : ", 0") : ", 1";
    if (c.d != "s32") body += std::string(c.negate_a ? ", -1" : ", 1") + (c.negate_b ? ", -1" : ", 1");
    if (element_bits(c.a) == 16) {
      if (!c.a_registers) body += c.a_layout.mn_major ? ", 1" : ", 0";
      body += c.b_layout.mn_major ? ", 1" : ", 0";
    }
    body += ";\n";
  }
  body += "wgmma.commit_group.sync.aligned;\n" + before_wait + "wgmma.wait_group.sync.aligned 0;\n";
  for (unsigned i = 0; i < c.registers(); ++i)
    body += "add.u64 %d1, %d40, %p0; st.global.b32 [%d1+" + std::to_string(i * 512) + "], %" + prefix +
            std::to_string(i) + ";\n";
  return kernel_text(body, 4);
}

// A lane's element of D: register and half of it.
struct d_place {
  unsigned thread, index, half;
};
inline d_place place_in_d(const wgmma_case& c, unsigned row, unsigned column) {
  const unsigned thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2;
  const unsigned element = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
  if (c.d == "f16") return {thread, element / 2, element % 2};
  return {thread, element, 0};
}

// Runs a case, and returns the number of elements of D that differ from the host's.
inline std::size_t wrong_elements(const wgmma_case& c, unsigned seed = 1) {
  std::mt19937 random(seed * 7919 + c.n);
  const bool is_unsigned = c.a[0] == 'u' || c.a == "b1";
  host_matrix a(c.a, 64, c.stored_step_depth() * c.steps), b(c.b, c.n, c.step_depth() * c.steps);
  a.randomise(random, is_unsigned ? 0 : -2, c.a == "b1" ? 1 : 2);
  b.randomise(random, c.b[0] == 'u' || c.b == "b1" ? 0 : -2, c.b == "b1" ? 1 : 2);
  sparse_choice sparse{a, std::vector<std::uint32_t>(128)};
  if (c.sparse) sparse = choose_elements(c, a, random);
  const shared_image a_image(a, c.a_layout), b_image(b, c.b_layout);

  std::vector<std::uint8_t> a_bytes = a_image.bytes;
  if (c.a_registers) {
    // Register q of lane 4 g + t: 4 bytes of row g + 8 (q mod 2), from byte 16 (q / 2) + 4 t of the step on.
    const shared_image plain(a, {16, false});
    a_bytes.assign(std::size_t{c.steps} * 4 * 512, 0);
    for (unsigned step = 0; step < c.steps; ++step)
      for (unsigned q = 0; q < 4; ++q)
        for (unsigned thread = 0; thread < 128; ++thread) {
          const unsigned row = thread / 32 * 16 + thread % 32 / 4 + q % 2 * 8;
          const unsigned byte = step * 32 + q / 2 * 16 + thread % 4 * 4;
          std::memcpy(&a_bytes[(step * 4 + q) * 512 + thread * 4], &plain.bytes[plain.along_k(row, byte)], 4);
        }
  }
  std::vector<std::uint32_t> d(std::size_t{c.registers()} * 128);
  std::vector<int> start(std::size_t{64} * c.n);
  std::uniform_int_distribution<int> value(-20, 20);
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned column = 0; column < c.n; ++column) {
      const d_place p = place_in_d(c, row, column);
      const int v = start[row * c.n + column] = value(random);
      d[p.index * 128 + p.thread] |= static_cast<std::uint32_t>(encoded(c.d, v) << (16 * p.half));
    }

  memory global;
  const array<std::uint32_t> d_buffer(global, d), metadata(global, sparse.metadata);
  const array<std::uint8_t> a_buffer(global, a_bytes), b_buffer(global, b_image.bytes);
  run_module(parsed_module(wgmma_text(c, a_image, b_image)), global,
             {d_buffer.address(), a_buffer.address(), b_buffer.address(), metadata.address()}, {1, 128});
  d = d_buffer.values();
  const int sign = c.negate_a != c.negate_b ? -1 : 1;
  std::size_t wrong = 0;
  for (unsigned row = 0; row < 64; ++row)
    for (unsigned column = 0; column < c.n; ++column) {
      int sum = c.accumulate ? start[row * c.n + column] : 0;
      for (unsigned k = 0; k < b.depth; ++k) sum += sign * sparse.full.at(row, k) * b.at(column, k);
      const d_place p = place_in_d(c, row, column);
      const std::uint32_t have = d[p.index * 128 + p.thread] >> (16 * p.half);
      const std::uint32_t mask = c.d == "f16" ? 0xffff : 0xffffffff;
      if ((have & mask) != (encoded(c.d, sum) & mask)) ++wrong;
    }
  return wrong;
}

}  // namespace emulator_test

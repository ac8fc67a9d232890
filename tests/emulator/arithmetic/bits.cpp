// Bit instructions against host models that work bit by bit, as the manual's pseudocode does.

#include "tests/emulator/kernel.hpp"

#include <string>

using namespace emulator_test;

namespace {

const words v32{0,          1,          2,          0x80000000, 0x7fffffff, 0xffffffff,
                0x12345678, 0xf0f0f0f0, 0x00ff0000, 0xdeadbeef, 0x00010000};
const words v64{
    0, 1, 0x8000000000000000, 0x7fffffffffffffff, ~std::uint64_t{0}, 0x123456789abcdef0, 0x00000001ffffffff};
const words v16{0, 1, 0x8000, 0x7fff, 0xffff, 0x1234};
const words amounts{0, 1, 4, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256, 0xffffffff};

bool bit(std::uint64_t value, unsigned i) { return i < 64 && (value >> i & 1) != 0; }

}  // namespace

TEST_CASE("logic on 16, 32 and 64 bits and on predicates") {
  const std::pair<std::string, const words*> widths[] = {{"b16", &v16}, {"b32", &v32}, {"b64", &v64}};
  for (const auto& [t, v] : widths) {
    check_instruction("and." + t + " d, a, b", t, {t, t}, {*v, *v},
                      [](const words& x) { return x[0] & x[1]; });
    check_instruction("or." + t + " d, a, b", t, {t, t}, {*v, *v},
                      [](const words& x) { return x[0] | x[1]; });
    check_instruction("xor." + t + " d, a, b", t, {t, t}, {*v, *v},
                      [](const words& x) { return x[0] ^ x[1]; });
    check_instruction("not." + t + " d, a", t, {t}, {*v}, [](const words& x) { return ~x[0]; });
    check_instruction("cnot." + t + " d, a", t, {t}, {*v},
                      [](const words& x) { return x[0] == 0 ? 1u : 0u; });
  }
  const words p{0, 1};
  check_instruction("and.pred d, a, !b", "pred", {"pred", "pred"}, {p, p},
                    [](const words& x) { return x[0] & (x[1] ^ 1); });
  check_instruction("or.pred d, !a, b", "pred", {"pred", "pred"}, {p, p},
                    [](const words& x) { return (x[0] ^ 1) | x[1]; });
  check_instruction("xor.pred d, a, b", "pred", {"pred", "pred"}, {p, p},
                    [](const words& x) { return x[0] ^ x[1]; });
  check_instruction("not.pred d, a", "pred", {"pred"}, {p}, [](const words& x) { return x[0] ^ 1; });
  check_instruction("mov.pred d, a", "pred", {"pred"}, {p}, [](const words& x) { return x[0]; });
}

TEST_CASE("shifts clamp their amount") {
  const std::pair<std::string, const words*> widths[] = {{"16", &v16}, {"32", &v32}, {"64", &v64}};
  for (const auto& [t, v] : widths) {
    const unsigned bytes = bytes_of("b" + t);
    check_instruction("shl.b" + t + " d, a, b", "b" + t, {"b" + t, "b32"}, {*v, amounts},
                      [&](const words& x) { return x[1] >= bytes * 8 ? 0 : x[0] << x[1]; });
    check_instruction("shr.u" + t + " d, a, b", "b" + t, {"b" + t, "b32"}, {*v, amounts},
                      [&](const words& x) { return x[1] >= bytes * 8 ? 0 : x[0] >> x[1]; });
    check_instruction("shr.s" + t + " d, a, b", "b" + t, {"b" + t, "b32"}, {*v, amounts},
                      [&](const words& x) {
                        return static_cast<std::uint64_t>(extended(x[0], bytes) >>
                                                          (x[1] >= bytes * 8 ? bytes * 8 - 1 : x[1]));
                      });
  }
  const auto funnel = [](const words& x, bool left, bool clamp) {
    const std::uint64_t n = clamp ? (x[2] < 32 ? x[2] : 32) : x[2] & 31;
    const std::uint64_t pair = x[1] << 32 | x[0];
    return left ? (n == 0 ? x[1] : n == 32 ? x[0] : pair >> (32 - n)) : pair >> n;
  };
  for (const bool left : {false, true})
    for (const bool clamp : {false, true})
      check_instruction(
          std::string("shf.") + (left ? "l." : "r.") + (clamp ? "clamp" : "wrap") + ".b32 d, a, b, c", "b32",
          {"b32", "b32", "b32"}, {v32, v32, amounts}, [&](const words& x) { return funnel(x, left, clamp); });
}

TEST_CASE("counting and finding bits") {
  const auto count = [](std::uint64_t x) {
    unsigned n = 0;
    for (unsigned i = 0; i < 64; ++i) n += bit(x, i);
    return n;
  };
  check_instruction("popc.b32 d, a", "b32", {"b32"}, {v32}, [&](const words& x) { return count(x[0]); });
  check_instruction("popc.b64 d, a", "b32", {"b64"}, {v64}, [&](const words& x) { return count(x[0]); });
  const auto leading = [](std::uint64_t x, unsigned width) {
    unsigned n = 0;
    while (n < width && !bit(x, width - 1 - n)) ++n;
    return n;
  };
  check_instruction("clz.b32 d, a", "b32", {"b32"}, {v32}, [&](const words& x) { return leading(x[0], 32); });
  check_instruction("clz.b64 d, a", "b32", {"b64"}, {v64}, [&](const words& x) { return leading(x[0], 64); });
  for (const std::string t : {"u32", "s32", "u64", "s64"}) {
    const unsigned width = bytes_of(t) * 8;
    const words& v = width == 32 ? v32 : v64;
    for (const bool shiftamt : {false, true})
      check_instruction("bfind" + std::string(shiftamt ? ".shiftamt." : ".") + t + " d, a", "u32", {t}, {v},
                        [&](const words& x) {
                          std::uint64_t a = x[0];
                          if (t[0] == 's' && bit(a, width - 1)) a = low(~a, width / 8);
                          std::uint64_t found = 0xffffffff;
                          for (unsigned i = 0; i < width; ++i)
                            if (bit(a, i)) found = i;
                          return shiftamt && found != 0xffffffff ? width - 1 - found : found;
                        });
  }
  for (const std::string t : {"b32", "b64"})
    check_instruction("brev." + t + " d, a", t, {t}, {t == "b32" ? v32 : v64}, [&](const words& x) {
      std::uint64_t r = 0;
      const unsigned width = bytes_of(t) * 8;
      for (unsigned i = 0; i < width; ++i) r |= std::uint64_t{bit(x[0], i)} << (width - 1 - i);
      return r;
    });
}

TEST_CASE("bit fields") {
  const words positions{0, 1, 5, 16, 31, 32, 40, 63, 64, 100, 255, 256, 261, 0x80000000, 0xffffffff};
  // An H200 takes the low byte of a position or length for 32-bit values, and all of it for 64-bit values.
  const auto count = [](std::uint64_t operand, unsigned msb) { return msb == 31 ? operand & 0xff : operand; };
  for (const std::string t : {"u32", "s32", "u64", "s64"}) {
    const unsigned msb = bytes_of(t) * 8 - 1;
    check_instruction(
        "bfe." + t + " d, a, b, c", t, {t, "u32", "u32"}, {msb == 31 ? v32 : v64, positions, positions},
        [&](const words& x) {
          const std::uint64_t pos = count(x[1], msb), len = count(x[2], msb);
          const auto top = static_cast<unsigned>(pos + len - 1 < msb ? pos + len - 1 : msb);
          const bool sign = t[0] == 's' && len != 0 && bit(x[0], top);
          std::uint64_t d = 0;
          for (unsigned i = 0; i <= msb; ++i)
            d |= std::uint64_t{i < len && pos + i <= msb ? bit(x[0], static_cast<unsigned>(pos + i)) : sign}
                 << i;
          return d;
        });
  }
  for (const std::string t : {"b32", "b64"}) {
    const unsigned msb = bytes_of(t) * 8 - 1;
    const words& v = msb == 31 ? v32 : v64;
    check_instruction("bfi." + t + " d, a, b, c, e", t, {t, t, "u32", "u32"},
                      {v, {v[1], v[4]}, positions, positions}, [&](const words& x) {
                        const std::uint64_t pos = count(x[2], msb), len = count(x[3], msb);
                        std::uint64_t f = x[1];
                        for (unsigned i = 0; i < len && pos + i <= msb; ++i)
                          f = (f & ~(std::uint64_t{1} << (pos + i))) | std::uint64_t{bit(x[0], i)}
                                                                           << (pos + i);
                        return f;
                      });
  }
  const auto mask = [](std::uint64_t first, std::uint64_t n) {
    std::uint64_t d = 0;
    for (std::uint64_t i = 0; i < n && first + i < 32; ++i) d |= std::uint64_t{1} << (first + i);
    return d;
  };
  check_instruction("bmsk.clamp.b32 d, a, b", "b32", {"b32", "b32"}, {amounts, amounts},
                    [&](const words& x) { return mask(x[0], x[1] < 32 ? x[1] : 32); });
  check_instruction("bmsk.wrap.b32 d, a, b", "b32", {"b32", "b32"}, {amounts, amounts},
                    [&](const words& x) { return mask(x[0] & 31, x[1] & 31); });
  const auto extend = [](std::uint64_t a, std::uint64_t n, bool sign) {
    std::uint64_t d = 0;
    for (unsigned i = 0; i < 32 && n != 0; ++i)
      d |= std::uint64_t{i < n ? bit(a, i) : sign && bit(a, static_cast<unsigned>(n - 1))} << i;
    return d;
  };
  check_instruction("szext.clamp.u32 d, a, b", "u32", {"u32", "u32"}, {v32, amounts},
                    [&](const words& x) { return extend(x[0], x[1] < 32 ? x[1] : 32, false); });
  check_instruction("szext.clamp.s32 d, a, b", "s32", {"s32", "u32"}, {v32, amounts},
                    [&](const words& x) { return extend(x[0], x[1] < 32 ? x[1] : 32, true); });
  check_instruction("szext.wrap.s32 d, a, b", "s32", {"s32", "u32"}, {v32, amounts},
                    [&](const words& x) { return extend(x[0], x[1] & 31, true); });
}

TEST_CASE("prmt in all its modes") {
  const auto byte = [](const words& x, unsigned n) { return (x[1] << 32 | x[0]) >> (n & 7) * 8 & 0xff; };
  check_instruction("prmt.b32 d, a, b, c", "b32", {"b32", "b32", "b32"},
                    {{0x83726150, 0x11223344},
                     {0xd7f6e5c4, 0x99887766},
                     {0x3210, 0x7654, 0x0123, 0xfedc, 0x8b1a, 0xffff7531}},
                    [&](const words& x) {
                      std::uint64_t d = 0;
                      for (unsigned k = 0; k < 4; ++k) {
                        const auto selector = static_cast<unsigned>(x[2] >> k * 4 & 15);
                        std::uint64_t b = byte(x, selector);
                        if (selector & 8) b = b & 0x80 ? 0xff : 0;
                        d |= b << k * 8;
                      }
                      return d;
                    });
  // The manual's table: the source bytes of result bytes 3, 2, 1, 0 for selectors 0 to 3.
  const std::pair<std::string, std::vector<std::string>> modes[] = {
      {"f4e", {"3210", "4321", "5432", "6543"}}, {"b4e", {"5670", "6701", "7012", "0123"}},
      {"rc8", {"0000", "1111", "2222", "3333"}}, {"ecl", {"3210", "3211", "3222", "3333"}},
      {"ecr", {"0000", "1110", "2210", "3210"}}, {"rc16", {"1010", "3232", "1010", "3232"}}};
  for (const auto& [mode, rows] : modes)
    check_instruction("prmt.b32." + mode + " d, a, b, c", "b32", {"b32", "b32", "b32"},
                      {{0x13121110}, {0x17161514}, {0, 1, 2, 3, 4, 0xfffffff6}}, [&](const words& x) {
                        const std::string& row = rows[x[2] & 3];
                        std::uint64_t d = 0;
                        for (unsigned k = 0; k < 4; ++k)
                          d |= byte(x, static_cast<unsigned>(row[3 - k] - '0')) << k * 8;
                        return d;
                      });
}

TEST_CASE("lop3 is the table of its constant") {
  for (const unsigned table : {0x00u, 0x80u, 0xfeu, 0x96u, 0xe8u, 0xcau, 0x1bu, 0xffu})
    check_instruction("lop3.b32 d, a, b, c, " + std::to_string(table), "b32", {"b32", "b32", "b32"},
                      {v32, v32, v32}, [&](const words& x) {
                        std::uint64_t d = 0;
                        for (unsigned i = 0; i < 32; ++i) {
                          const unsigned row = bit(x[0], i) * 4u + bit(x[1], i) * 2u + bit(x[2], i);
                          d |= std::uint64_t{bit(table, row)} << i;
                        }
                        return d;
                      });
  check_instruction("lop3.and.b32 _|d, a, b, c, 0x80, e", "pred", {"b32", "b32", "b32", "pred"},
                    {v32, v32, {0xffffffff}, {0, 1}},
                    [](const words& x) { return (x[0] & x[1] & x[2]) != 0 && x[3] != 0; });
  check_instruction("lop3.or.b32 _|d, a, b, c, 0x80, !e", "pred", {"b32", "b32", "b32", "pred"},
                    {v32, v32, {0xffffffff}, {0, 1}},
                    [](const words& x) { return (x[0] & x[1] & x[2]) != 0 || x[3] == 0; });
}

TEST_CASE("packed dot products") {
  for (const std::string ta : {"u32", "s32"})
    for (const std::string tb : {"u32", "s32"}) {
      const auto element = [](std::uint64_t x, unsigned at, unsigned bytes, const std::string& t) {
        const std::uint64_t e = low(x >> at * 8, bytes);
        return t == "s32" ? extended(e, bytes) : static_cast<std::int64_t>(e);
      };
      const std::vector<std::string> from(3, "b32");
      check_instruction("dp4a." + ta + "." + tb + " d, a, b, c", "b32", from, {v32, v32, {0, 0xffffffff, 77}},
                        [&](const words& x) {
                          auto sum = static_cast<std::int64_t>(x[2]);
                          for (unsigned k = 0; k < 4; ++k)
                            sum += element(x[0], k, 1, ta) * element(x[1], k, 1, tb);
                          return static_cast<std::uint64_t>(sum);
                        });
      for (const unsigned half : {0u, 1u})
        check_instruction("dp2a." + std::string(half ? "hi." : "lo.") + ta + "." + tb + " d, a, b, c", "b32",
                          from, {v32, v32, {0, 0xffffffff, 77}}, [&](const words& x) {
                            auto sum = static_cast<std::int64_t>(x[2]);
                            for (unsigned k = 0; k < 2; ++k)
                              sum += element(x[0], k * 2, 2, ta) * element(x[1], half * 2 + k, 1, tb);
                            return static_cast<std::uint64_t>(sum);
                          });
    }
}

TEST_CASE("fns walks from a bit, upwards or downwards, to the n-th that is set") {
  const words bases{0, 1, 3, 15, 30, 31};
  const words steps{0, 1, 2, 3, 7, 32, 33, 0xffffffff, 0xfffffffe, 0xfffffff9, 0x80000000, 0x7fffffff};
  check_instruction("fns.b32 d, a, b, c", "b32", {"b32", "b32", "b32"}, {v32, bases, steps},
                    [](const words& x) -> std::uint64_t {
                      const std::int64_t n = extended(x[2], 4);
                      std::int64_t seen = 0;
                      if (n == 0) return bit(x[0], static_cast<unsigned>(x[1])) ? x[1] : 0xffffffff;
                      for (auto at = static_cast<std::int64_t>(x[1]); at >= 0 && at<32; at += n> 0 ? 1 : -1)
                        if (bit(x[0], static_cast<unsigned>(at)) && ++seen == (n > 0 ? n : -n))
                          return static_cast<std::uint64_t>(at);
                      return 0xffffffff;
                    });
  CHECK(apply("fns.b32 d, 0xaaaaaaaa, 2, a", "b32", {"b32"}, {{0xffffffff}})[0] == 1);
}

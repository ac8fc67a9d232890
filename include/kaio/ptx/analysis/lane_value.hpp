#pragma once
// The knowledge of one register in the 32 lanes of a warp: a known number of each lane, plus an unknown part.
// All lanes share that part: a parameter, the block index, or the round of a loop. Sums and products with
// constants keep this form. If the shared part is a multiple of a power of two, and, or, xor and shifts keep
// it up to that power.
//
//   lane_arithmetic<16> lanes;
//   lane_value tid = lanes.of_each([](std::uint32_t lane) { return std::uint64_t{lane}; });
//   lane_value i = lanes.sum(shared_part(8), tid);                      // 256 * something + tid
//   i = lanes.bitwise(opcode::and_, i, constant_lanes(31));              // tid & 31: nothing is shared

#include <kaio/ptx/catalogue.hpp>

#include <bit>
#include <cstdint>

namespace kaio::ptx {

inline constexpr std::uint32_t warp_lanes = 32;

// The known number of lane i is base + scale * shape[i], so most instructions cost the same for one lane as
// for 32. Integers of 32 bits are kept sign-extended. If there is a shared part, sums and products are
// assumed not to wrap, like those of an index.
struct lane_value {
  enum class kind : std::uint8_t { unset, unknown, known };
  static constexpr unsigned no_shared_part = 64;

  kind state = kind::unset;
  unsigned zeros = no_shared_part;  // the shared part is a multiple of 2^zeros
  std::uint32_t shape = 0;          // 0: the same in all lanes
  std::uint64_t base = 0, scale = 0;

  constexpr bool is_known() const { return state == kind::known; }
  constexpr bool is_uniform() const { return is_known() && shape == 0; }
  constexpr bool is_exact() const { return is_known() && zeros == no_shared_part; }
  constexpr bool is_constant() const { return is_exact() && shape == 0; }
};

// 32 bits, sign-extended.
constexpr std::uint64_t extended(std::uint64_t bits) {
  return (bits & 0xffffffffu) - ((bits & 0x80000000u) << 1);
}

constexpr lane_value unknown_lanes() {
  lane_value v;
  v.state = lane_value::kind::unknown;
  return v;
}

constexpr lane_value constant_lanes(std::uint64_t bits) {
  lane_value v;
  v.state = lane_value::kind::known;
  v.base = bits;
  return v;
}

constexpr unsigned fewer(unsigned a, unsigned b) { return a < b ? a : b; }
constexpr unsigned low_zeros(std::uint64_t bits) { return static_cast<unsigned>(std::countr_zero(bits)); }

// Unknown, but equal in all lanes and a multiple of 2^zeros.
constexpr lane_value shared_part(unsigned zeros = 0) {
  lane_value v = constant_lanes(0);
  v.zeros = fewer(zeros, 63);
  return v;
}

constexpr lane_value negated(lane_value v) {
  v.base = std::uint64_t{0} - v.base;
  v.scale = std::uint64_t{0} - v.scale;
  return v;
}

// and, or, xor
constexpr std::uint64_t bitwise_bits(opcode op, std::uint64_t x, std::uint64_t y) {
  return op == opcode::and_ ? (x & y) : op == opcode::or_ ? (x | y) : (x ^ y);
}

// A value that needs more than `MaxShapes` shapes is unknown.
template <std::uint32_t MaxShapes>
class lane_arithmetic {
 public:
  constexpr std::uint64_t at(const lane_value& v, std::uint32_t lane) const {
    return v.shape == 0 ? v.base : v.base + v.scale * shapes_[v.shape].lane[lane];
  }

  // f(lane), plus a shared part that is a multiple of 2^zeros.
  template <class F>
  constexpr lane_value of_each(const F& f, unsigned zeros = lane_value::no_shared_part) {
    lane_value v = constant_lanes(f(0));
    v.zeros = zeros;
    if (shape_count_ == MaxShapes) return unknown_lanes();
    shape& fresh = shapes_[shape_count_ + 1];
    fresh = {};
    for (std::uint32_t i = 1; i < warp_lanes; ++i) {
      const std::uint64_t distance = f(i) - v.base;
      fresh.lane[i] = distance;
      const auto signed_distance = static_cast<std::int64_t>(distance);
      if (signed_distance < fresh.least) fresh.least = signed_distance;
      if (signed_distance > fresh.most) fresh.most = signed_distance;
    }
    if (fresh.least == 0 && fresh.most == 0) return v;
    v.scale = 1;
    v.shape = 1;
    while (!is_same_shape(shapes_[v.shape], fresh)) ++v.shape;
    if (v.shape > shape_count_) shape_count_ = v.shape;
    return v;
  }

  // f(number of the lane in a, in b) for each lane.
  template <class F>
  constexpr lane_value each(const lane_value& a, const lane_value& b, unsigned zeros, const F& f) {
    if (a.shape == 0 && b.shape == 0) {
      lane_value v = constant_lanes(f(a.base, b.base));
      v.zeros = zeros;
      return v;
    }
    return of_each([&](std::uint32_t i) { return f(at(a, i), at(b, i)); }, zeros);
  }

  // Whether all lanes of an exact value are from `least` to `most`.
  constexpr bool lies_within(const lane_value& v, std::int64_t least, std::int64_t most) const {
    const auto base = static_cast<std::int64_t>(v.base);
    if (v.shape == 0) return least <= base && base <= most;
    const auto scale = static_cast<std::int64_t>(v.scale);
    const shape& s = shapes_[v.shape];
    const std::int64_t limit = std::int64_t{1} << 31;
    const auto little = [&](std::int64_t n) { return -limit <= n && n <= limit; };
    if (!little(scale) || !little(s.least) || !little(s.most) || base < -(limit << 29) || base > limit << 29)
      return false;
    const std::int64_t one = base + scale * s.least;
    const std::int64_t other = base + scale * s.most;
    return least <= one && one <= most && least <= other && other <= most;
  }

  // a + b in 64 bits, or in 32 bits if it does not wrap.
  constexpr lane_value sum(const lane_value& a, const lane_value& b) {
    if (!a.is_known() || !b.is_known()) return unknown_lanes();
    const unsigned zeros = fewer(a.zeros, b.zeros);
    if (a.shape != 0 && b.shape != 0 && a.shape != b.shape)
      return each(a, b, zeros, [](std::uint64_t x, std::uint64_t y) { return x + y; });
    lane_value v = a.shape != 0 ? a : b;
    v.zeros = zeros;
    v.base = a.base + b.base;
    v.scale = a.scale + b.scale;
    if (v.scale == 0) v.shape = 0;
    return v;
  }

  // a * b, if at least one is a constant, or both are equal in all lanes.
  constexpr lane_value product(const lane_value& a, const lane_value& b) const {
    if (!a.is_known() || !b.is_known()) return unknown_lanes();
    if (a.is_constant() || b.is_constant()) {
      const std::uint64_t factor = a.is_constant() ? a.base : b.base;
      lane_value v = a.is_constant() ? b : a;
      if (factor == 0) return constant_lanes(0);
      if (!v.is_exact()) v.zeros = fewer(63, v.zeros + low_zeros(factor));
      v.base *= factor;
      v.scale *= factor;
      if (v.scale == 0) v.shape = 0;
      return v;
    }
    if (a.shape != 0 || b.shape != 0) return unknown_lanes();
    return shared_part(fewer(a.zeros, low_zeros(a.base)) + fewer(b.zeros, low_zeros(b.base)));
  }

  // A value with a shared part, shifted to the right by a constant.
  constexpr lane_value shifted_right(const lane_value& a, const lane_value& amount) {
    if (!a.is_known() || !amount.is_constant() || amount.base > a.zeros) return unknown_lanes();
    const auto n = static_cast<unsigned>(amount.base);
    return each(a, a, a.zeros - n, [&](std::uint64_t x, std::uint64_t) {
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(x) >> n);
    });
  }

  // and, or, xor if at least one value has a shared part: bit by bit below the shared parts. The bits above
  // must be equal in all lanes, or left alone.
  constexpr lane_value bitwise(opcode op, const lane_value& a, const lane_value& b) {
    if (!a.is_known() || !b.is_known()) return unknown_lanes();
    const unsigned zeros = fewer(a.zeros, b.zeros);
    const std::uint64_t below = (std::uint64_t{1} << zeros) - 1;
    const above_part high_a = above(a, below);
    const above_part high_b = above(b, below);
    const auto low = [&](std::uint64_t x, std::uint64_t y) { return bitwise_bits(op, x & below, y & below); };
    if (high_a.is_zero || high_b.is_zero) {
      if (op == opcode::and_) return each(a, b, lane_value::no_shared_part, low);
      return each(a, b, zeros, [&](std::uint64_t x, std::uint64_t y) {
        return low(x, y) + ((high_a.is_zero ? y : x) & ~below);
      });
    }
    if (!high_a.is_uniform || !high_b.is_uniform) return unknown_lanes();
    return each(a, b, zeros, low);
  }

  // Joins the knowledge of a register that has one value or the other; the choice is the same in all lanes.
  constexpr lane_value either(const lane_value& a, const lane_value& b) const {
    if (a.state == lane_value::kind::unset) return b;
    if (b.state == lane_value::kind::unset) return a;
    if (!a.is_known() || !b.is_known()) return unknown_lanes();
    const std::uint64_t distance = b.base - a.base;
    if (a.shape != b.shape || a.scale != b.scale)
      for (std::uint32_t i = 1; i < warp_lanes; ++i)
        if (at(b, i) - at(a, i) != distance) return unknown_lanes();
    lane_value v = a;
    v.zeros = fewer(fewer(a.zeros, b.zeros), low_zeros(distance));
    return v;
  }

 private:
  struct shape {
    std::uint64_t lane[warp_lanes] = {};  // the distance from lane 0
    std::int64_t least = 0, most = 0;
  };
  struct above_part {
    bool is_zero, is_uniform;
  };

  // The part of a value above the bits `below`, with its shared part.
  constexpr above_part above(const lane_value& v, std::uint64_t below) const {
    const std::uint64_t first = v.base & ~below;
    bool uniform = true;
    if (v.shape != 0)
      for (std::uint32_t i = 1; i < warp_lanes && uniform; ++i) uniform = (at(v, i) & ~below) == first;
    return {v.is_exact() && uniform && first == 0, uniform};
  }

  static constexpr bool is_same_shape(const shape& a, const shape& b) {
    if (a.least != b.least || a.most != b.most) return false;
    for (std::uint32_t i = 1; i < warp_lanes; ++i)
      if (a.lane[i] != b.lane[i]) return false;
    return true;
  }

  shape shapes_[MaxShapes + 1] = {};
  std::uint32_t shape_count_ = 0;
};

// Whether b, which either() made from a, is known as well as a.
constexpr bool same(const lane_value& a, const lane_value& b) {
  return a.state == b.state && a.zeros == b.zeros;
}

}  // namespace kaio::ptx

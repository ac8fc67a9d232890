#pragma once
// Random numbers of a problem. They depend on the seed, the kind and the problem's number alone: a problem stays as it
// is, whatever else is measured.
//
//   draws random(seed, "matmul", 7, 1);
//   const i64 rows = random.extent(1, 8192);

#include <kaio/kaio.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <string_view>

namespace kaio::bench {

class draws {
 public:
  // Extents are divided by `divisor`: on the emulator.
  draws(u64 seed, std::string_view kind, u64 index, i64 divisor) : divisor_(divisor) {
    u64 state = seed * 0x9e3779b97f4a7c15u + index;
    for (const char c : kind) state = (state ^ static_cast<u8>(c)) * 0x100000001b3u;
    engine_.seed(state);
  }

  u64 below(u64 n) { return engine_() % n; }
  bool percent(u64 share) { return below(100) < share; }
  // Log-uniform, both ends included.
  i64 extent(double least, double most) {
    const double last = std::max(least, most / static_cast<double>(divisor_));
    const double unit = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return static_cast<i64>(std::floor(least * std::pow((last + 1) / least, unit)));
  }
  i64 multiple(i64 of, double least, double most) { return std::max(extent(least, most) / of * of, of); }
  template <class T, std::size_t Count>
  const T& one_of(const T (&all)[Count]) {
    return all[below(Count)];
  }
  i64 divisor() const { return divisor_; }

 private:
  i64 divisor_;
  std::mt19937_64 engine_;
};

}  // namespace kaio::bench

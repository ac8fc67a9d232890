// Sectors and wavefronts of single accesses, against models that look at every byte and every bank.

#include "catch.hpp"
#include "emulator/machine/schedule.hpp"
#include "emulator/profile/transactions.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <set>

using namespace kaio::emulator;
using namespace kaio::emulator::profile;

namespace {

struct lanes {
  u64 at[warp_lanes] = {};
};

template <class Address>
lanes each_lane(Address&& address) {
  lanes l;
  for (u32 lane = 0; lane < warp_lanes; ++lane) l.at[lane] = address(lane);
  return l;
}

transactions model_of_sectors(const lanes& l, u32 mask, u32 bytes) {
  std::set<u64> sector, byte;
  for (u32 lane = 0; lane < warp_lanes; ++lane)
    for (u32 b = 0; b < bytes && (mask >> lane & 1) != 0; ++b) {
      byte.insert(l.at[lane] + b);
      sector.insert((l.at[lane] + b) / 32);
    }
  return {sector.size(), (byte.size() + 31) / 32};
}

// The turns of a phase: the largest number of different words that it asks of one bank.
transactions model_of_wavefronts(const lanes& l, u32 mask, u32 bytes) {
  transactions t;
  const u32 lanes_of_phase = bytes <= 4 ? 32 : 128 / bytes;
  for (u32 first = 0; first < warp_lanes; first += lanes_of_phase) {
    std::map<u64, std::set<u64>> words_of_bank;
    for (u32 lane = first; lane < first + lanes_of_phase; ++lane)
      for (u32 b = 0; b < bytes && (mask >> lane & 1) != 0; ++b) {
        const u64 word = (l.at[lane] + b) / 4;
        words_of_bank[word % 32].insert(word);
      }
    u64 turns = 0;
    for (const auto& [bank, words] : words_of_bank) turns = std::max<u64>(turns, words.size());
    t.count += turns;
    t.ideal += turns != 0 ? 1 : 0;
  }
  return t;
}

bool same(transactions a, transactions b) {
  UNSCOPED_INFO(a.count << " (" << a.ideal << ") and " << b.count << " (" << b.ideal << ")");
  return a.count == b.count && a.ideal == b.ideal;
}

}  // namespace

TEST_CASE("sectors of well-known patterns") {
  const auto strided = [](u64 step, u64 base = 0) {
    return each_lane([=](u32 lane) { return (u64{1} << 32) + base + lane * step; });
  };
  CHECK(same(sectors(strided(4).at, all_lanes, 4), {4, 4}));
  CHECK(same(sectors(strided(4, 4).at, all_lanes, 4), {5, 4}));  // shifted by one element
  CHECK(same(sectors(strided(8).at, all_lanes, 4), {8, 4}));
  CHECK(same(sectors(strided(32).at, all_lanes, 4), {32, 4}));
  CHECK(same(sectors(strided(4096).at, all_lanes, 4), {32, 4}));
  CHECK(same(sectors(strided(0).at, all_lanes, 4), {1, 1}));  // one address
  CHECK(same(sectors(strided(16).at, all_lanes, 16), {16, 16}));
  CHECK(same(sectors(strided(1).at, all_lanes, 1), {1, 1}));
  CHECK(same(sectors(strided(4).at, 1, 4), {1, 1}));
  CHECK(same(sectors(strided(4).at, 0, 4), {0, 0}));
  CHECK(same(sectors(strided(0).at, 1, 4096), {128, 128}));  // a bulk copy
}

TEST_CASE("wavefronts of well-known patterns") {
  const auto strided = [](u64 step) { return each_lane([=](u32 lane) { return lane * step; }); };
  CHECK(same(wavefronts(strided(4).at, all_lanes, 4), {1, 1}));
  CHECK(same(wavefronts(strided(8).at, all_lanes, 4), {2, 1}));
  CHECK(same(wavefronts(strided(128).at, all_lanes, 4), {32, 1}));
  CHECK(same(wavefronts(strided(132).at, all_lanes, 4), {1, 1}));  // padded rows
  CHECK(same(wavefronts(strided(0).at, all_lanes, 4), {1, 1}));    // the same word
  CHECK(same(wavefronts(strided(1).at, all_lanes, 1), {1, 1}));
  CHECK(same(wavefronts(strided(8).at, all_lanes, 8), {2, 2}));
  CHECK(same(wavefronts(strided(16).at, all_lanes, 16), {4, 4}));
  CHECK(same(wavefronts(strided(32).at, all_lanes, 16), {8, 4}));
  CHECK(same(wavefronts(strided(4).at, 0, 4), {0, 0}));
}

TEST_CASE("local memory puts the words of a warp's lanes side by side") {
  const auto equal = each_lane([](u32) { return u64{8}; });
  CHECK(same(local_sectors(equal.at, all_lanes, 4), {4, 4}));
  CHECK(same(local_sectors(equal.at, all_lanes, 8), {8, 8}));
  CHECK(same(local_sectors(equal.at, 0xff, 4), {1, 1}));
  const auto different = each_lane([](u32 lane) { return u64{4} * lane; });
  CHECK(same(local_sectors(different.at, all_lanes, 4), {32, 4}));
}

TEST_CASE("lanes at one address") {
  CHECK(most_at_one_address(each_lane([](u32) { return u64{64}; }).at, all_lanes) == 32);
  CHECK(most_at_one_address(each_lane([](u32 lane) { return lane % 8 * u64{4}; }).at, all_lanes) == 4);
  CHECK(most_at_one_address(each_lane([](u32 lane) { return lane * u64{4}; }).at, all_lanes) == 1);
  CHECK(most_at_one_address(each_lane([](u32) { return u64{64}; }).at, 0x101) == 2);
  CHECK(most_at_one_address(each_lane([](u32) { return u64{64}; }).at, 0) == 0);
}

TEST_CASE("random accesses agree with the models") {
  random_source random{20240611};
  for (int round = 0; round < 4000; ++round) {
    const u32 bytes = 1u << random.below(5);
    const u64 range = u64{1} << (1 + random.below(12));
    const auto mask = static_cast<u32>(random.below(4) == 0 ? all_lanes : random.next());
    const lanes l = each_lane([&](u32) { return random.below(range) * bytes; });
    INFO("round " << round << ", " << bytes << " bytes, mask " << mask);
    CHECK(same(sectors(l.at, mask, bytes), model_of_sectors(l, mask, bytes)));
    CHECK(same(wavefronts(l.at, mask, bytes), model_of_wavefronts(l, mask, bytes)));
  }
}

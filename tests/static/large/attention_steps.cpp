// The largest kernels of attention_with are made within the limits that a compiler has without flags.
#include <kaio/ops/attention_with.hpp>

using namespace kaio;
using namespace kaio::ops;

namespace {

struct document_window {
  static constexpr fixed_string name = "document_window";
  constexpr val<bool> operator()(thread t, attention_place at, in<u32> document, val<u32> window) const {
    return t.let(
        all_of(document[at.query] == document[at.key], at.key <= at.query, at.query - at.key < window));
  }
};

template <std::uint32_t Depth, class Score, class Mask>
constexpr bool is_made = attention_sm90<attention_sm90_for(Depth, Depth), f16, Score, Mask>.is_well_formed();

static_assert(is_made<64, general_score, band_mask>);
static_assert(is_made<128, general_score, band_mask>);
static_assert(is_made<256, general_score, band_mask>);
static_assert(is_made<128, plain_score, document_window>);

}  // namespace

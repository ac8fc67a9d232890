#include "emulator/sanitizer/state/usage.hpp"

namespace kaio::emulator::sanitizing {
namespace {

use use_of(const instruction& i) {
  switch (i.op) {
    case operation::mov:
    case operation::pack:
    case operation::unpack:
    case operation::and_:
    case operation::or_:
    case operation::xor_:
    case operation::not_:
    case operation::shl:
    case operation::shr:
    case operation::shf_l:
    case operation::shf_r:
    case operation::prmt:
    case operation::lop3:
    case operation::bfi:
    case operation::bfe:
    case operation::brev:
    case operation::slct:
    case operation::to_generic:
    case operation::from_generic: return use::merge;
    case operation::selp: return use::select;
    case operation::shfl: return use::shuffle;
    case operation::st: return use::store;
    case operation::ld: return use::load;
    case operation::call:
    case operation::ret:
    case operation::print:
    case operation::assert_fail: return use::call;
    // If a product does not add to its accumulators, their values do not matter.
    case operation::wgmma_mma: return use::ignore;
    default: return use::all;
  }
}

}  // namespace

usages::usages(const entry& kernel) {
  for (u32 r = 0; r < kernel.register_rows.size(); ++r) of_row_.emplace(kernel.register_rows[r], r);
  table_.reserve(kernel.code.size());
  for (const instruction& i : kernel.code) table_.push_back({use_of(i), register_at(i.guard)});
}

}  // namespace kaio::emulator::sanitizing

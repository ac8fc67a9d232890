// The emulator rejects what is too new for a text by a table of its own. The table must agree with the
// language's catalogue, which decides the `.version` and the `.target` that a kernel claims.

#include "catch.hpp"
#include "emulator/program/requirements.hpp"

#include <kaio/ptx/catalogue.hpp>

#include <string>
#include <string_view>

using kaio::emulator::find_requirement;
using kaio::emulator::requirement;
namespace ptx = kaio::ptx;

namespace {

// The row of the longest known beginning of a mnemonic: wgmma.fence has that of wgmma. Some mnemonics share
// the row of another one.
const requirement* row_of(std::string_view mnemonic) {
  if (mnemonic.substr(0, 20) == "cp.reduce.async.bulk") return find_requirement("cp.async.bulk");
  if (mnemonic == "getctarank") return find_requirement("mapa");
  for (;;) {
    if (const requirement* row = find_requirement(mnemonic)) return row;
    const std::size_t dot = mnemonic.rfind('.');
    if (dot == std::string_view::npos) return nullptr;
    mnemonic = mnemonic.substr(0, dot);
  }
}

}  // namespace

TEST_CASE("the emulator's table of versions has what the catalogue says of an opcode") {
  unsigned compared = 0;
  for (const ptx::instruction_facts& known : ptx::detail::catalogue) {
    INFO("instruction " << known.mnemonic);
    if (known.mnemonic.empty() || known.mnemonic == "mma.sync.aligned") continue;  // no instruction; by shape
    const requirement* const row = row_of(known.mnemonic);
    if (row == nullptr) {
      // A mnemonic without a row is as old as the first version and architecture that the emulator accepts.
      CHECK_FALSE(ptx::isa_version{6, 0} < known.version);
      CHECK(known.sm <= 70);
      continue;
    }
    ++compared;
    if (row->feature == known.mnemonic) {
      CHECK(row->version == known.version);
      CHECK(row->sm == known.sm);
    } else {
      // A row belongs to a family: a form may be younger, never older.
      CHECK_FALSE(known.version < row->version);
      CHECK(known.sm >= row->sm);
    }
  }
  CHECK(compared >= 40);
}

TEST_CASE("the emulator's table of versions has what the catalogue says of half types") {
  unsigned compared = 0;
  for (const ptx::form_facts& known : ptx::detail::form_table) {
    if (known.mod != ptx::modifier::none) continue;
    const bool bf16 = known.first == ptx::type::bf16 || known.first == ptx::type::bf16x2;
    const std::string feature = std::string(ptx::facts(known.op).mnemonic) + (bf16 ? ".bf16" : ".f16");
    const requirement* const row = find_requirement(feature);
    if (row == nullptr) continue;  // several instructions share a row, as min and max
    INFO("form " << feature);
    ++compared;
    CHECK(row->version == known.version);
    CHECK(row->sm == known.sm);
  }
  CHECK(compared >= 12);
}

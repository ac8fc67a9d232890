// The emulator rejects what is too new for a text by a table of its own. The table must agree with the
// language's catalogue, which decides the `.version` and the `.target` that a kernel claims.

#include "emulator/program/requirements.hpp"
#include "tests/emulator/kernel.hpp"

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

TEST_CASE(
    "the emulator reads every instruction that the language can emit, for sm_90a, sm_100a and sm_120a") {
  using namespace emulator_test;
  for (const ptx::instruction_facts& known : ptx::detail::catalogue) {
    CHECK(known.sm <= 90);  // a younger form needs a look at what the emulator does with it
    if (known.mnemonic.empty()) continue;
    for (const unsigned sm : {90u, 100u, 120u}) {
      const std::string target = "sm_" + std::to_string(sm) + "a";
      INFO(known.mnemonic << " for " << target);
      std::string reason;
      try {
        parsed_module(kernel_text(std::string(known.mnemonic) + ";", 1, "", "8.8", target),
                      architecture_of({static_cast<std::uint16_t>(sm), true}));
      } catch (const ptx_error& e) {
        reason = e.what();
      }
      CHECK(reason.find("is not an instruction of PTX") == std::string::npos);
    }
  }
}

TEST_CASE("old texts have their own versions, targets and forms") {
  using namespace emulator_test;
  const auto text = [](const std::string& version, const std::string& target, const std::string& rest) {
    return ".version " + version + "\n.target " + target + "\n" + rest;
  };
  const std::string mad =
      ".entry k(.param .u32 x) { .reg .f32 a; mov.f32 a, 0f3F800000; mad.f32 a, a, a, a; exit; }";
  CHECK_NOTHROW(parsed_module(text("1.4", "sm_10", mad)));
  CHECK_NOTHROW(parsed_module(text("3.0", "sm_20", mad)));
  CHECK_NOTHROW(parsed_module(text("1.2", "sm_13", ".entry k { exit; }")));
  CHECK_NOTHROW(parsed_module(text("2.0", "sm_20", ".entry k .maxntid 64 .maxnctapersm 2 { exit; }")));
  const auto reason = [&](const std::string& version, const std::string& target, const std::string& rest) {
    return std::string(rejection(text(version, target, rest)).what());
  };
  CHECK(contains(reason("4.0", "sm_20", mad), "needs a rounding modifier"));
  CHECK(contains(reason("1.1", "sm_13", ".entry k { exit; }"), "needs .version 1.2"));
  CHECK(contains(reason("1.4", "sm_20", ".entry k { exit; }"), "needs .version 2.0"));
  CHECK(contains(reason("1.3", "sm_10", mad), "since PTX ISA 1.4"));
  // The GPUs of sm_1x had no subnormal numbers of single precision.
  const std::vector<words> tiny{{bits(1.0f)}, {3}, {0}};
  CHECK(apply("mad.f32 d, a, b, c", "f32", {"f32", "f32", "f32"}, tiny, "2.3", "sm_13") == words{0});
  CHECK(apply("mad.f32 d, a, b, c", "f32", {"f32", "f32", "f32"}, tiny, "2.3", "sm_20") == words{3});
}

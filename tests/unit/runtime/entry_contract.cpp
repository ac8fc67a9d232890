// The parameters of an entry are read from a text's header as the emulator's parser reads them.

#include <string>
#include <string_view>

#include "catch.hpp"
#include "emulator/emulator.hpp"
#include "runtime/base/entry_contract.hpp"

using kaio::runtime::entry_parameters;

TEST_CASE("what a header declares is what the parser finds") {
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  for (
      const std::string_view header : {
          "k",
          "k ( )",
          "k(.param .u64 a)",
          "k(.param .u64 .ptr .global .align 16 a,.param .b64 .ptr b, .param .f16x2 c)",
          "k(\n  .param .align 8 .b8 a[24], // one\n  .param .u8 b /* , .param .u64 none */,\n\t.param .pred_ c)",
          "k(.param .align 128 .b8 a[0x80], .param .b32 b[3], .param .b8 c[010])",
          "k(.param .s16 $a, .param .f64 %b, .param .b16 c_1)",
      }) {
    const std::string text =
        head + "// .entry k(.param .u8 z)\n.visible .entry other(.param .f64 z) { ret; }\n.entry " +
        std::string(header) + "\n.maxntid 32, 1, 1\n{\n  ret;\n}\n";
    INFO(text);
    const auto found = entry_parameters(text, "k");
    REQUIRE(found.has_value());
    if (header.find(".pred_") != std::string_view::npos) {  // a type that is not known has no size
      REQUIRE(found->size() == 3);
      CHECK((*found)[2].bytes == 0);
      CHECK((*found)[1].bytes == 1);
      continue;
    }
    const auto parsed = kaio::emulator::parse_module(text, kaio::emulator::architecture_of({90, false}));
    const kaio::emulator::entry* const entry = parsed.find("k");
    REQUIRE(entry != nullptr);
    REQUIRE(found->size() == entry->parameters.size());
    for (std::size_t i = 0; i < found->size(); ++i) {
      CHECK((*found)[i].name == entry->parameters[i].name);
      CHECK((*found)[i].bytes == entry->parameters[i].bytes);
    }
  }
}

TEST_CASE("a text that is cut off anywhere has no entry, or the parameters up to there") {
  const std::string text =
      ".version 8.0\n.file 1 \"a.entry k(\"\n/* x */ .visible .entry k(.param .align 8 .b8 a[24], .param .u8 b)\n{\n";
  const std::size_t whole = text.rfind(')');
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto found = entry_parameters(std::string_view(text).substr(0, size), "k");
    if (size <= whole) CHECK((!found || found->empty()));
    if (size > whole) CHECK((found && found->size() == 2));
  }
  CHECK_FALSE(entry_parameters(text, "a"));
}

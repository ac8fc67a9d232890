// Directives and declarations of a module. ptxas 13 accepts and rejects the same texts, except for
// variables for textures and surfaces, which the emulator does not have.

#include "tests/emulator/kernel.hpp"

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

using namespace emulator_test;

namespace {

const std::string head = ".version 9.0\n.target sm_90a\n.address_size 64\n";
const std::string rest = "\n.entry kernel() { ret; }\n";

void accepted(const std::vector<std::string>& items) {
  for (const std::string& item : items) {
    INFO(item);
    CHECK_NOTHROW(parsed_module(head + item + rest));
  }
}

struct refusal {
  std::string item;
  std::string reason;
};

void rejected(const std::vector<refusal>& items) {
  for (const refusal& r : items) {
    INFO(r.item);
    const ptx_error e = rejection(head + r.item + rest);
    CHECK(e.line() >= 4);
    CHECK(contains(e.reason(), r.reason));
  }
}

std::string entry_with(const std::string& directives) { return ".entry k() " + directives + " { ret; }"; }
std::string function_with(const std::string& directives) { return ".func f() " + directives + " { ret; }"; }

// The bytes of the module's variable `v`.
std::vector<std::uint8_t> initial_bytes(const std::string& declarations, std::size_t bytes) {
  const module m = parsed_module(head + declarations + rest);
  memory global;
  const module_instance instance(m, global);
  const auto found = instance.find("v");
  REQUIRE(found.has_value());
  REQUIRE(found->bytes == bytes);
  std::vector<std::uint8_t> result(bytes);
  global.read(result.data(), found->address, bytes);
  return result;
}

template <class T>
std::vector<T> elements(const std::string& declarations, std::size_t count) {
  const std::vector<std::uint8_t> bytes = initial_bytes(declarations, count * sizeof(T));
  std::vector<T> result(count);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

}  // namespace

TEST_CASE("the head of a module") {
  const std::string kernel = "\n.entry kernel() { ret; }\n";
  for (const std::string good : {".version 9.0\n.target sm_90a, debug\n.address_size 64",
                                 ".version 9.0\n.target sm_90a, texmode_independent",
                                 ".version 8.0\n.target sm_80\n.target sm_90\n.address_size 64",
                                 ".version 6.0 .target sm_70 .address_size 64"}) {
    INFO(good);
    CHECK_NOTHROW(parsed_module(good + kernel));
  }
  const auto refused = [&](const std::string& text, const std::string& reason) {
    CHECK(contains(rejection(text + kernel).reason(), reason));
  };
  refused(".version 9.0\n.target sm_90a\n.address_size 32", "address_size 32 is not supported");
  refused(".version 6.0\n.target sm_70\n.address_size 32", "address_size 32 is not supported");
  refused(".version 1.4\n.target sm_70", "needs .version 6.0");
  refused(".version 9.0\n.target sm_90a, map_f64_to_f32", "map_f64_to_f32 is not supported");
  refused(".version 9.0\n.target sm_90a, texmode_unified, texmode_independent", "exclude each other");
  refused(".version 9.0\n.version 9.0\n.target sm_90a", "followed by .target");
  refused(".target sm_90a\n.version 9.0", "starts with .version");
  refused(head + ".address_size 64", "is given once");
  refused(".version 9.0\n.target sm_100a\n.address_size 64", "the emulated device is sm_90a");
}

TEST_CASE("directives of kernels and functions") {
  accepted({entry_with(".maxntid 1,2,3 .minnctapersm 2 .maxnreg 32 .pragma \"nounroll\";"),
            entry_with(".maxntid 32 .maxntid 64"), entry_with(".maxntid 2048"), entry_with(".reqntid 0x20"),
            entry_with(".explicitcluster .reqnctapercluster 2,1,1"), entry_with(".reqnctapercluster 0"),
            entry_with(".maxclusterrank 8 .explicitcluster"), entry_with(".maxclusterrank 0"),
            entry_with(".reqntid 32 .reqnctapercluster 2 .blocksareclusters"), function_with(".noreturn"),
            function_with(".abi_preserve 8 .abi_preserve_control 2"), ".entry k();\n.entry k() { ret; }",
            ".extern .entry k();", ".weak .entry k() { ret; }"});
  rejected({{entry_with(".maxntid 32 .reqntid 32"), "exclude each other"},
            {entry_with(".maxntid 0"), "must not be zero"},
            {entry_with(".maxntid 1,1,1,1"), "expected '{'"},
            {entry_with(".reqntid 16*2"), "expected '{'"},
            {entry_with(".reqntid (16)"), "is a number"},
            {entry_with(".maxnreg 0"), "must not be zero"},
            {entry_with(".maxnctapersm 2"), "write .minnctapersm"},
            {entry_with(".noreturn"), "is for functions"},
            {entry_with(".abi_preserve 8"), "is for functions"},
            {entry_with(".maxclusterrank 8 .reqnctapercluster 4"), "exclude each other"},
            {entry_with(".blocksareclusters"), "needs .reqntid and .reqnctapercluster"},
            {entry_with(".maxntid 32 .reqnctapercluster 2 .blocksareclusters"), "needs .reqntid"},
            {entry_with(".foo 3"), "expected '{'"},
            {function_with(".maxntid 32"), "is for kernels"},
            {function_with(".reqnctapercluster 2"), "is for kernels"},
            {".entry (.param .u32 q) k() { ret; }", "the name of a function"},
            {".common .entry k() { ret; }", ".common is for variables"},
            {".extern .entry k() { ret; }", "has no body here"},
            {".entry k(.reg .u32 q) { ret; }", "expected '.param'"},
            {".entry k();", "has no body"}});
}

TEST_CASE("pointer parameters, debugging sections and other things that compute nothing") {
  accepted(
      {".entry k(.param .u64 .ptr .global .align 16 p, .param .u64 .ptr q, .param .u32 .ptr .shared r) { "
       "ret; }",
       ".pragma \"nounroll\";",
       ".file 1 \"a.cu\"\n.file 2 \"b.cu\", 123, 456\n.entry k() { .loc 1 2 3 ret; .loc 1 2 3\n ret; }",
       ".file 1 \"a.cu\"\n.entry k() { .loc 1 5 6\n ret; .loc 1 2 3, function_name $L__i+4, inlined_at 1 5 "
       "6\n"
       "ret; }\n.section .debug_str {\n$L__i:\n.b8 95,0\n}",
       ".section .debug_info {\n.b8 1\n.b32 .debug_str\n.b64 a+4\n}", "@@DWARF .byte 1"});
  rejected({{".entry k(.param .u64 .ptr .global .align 3 p) { ret; }", "power of two"},
            {".func f(.param .u64 .ptr .global .align 8 p) { ret; }", "parameters of kernels"},
            {".entry k(.param .u64 .ptr .reg p) { ret; }", "expected a name"},
            {".pragma a;", "takes strings"},
            {".file \"a.cu\"", "the index of a file"},
            {".entry k() { .loc foo bar\n ret; }", "the file of .loc"},
            {".section .debug_info { .b8 1; }", "has no place"},
            {".section .debug_info { .b8 .b8 }", "expected a value"},
            {".section .debug_info { 1 }", "has no place"},
            {".section .debug_info .b8 1", "has no body"},
            {".section { }", "needs a name"}});
}

TEST_CASE("linkage, and names that are declared more than once") {
  accepted({".extern .global .u32 t;\n.visible .global .u32 t = 4;", ".common .global .u32 t = 1;",
            ".visible .shared .u32 t;", ".extern .shared .u32 t[4];",
            ".extern .shared .b8 t[];\n.extern .shared .b8 u[];", ".func f;\n.visible .func f { ret; }",
            ".func f;\n.func f;\n.func f { ret; }", ".extern .func f;",
            ".visible .func f { ret; }\n.visible .func g;\n.alias g, f;",
            ".global .u32 t;\n.func f { .reg .u32 t; ret; }",
            ".entry $k$1(.param .u32 a) { ret; }\n.entry %k(.param .u32 a) { ret; }"});
  rejected({{".global .u32 t; .global .u32 t;", "declared twice"},
            {".weak .global .u32 t; .weak .global .u32 t;", "declared twice"},
            {".extern .global .u32 t;\n.global .f32 t;", "declared otherwise before"},
            {".extern .global .u32 t[];", "is external and is not defined"},
            {".extern .global .u32 t = 1;", "has no initial value here"},
            {".visible .extern .global .u32 t;", "exclude each other"},
            {".common .const .u32 t;", ".common variables live in .global"},
            {".func f { ret; }\n.func f { ret; }", "defined twice"},
            {".func f (.param .u32 x);\n.func f { ret; }", "other parameters before"},
            {".func f;\n.func (.param .u32 x) f { ret; }", "other results before"},
            {".extern .func f;\n.visible .func f { ret; }", "declared as external and is defined"},
            {".global .u32 f;\n.func f { ret; }", "as a variable and as a function"},
            {".func kernel { ret; }", "as a kernel and as a function"},
            {".entry kernel() { ret; }", "defined twice"},
            {".entry k(.param .u32 a, .param .u32 a) { ret; }", "declared twice"},
            {".entry k(.param .u32 a) { .reg .u32 a; ret; }", "declared twice"},
            {".visible .func f { ret; }\n.alias g, f;", "'g' is not declared"},
            {".entry k() { ret; }\n.visible .func g;\n.alias g, k;", "is a kernel"},
            {".visible .func f { ret; }\n.visible .func g { ret; }\n.alias g, f;", "has a body"},
            {".visible .func f { ret; }\n.visible .func g(.param .u32 x);\n.alias g, f;", "other parameters"},
            {".weak .func f { ret; }\n.visible .func g;\n.alias g, f;", "is weak"},
            {".visible .func g;\n.alias g, f;", "'f' is not declared"}});
}

TEST_CASE("a name and a range of names do not meet, except in the names that the range has") {
  accepted(
      {".entry k() { .reg .b32 a; .reg .b16 a<2>; mov.b32 a, 1; mov.b16 a1, 1; ret; }",
       ".entry k() { .reg .b16 a<2>; .reg .b32 a, a2; mov.b32 a, 1; mov.b32 a2, 1; ret; }",
       ".entry k() { .reg .b32 a, a<2>; mov.b32 a, a1; ret; }", ".entry k() { .reg .b16 a<2>; a: ret; }",
       ".entry k() { .reg .b32 a0; mov.b32 a0, 1; .reg .b16 a<2>; mov.b16 a0, 1; ret; }",
       ".entry k() { .shared .b32 a; .shared .b16 a<2>; .reg .u32 r; mov.u32 r, a; mov.u32 r, a0; ret; }"});
  rejected({{".entry k() { .reg .b16 a<2>; .reg .b32 a0; ret; }", "declared twice"},
            {".entry k() { .reg .b16 a<2>; .reg .b32 a<4>; ret; }", "declared twice"},
            {".entry k() { .reg .b32 a0; .reg .b16 a<2>; mov.b32 a0, 1; ret; }", "'a0' is .b16"}});
}

TEST_CASE("variables of all kinds") {
  accepted(
      {".global .align 256 .u32 t;", ".global .align 1 .u32 t;", ".global .u32 t, u[2], w = 4;",
       ".global .v4 .f32 t = {1.0, 2.0, 3.0, 4.0};", ".global .v2 .f32 t[2] = {{1.0, 2.0}, {3.0, 4.0}};",
       ".global .attribute(.managed) .u32 t;", ".global .b128 t;", ".global .u32 t[2][WARP_SZ];",
       ".visible .align 8 .global .u32 t;", ".extern .align 8 .shared .b8 t[];",
       ".entry k(.param .u32 .align 8 t) { ret; }",
       ".entry k(.align 8 .param .u32 t) { .align 8 .shared .u32 u; .align 8 .local .u32 v; ret; }",
       ".global .u32 t<2>; .global .u64 u = t1; .const .align 8 .v2 .f32 w<3>;",
       ".entry k() { .shared .u32 t<4>; .local .u32 u<2>; .param .b32 v<2>; st.shared.u32 [t3], 1; st.local.u32 [u1], "
       "1; st.param.b32 [v1], 2; ret; }",
       ".global .f16 t;", ".const .u32 t[4];",
       ".entry k() { .global .u32 t = 4; .const .u32 u; .reg .b32 %r<0>, x; ld.global.u32 x, [t]; ret; }"});
  rejected({{".global .align 3 .u32 t;", "power of two"},
            {".global .align 4*2 .u32 t;", "expected a type"},
            {".global .v2 .v2 .u32 t;", "two sizes"},
            {".global .u32 t[0];", "impossible extent"},
            {".global .u32 t[-1];", "an extent is a number"},
            {".global .u32 t[2*3];", "expected ']'"},
            {".global .u32 t[];", "has no size"},
            {".shared .u32 t[];", "has no size"},
            {".global .u32 t[2][];", "only the first extent"},
            {".global .u32 t[1099511627776][1099511627776];", "impossible extent"},
            {".global .v3 .u32 t;", "is not a type"},
            {".global .v4 .f64 t;", "at most 16 bytes"},
            {".global .pred t;", "registers only"},
            {".global .attribute(.foo) .u32 t;", "is not an attribute"},
            {".const .attribute(.managed) .u32 t;", ".managed is for .global"},
            {".const[2] .u32 t;", "banks"},
            {".local .u32 t;", "in the body of a function"},
            {".reg .u32 t;", "in the body of a function"},
            {".param .u32 t;", "does not start a declaration"},
            {".shared .u32 t = 1;", "can be initialised"},
            {".global .u32 _;", "not a name"},
            {".global .u32 WARP_SZ;", "not a name"},
            {".entry k() { .reg .v2 .pred t; ret; }", "no vectors of predicates"},
            {".entry k() { .reg .u32 L; L: ret; }", "declared twice"},
            {".entry k() { .visible .shared .b8 t[4]; ret; }", "of the module"}});
}

TEST_CASE("variables for textures and what newer architectures have are named") {
  rejected(
      {{".global .texref t;", "textures and surfaces"},
       {".texref t;", "textures and surfaces"},
       {".tex .u32 t;", "textures and surfaces"},
       {".global .surfref s;", "textures and surfaces"},
       {".entry k(.param .samplerref t) { ret; }", "textures and surfaces"},
       {".entry k() { tcgen05.wait::ld.sync.aligned; ret; }", "needs .target sm_100a"},
       {".entry k() { clusterlaunchcontrol.try_cancel.async.b128 [a], [b]; ret; }", "needs .target sm_100"}});
}

TEST_CASE("initial values are where their braces say") {
  using words32 = std::vector<std::uint32_t>;
  CHECK(elements<std::uint32_t>(".global .u32 v[2][3] = {{1}, {2, 3}};", 6) == words32{1, 0, 0, 2, 3, 0});
  CHECK(elements<std::uint32_t>(".global .u32 v[2][2][2] = {{{1},{2,3}},{{4}}};", 8) ==
        words32{1, 0, 2, 3, 4, 0, 0, 0});
  CHECK(elements<std::uint32_t>(".global .u32 v[] = {1, 2, 3};", 3) == words32{1, 2, 3});
  CHECK(elements<std::uint32_t>(".global .u32 v[][2] = {{1}, {2, 3}};", 4) == words32{1, 0, 2, 3});
  CHECK(elements<std::uint32_t>(".global .u32 v[2] = {};", 2) == words32{0, 0});
  CHECK(elements<float>(".global .v2 .f32 v[2] = {{1.0, -2.5}, {0f40400000}};", 4) ==
        std::vector<float>{1.0f, -2.5f, 3.0f, 0.0f});
  CHECK(elements<double>(".global .f64 v[3] = {0d3FF0000000000000, 1.0+2.0, -(4.0/8.0)};", 3) ==
        std::vector<double>{1.0, 3.0, -0.5});
  CHECK(elements<std::uint32_t>(".global .u32 v[7] = {1?2:3, 4>3, 1&&0, (.u64)9, WARP_SZ, -1, 3*(4+1)<<2};",
                                7) == words32{2, 1, 0, 9, 32, 0xffffffff, 60});
  CHECK(elements<std::uint32_t>(
            ".global .u32 v[7] = {1.5<2.5, 1.5>2.5, 2.5<=2.5, 1.5>=2.5, 1.5==1.5, 1.5!=1.5, "
            "1.0>2.0?3:4};",
            7) == words32{1, 0, 1, 0, 1, 0, 4});
  CHECK(initial_bytes(".global .u8 v[3] = {300, -1, 017};", 3) == std::vector<std::uint8_t>{44, 255, 15});
  CHECK(elements<std::uint32_t>(".global .b32 v[3] = {0f3F800000, 1.5, 0d3FF8000000000001};", 3) ==
        words32{0x3f800000, 0x3fc00000, 0x3fc00000});
  rejected({{".global .u32 v[2] = {1, 2, 3};", "more initial values than elements"},
            {".global .u32 v[2][2] = {{1, 2, 3}};", "more initial values than elements"},
            {".global .u32 v[2][2] = {1, 2, 3, 4};", "must be in braces"},
            {".global .u32 v[2] = {{1}, {2}};", "too many braces"},
            {".global .u32 v = {1};", "too many braces"},
            {".global .u32 v[2] = 1;", "must be in braces"},
            {".global .v2 .f32 v[2] = {1.0, 2.0};", "must be in braces"},
            {".global .u32 v[3] = {1, 2,};", "expected a constant"},
            {".global .b8 v[4] = \"abc\";", "must be in braces"},
            {".global .f64 v = 1;", "needs a real constant"},
            {".global .u32 v = 1.5;", "does not initialise .u32"},
            {".global .u32 v = 0f3F800000;", "does not initialise .u32"},
            {".global .f16 v = 1.0;", "have no initial values"}});
}

TEST_CASE("initial values that are addresses") {
  const module m = parsed_module(head + R"(
.global .align 8 .b8 target[64]; .const .align 8 .b8 constant[16] = {1};
.func f { ret; }
.global .u64 v[6] = {target, target+4+4, generic(target), generic(constant)+8, constant, f};
.global .u8 w[8] = {0xFF(target+8), 0xFF00(target+8), 0xFF0000(target+8), 0xFF000000(target+8), 0xFF00000000(target+8),
                    0xFF0000000000(target+8), 0xFF000000000000(target+8), 0xFF00000000000000(target+8)};
.global .u32 low = target;
.global .u64 self[2] = {1, self+8};
)" + rest);
  memory global;
  const module_instance instance(m, global);
  const std::uint64_t target = instance.find("target")->address;
  std::uint64_t v[6], w;
  std::uint32_t low;
  global.read(v, instance.find("v")->address, sizeof v);
  global.read(&w, instance.find("w")->address, sizeof w);
  global.read(&low, instance.find("low")->address, sizeof low);
  CHECK(v[0] == target);
  CHECK(v[1] == target + 8);
  CHECK(v[2] == target);
  CHECK(v[3] == constant_window + v[4] + 8);
  CHECK(v[5] >= code_window);
  CHECK(w == target + 8);
  CHECK(low == static_cast<std::uint32_t>(target));
  global.read(v, instance.find("self")->address, 16);
  CHECK(v[1] == instance.find("self")->address + 8);
  rejected(
      {{".global .u64 v = {nothing};", "too many braces"},
       {".global .u64 v = nothing;", "is not a .global or .const variable or a function declared before"},
       {".global .u64 v = later; .global .u32 later;", "declared before"},
       {".shared .u32 s; .global .u64 v = s;", "is not a .global or .const variable"},
       {".global .u32 s; .global .u64 v = s-8;", "expected ';'"},
       {".global .u32 s; .global .u16 v = s;", "an address does not initialise .u16"},
       {".global .u32 s; .global .u16 v = 0xFF(s);", "does not initialise .u16"},
       {".global .u32 s; .global .u8 v = 0x0F(s);", "not the mask of a byte"},
       {".func f { ret; }\n.global .u64 v = f+8;", "takes neither an offset"},
       {".func f { ret; }\n.global .u64 v = generic(f);", "takes neither an offset"}});
}

TEST_CASE("vector registers, their elements, and indexed arrays") {
  const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";
  const auto first = [&](const std::string& body) {
    return results(
        body + store, 1, {1, 1},
        ".global .u32 table[4] = {10, 20, 30, 40}; .shared .u32 tile[4]; .global .v2 .u32 pairs[2] = {{1, 2},"
        "{3, 4}};")[0];
  };
  CHECK(first(".reg .v4 .b32 v; mov.b32 v.x, 1; mov.b32 v.g, 2; mov.b32 v.z, 3; mov.b32 v.a, 4; add.u32 "
              "%r20, v.y, v.w;") == 6);
  CHECK(
      first(
          ".reg .v2 .b32 v, w; mov.b64 v, 0x300000005; mov.v2.b32 w, v; mov.b64 %d1, w; shr.u64 %d1, %d1, 31;"
          "cvt.u32.u64 %r20, %d1;") == 6);
  CHECK(first(".reg .v2 .b32 v<3>; mov.b64 v2, 0x700000005; st.shared.v2.b32 [tile], v2; ld.shared.v2.b32 "
              "v1, [tile];"
              "sub.u32 %r20, v1.y, v1.x;") == 2);
  CHECK(first("ld.global.u32 %r20, table[2];") == 30);
  CHECK(first("mov.u32 %r1, 1; ld.global.u32 %r20, table[%r1];") == 20);
  CHECK(first("mov.u64 %d1, 1; ld.global.u32 %r20, table[%d1+2];") == 40);
  CHECK(first("mov.u64 %d1, table[1]; ld.global.u32 %r20, [%d1+4];") == 30);
  CHECK(first("st.shared.u32 tile[1+2], 7; ld.shared.u32 %r20, [tile+12];") == 7);
  CHECK(first("ld.global.v2.u32 {%r1, %r20}, pairs[1];") == 4);
  CHECK(
      first(
          ".reg .v2 .b32 v; mov.b64 v, 0x300000005; mov.v2.b32 v, {v.y, v.x}; mad.lo.u32 %r20, v.x, 10, v.y;") ==
      35);
  CHECK(first("cvta.global.u64 %d1, table[2]; ld.u32 %r20, [%d1];") == 30);
  CHECK(
      first(".param .align 8 .b8 a[16]; mov.u32 %r1, 9; st.param.b32 a[4], %r1; ld.param.b32 %r20, [a+4];") ==
      9);
  // Two variables of one range are two places.
  CHECK(
      first(
          ".shared .u32 n<3>; mov.u32 %r1, 8; st.shared.u32 [n1], 5; st.shared.u32 [n2], %r1; ld.shared.u32 %r20, "
          "[n1];") == 5);
  const auto reason = [&](const std::string& body) {
    return rejection(kernel_text(body, 0, ".global .u32 t[4];")).reason();
  };
  CHECK(contains(reason(".reg .v2 .b32 v; mov.b32 %r1, v.z;"), "the elements .x to .y"));
  CHECK(contains(reason(".reg .v2 .b32 v; add.u32 v, v, v;"), "is a register"));
  CHECK(contains(reason("mov.b32 %r1, %r2.x;"), "only vector registers have elements"));
  CHECK(contains(reason("add.u32 %r1, %tid.x, 1;"), "read by 'mov' only"));
  CHECK(contains(reason(".param .b8 a[16]; st.param.b32 a[%r1], %r2;"), "is indexed by a constant"));
  CHECK(contains(reason("atom.global.add.u32 %r1, t[1], 5;"), "takes no indexed array"));
  CHECK(contains(reason("ld.global.u32 %r1, %d1[3];"), "takes no indexed array"));
  CHECK(contains(reason("ld.global.u32 %r1, t[%f1];"), "holds an index"));
}

TEST_CASE("special registers as vectors, in lists, taken apart, and as guards") {
  const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";
  // The value of thread 2 in block 1, where blocks have four threads.
  const auto at_6 = [&](const std::string& body) { return results(body + store, 8, {2, 4})[6]; };
  const std::string sum =
      "mad.lo.u32 %r20, v.x, 100, v.y; mad.lo.u32 %r20, v.z, 10, %r20; add.u32 %r20, %r20, v.w;";
  CHECK(at_6(".reg .v4 .u32 v; mov.v4.u32 v, %tid;" + sum) == 200);
  CHECK(at_6(".reg .v4 .s32 v<2>; mov.v4.u32 v1, %ntid; mad.lo.u32 %r20, v1.x, 100, v1.y;") == 401);
  CHECK(at_6(".reg .v4 .b32 v; mov.v4.b32 v, %nctaid;" + sum) == 211);
  CHECK(at_6(".reg .v4 .u16 v; mov.v4.u16 v, %ctaid; cvt.u32.u16 %r20, v.x;") == 1);
  CHECK(at_6("mov.v4.u32 {%r20, _, %r1, _}, %tid;") == 2);
  CHECK(at_6(".reg .v4 .u32 v; mov.v4.u32 v, %tid; mov.v4.u32 {%r20, _, _, _}, v;") == 2);
  CHECK(
      at_6(
          "mov.b64 %d1, {%tid.x, %ctaid.x}; shr.u64 %d2, %d1, 31; add.u64 %d1, %d1, %d2; cvt.u32.u64 %r20, %d1;") ==
      4);
  CHECK(at_6("mov.b32 {%h0, %h1}, %tid.x; cvt.u32.u16 %r20, %h0;") == 2);
  CHECK(at_6("st.global.v2.u32 [%p0], {%tid.x, %r1}; mov.u32 %r20, 7;") == 7);
  // Two clocks in one list are two reads of a clock that does not go back.
  CHECK(
      at_6(
          "mov.b64 {%r1, %r2}, %clock64; mov.b64 %d1, {%r1, %r2}; mov.u64 %d2, %clock64; setp.le.u64 %q1, %d1, %d2; "
          "selp.u32 %r20, 1, 0, %q1;") == 1);
  CHECK(at_6("mov.u32 %r20, 5; @%is_explicit_cluster mov.u32 %r20, 6;") == 5);
  CHECK(at_6("mov.u32 %r20, 5; @!%is_explicit_cluster mov.u32 %r20, 6;") == 6);
  CHECK(at_6("mov.pred %q1, !%is_explicit_cluster; selp.u32 %r20, 3, 4, %q1;") == 3);
  CHECK(contains(rejection(kernel_text("mov.b64 {%r1, %r2}, %clock64+4;")).reason(), "not declared"));
  CHECK(contains(rejection(kernel_text("@%clock mov.u32 %r1, 1;")).reason(), "'%clock' is not a predicate"));
}

TEST_CASE("numbers and constants in instructions") {
  const std::string store = "mad.lo.u64 %d0, %wide, 4, %p0; st.global.u32 [%d0], %r20;";
  const auto value = [&](const std::string& constant) {
    return results("mov.u32 %r20, " + constant + ";" + store, 1, {1, 1})[0];
  };
  CHECK(value("1+2") == 3);
  CHECK(value("(1+2)*3") == 9);
  CHECK(value("1?2:3") == 2);
  CHECK(value("1<<3") == 8);
  CHECK(value("1<3") == 1);
  CHECK(value("!1") == 0);
  CHECK(value("+1") == 1);
  CHECK(value("WARP_SZ+1") == 33);
  CHECK(value("0XfFU") == 255);
  CHECK(value("0B11") == 3);
  CHECK(value("0b101U") == 5);
  const auto real = [&](const std::string& constant) {
    return f32_of(results("mov.f32 %f1, " + constant + "; mov.b32 %r20, %f1;" + store, 1, {1, 1})[0]);
  };
  CHECK(real(".5") == 0.5f);
  CHECK(real("5.") == 5.0f);
  CHECK(real("1e5") == 1e5f);
  CHECK(real("1.e5") == 1e5f);
  CHECK(real("-1.5") == -1.5f);
  CHECK(real("1.0+2.0") == 3.0f);
  CHECK(real("0F3f800000") == 1.0f);
}

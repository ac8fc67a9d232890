// The catalogue of instructions and the facts about types and targets.
#include <kaio/ptx/catalogue.hpp>
#include <kaio/ptx/program.hpp>
using namespace kaio::ptx;

static_assert(facts(opcode::shfl_sync).version == isa_version{6, 0});
static_assert(facts(opcode::ld_global_nc).sm == 32);
static_assert(facts(opcode::ld_global_nc).pure && !facts(opcode::ld_global).pure &&
              !facts(opcode::shfl_sync).pure);
static_assert(facts(opcode::mad_wide).mnemonic == "mad.wide");
static_assert(suffix(modifier::neu) == ".neu" && suffix(modifier::bfly) == ".bfly");

static_assert(suffix(type::bf16x2) == ".bf16x2" && size_of(type::f64) == 8 && size_of(type::pred) == 0);
static_assert(is_signed(type::s32) && !is_signed(type::u32) && is_floating(type::bf16) &&
              !is_integer(type::b32));
static_assert(bits_of(type::f32) == type::b32 && bits_of(type::s64) == type::b64);

static_assert(first_version({70, false}) == isa_version{6, 0});
static_assert(first_version({75, false}) == isa_version{6, 3});
static_assert(first_version({80, false}) == isa_version{7, 0});
static_assert(first_version({89, false}) == isa_version{7, 8});
static_assert(first_version({90, true}) == isa_version{8, 0});
static_assert(isa_version{7, 8} < isa_version{8, 0});

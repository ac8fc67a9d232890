// The catalogue of instructions and the facts about types and targets.
#include <kaio/ptx/catalogue.hpp>
#include <kaio/ptx/program.hpp>
using namespace kaio::ptx;

static_assert(facts(opcode::shfl_sync).version == isa_version{6, 0});
static_assert(facts(opcode::ld_nc).pure && !facts(opcode::ld).pure && !facts(opcode::shfl_sync).pure);
static_assert(facts(opcode::lop3).mnemonic == "lop3");
static_assert(suffix(modifier::neu) == ".neu" && suffix(modifier::l1_evict_last) == ".L1::evict_last");

// Modifiers are in the order in which they are given; `none` takes no place.
constexpr modifier_list acquire_gpu = in_order(modifier::acquire, modifier::none, modifier::gpu);
static_assert(acquire_gpu == in_order(modifier::acquire, modifier::gpu));
static_assert(append(acquire_gpu, modifier::global) ==
              in_order(modifier::acquire, modifier::gpu, modifier::global));
static_assert(contains(acquire_gpu, modifier::gpu) && !contains(acquire_gpu, modifier::cta));

// The parts of a form: the opcode, its modifiers, and the type.
struct least {
  isa_version version;
  std::uint16_t sm = 0;
  constexpr least(opcode op, modifier_list modifiers, type first) {
    version = {1, 0};
    raise_to(op, modifiers, first, version, sm);
  }
  constexpr bool is(isa_version v, std::uint16_t s) const { return version == v && sm == s; }
};
static_assert(least(opcode::min, 0, type::f32).is({1, 0}, 10));
static_assert(least(opcode::min, 0, type::f16).is({7, 0}, 80));
static_assert(least(opcode::atom, in_order(modifier::global, modifier::add), type::f64).is({5, 0}, 60));
static_assert(
    least(opcode::atom, in_order(modifier::global, modifier::v2, modifier::add), type::f32).is({8, 1}, 90));
static_assert(least(opcode::ld, acquire_gpu, type::u32).is({6, 0}, 70));
static_assert(least(opcode::barrier_cluster_arrive, in_order(modifier::aligned), type::none).is({7, 8}, 90));
static_assert(least(opcode::barrier_cluster_arrive, in_order(modifier::relaxed, modifier::aligned),
                    type::none)
                  .is({8, 0}, 90));
static_assert(least(opcode::mbarrier_arrive, in_order(modifier::shared), type::b64).is({7, 0}, 80));
static_assert(least(opcode::mbarrier_arrive,
                    in_order(modifier::release, modifier::cta, modifier::shared_cluster), type::b64)
                  .is({8, 0}, 90));
static_assert(
    least(opcode::mbarrier_try_wait, in_order(modifier::parity, modifier::shared), type::b64).is({7, 8}, 90));
static_assert(least(opcode::mbarrier_try_wait,
                    in_order(modifier::parity, modifier::acquire, modifier::cluster, modifier::shared_cta),
                    type::b64)
                  .is({8, 0}, 90));

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

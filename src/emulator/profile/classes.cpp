#include "emulator/profile/classes.hpp"

namespace kaio::emulator::profile {
namespace {

instruction_class arithmetic_class(ptx::type type) {
  if (ptx::is_half(type)) return instruction_class::half;
  switch (type) {
    case ptx::type::f16x2:
    case ptx::type::bf16x2: return instruction_class::half;
    case ptx::type::f32: return instruction_class::f32;
    case ptx::type::f64: return instruction_class::f64;
    default: return instruction_class::integer;
  }
}

instruction_class load_class(state_space space) {
  switch (space) {
    case state_space::global: return instruction_class::global_load;
    case state_space::shared: return instruction_class::shared_load;
    case state_space::local: return instruction_class::local;
    case state_space::constant: return instruction_class::constant;
    case state_space::param: return instruction_class::parameter;
    case state_space::generic: break;
  }
  return instruction_class::generic;
}

instruction_class store_class(state_space space) {
  switch (space) {
    case state_space::global: return instruction_class::global_store;
    case state_space::shared: return instruction_class::shared_store;
    default: return load_class(space);
  }
}

}  // namespace

instruction_class class_of(const instruction& i) {
  switch (i.op) {
    case operation::mov:
    case operation::pack:
    case operation::unpack:
    case operation::read_special:
    case operation::selp:
    case operation::slct:
    case operation::to_generic:
    case operation::from_generic:
    case operation::isspacep:
    case operation::mapa:
    case operation::getctarank: return instruction_class::move;

    case operation::setp:
    case operation::set:
    case operation::testp: return instruction_class::comparison;

    case operation::cvt:
    case operation::cvt_twin:
    case operation::cvt_tf32:
    case operation::cvt_pack: return instruction_class::conversion;

    case operation::sin:
    case operation::cos:
    case operation::ex2:
    case operation::lg2:
    case operation::tanh:
    case operation::rsqrt: return instruction_class::approximate;
    case operation::rcp:
    case operation::sqrt:
    case operation::div:
      return i.flags.approx || i.flags.full ? instruction_class::approximate : arithmetic_class(i.type);

    case operation::add:
    case operation::sub:
    case operation::mul:
    case operation::mul_lo:
    case operation::mul_hi:
    case operation::mul_wide:
    case operation::mad_lo:
    case operation::mad_hi:
    case operation::mad_wide:
    case operation::mul24_lo:
    case operation::mul24_hi:
    case operation::mad24_lo:
    case operation::mad24_hi:
    case operation::rem:
    case operation::abs:
    case operation::neg:
    case operation::min:
    case operation::max:
    case operation::sad:
    case operation::fma:
    case operation::copysign: return arithmetic_class(i.type);

    case operation::popc:
    case operation::clz:
    case operation::bfind:
    case operation::brev:
    case operation::bfe:
    case operation::bfi:
    case operation::bmsk:
    case operation::szext:
    case operation::prmt:
    case operation::lop3:
    case operation::shf_l:
    case operation::shf_r:
    case operation::dp4a:
    case operation::dp2a_lo:
    case operation::dp2a_hi:
    case operation::and_:
    case operation::or_:
    case operation::xor_:
    case operation::not_:
    case operation::cnot:
    case operation::shl:
    case operation::shr:
    case operation::fns:
    case operation::video: return instruction_class::integer;

    case operation::ld:
    case operation::tex:
    case operation::tld4:
    case operation::suld: return load_class(i.space);
    case operation::st:
    case operation::sust: return store_class(i.space);
    case operation::atom:
    case operation::sured:
    case operation::red: return instruction_class::atomic;
    case operation::fence:
    case operation::proxy_fence:
    case operation::wgmma_fence: return instruction_class::fence;

    case operation::mma:
    case operation::mma_sparse:
    case operation::wmma_mma:
    case operation::wgmma_mma: return instruction_class::tensor;
    case operation::ldmatrix: return instruction_class::shared_load;
    case operation::stmatrix: return instruction_class::shared_store;
    case operation::wmma_load: return load_class(i.space);
    case operation::wmma_store: return store_class(i.space);

    case operation::cp_async:
    case operation::cp_async_group:
    case operation::mbarrier:
    case operation::bulk:
    case operation::bulk_group:
    case operation::tensor_copy:
    case operation::tensormap:
    case operation::async_store:
    case operation::async_reduce:
    case operation::wgmma_commit:
    case operation::wgmma_wait: return instruction_class::asynchronous;

    case operation::bar_sync:
    case operation::bar_arrive:
    case operation::bar_red:
    case operation::warp_sync:
    case operation::cluster_arrive:
    case operation::cluster_wait:
    case operation::griddepcontrol: return instruction_class::barrier;

    case operation::shfl:
    case operation::vote:
    case operation::match:
    case operation::activemask:
    case operation::redux:
    case operation::elect:
    case operation::movmatrix: return instruction_class::warp;

    case operation::bra:
    case operation::brx:
    case operation::call:
    case operation::ret:
    case operation::exit:
    case operation::trap:
    case operation::brkpt: return instruction_class::control;

    default: return instruction_class::other;
  }
}

std::string_view name_of(instruction_class c) {
  switch (c) {
    case instruction_class::integer: return "integer";
    case instruction_class::f32: return "f32";
    case instruction_class::f64: return "f64";
    case instruction_class::half: return "half";
    case instruction_class::approximate: return "special function";
    case instruction_class::conversion: return "conversion";
    case instruction_class::move: return "move";
    case instruction_class::comparison: return "comparison";
    case instruction_class::tensor: return "tensor core";
    case instruction_class::global_load: return "global load";
    case instruction_class::global_store: return "global store";
    case instruction_class::shared_load: return "shared load";
    case instruction_class::shared_store: return "shared store";
    case instruction_class::local: return "local";
    case instruction_class::constant: return "constant";
    case instruction_class::parameter: return "parameter";
    case instruction_class::generic: return "generic";
    case instruction_class::atomic: return "atomic";
    case instruction_class::asynchronous: return "asynchronous";
    case instruction_class::fence: return "fence";
    case instruction_class::barrier: return "barrier";
    case instruction_class::warp: return "warp";
    case instruction_class::control: return "control";
    case instruction_class::other: break;
  }
  return "other";
}

}  // namespace kaio::emulator::profile

#include "c/call/packed.hpp"

#include "c/call/error.hpp"

namespace kaio::c {

void require_out_type(const char* operation, const ops::any_view& x, const ops::any_view& out) {
  if (out.type != x.type && out.type != ops::element_kind::f32)
    refuse(operation, "argument out has neither the element type of x nor f32; give one of them");
}

}  // namespace kaio::c

#include "emulator/machine/locate_object.hpp"

#include <string_view>
#include <vector>

namespace kaio::emulator {
namespace {

std::string_view name_of(state_space space) {
  switch (space) {
    case state_space::global: return "global";
    case state_space::shared: return "shared";
    case state_space::local: return "local";
    case state_space::constant: return "constant";
    case state_space::param: return "parameter";
    case state_space::generic: break;
  }
  return "generic";
}

nearest_object nearest_variable(const std::vector<layout>& variables, u64 address, u64 total) {
  using relation = nearest_object::relation;
  nearest_object best;
  for (const layout& v : variables) {
    nearest_object o{relation::inside, false, v.offset, v.bytes, 0, v.name};
    if (address < v.offset) {
      o.where = relation::before;
      o.distance = v.offset - address;
    } else if (address - v.offset >= v.bytes) {
      o.where = relation::after;
      o.distance = address - v.offset - v.bytes;
    } else {
      o.distance = address - v.offset;
    }
    if (best.where == relation::none ||
        (best.where != relation::inside && (o.where == relation::inside || o.distance < best.distance)))
      best = o;
  }
  if (best.where == relation::none && total != 0)
    best = {address < total ? relation::inside : relation::after, false, 0, total,
            address < total ? address : address - total,          {}};
  return best;
}

}  // namespace

u64 locate_object(const block& b, state_space home, u64 offset, u64 address, fault_report& report) {
  report.space = name_of(home);
  u64 total = 0;
  switch (home) {
    case state_space::global: report.object = b.launched.global.nearest(address); break;
    case state_space::shared:
      total = b.shared.size();
      report.object = nearest_variable(b.launched.kernel.shared, offset, total);
      if (b.launched.dynamic_shared != 0 && offset >= b.launched.kernel.dynamic_shared_offset)
        report.object = nearest_variable({{"dynamic shared memory", b.launched.kernel.dynamic_shared_offset,
                                           b.launched.dynamic_shared, 1}},
                                         offset, 0);
      break;
    case state_space::local:
      total = b.launched.kernel.local_bytes;
      report.object = nearest_variable(b.launched.kernel.local, offset, total);
      break;
    case state_space::constant: {
      total = b.launched.constants.size();
      std::vector<layout> variables;
      for (const variable& v : b.launched.program.decoded().variables)
        if (v.space == state_space::constant) variables.push_back(v.where);
      report.object = nearest_variable(variables, offset, total);
      break;
    }
    case state_space::param:
      total = b.launched.parameters.size();
      report.object = nearest_variable(b.launched.kernel.parameters, offset, total);
      break;
    case state_space::generic: break;
  }
  if (home != state_space::global) report.object.address += address - offset;  // the kernel's own address
  return total;
}

}  // namespace kaio::emulator

#include "emulator/parse/link.hpp"

#include "emulator/program/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace kaio::emulator {
namespace {

using syntax::linkage;
using renaming = std::unordered_map<std::string_view, std::string_view>;

[[noreturn]] void fail(const place& at, std::string reason) {
  throw ptx_error(at.line, at.column, std::move(reason));
}

// ---- names private to a module ----

void rename(std::string_view& name, const renaming& to) {
  if (const auto found = to.find(name); found != to.end()) name = found->second;
}

void rename(syntax::operand& o, const renaming& to, const std::unordered_set<std::string_view>& local) {
  if (!o.name.empty() && !local.contains(o.name)) rename(o.name, to);
  for (syntax::operand& e : o.elements) rename(e, to, local);
}

void rename(std::vector<syntax::declaration>& declarations, const renaming& to) {
  for (syntax::declaration& d : declarations)
    for (syntax::initial_value& v : d.initial) rename(v.symbol, to);
}

void rename(syntax::function& f, const renaming& to) {
  rename(f.name, to);
  rename(f.alias_of, to);
  rename(f.declarations, to);
  std::unordered_set<std::string_view> local;
  for (const auto* list : {&f.declarations, &f.parameters, &f.results})
    for (const syntax::declaration& d : *list) local.insert(d.name);
  for (syntax::instruction& i : f.instructions)
    for (syntax::operand& o : i.operands) rename(o, to, local);
  for (syntax::targets& list : f.lists)
    if (list.kind == syntax::targets_kind::call)
      for (syntax::target_name& t : list.names) rename(t.name, to);
}

void rename(syntax::module& unit, const renaming& to) {
  if (to.empty()) return;
  rename(unit.variables, to);
  for (syntax::declaration& d : unit.variables) rename(d.name, to);
  for (syntax::function& f : unit.functions) rename(f, to);
}

// Calls the function with every name that the module declares, and whether other modules see the name.
template <class Function>
void for_names(const syntax::module& unit, Function&& function) {
  for (const syntax::declaration& d : unit.variables) function(d.name, d.link != linkage::none);
  std::unordered_set<std::string_view> seen;
  for (const syntax::function& f : unit.functions)
    if (f.link != linkage::none) seen.insert(f.name);
  for (const syntax::function& f : unit.functions) function(f.name, f.is_entry || seen.contains(f.name));
}

void keep_own_names(std::vector<syntax::module>& units, std::deque<std::string>& names) {
  std::unordered_map<std::string_view, std::size_t> users;  // name -> the last unit that has it
  std::unordered_set<std::string_view> several;
  for (std::size_t k = 0; k < units.size(); ++k)
    for_names(units[k], [&](std::string_view name, bool) {
      const auto [at, fresh] = users.emplace(name, k);
      if (!fresh && at->second != k) several.insert(name);
      at->second = k;
    });
  for (std::size_t k = 0; k < units.size(); ++k) {
    renaming to;
    for_names(units[k], [&](std::string_view name, bool shared) {
      if (shared || !several.contains(name) || to.contains(name)) return;
      std::string own = fmt::format("{}$module{}", name, k);
      while (users.contains(own)) own += '$';
      to.emplace(name, names.emplace_back(std::move(own)));
    });
    rename(units[k], to);
  }
}

// ---- shared names ----

// Chooses one of several definitions: the one that is not weak, or the first.
template <class Symbol>
void choose(std::vector<Symbol*>& definitions) {
  const auto is_weak = [](const Symbol* s) { return s->link == linkage::weak; };
  const auto strong = std::find_if_not(definitions.begin(), definitions.end(), is_weak);
  if (strong != definitions.end()) std::iter_swap(definitions.begin(), strong);
  for (std::size_t k = 1; k < definitions.size(); ++k)
    if (!is_weak(definitions[k]))
      fail(definitions[k]->at, fmt::format("'{}' is defined in two modules", definitions[k]->name));
}

void link_functions(std::vector<syntax::function>& functions) {
  std::unordered_map<std::string_view, std::vector<syntax::function*>> defined;
  for (syntax::function& f : functions)
    if (f.has_body || !f.alias_of.empty()) defined[f.name].push_back(&f);
  for (auto& [name, definitions] : defined) {
    choose(definitions);
    for (std::size_t k = 1; k < definitions.size(); ++k) {
      syntax::function declared;
      declared.at = definitions[k]->at;
      declared.is_entry = definitions[k]->is_entry;
      declared.link = linkage::weak;
      declared.name = definitions[k]->name;
      declared.results = definitions[k]->results;
      declared.parameters = definitions[k]->parameters;
      *definitions[k] = std::move(declared);
    }
  }
  for (syntax::function& f : functions)
    if (f.link == linkage::external && defined.contains(f.name)) f.link = linkage::visible;
}

void link_variables(std::vector<syntax::declaration>& variables) {
  std::unordered_map<std::string_view, std::vector<syntax::declaration*>> defined;
  for (syntax::declaration& d : variables)
    if (d.link != linkage::external) defined[d.name].push_back(&d);
  for (auto& [name, definitions] : defined) {
    const bool all_common = std::all_of(definitions.begin(), definitions.end(), [](const auto* d) {
      return d->link == linkage::common && d->initial.empty();
    });
    if (all_common) {  // keep the largest
      const auto largest =
          std::max_element(definitions.begin(), definitions.end(),
                           [](const auto* a, const auto* b) { return a->elements < b->elements; });
      std::iter_swap(definitions.begin(), largest);
    } else {
      for (syntax::declaration* d : definitions)
        if (d->link == linkage::common && d->initial.empty()) d->link = linkage::weak;
      choose(definitions);
    }
    for (std::size_t k = 1; k < definitions.size(); ++k) {
      definitions[k]->link = linkage::external;
      definitions[k]->initial.clear();
    }
  }
}

// Orders targets: sm_90 < sm_100 < sm_100f < sm_100a.
u32 specificity(const syntax::module& m) {
  return m.target.sm * 4u + (m.target.arch_specific ? 2u : m.family_specific ? 1u : 0u);
}

}  // namespace

void link_units(std::vector<syntax::module>& units, std::deque<std::string>& names) {
  keep_own_names(units, names);
  syntax::module& all = units.front();
  for (std::size_t k = 1; k < units.size(); ++k) {
    syntax::module& unit = units[k];
    if (all.version < unit.version) all.version = unit.version;
    if (specificity(all) < specificity(unit)) {
      all.target = unit.target;
      all.family_specific = unit.family_specific;
    }
    std::move(unit.variables.begin(), unit.variables.end(), std::back_inserter(all.variables));
    std::move(unit.functions.begin(), unit.functions.end(), std::back_inserter(all.functions));
  }
  link_functions(all.functions);
  link_variables(all.variables);
}

}  // namespace kaio::emulator

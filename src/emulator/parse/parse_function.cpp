// Functions: their names, parameters and directives.

#include "emulator/parse/parser_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace kaio::emulator {

void parser_state::function(syntax::linkage link) {
  if (module_.functions.size() >= budget_.functions)
    throw failure(peek().at, fmt::format("more than {} functions", budget_.functions));
  syntax::function f;
  const token keyword = take();
  f.is_entry = keyword.is(".entry");
  f.link = link;
  if (!f.is_entry && peek().is(".attribute")) {
    take();
    attributes(nullptr);
  }
  if (!f.is_entry && peek().is("(")) formal_parameters(f.results, false, false);
  const token name = identifier("the name of a function");
  if (name.is("_")) throw failure(name.at, "'_' is not the name of a function");
  f.name = name.text;
  f.at = name.at;
  if (f.is_entry && peek().is("(") && module_.version < ptx::isa_version{1, 4})
    throw failure(peek().at, "a kernel has a list of parameters since PTX ISA 1.4");
  if (peek().is("(")) formal_parameters(f.parameters, f.is_entry, false);
  if (f.results.size() > 1)
    for (const syntax::declaration& d : f.results)
      if (d.space == syntax::state_space::param)
        throw failure(d.at, "a function returns several values in .reg, not in .param");
  if (f.is_entry)
    entry_directives(f);
  else
    function_directives();
  if (!accept(";")) {
    const token open = expect("{", "to open a body");
    if (link == syntax::linkage::external)
      throw failure(f.at, fmt::format("'{}' is external and has no body here", f.name));
    f.has_body = true;
    enter(open.at);
    body(f);
    leave();
  }
  module_.functions.push_back(std::move(f));
}

// The parameters of an entry, a .func or a prototype; a prototype's have no names.
void parser_state::formal_parameters(std::vector<syntax::declaration>& to, bool is_entry, bool nameless) {
  take();  // (
  if (accept(")")) return;
  do {
    if (to.size() >= budget_.parameters)
      throw failure(peek().at, fmt::format("more than {} parameters", budget_.parameters));
    const u32 aligned = alignment();
    const token space = take();
    if (!space.is(".param") && (is_entry || !space.is(".reg")))
      throw failure(space.at, fmt::format("expected '.param' to declare a parameter, not {}", quoted(space)));
    syntax::declaration d;
    d.space = space_of(space.text);
    d.alignment = aligned;
    type_of(d);
    pointer_attributes(is_entry);
    declarator(d, nameless);
    if (d.unsized)
      throw failure(d.at, is_entry ? fmt::format("parameter '{}' has no size", d.name)
                                   : "functions with a variable number of arguments are not supported");
    if (d.is_range) throw failure(d.at, fmt::format("parameter '{}' is one register", d.name));
    to.push_back(std::move(d));
  } while (accept(","));
  expect(")", "after the parameters");
}

// .ptr{.space}{.align n}: the target of a pointer. ptxas also takes .align without .ptr; it moves no parameter.
void parser_state::pointer_attributes(bool is_entry) {
  const token t = peek();
  if (!t.is(".ptr") && !(is_entry && t.is(".align"))) return;
  if (!is_entry) throw failure(t.at, ".ptr is for the parameters of kernels");
  accept(".ptr");
  const token space = peek();
  if (space.is(".const") || space.is(".global") || space.is(".local") || space.is(".shared")) take();
  if (!accept(".align")) return;
  const place at = peek().at;
  const u32 alignment = small_literal("an alignment", 0x7fffffff);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw failure(at, "an alignment is a power of two");
}

void parser_state::entry_directives(syntax::function& f) {
  bool cluster_rank = false;
  place blocks_are_clusters{};
  const auto extents_of = [&](syntax::dimensions& to, std::string_view what, bool zero) {
    to.given = true;
    to.extent = {1, 1, 1};
    std::uint32_t* const axes[] = {&to.extent.x, &to.extent.y, &to.extent.z};
    for (unsigned i = 0; i < 3; ++i) {
      const place at = peek().at;
      *axes[i] = small_literal(what, 0x7fffffff);
      if (*axes[i] == 0 && !zero) throw failure(at, fmt::format("{} must not be zero", what));
      if (i == 2 || !accept(",")) return;
    }
  };
  for (;;) {
    const token t = peek();
    if (t.is(".maxntid") || t.is(".reqntid")) {
      take();
      extents_of(t.is(".maxntid") ? f.maximum_threads : f.required_threads, t.text, false);
      if (f.maximum_threads.given && f.required_threads.given)
        throw failure(t.at, ".maxntid and .reqntid exclude each other");
    } else if (t.is(".reqnctapercluster")) {
      take();
      extents_of(f.required_cluster, t.text, true);
    } else if (t.is(".maxnreg") || t.is(".minnctapersm") || t.is(".maxclusterrank") ||
               (t.is(".maxnctapersm") && module_.version < ptx::isa_version{2, 1})) {
      take();
      const place at = peek().at;
      if (small_literal(t.text, 0x7fffffff) == 0 && !t.is(".maxclusterrank"))
        throw failure(at, fmt::format("{} must not be zero", t.text));
      cluster_rank = cluster_rank || t.is(".maxclusterrank");
    } else if (t.is(".maxnctapersm")) {
      throw failure(t.at, ".maxnctapersm is not supported since PTX ISA 2.1; write .minnctapersm");
    } else if (t.is(".explicitcluster")) {
      take();
      f.explicit_cluster = true;
    } else if (t.is(".blocksareclusters")) {
      blocks_are_clusters = take().at;
    } else if (t.is(".noreturn") || t.is(".abi_preserve") || t.is(".abi_preserve_control")) {
      throw failure(t.at, fmt::format("{} is for functions, not for kernels", t.text));
    } else if (!skip_debugging()) {
      break;
    }
  }
  if (cluster_rank && f.required_cluster.given)
    throw failure(f.at, ".reqnctapercluster and .maxclusterrank exclude each other");
  if (blocks_are_clusters.line != 0 && (!f.required_threads.given || !f.required_cluster.given))
    throw failure(blocks_are_clusters, ".blocksareclusters needs .reqntid and .reqnctapercluster");
}

// Directives about calling conventions make no difference to an emulator.
void parser_state::function_directives() {
  constexpr std::array<std::string_view, 8> of_kernels = {
      ".maxntid",      ".reqntid",        ".minnctapersm",      ".maxnreg",
      ".maxnctapersm", ".maxclusterrank", ".reqnctapercluster", ".explicitcluster"};
  for (;;) {
    const token t = peek();
    if (t.is(".noreturn")) {
      take();
    } else if (t.is(".abi_preserve") || t.is(".abi_preserve_control")) {
      take();
      small_literal(t.text, 0x7fffffff);
    } else if (std::find(of_kernels.begin(), of_kernels.end(), t.text) != of_kernels.end()) {
      throw failure(t.at, fmt::format("{} is for kernels, not for functions", t.text));
    } else if (t.is(".pragma") || !skip_debugging()) {
      return;
    }
  }
}

}  // namespace kaio::emulator

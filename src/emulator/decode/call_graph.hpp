#pragma once
// The call graph of a module, read from the text before decoding. For a kernel it gives the functions to
// decode, their order, and the calls that may re-enter the calling function.
//
//   call_graph graph(module_functions, variables);
//   const reached_functions r = graph.from(kernel);
//   r.order   // callees before their callers

#include "emulator/parse/syntax.hpp"

#include <string_view>
#include <unordered_map>
#include <vector>

namespace kaio::emulator {

// A function of a module, with all of its declarations.
struct function_symbol {
  const syntax::function* declared = nullptr;  // the first of them
  const syntax::function* defined = nullptr;   // the one with the body; nullptr: there is none
};

struct function_table {
  std::vector<function_symbol> functions;  // by number, in the order of their names in the text
  std::unordered_map<std::string_view, u32> numbers;

  const function_symbol* find(std::string_view name) const;
};

struct reached_functions {
  std::vector<u32> order;               // function numbers; any order within a circle of mutual calls
  std::unordered_map<u32, u32> circle;  // number -> circle: functions of one circle may call each other
  u32 pointer_circle = 0;               // the circle of all functions called through pointers
  bool recursive = false;
};

class call_graph {
 public:
  call_graph(const function_table& table, const std::vector<syntax::declaration>& variables);

  // The functions that function `number` reaches, itself last.
  reached_functions from(u32 number) const;
  const std::vector<u32>& callees(u32 number) const { return nodes_[number].callees; }
  bool calls_pointers(u32 number) const { return nodes_[number].calls_pointers; }
  // The functions whose address is taken.
  const std::vector<u32>& pointed() const { return pointed_; }

 private:
  struct node {
    std::vector<u32> callees;
    bool calls_pointers = false;
  };

  void read(node& n, const syntax::function& f);
  void point_to(std::string_view name);
  void point_to(const syntax::operand& o);

  const function_table& table_;
  std::vector<node> nodes_;
  std::vector<u32> pointed_;
  std::vector<bool> is_pointed_;
};

}  // namespace kaio::emulator

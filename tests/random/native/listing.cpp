// A random program as text, close to what it would be in C++.
#include "tests/random/native/program.hpp"

namespace kaio::tests::random {
namespace {

std::string text_of(element t) {
  static const char* const names[] = {"i8",  "i16", "i32",  "i64", "u8",  "u16", "u32",
                                      "u64", "f16", "bf16", "f32", "f64", "bool"};
  return names[static_cast<unsigned>(t)];
}

std::string name_of(std::uint32_t name) { return "v" + std::to_string(name); }

// {operand} is replaced by its text, # for the number, T for the type.
const char* form_of(op what) {
  switch (what) {
    case op::literal:
    case op::read: return "";
    case op::convert: return "cast<T>({0})";
    case op::from_condition: return "cast<T>({0})";
    case op::add: return "({0} + {1})";
    case op::sub: return "({0} - {1})";
    case op::mul: return "({0} * {1})";
    case op::quotient: return "({0} / {1})";
    case op::remainder: return "({0} % {1})";
    case op::bit_and: return "({0} & {1})";
    case op::bit_or: return "({0} | {1})";
    case op::bit_xor: return "({0} ^ {1})";
    case op::minimum: return "min({0}, {1})";
    case op::maximum: return "max({0}, {1})";
    case op::mul_hi: return "mul_hi({0}, {1})";
    case op::add_sat: return "add_sat({0}, {1})";
    case op::sub_sat: return "sub_sat({0}, {1})";
    case op::shift_left: return "({0} << ({1} & 63))";
    case op::shift_right: return "({0} >> ({1} & 63))";
    case op::shift_left_by: return "({0} << #)";
    case op::shift_right_by: return "({0} >> #)";
    case op::rotate_left: return "rotate_left({0}, #)";
    case op::neg: return "(-{0})";
    case op::abs: return "abs({0})";
    case op::sqrt: return "sqrt({0})";
    case op::bit_not: return "(~{0})";
    case op::brev: return "brev({0})";
    case op::select: return "select({0}, {1}, {2})";
    case op::product_plus: return "[{0} * {1} + {2}]";
    case op::plus_product: return "[{2} + {0} * {1}]";
    case op::product_minus: return "[{0} * {1} - {2}]";
    case op::minus_product: return "[{2} - {0} * {1}]";
    case op::two_products: return "[{0} * {1} + {2} * {3}]";
    case op::polynomial: return "[({0} * {1} + {2}) * {3} + {4}]";
    case op::lesser: return "[select({0} < {1}, {2} + {3}, {1})]";
    case op::clamped: return "[min(max({0}, {1}), {2})]";
    case op::masked: return "[({0} & {1}) ^ {2}]";
    case op::shifted_sum: return "[({0} << #) + {1}]";
    case op::less: return "({0} < {1})";
    case op::less_equal: return "({0} <= {1})";
    case op::greater: return "({0} > {1})";
    case op::greater_equal: return "({0} >= {1})";
    case op::equal: return "({0} == {1})";
    case op::not_equal: return "({0} != {1})";
    case op::both: return "({0} & {1})";
    case op::either: return "({0} | {1})";
    case op::negation: return "(!{0})";
  }
  return "?";
}

std::string text_of(const expression& e) {
  if (e.what == op::read) return name_of(e.name);
  if (e.what == op::literal && is_floating(e.type))
    return text_of(e.type) + '(' + std::to_string(e.real) + ')';
  if (e.what == op::literal) return text_of(e.type) + '(' + std::to_string(e.whole) + ')';
  std::string text;
  for (const char* c = form_of(e.what); *c != 0; ++c) {
    if (*c == 'T') {
      text += text_of(e.type);
    } else if (*c == '#') {
      text += std::to_string(e.whole);
    } else if (*c == '{') {
      text += text_of(e.operands[static_cast<std::size_t>(c[1] - '0')]);
      c += 2;
    } else {
      text += *c;
    }
  }
  return text;
}

std::string unrolling(std::uint32_t copies) {
  if (copies == 1) return "";
  if (copies == 0) return ".unroll()";
  if (copies == no_unroll) return ".no_unroll()";
  return ".unroll<" + std::to_string(copies) + ">()";
}

class writer {
 public:
  void write(const std::vector<statement>& body) {
    indent_ += 2;
    for (const statement& s : body) write(s);
    indent_ -= 2;
  }
  std::string text;

 private:
  void line(const std::string& one) { text += std::string(indent_, ' ') + one + '\n'; }
  void block(const std::string& head, const std::vector<statement>& body) {
    line(head + " {");
    write(body);
    line("}");
  }

  void write(const statement& s) {
    const auto operand = [&](std::size_t k) { return text_of(s.operands[k]); };
    const std::string name = name_of(s.name);
    const std::string number = std::to_string(s.number);
    const std::string exchanged = "val<" + text_of(s.type) + "> " + name + " = ";
    switch (s.what) {
      case action::bind: return line("val<" + text_of(s.type) + "> " + name + " = " + operand(0) + ';');
      case action::declare: return line("var<" + text_of(s.type) + "> " + name + "(t, " + operand(0) + ");");
      case action::assign: return line(name + " = " + operand(0) + ';');
      case action::add_to: return line(name + " += " + operand(0) + ';');
      case action::sub_from: return line(name + " -= " + operand(0) + ';');
      case action::mul_by: return line(name + " *= " + operand(0) + ';');
      case action::or_with: return line(name + " |= " + operand(0) + ';');
      case action::shift_by: return line(name + " >>= " + operand(0) + ';');
      case action::store:
        return line('y' + std::to_string(s.output) + "[i + " + std::to_string(s.number * threads) +
                    "] = " + operand(0) + ';');
      case action::when:
        block("if (auto g = t.when(" + operand(0) + "))", s.body);
        if (!s.rest.empty()) block("if (auto g = t.otherwise())", s.rest);
        return;
      case action::range:
      case action::rounds:
        return block("for (auto " + name + " : t.range<" + text_of(s.type) + ">(" + operand(0) + ", " +
                         operand(1) + ", " + operand(2) + ')' + unrolling(s.copies) + ')',
                     s.body);
      case action::loop: return block("for (auto l : t.loop())", s.body);
      case action::leave: return line(outwards(s) + "break_if(" + operand(0) + ");");
      case action::skip: return line(outwards(s) + "continue_if(" + operand(0) + ");");
      case action::call: return call(s);
      case action::shuffle: return line(exchanged + "shfl_xor(" + name_of(s.source) + ", " + number + ");");
      case action::rearrange:
        return line(exchanged + name_of(s.source) + " of thread (i * " + number + " + 3) % threads;");
      case action::reduce: return line(exchanged + "block_reduce(t, " + name_of(s.source) + ");");
    }
  }

  static std::string outwards(const statement& s) {
    return s.number == 0 ? "" : "of the loop " + std::to_string(s.number) + " further out: ";
  }

  void call(const statement& s) {
    std::string parameters;
    std::string arguments;
    for (std::size_t k = 0; k < s.parameters.size(); ++k) {
      const parameter& p = s.parameters[k];
      if (k != 0) {
        parameters += ", ";
        arguments += ", ";
      }
      parameters += (p.is_var ? "var<" : "const val<") + text_of(p.type) + ">& " + name_of(p.name);
      arguments += text_of(s.operands[k]);
    }
    line("val<" + text_of(s.type) + "> " + name_of(s.name) + " = [&](" + parameters + ") {");
    write(s.body);
    line("  return t.let(" + text_of(s.operands.back()) + ");");
    line("}(" + arguments + ");");
  }

  std::size_t indent_ = 0;
};

}  // namespace

std::string listing(const program& p) {
  writer w;
  w.text = p.name() + " of seed " + std::to_string(p.seed) + ": sm_" + std::to_string(p.target) +
           (p.contract ? "" : ", not contracted") + "; [...] is one expression\n";
  for (std::uint32_t k = 0; k < buffers; ++k)
    w.text += "  val<" + text_of(p.inputs[k]) + "> " + name_of(k) + " = x" + std::to_string(k) + "[i];\n";
  for (std::uint32_t k = 0; k < buffers; ++k)
    w.text += "  out<" + text_of(p.outputs[k]) + "> y" + std::to_string(k) + ";\n";
  w.write(p.body);
  return w.text;
}

}  // namespace kaio::tests::random

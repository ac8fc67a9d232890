#!/usr/bin/env python3
"""Makes the Python face of the operations from the descriptions of the C interface (src/c/operations/*.json).

    generate.py [--check]

Writes
  python/kaio/operations.py                  the functions and records of the package, with types and docstrings
  python/native/generated/operations.cpp     the tables that the native module reads (python/native/description.hpp)
  docs/python/operations.md                  the page of the functions
--check: writes nothing, and names each file that differs.

A struct named in FLAT becomes keywords of the function; every other struct becomes a class. MADE says which outputs a call
makes if they are not given. Options that are outputs are made if they are True.
"""

import keyword
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "src" / "c"))
import generate as c_interface  # noqa: E402

# Functions with C pointers are bound by hand (native/weights.cpp), or not bound: kaio.torch.distributed has ranks of torch.
BY_HAND = {"weights", "distributed"}
# Pointers that Python has as objects (native/ranks.cpp), and what they are.
HANDLES = {"const kaio_peer_workspace*": "peer_workspace", "const kaio_peer_buffer*": "peer_buffer"}
HANDLES_SAID = {"peer_workspace": "of this rank; every rank makes the call", "peer_buffer": "made by peers.buffer(); gets the rows"}
FLAT = {"options", "sequences"}

# (operation, output): the shape, as an expression of the arguments, and whose element type it has if `dtype` does not say.
MADE = {
    ("attention", "out"): ("(*q.shape[:-1], v.shape[-1])", "q"),
    ("attention", "lse"): ("(q.shape[0], q.shape[2], q.shape[1])", "f32"),
    ("attention_varlen", "out"): ("(*q.shape[:-1], v.shape[-1])", "q"),
    ("attention_varlen", "lse"): ("(q.shape[1], q.shape[0])", "f32"),
    ("merge_states", "out"): ("out_a.shape", "out_a"),
    ("merge_states", "lse"): ("lse_a.shape", "lse_a"),
    ("attention_backward", "dq"): ("q.shape", "q"),
    ("attention_backward", "dk"): ("k.shape", "k"),
    ("attention_backward", "dv"): ("v.shape", "v"),
    ("attention_backward", "dsinks"): ("forward.sinks.shape", "forward.sinks"),
    ("attention_backward", "dbias"): ("forward.bias.shape", "forward.bias"),
    ("attention_backward_varlen", "dq"): ("q.shape", "q"),
    ("attention_backward_varlen", "dk"): ("k.shape", "k"),
    ("attention_backward_varlen", "dv"): ("v.shape", "v"),
    ("attention_backward_varlen", "dsinks"): ("forward.sinks.shape", "forward.sinks"),
    ("attention_decode", "out"): ("(*q.shape[:-1], cache.v.shape[-1])", "q"),
    ("attention_decode", "lse"): ("(q.shape[0], q.shape[2], q.shape[1])", "f32"),
    ("attention_decode_varlen", "out"): ("(*q.shape[:-1], cache.v.shape[-1])", "q"),
    ("attention_decode_varlen", "lse"): ("(q.shape[1], q.shape[0])", "f32"),
    ("rotary", "out"): ("x.shape", "x"),
    ("rotary_varlen", "out"): ("x.shape", "x"),
    ("matmul", "out"): ("_product(a, b)", "a 16"),
    ("matmul_grouped", "out"): ("((a if rows is None else rows).shape[0], b.shape[2])", "a"),
    ("matmul_grouped_backward", "da"): ("a.shape", "a"),
    ("matmul_grouped_backward", "db"): ("b.shape", "b"),
    ("gate_up_grouped", "out"): ("((x if rows is None else rows).shape[0], gate.shape[2])", "x"),
    ("matmul_backward", "da"): ("a.shape", "a"),
    ("matmul_backward", "db"): ("b.shape", "b"),
    ("all_reduce", "out"): ("x.shape", "x"),
    ("all_reduce_rms_norm", "out"): ("x.shape", "x"),
    ("all_reduce_rms_norm", "residual_out"): ("x.shape", "x"),
    ("all_reduce_rms_norm_codes", "codes"): ("x.shape", "i8"),
    ("all_reduce_rms_norm_codes", "scales"): ("x.shape[:-1]", "f32"),
    ("all_reduce_rms_norm_codes", "residual_out"): ("x.shape", "x"),
    ("all_reduce_rms_norm_codes", "y_out"): ("x.shape", "x"),
    ("all_gather_matmul", "out"): ("(peers.ranks * a.shape[0], b.shape[1])", "a 16"),
    ("matmul_reduce_scatter", "out"): ("(a.shape[0] // peers.ranks, b.shape[1])", "a 16"),
    ("matmul_all_reduce", "out"): ("_product(a, b)", "a 16"),
    ("send_to_experts", "local_offsets"): ("((offsets.shape[0] - 1) // peers.ranks + 1,)", "i32"),
    ("matmul_int8", "out"): ("_product(a, b)", "i32"),
    ("int8_column_sums", "sums"): ("(b.shape[1],)", "i32"),
    ("quantise_int8", "codes"): ("x.shape", "i8"),
    ("quantise_int8", "scales"): ("x.shape[:1]", "f32"),
    ("quantise_int8", "zero_points"): ("x.shape[:1]", "i32"),
    ("matmul_fp8", "out"): ("_product(a, b)", "bf16"),
    ("matmul_int8_grouped", "out"): ("((a if rows is None else rows).shape[0], b.shape[2] // (1 if gate == 'none' else 2))", "i32"),
    ("matmul_fp8_grouped", "out"): ("((a if rows is None else rows).shape[0], b.shape[2] // (1 if gate == 'none' else 2))", "bf16"),
    ("quantise_fp8", "codes"): ("x.shape", "e4m3"),
    ("quantise_fp8", "scales"): ("x.shape[:1]", "f32"),
    ("quantise_fp8_blocks", "codes"): ("w.shape", "e4m3"),
    ("quantise_fp8_blocks", "blocks"): ("(-(-w.shape[0] // 128), -(-w.shape[1] // 128))", "f32"),
    ("rms_norm", "out"): ("x.shape", "x"),
    ("rms_norm", "residual_out"): ("x.shape", "x"),
    ("rms_norm_codes", "codes"): ("x.shape", "i8"),
    ("rms_norm_codes", "scales"): ("x.shape[:-1]", "f32"),
    ("rms_norm_codes", "residual_out"): ("x.shape", "x"),
    ("rms_norm_codes", "y_out"): ("x.shape", "x"),
    ("layer_norm", "out"): ("x.shape", "x"),
    ("layer_norm", "residual_out"): ("x.shape", "x"),
    ("layer_norm_codes", "codes"): ("x.shape", "i8"),
    ("layer_norm_codes", "scales"): ("x.shape[:-1]", "f32"),
    ("layer_norm_codes", "residual_out"): ("x.shape", "x"),
    ("layer_norm_codes", "y_out"): ("x.shape", "x"),
    ("rms_norm_backward", "dx"): ("x.shape", "x"),
    ("rms_norm_backward", "dweight"): ("x.shape[-1:]", "x"),
    ("layer_norm_backward", "dx"): ("x.shape", "x"),
    ("layer_norm_backward", "dweight"): ("x.shape[-1:]", "x"),
    ("layer_norm_backward", "dbias"): ("x.shape[-1:]", "x"),
    ("softmax", "out"): ("x.shape", "x"),
    ("softmax", "lse"): ("x.shape[:-1]", "f32"),
    ("log_softmax", "out"): ("x.shape", "x"),
    ("log_softmax", "lse"): ("x.shape[:-1]", "f32"),
    ("softmax_backward", "dx"): ("y.shape", "y"),
    ("log_softmax_backward", "dx"): ("y.shape", "y"),
    ("cross_entropy", "lse"): ("logits.shape[:1]", "f32"),
    ("cross_entropy", "total_weight"): ("(1,)", "f32"),
    ("cross_entropy_backward", "dlogits"): ("logits.shape", "logits"),
    ("linear_cross_entropy", "lse"): ("x.shape[:1]", "f32"),
    ("linear_cross_entropy", "total_weight"): ("(1,)", "f32"),
    ("linear_cross_entropy_backward", "dx"): ("x.shape", "x"),
    ("linear_cross_entropy_backward", "dweight"): ("weight.shape", "x"),
    ("linear_cross_entropy_backward", "dbias"): ("weight.shape[:1]", "x"),
    ("qk_norm_rotary", "q_out"): ("q.shape", "q"),
    ("qk_norm_rotary", "k_out"): ("k.shape", "q"),
    ("activate", "out"): ("x.shape", "x"),
    ("activate_backward", "dx"): ("x.shape", "x"),
    ("gated", "out"): ("gate.shape", "gate"),
    ("gated_backward", "dgate"): ("gate.shape", "gate"),
    ("gated_backward", "dup"): ("up.shape", "up"),
    ("int8_dequant", "out"): ("codes.shape", "f32"),
    ("int8_dequant_groups", "out"): ("codes.shape", "f32"),
    ("reduce", "out"): ("_reduced(x, axis, all)", "x"),
    ("scan", "out"): ("x.shape", "x"),
    ("histogram", "outside"): ("(3,)", "u32"),
    ("embedding", "out"): ("(*indices.shape, weight.shape[1])", "weight"),
    ("sort_by_expert", "counts"): ("(offsets.shape[0] - 1,)", "i32"),
    ("sort_by_expert", "tokens"): ("(indices.shape[0] * indices.shape[1],)", "i32"),
    ("sort_by_expert", "positions"): ("indices.shape", "i32"),
    ("combine_experts", "out"): ("(weights.shape[0], y.shape[1])", "y"),
    ("sample", "tokens"): ("logits.shape[:1]", "i32"),
    ("sample", "logprobs"): ("logits.shape[:1]", "f32"),
    ("sample", "lse"): ("logits.shape[:1]", "f32"),
    ("matmul_w4", "out"): ("(x.shape[0], weights.n)", "x"),
    ("matmul_w8", "out"): ("(x.shape[0], weights.n)", "x"),
    ("matmul_w4_grouped", "out"): ("((x if rows is None else rows).shape[0], weights.n // (1 if gate == 'none' else 2))", "x"),
    ("matmul_w8_grouped", "out"): ("((x if rows is None else rows).shape[0], weights.n // (1 if gate == 'none' else 2))", "x"),
    ("dequantise_w4", "out"): ("(weights.n, weights.k)", "weights.memory f16"),
    ("dequantise_w8", "out"): ("(weights.n, weights.k)", "weights.memory f16"),
}
# Optional outputs that a call makes unless they are False.
MADE_UNLESS_FALSE = {("attention_backward", "dq"), ("attention_backward", "dk"), ("attention_backward", "dv"),
                     ("attention_backward_varlen", "dq"), ("attention_backward_varlen", "dk"), ("attention_backward_varlen", "dv"),
                     ("matmul_backward", "da"), ("matmul_backward", "db"),
                     ("matmul_grouped_backward", "da"), ("matmul_grouped_backward", "db"),
                     ("linear_cross_entropy_backward", "dx"), ("linear_cross_entropy_backward", "dweight")}
# Optional outputs that are made if they are not given, since the call is seldom meant without them.
MADE_BY_DEFAULT = {("quantise_int8", "scales"), ("quantise_fp8", "scales"), ("rms_norm_codes", "scales"),
                   ("layer_norm_codes", "scales"), ("merge_states", "lse")}
# Options whose name is that of an argument.
RENAMED = {("rms_norm_codes", "scale"): "norm_scale", ("layer_norm_codes", "scale"): "norm_scale"}
# Arguments with other names than in C.
# Outputs that are inputs too, and not returned.
CHANGED = {("all_reduce_rms_norm_codes", "x")}
ARGUMENTS = {("all_reduce", "from"): "x", ("all_reduce", "to"): "out"}

KINDS = {"tensor": "tensor", "workspace": "workspace", "tensors": "tensors", "count": "count", "struct": "record", "enum": "enumeration",
         "bool": "flag", "i32": "i32", "u32": "u32", "i64": "i64", "u64": "u64", "f32": "f32", "f64": "f64", "u8": "byte",
         "string": "string", "device": "device", "text": "text", "peer_workspace": "peer_workspace", "peer_buffer": "peer_buffer"}
HINTS = {"tensor": "Array", "workspace": "Array", "tensors": "Sequence[Array]", "bool": "bool", "i32": "int", "u32": "int",
         "i64": "int", "u64": "int", "u8": "int", "f32": "float", "f64": "float", "string": "str", "device": "str | Array"}


def class_name(struct):
    return "".join(part[:1].upper() + part[1:] for part in struct.split("_"))


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def argument_name(operation, argument):
    """The name in Python: an output with a name of one letter is `out`."""
    if argument.get("c") == "const kaio_peer_workspace*":
        return "peers"
    if (operation["name"], argument["name"]) in ARGUMENTS:
        return ARGUMENTS[operation["name"], argument["name"]]
    outputs = [a for a in operation["arguments"] if a.get("output") and a["type"] in ("tensor", "tensors")]
    if argument.get("output") and len(outputs) == 1 and len(argument["name"]) == 1:
        return "out"
    return python_name(argument["name"])


def operations_of(all):
    for name, family in all.families.items():
        if name in BY_HAND:
            continue
        for operation in family.get("operations", ()):
            if any(a["type"] == "c" and a["c"] in HANDLES for a in operation["arguments"]):
                if any(a["name"] == "stream" for a in operation["arguments"]):
                    arguments = [a for a in operation["arguments"] if a["name"] != "stream"]
                    yield name, family, {**operation, "arguments": arguments, "of_ranks": True}
            elif not operation.get("plain") or operation["name"] in ("w4_packed_bytes", "w8_packed_bytes"):
                yield name, family, operation


def is_bound(operation):
    """Whether it is a function of the package. Those of several ranks have a stream, and no queries."""
    return not operation.get("plain") or operation.get("of_ranks", False)


def records_of(all):
    for name, family in all.families.items():
        if name in BY_HAND:
            continue
        for struct in family.get("structs", ()):
            if not struct.get("output") and struct["name"] != "peer_workspace_options":
                yield struct


def is_flat(argument):
    return argument["type"] == "struct" and argument["name"] in FLAT


def default_of(field):
    if field["type"] in c_interface.POINTERS or field.get("optional"):
        return "None"
    value = field.get("default", 0)
    if field["type"] == "bool":
        return str(bool(value))
    if field["type"] in ("f32", "f64"):
        return repr(float(value))
    return repr(value)


def hint_of(all, field):
    kind = field["type"]
    if kind == "struct":
        hint = class_name(field["of"])
    elif kind == "enum":
        enum = all.enums[field["of"]]
        hint = "str" if enum.get("flags") else f"Literal[{', '.join(repr(v[0]) for v in enum['values'])}]"
    elif kind == "list":
        hint = "Sequence[float]" if field["of"] == "f64" else "Sequence[int]"
    elif kind == "c":
        hint = class_name(HANDLES[field["c"]])
    else:
        hint = HINTS[kind]
    return hint


def enum_default(all, field):
    enum = all.enums[field["of"]]
    number = field.get("default", 0)
    return repr(next((v[0] for v in enum["values"] if v[1] == number), enum["values"][0][0]))


def parameter_of(all, field, made=False):
    """`name: hint = default` of a field that becomes a keyword."""
    hint, default = hint_of(all, field), default_of(field)
    if field["type"] == "enum":
        default = enum_default(all, field)
    if default == "None":
        hint += " | None"
    if made:
        hint = "Array | bool | None"
    return f"{python_name(field['name'])}: {hint} = {default}"


def sentence(text):
    return text.replace("KAIO_INVALID_ARGUMENT", "InvalidArgument").replace("kaio_", "").replace("NULL", "None").replace("`", "")


def explained(field):
    if field["type"] == "c":
        return HANDLES_SAID[HANDLES[field["c"]]]
    if field["type"] == "workspace" and field["name"] == "workspace":
        return "memory for the call, of any type; None: made if it is needed"
    if field["name"] == "variant":
        return "the kernel to run, as kaio.choice names it; None: the best one"
    said = sentence(c_interface.explain({k: v for k, v in field.items() if k != "text" or field["type"] != "enum"}))
    if field["type"] == "enum":
        said = sentence(field.get("text", ""))
    return said.replace("1: ", "True: ", 1).replace("; 0: ", "; False: ", 1) if field["type"] == "bool" else said


def wrapped(text, indent, first=None):
    return "\n".join(textwrap.wrap(text, 116, initial_indent=indent if first is None else first, subsequent_indent=indent,
                                   break_long_words=False, break_on_hyphens=False))


class call:
    """One function of the package."""

    def __init__(self, all, family, operation):
        self.all, self.operation, self.name = all, operation, operation["name"]
        self.parameters, self.keywords, self.documented, self.outputs = [], [], [], []
        self.passed, self.lists = [], []
        has_device = any(a["type"] == "device" for a in operation["arguments"])
        for argument in operation["arguments"]:
            kind, name = argument["type"], argument_name(operation, argument)
            if kind == "count":
                self.passed.append("None")
                continue
            if is_flat(argument):
                fields = all.structs[argument["of"]]["fields"]
                self.passed.append("(" + "".join(self.flat(f) + ", " for f in fields) + ")")
                continue
            self.passed.append(name)
            said = explained(argument) or hint_of(all, argument)
            for other in operation["arguments"]:
                if (self.name, other["name"]) in ARGUMENTS:
                    said = re.sub(rf"\b{other['name']}\b", argument_name(operation, other), said)
            self.documented.append((name, said))
            made = MADE.get((self.name, name))
            if kind == "tensors" and argument.get("output"):
                self.outputs.append((name, None))
                self.parameters.append(f"{name}: Sequence[Array]")
            elif argument.get("output") and made:
                self.outputs.append((name, made))
                if (self.name, name) in MADE_UNLESS_FALSE:
                    self.parameters.append(f"{name}: Array | Literal[False] | None = None")
                elif argument.get("optional") and (self.name, name) not in MADE_BY_DEFAULT:
                    self.parameters.append(f"{name}: Array | bool | None = None")
                else:
                    self.parameters.append(f"{name}: Array | Literal[False] | None = None" if argument.get("optional")
                                           else f"{name}: Array | None = None")
            elif argument.get("output") and kind == "tensor":
                if (self.name, name) not in CHANGED:
                    self.outputs.append((name, None))
                self.parameters.append(f"{name}: Array" + (" | None = None" if argument.get("optional") else ""))
            elif kind == "struct" and argument.get("optional"):
                self.parameters.append(f"{name}: {hint_of(all, argument)} | None = None")
            elif kind == "f32" and any(a.get("optional") for a in operation["arguments"] if a["type"] == "tensor"):
                self.keywords.append(f"{name}: float = 0.0")
            elif kind == "enum" and "default" in argument:
                self.keywords.append(parameter_of(all, argument, False))
            elif argument.get("optional"):
                self.parameters.append(f"{name}: {hint_of(all, argument)} | None = None")
            else:
                self.parameters.append(f"{name}: {hint_of(all, argument)}")
        # Parameters without a default come first.
        self.parameters.sort(key=lambda p: " = " in p)
        del has_device

    def flat(self, field):
        name = RENAMED.get((self.name, field["name"]), python_name(field["name"]))
        field = {**field, "name": name.removesuffix("_")}
        made = MADE.get((self.name, name)) if field.get("output") else None
        self.keywords.append(parameter_of(self.all, field, made is not None))
        self.documented.append((name, explained(field)))
        if made:
            self.outputs.append((name, made))
        return name

    def needs_dtype(self):
        """Whether an output that is made can have several element types."""
        for argument in self.operation["arguments"]:
            name = argument_name(self.operation, argument)
            if (self.name, name) in MADE and isinstance(argument.get("elements"), list) and len(argument["elements"]) > 1:
                return name
        return None

    def like(self):
        """An expression for the argument whose framework and device outputs have."""
        for argument in self.operation["arguments"]:
            if argument["type"] == "tensor" and not argument.get("output"):
                return argument_name(self.operation, argument)
        if any(a["name"] == "weights" for a in self.operation["arguments"]):
            return "weights.memory"
        return None

    def text(self):
        keywords = list(self.keywords)
        typed = self.needs_dtype()
        if typed:
            keywords.append("dtype: str | None = None")
        keywords.append("stream: Any = None")
        result = self.result()
        body = f"def {self.name}(\n"
        for parameter in self.parameters:
            body += f"    {parameter},\n"
        body += "    *,\n" + "".join(f"    {k},\n" for k in keywords)
        body += f") -> {result[0]}:\n"
        body += self.docstring(typed)
        made = ""
        for name, how in self.outputs:
            if how is None:
                continue
            # True and False say whether an optional output is made.
            make = self.make(how, typed == name)
            if (self.name, name) in MADE_UNLESS_FALSE | MADE_BY_DEFAULT:
                made += f"if {name} is None or {name} is True:\n    {name} = {make}\nelif {name} is False:\n    {name} = None\n"
            elif self.is_optional(name):
                made += f"if {name} is True:\n    {name} = {make}\nelif {name} is False:\n    {name} = None\n"
            else:
                made += f"if {name} is None:\n    {name} = {make}\n"
        # Only a shape that is computed asks its arguments for attributes.
        if any(word in made for word in (".shape", "peers.", "weights.", "_reduced(")):
            asked = ", ".join(f"{n}={n}" for n in self.needed_tensors())
            made = ("try:\n" + textwrap.indent(made, "    ") +
                    f"except (AttributeError, IndexError) as error:\n    raise _wrong(\"{self.name}\", error, {asked}) from None\n")
        body += textwrap.indent(made, "    ")
        names = [name for name, how in self.outputs if how is not None]
        call = f"_{self.name}(stream, {', '.join(self.passed)})"
        if names:
            body += f"    if {call}:\n        {', '.join(names)} = _for_jax({', '.join(names)})\n"
        else:
            body += f"    {call}\n"
        if result[1]:
            body += f"    return {result[1]}\n"
        return f"_{self.name} = _core.operation(\"{self.name}\")\n\n\n{body}"

    def needed_tensors(self):
        """The arguments that a call cannot do without, whose shapes say those of outputs."""
        return [argument_name(self.operation, a) for a in self.operation["arguments"]
                if (a["type"] == "tensor" and not a.get("output") and not a.get("optional"))
                or (a["type"] == "struct" and a["name"] in ("weights", "cache"))]

    def make(self, how, choosable):
        """An expression that makes an output."""
        shape, of = how
        like, type_text = self.like(), self.type_text(of, choosable)
        if type_text == f"_dtype_of({of})":
            like, type_text = of, "None"
        if shape == "_product(a, b)":
            return f"_empty_product(a, b, {type_text})"
        if shape.startswith("forward."):  # of an optional struct
            source = shape[:-len(".shape")]
            return f"_empty_like(None if forward is None else {source}, None, \"{source}\")"
        if shape.endswith(".shape") and shape.count(".") == 1 and "(" not in shape:
            source = shape[:-len(".shape")]
            return f"_empty_like({source}, {'None' if of == source and not choosable else type_text}, \"{source}\")"
        return f"_empty({like}, {shape}, {type_text})"

    def is_optional(self, name):
        for argument in self.operation["arguments"]:
            if argument_name(self.operation, argument) == name:
                return argument.get("optional", False)
        return True

    def type_text(self, of, choosable):
        if of.endswith(" 16"):  # of eight bits: bf16
            return "dtype"
        elif " " in of:
            default = repr(of.split()[1])
        elif of in ("f32", "bf16", "i8", "i32", "u32", "e4m3"):
            default = repr(of)
        else:
            return "dtype" if choosable and of == self.like() else f"_dtype_of({of})" if of != self.like() else "dtype" if choosable else "None"
        return f"dtype or {default}" if choosable else default

    def result(self):
        made = [(name, m) for name, m in self.outputs]
        if not made:
            return "None", ""
        always = [name for name, _ in made
                  if not self.is_optional(name) or (self.name, name) in MADE_UNLESS_FALSE | MADE_BY_DEFAULT]
        sometimes = [name for name, m in made if name not in always and m is not None]
        if len(always) == 1 and not sometimes:
            return ("list[Array]" if any(a["type"] == "tensors" for a in self.operation["arguments"]) else "Array",
                    f"list({always[0]})" if any(a["type"] == "tensors" for a in self.operation["arguments"]) else always[0])
        if not sometimes:
            return "tuple[Any, ...]", f"({', '.join(always)})"
        if len(always) == len(sometimes) == 1:
            return "Any", f"{always[0]} if {sometimes[0]} is None else ({always[0]}, {sometimes[0]})"
        return "Any", f"_given({', '.join(always + sometimes)})"

    def docstring(self, typed):
        lines = [f'    """{sentence(self.operation["summary"])}', ""]
        for paragraph in self.operation.get("text", ()):
            lines += [wrapped(sentence(paragraph), "    "), ""]
        lines.append("    Arguments:")
        for name, said in self.documented:
            lines.append(wrapped(f"{name}: {said}" if said else name, "          ", "      "))
        if typed:
            lines.append(wrapped(f"dtype: the element type of `{typed}` if it is made, as \"bf16\"", "          ", "      "))
        lines.append("      stream: a stream of the framework, or a CUstream as a number; None: the current stream")
        result = self.result()
        lines.append("")
        if result[1]:
            returned = ", ".join(name for name, _ in self.outputs)
            lines.append(wrapped(f"Returns {returned}" + (" (those that are given or made)." if result[0] == "Any" else "."), "    "))
        lines.append('    Raises InvalidArgument, which names the argument; UnsupportedDevice; TypeError.')
        lines.append('    """')
        return "\n".join(lines) + "\n"


def record_class(all, struct):
    name = class_name(struct["name"])
    fields = [f for f in struct["fields"] if f["type"] != "count"]
    needed = [f for f in fields if f.get("needed")]
    others = [f for f in fields if not f.get("needed")]
    text = f"class {name}:\n" + wrapped('"""' + sentence(struct["text"]), "    ") + "\n\n    Fields:\n"
    for field in fields:
        said = explained(field)
        text += wrapped(f"{python_name(field['name'])}: {said}" if said else python_name(field["name"]), "          ", "      ") + "\n"
    text += '    """\n\n'
    text += f"    __slots__ = ({', '.join(repr(python_name(f['name'])) for f in fields)},)\n\n"
    text += "    def __init__(\n        self,\n"
    text += "".join(f"        {python_name(f['name'])}: {hint_of(all, f)},\n" for f in needed)
    text += "        *,\n" * bool(others) + "".join(f"        {parameter_of(all, f)},\n" for f in others)
    text += "    ) -> None:\n"
    text += "".join(f"        self.{python_name(f['name'])} = {python_name(f['name'])}\n" for f in fields)
    text += f"\n    def __repr__(self) -> str:\n        return _repr(self)\n"
    return text


HEAD = '''"""Every operation of kaio, over the arrays of any framework.

Made by python/generate.py from src/c/operations/*.json. docs/python.md explains what all functions share.
"""

from __future__ import annotations

from typing import Any, Literal, Sequence

from . import _core
from ._arrays import Array, _empty, _empty_like, _empty_product, _for_jax, _given, _reduced, _repr, _wrong
from ._core import PeerBuffer, PeerWorkspace

'''


def package_file(all):
    calls = [call(all, family, operation) for _, family, operation in operations_of(all) if is_bound(operation)]
    names = [c.name for c in calls] + [class_name(s["name"]) for s in records_of(all) if s["name"] not in flat_structs(all)]
    text = HEAD + "__all__ = [\n" + "".join(f'    "{name}",\n' for name in sorted(names)) + "]\n\n\n"
    for struct in records_of(all):
        if struct["name"] not in flat_structs(all):
            text += record_class(all, struct) + "\n\n"
    for one in calls:
        text += one.text() + "\n\n"
    return text.rstrip("\n") + "\n"


def flat_structs(all):
    """Structs that are only ever keywords of functions. One that is also a field of another struct, as AttentionOptions, is a
    class too."""
    found = set()
    for _, _, operation in operations_of(all):
        found |= {a["of"] for a in operation["arguments"] if is_flat(a)}
    fields = {f["of"] for s in records_of(all) for f in s["fields"] if f["type"] == "struct"}
    return found - fields


# ---- The native tables


def cpp_field(all, owner, field, number=None):
    """A row of a table. `owner`: the C struct, or None for an argument, which has a number."""
    kind = HANDLES[field["c"]] if field["type"] == "c" else field["type"]
    what = {"f64": "list_f64", "u32": "list_u32", "i64": "list_i64"}[field["of"]] if kind == "list" else KINDS[kind]
    name = python_name(field["name"]) if owner else field["python"]
    row = f'{{.name = "{name}", .c_name = "{field["name"]}", .kind = field_kind::{what}, '
    row += f'.is_optional = {str(bool(field.get("optional"))).lower()}, .is_output = {str(bool(field.get("output"))).lower()}'
    row += f', .offset = offsetof({owner}, {field["name"]})' if owner else f", .offset = {number}"
    if kind == "list":
        row += f', .count_offset = offsetof({owner}, {field["count"]})'
    if kind == "struct":
        row += f', .of = &record_{field["of"]}'
    if kind == "enum":
        row += f', .values = &enum_{field["of"]}'
    return row + "}"


def native_file(all):
    text = "// Made by python/generate.py from src/c/operations/*.json.\n// clang-format off\n\n#include <cstddef>\n\n#include \"description.hpp\"\n\nnamespace kaio::python {\n\nnamespace {\n\n"
    for enum in all.enums.values():
        values = ", ".join(f'{{"{v[0]}", {v[1]}}}' for v in enum["values"])
        text += f"constexpr enumeration::value values_{enum['name']}[] = {{{values}}};\n"
        text += f"constexpr enumeration enum_{enum['name']} = {{\"{enum['name']}\", {str(bool(enum.get('flags'))).lower()}, values_{enum['name']}}};\n"
    structs = in_order(all)
    for struct in structs:
        name = struct["name"]
        fields = [f for f in struct["fields"] if f["type"] != "count" and (f["type"] in KINDS or f["type"] == "list")]
        text += f"\nconstexpr field fields_{name}[] = {{\n" + "".join(f"    {cpp_field(all, 'kaio_' + name, f)},\n" for f in fields) + "};\n"
        text += f"constexpr record record_{name} = {{\"{class_name(name)}\", sizeof(kaio_{name}),\n"
        text += f"    [](void* to) {{ *static_cast<kaio_{name}*>(to) = kaio_{name}_default(); }}, fields_{name}}};\n"
    table = ""
    for _, family, operation in operations_of(all):
        if not is_bound(operation):
            continue
        name = operation["name"]
        arguments = [dict(a, python=argument_name(operation, a)) for a in operation["arguments"]]
        text += f"\nconstexpr field arguments_{name}[] = {{\n" + "".join(
            f"    {cpp_field(all, None, a, number)},\n" for number, a in enumerate(arguments)) + "};\n"
        passed = ", ".join(passed_value(a, number) for number, a in enumerate(arguments))
        given = ", ".join([passed_value(arguments[0], 0), "stream", *(passed_value(a, n) for n, a in enumerate(arguments) if n)]) if operation.get("of_ranks") else f"stream, {passed}"
        rows = [f'"{name}", arguments_{name}', f"[](void* stream, const argument_value* a) {{ return kaio_{name}({given}); }}"]
        queries = {q["name"]: q for q in c_interface.queries_of(operation)}
        warmup = queries.pop(f"{name}_warmup", None)
        rows.append(f"[](const argument_value* a) {{ return kaio_{name}_warmup({passed}); }}" if warmup else "nullptr")
        by_result = {"bytes": None, "kernel_choice": None, "tune_report": None}
        for query in queries.values():
            if isinstance(query.get("result"), str):
                by_result[query["result"]] = query
        for kind, extra, parameter in (("bytes", "bytes", "std::uint64_t* bytes"), ("kernel_choice", "choice", "kaio_kernel_choice* choice"),
                                       ("tune_report", "how, report", "const kaio_tune_options* how, kaio_tune_report* report")):
            query = by_result[kind]
            if query is None:
                rows.append("nullptr")
                continue
            numbers = {a["name"]: n for n, a in enumerate(arguments)}
            some = [arguments[numbers[a["name"]]] for a in c_interface.arguments_of(operation, query)] if all_known(operation, query, numbers) else None
            if some is None:
                rows.append("nullptr")
                continue
            values = ", ".join(passed_value(a, numbers[a["name"]]) for a in some)
            rows.append(f"[](const argument_value* a, {parameter}) {{ return kaio_{query['name']}({values}{', ' if values else ''}{extra}); }}")
        where, offset = -1, "0"
        for number, argument in enumerate(arguments):
            if argument["type"] == "struct" and any(f["type"] == "workspace" and f["name"] == "workspace" for f in all.structs[argument["of"]]["fields"]):
                where, offset = number, f"offsetof(kaio_{argument['of']}, workspace)"
        rows.append(f"{where}, {offset}")
        table += "    {" + ",\n     ".join(rows) + "},\n"
    text += f"\nconstexpr function all_functions[] = {{\n{table}}};\n\n}}  // namespace\n\n"
    text += "std::span<const function> functions() { return all_functions; }\n\n}  // namespace kaio::python\n"
    return text


def all_known(operation, query, numbers):
    return all(a["name"] in numbers for a in c_interface.arguments_of(operation, query))


def passed_value(argument, number):
    kind = argument["type"]
    value = f"a[{number}]"
    if kind in ("tensor", "tensors", "workspace"):
        return f"static_cast<const DLTensor*>({value}.pointer)"
    if kind == "struct":
        return f"static_cast<const kaio_{argument['of']}*>({value}.pointer)"
    if kind == "c":
        return f"static_cast<{argument['c']}>({value}.pointer)"
    if kind == "count":
        return f"static_cast<std::size_t>({value}.integer)"
    if kind == "device":
        return f"{value}.device"
    if kind == "string":
        return f"static_cast<const char*>({value}.pointer)"
    if kind in ("f32", "f64"):
        return f"{value}.{kind}"
    return f"static_cast<{c_interface.SCALARS[kind][0]}>({value}.integer)"


def in_order(all):
    """Structs, those that others contain first."""
    known, order = {s["name"]: s for s in records_of(all)}, []

    def add(struct):
        if struct in order:
            return
        for field in struct["fields"]:
            if field["type"] == "struct" and field["of"] in known:
                add(known[field["of"]])
        order.append(struct)

    for struct in known.values():
        add(struct)
    return order


# ---- The page


def page(all):
    text = "# Operations in Python\n\nThis page is made from `src/c/operations/*.json`. [kaio from Python](../python.md) explains what all functions share. An output that is not given is made, and returned.\n"
    for name, family in all.families.items():
        members = [o for n, _, o in operations_of(all) if n == name and is_bound(o)]
        if not members:
            continue
        text += f"\n## {family['title']}\n"
        if "page" in family:
            text += f"\nContract and figures: [{family['page'].split('/')[-1]}]({family['page']}).\n"
        for operation in members:
            one = call(all, family, operation)
            positional = ", ".join(p.split(":")[0] + ("=" + p.split(" = ")[1] if " = " in p else "") for p in one.parameters)
            text += f"\n### kaio.{operation['name']}\n\n```\n{operation['name']}({positional}, *, ...)\n```\n\n{sentence(operation['summary'])}\n"
            text += "".join(f"{sentence(p)}\n" for p in operation.get("text", ()))
            text += "\n| argument | default | |\n| --- | --- | --- |\n"
            defaults = {p.split(":")[0]: p.split(" = ")[1] if " = " in p else "" for p in one.parameters + one.keywords}
            for argument, said in one.documented:
                text += f"| `{argument}` | {'`' + defaults[argument] + '`' if defaults.get(argument) else ''} | {said.replace('|', chr(92) + '|')} |\n"
        for struct in family.get("structs", ()):
            if struct.get("output") or struct["name"] in flat_structs(all):
                continue
            text += f"\n### kaio.{class_name(struct['name'])}\n\n{sentence(struct['text'])}\n\n| field | default | |\n| --- | --- | --- |\n"
            for field in struct["fields"]:
                if field["type"] != "count":
                    default = enum_default(all, field) if field["type"] == "enum" else default_of(field)
                    text += f"| `{python_name(field['name'])}` | {'' if field.get('needed') else '`' + default + '`'} | {explained(field).replace('|', chr(92) + '|')} |\n"
    return text


def main():
    all = c_interface.descriptions()
    made = {"python/kaio/operations.py": package_file(all), "python/native/generated/operations.cpp": native_file(all),
            "docs/python/operations.md": page(all)}
    wrong = 0
    for path, text in made.items():
        file = ROOT / path
        if file.exists() and file.read_text() == text:
            continue
        wrong += 1
        if "--check" in sys.argv:
            print(f"{path}: differs from what its description makes; run python/generate.py, and commit the result")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    if "--check" not in sys.argv:
        print(f"{wrong} files written")
        return 0
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

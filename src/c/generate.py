#!/usr/bin/env python3
"""Makes the C interface of the operations from their descriptions.

    generate.py [--check] [--root FOLDER]

Reads src/c/operations/*.json, and writes
  include/kaio/c/<family>.h       declarations, with a comment for each
  src/c/generated/<family>.cpp    from DLTensor to the views of C++, the call, and back
  src/c/generated/exports.map     the linker's list of all functions of include/kaio/c
  docs/c/<family>.md              the page of the family
--check: writes nothing, and names each file that differs. The results are in the repository: building kaio needs no Python.

A description has `title`, `includes` and these lists. `page` is the page of the C++ operations, `needs` the families whose
structs and enums it uses, and `local_includes` are headers of src.

handles     name, text: an opaque struct
functions   name, text, arguments: the type of functions that a program gives; arguments: [name, C type], the result is an int32_t
enums       name, cpp, text, values: [name, number, text]; flags: they are added up
structs     name, cpp, text, fields; output: the library fills it; path: what comes before the names of its fields in errors;
            both: it is filled and read; by_hand: the header of src/c that declares its reading or filling
operations  name, summary, text, arguments, call, and queries: other functions that take the same arguments;
            before: statements before `call`, here and in the queries; plain: neither a stream nor a warm-up
fields      name, type, default, text, shape; cpp: the member of the C++ struct, if it has another name, or several members;
            column: a vector (n) is read as (n, 1)

types of arguments and fields:
  tensor      elements: a list, or the argument whose type it has; rank: [least, most], or "x", "x - 1" (arguments only);
              view: the C++ type, by default ops::any_view, and cpp: its member that is the view; output, optional, shape.
              Fields are optional unless they are `needed`; `with` names a field that is given if this one is
  workspace   a tensor of bytes, optional
  tensors     an array of `count` tensors (arguments only, after an argument of type count)
  struct      of: a struct with a size; optional: NULL is all defaults
  enum        of: one of the enums
  bool, i32, u32, i64, u64, f32, f64, string; a number that is optional: 0 is that it is not given (fields only)
  u8          a u32 below 256 (fields only)
  extents, memory    pointers to numbers of i64 and to bytes, in structs that are output
  c           c: any C type, passed on as it is. An argument that is a pointer is not NULL unless it is optional. Fields are pointers
  list        of: f64 or u32, numbers of the host; count: the field of type count that says how many (fields only)
  device      a DLDevice, in functions without tensors (arguments only)
  text        a char array of `length`, in structs that are output

`call` and the calls of queries are C++: arguments by their names, and `stream` and `gpu`. A query has no stream of its own;
`result` is bytes, kernel_choice, tune_report, {"enum": ..., "name": ...} or {"struct": ..., "name": ...}, which becomes its last
argument, and `arguments` names those that it takes, or lists its own. Each operation has the query <name>_warmup without being asked. New fields are added at the end with a default of 0, so that old callers and old libraries agree.
"""

import json
import pathlib
import re
import sys
import textwrap

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WIDTH = 110
SCALARS = {"bool": ("int32_t", 4), "i32": ("int32_t", 4), "u32": ("uint32_t", 4), "enum": ("int32_t", 4), "f32": ("float", 4),
           "i64": ("int64_t", 8), "u64": ("uint64_t", 8), "f64": ("double", 8), "string": ("const char*", 8),
           "count": ("uint64_t", 8), "u8": ("uint32_t", 4), "extents": ("const int64_t*", 8), "memory": ("const void*", 8)}
POINTERS = ("tensor", "workspace", "string", "struct", "list", "extents", "memory", "c")
CPP_ELEMENTS = {"bool": "boolean"}


class descriptions:
    """All families: enums and structs by name, and their files."""

    def __init__(self, folder=HERE / "operations"):
        self.families = {file.stem: json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))}
        self.enums, self.structs = {}, {}
        for family in self.families.values():
            self.enums |= {enum["name"]: enum for enum in family.get("enums", ())}
            self.structs |= {struct["name"]: struct for struct in family.get("structs", ())}

    def default_text(self, field):
        """The default of a field as C text."""
        value = field.get("default", 0)
        if field["type"] in POINTERS:
            return "NULL"
        if field["type"] in ("f32", "f64"):
            text = repr(float(value)).replace("e-0", "e-")
            return text + "f" * (field["type"] == "f32")
        return "UINT64_MAX" if value == 2**64 - 1 else str(int(value))


def c_type(field):
    if field["type"] in ("tensor", "workspace"):
        return "const DLTensor*"
    if field["type"] == "struct":
        return f"const kaio_{field['of']}*"
    if field["type"] == "list":
        return f"const {SCALARS[field['of']][0]}*"
    if field["type"] == "c":
        return field["c"]
    return SCALARS[field["type"]][0]


def members_of(field):
    """The members of the C++ struct that a field sets."""
    members = field.get("cpp", field["name"])
    return [members] if isinstance(members, str) else members


def layout(struct):
    """(field or None, name, C declaration) of each member in order. Gaps are members named reserved_<offset>, so that a later
    field may take their place."""
    yield None, "size", "uint32_t size"
    offset = 4
    for field in struct["fields"]:
        length = field.get("length", 0)
        bytes = length or SCALARS.get(field["type"], (None, 8))[1]
        if offset % 8 and (bytes >= 8):
            yield None, f"reserved_{offset}", f"int32_t reserved_{offset}"
            offset += 4
        yield field, field["name"], f"char {field['name']}[{length}]" if length else f"{c_type(field)} {field['name']}"
        offset += bytes
    if offset % 8:
        yield None, f"reserved_{offset}", f"int32_t reserved_{offset}"


def words_of(elements):
    return elements[0] if len(elements) == 1 else ", ".join(elements[:-1]) + " or " + elements[-1]


def explain(field):
    """What a comment says of a field or an argument."""
    parts = ["needed"] if field.get("needed") else []
    if "shape" in field:
        parts.append(field["shape"])
    elements = field.get("elements")
    if isinstance(elements, list):
        parts.append(words_of(elements))
    elif elements:
        parts.append(f"elements of {elements}")
    if field["type"] == "enum":
        parts.append(f"kaio_{field['of']}" if field.get("text") is None else f"kaio_{field['of']}: {field['text']}")
    elif field.get("text"):
        parts.append(field["text"])
    elif field["type"] == "struct" and field.get("optional"):
        parts.append("NULL: all defaults")
    return "; ".join(parts)


def constant(enum, value):
    return f"KAIO_{enum['name']}_{value}".upper()


def comment(text, indent=""):
    """A block comment, broken at the width."""
    lines = []
    for paragraph in text:
        hanging = re.match(r" *\S+ {2,}", paragraph)
        lines += textwrap.wrap(paragraph, WIDTH - len(indent) - 6, subsequent_indent=" " * (hanging.end() if hanging else 0),
                               break_long_words=False, break_on_hyphens=False) or [""]
    return "".join(f"{indent}{'/*' if number == 0 else ' *'} {line}".rstrip() + (" */\n" if number == len(lines) - 1 else "\n")
                   for number, line in enumerate(lines))


def arguments_of(operation, query=None):
    """The arguments of an operation, or of one of its queries."""
    if query is None or "arguments" not in query:
        return operation["arguments"]
    return [argument if isinstance(argument, dict) else next(a for a in operation["arguments"] if a["name"] == argument)
            for argument in query["arguments"]]


def queries_of(operation):
    """The queries of an operation. Each has a warm-up: its own call, with a stream that runs nothing."""
    if operation.get("plain"):
        return
    yield {"name": f"{operation['name']}_warmup", "call": operation["call"], "loads": True,
           "summary": "Loads what the call launches: its first run then takes no longer than others, and may be captured into a graph."}
    yield from operation.get("queries", ())


def functions_of(family):
    """(operation, function, arguments, is_query) of each function in order."""
    for operation in family.get("operations", ()):
        yield operation, operation, arguments_of(operation), operation.get("plain", False)
        for query in queries_of(operation):
            yield operation, query, arguments_of(operation, query), True


RESULTS = {"bytes": ["uint64_t* bytes"], "kernel_choice": ["kaio_kernel_choice* choice"],
           "tune_report": ["const kaio_tune_options* how", "kaio_tune_report* report"]}


def results_of(function):
    """The C parameters of a result."""
    result = function.get("result")
    if isinstance(result, dict):
        return [f"int32_t* {result['name']}" if "enum" in result else f"kaio_{result['struct']}* {result['name']}"]
    return RESULTS.get(result, ())


def parameters(function, arguments, is_query, suffix=""):
    """The C parameters; `suffix` is added to the names of those that are converted."""
    result = [] if is_query else ["void* stream" + ("_handle" if suffix else "")]
    for argument in arguments:
        kind, name = argument["type"], argument["name"]
        changed = name + suffix
        if kind == "count":
            result.append(f"size_t {name}")
        elif kind == "device":
            result.append(f"DLDevice {name}")
        elif kind in ("tensor", "tensors", "workspace"):
            result.append(f"const DLTensor* {changed}")
        elif kind == "struct":
            result.append(f"const kaio_{argument['of']}* {changed}")
        elif kind == "c":
            result.append(f"{argument['c']} {name}")
        else:
            result.append(f"{SCALARS[kind][0]} {changed if kind in ('enum', 'bool') else name}")
    for parameter in results_of(function):
        result.append(parameter + (suffix if suffix and parameter.startswith("const") else ""))
    return result


def prototype(function, arguments, is_query, suffix="", api="KAIO_API "):
    begin = f"{api}kaio_status kaio_{function['name']}("
    text = ", ".join(parameters(function, arguments, is_query, suffix))
    return "\n".join(textwrap.wrap(begin + text.replace(" ", "\0").replace(",\0", ", ") + ")", WIDTH,
                                   subsequent_indent=" " * len(begin), break_long_words=False, break_on_hyphens=False)).replace("\0", " ")


def note(name):
    return f"/* {name}: made by src/c/generate.py from src/c/operations/{name}.json. */\n"


def header(all, name):
    family = all.families[name]
    guard = f"KAIO_C_{name.upper()}_H"
    text = comment([f"{family['title']}. Include <kaio/c/kaio.h>.", f"Made by src/c/generate.py from src/c/operations/{name}.json."])
    text += f"#ifndef {guard}\n#define {guard}\n\n#include <kaio/c/base.h>\n"
    if name != "shared":
        text += "".join(f"#include <kaio/c/{other}.h>\n" for other in sorted([*family.get("needs", ()), "shared"]))
    text += "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
    for handle in family.get("handles", ()):
        text += f"\n{comment([handle['text']])}typedef struct kaio_{handle['name']} kaio_{handle['name']};\n"
    for function in family.get("functions", ()):
        taken = ", ".join(f"{kind} {name}" for name, kind in function["arguments"])
        text += f"\n{comment([function['text']])}typedef int32_t (*kaio_{function['name']})({taken});\n"
    for enum in family.get("enums", ()):
        text += f"\n{comment(['kaio_' + enum['name'] + ': ' + enum['text']])}enum {{\n"
        for number, value in enumerate(enum["values"]):
            last = number == len(enum["values"]) - 1
            text += f"  {constant(enum, value[0])} = {value[1]}{'' if last else ','}" + (f" /* {value[2]} */" if len(value) > 2 else "") + "\n"
        text += "};\n"
    for struct in family.get("structs", ()):
        text += "\n" + comment([struct["text"]]) + f"typedef struct kaio_{struct['name']} {{\n"
        for field, member, declaration in layout(struct):
            said = f"sizeof(kaio_{struct['name']})" if member == "size" else "0" if field is None else explain(field)
            if field is not None and not struct.get("output") and all.default_text(field) not in ("NULL", "0", "0.0f", "0.0"):
                default = all.default_text(field).removesuffix("f").removesuffix(".0")
                said = f"default {default}" + (f"; {said}" if said else "")
            line = f"  {declaration};" + (f" /* {said} */" if said else "")
            text += line + "\n" if len(line) <= WIDTH else comment([said], "  ") + f"  {declaration};\n"
        text += f"}} kaio_{struct['name']};\n"
        text += f"static inline kaio_{struct['name']} kaio_{struct['name']}_default(void) {{\n  kaio_{struct['name']} it;\n"
        for field, member, declaration in layout(struct):
            value = f"sizeof(kaio_{struct['name']})" if member == "size" else "0" if field is None else all.default_text(field)
            text += f"  it.{member}[0] = '\\0';\n" if declaration.startswith("char") else f"  it.{member} = {value};\n"
        text += "  return it;\n}\n"
    for operation, function, arguments, is_query in functions_of(family):
        said = [function["summary"], *(function.get("text", ()))]
        if is_query and function is not operation:
            text += "\n" + comment([f"{function['summary']} For kaio_{operation['name']}; memory is not read."])
        else:
            longest = max(len(a["name"]) for a in arguments)
            said += [f"  {a['name']:{longest}}  {'writes ' if a.get('output') else ''}{explain(a)}" for a in arguments if explain(a)]
            text += "\n" + comment(said)
        text += prototype(function, arguments, is_query) + ";\n"
    return text + f"\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n"


def rule_of(argument, all_arguments):
    elements = argument["elements"]
    if isinstance(elements, str):
        elements = next(a for a in all_arguments if a["name"] == elements)["elements"]
    rank = argument["rank"]
    if isinstance(rank, str):
        other, _, less = rank.partition(" - ")
        rank = [r - int(less or 0) for r in next(a for a in all_arguments if a["name"] == other)["rank"]]
    bits = " | ".join(f"element::{CPP_ELEMENTS.get(e, e)}" for e in elements)
    return f"{{{bits}, {rank[0]}, {rank[1]}}}"


def read_struct(all, struct):
    """The function that reads a struct of C into that of C++."""
    name, cpp, path = struct["name"], struct["cpp"], struct.get("path", "")
    body = f"void read(call& in, const char* name, const kaio_{name}* given, {cpp}& to) {{\n"
    body += f"  kaio_{name} from = kaio_{name}_default();\n  in.take(name, given, &from, sizeof from);\n"
    for field, member, _ in layout(struct):
        if member == "size":
            continue
        said, value = f'"{path}{member}"', f"from.{member}"
        if field is None:
            body += f"  in.zero({said}, {value});\n"
            continue
        kind, (to, *more) = field["type"], [f"to.{m}" for m in members_of(field)]
        if kind == "tensor":
            how = "tensor" if field.get("needed") else "optional_tensor"
            for target in (to, *more):
                body += f"  in.{how}({said}, {value}, {rule_of(field, struct['fields'])}, {target});\n"
            if "with" in field:
                body += f'  in.together({said}, {value}, "{path}{field["with"]}", from.{field["with"]});\n'
            if isinstance(field["elements"], str):
                other = field["elements"]
                body += f'  in.same_elements({said}, {value}, "{path}{other}", from.{other});\n'
            body += f"  call::as_column({to});\n" if field.get("column") else ""
        elif kind == "workspace":
            body += f"  in.workspace({said}, {value}, {to});\n"
        elif kind == "struct":
            body += f"  if ({value} != nullptr) read(in, {said}, {value}, {to});\n"
        elif kind == "u8":
            body += f"  in.byte({said}, {value}, {to});\n"
        elif kind == "list":
            body += f"  in.list({said}, {value}, from.{field['count']}, {to});\n"
        elif kind == "count":
            continue
        elif kind == "enum":
            enum = all.enums[field["of"]]
            if enum.get("flags"):
                bits = 0
                for one in enum["values"]:
                    bits |= one[1]
                body += f"  in.set_of({said}, {value}, {bits}, {to});\n"
            else:
                body += f"  in.enumerated({said}, {value}, {len(enum['values'])}, {to});\n"
        elif kind == "bool":
            body += f"  {to} = in.flag({said}, {value});\n"
        elif kind == "string":
            body += f"  if ({value} != nullptr) {to} = {value};\n"
        elif field.get("optional"):
            body += f"  if ({value} != 0) {to} = {value};\n"
        else:
            body += f"  {to} = {value};\n"
    return body + "}\n"


def write_struct(struct):
    """The function that fills a struct of C from that of C++."""
    name = struct["name"]
    body = f"void give(const call& out, const char* name, const {struct['cpp']}& from, kaio_{name}* given) {{\n"
    body += f"  kaio_{name} to = kaio_{name}_default();\n"
    for field, member, _ in layout(struct):
        if field is None or (struct.get("both") and field["type"] in POINTERS):
            continue
        source = f"from.{field.get('cpp', member)}"
        if field["type"] == "text":
            body += f'  out.give_text("{member}", {source}, to.{member});\n'
        elif field["type"] == "enum":
            body += f"  to.{member} = static_cast<std::int32_t>({source});\n"
        else:
            body += f"  to.{member} = {source};\n"
    return body + "  out.give(name, given, &to, sizeof to);\n}\n"


def check_defaults(all, struct):
    """Static assertions: defaults of C are those of C++."""
    for field, member, _ in layout(struct):
        if field is None or field["type"] not in SCALARS or field["type"] in ("string", "count"):
            continue
        if field.get("optional"):
            yield f"static_assert(!{struct['cpp']}{{}}.{members_of(field)[0]});\n"
            continue
        value = all.default_text(field)
        value = f"static_cast<{all.enums[field['of']]['cpp']}>({value})" if field["type"] == "enum" else value
        value = {"0": "false", "1": "true"}[value] if field["type"] == "bool" else value
        yield f"static_assert({struct['cpp']}{{}}.{members_of(field)[0]} == {value});\n"


def names_device(all, argument):
    """Whether an argument always says on which device a call runs."""
    if argument["type"] == "struct" and not argument.get("optional"):
        return any(field.get("needed") for field in all.structs[argument["of"]]["fields"])
    return argument["type"] in ("device", "tensors") or (argument["type"] == "tensor" and not argument.get("optional"))


def function_body(all, operation, function, arguments, is_query):
    name = function["name"]
    needs_device = re.search(r"\b(stream|gpu)\b", function["call"])
    if needs_device and not any(names_device(all, a) for a in arguments):
        sys.exit(f"{name}: no argument says on which device it runs; give it a tensor that is not optional, or a device")
    text = prototype(function, arguments, is_query, "_given", api="") + " {\n  return guarded([&] {\n"
    result = function.get("result")
    text += f'    call in("{name}");\n'
    body = ""
    count = next((a["name"] for a in arguments if a["type"] == "count"), None)
    if count:
        body += f"    if ({count} == 0) return;\n"
    if result == "bytes" or (isinstance(result, dict) and "enum" in result):
        to = "bytes" if result == "bytes" else result["name"]
        body += f'    in.need("{to}", {to});\n'
    for argument in arguments:
        kind, member = argument["type"], argument["name"]
        given = member + "_given"
        if kind == "tensor":
            view = argument.get("view", "ops::any_view")
            how = "optional_tensor" if argument.get("optional") else "tensor"
            to = argument.get("cpp", member)
            body += f'    {view} {member};\n    in.{how}("{member}", {given}, {rule_of(argument, arguments)}, {to});\n'
        elif kind == "tensors":
            view = argument.get("view", "ops::any_view")
            body += f"    std::vector<{view}> {member};\n"
            body += f'    in.tensors("{member}", {given}, {count}, {rule_of(argument, arguments)}, {member});\n'
        elif kind == "workspace":
            body += f'    ops::workspace_view {member};\n    in.workspace("{member}", {given}, {member});\n'
        elif kind == "device":
            body += f'    in.device("{member}", {member});\n'
        elif kind == "struct":
            struct = all.structs[argument["of"]]
            if not argument.get("optional"):
                body += f'    in.need("{member}", {given});\n'
            body += f'    {struct["cpp"]} {member};\n    read(in, "{member}", {given}, {member});\n'
        elif (kind == "string" or (kind == "c" and argument["c"].endswith("*"))) and not argument.get("optional"):
            body += f'    in.need("{member}", {member});\n'
        elif kind == "bool":
            body += f'    const bool {member} = in.flag("{member}", {given});\n'
        elif kind == "enum":
            enum = all.enums[argument["of"]]
            body += f'    {enum["cpp"]} {member}{{}};\n    in.enumerated("{member}", {given}, {len(enum["values"])}, {member});\n'
        if isinstance(argument.get("elements"), str):
            other = argument["elements"]
            more = f", {count}" if kind == "tensors" else ""
            body += f'    in.same_elements("{member}", {given}, "{other}", {other}_given{more});\n'
        if isinstance(argument.get("rank"), str):
            other, _, less = argument["rank"].partition(" - ")
            body += f'    in.same_rank("{member}", {given}, "{other}", {other}_given, {-int(less or 0)});\n'
    if result == "tune_report":
        body += '    ops::tune_options how;\n    read(in, "how", how_given, how);\n'
    body += "".join(f"    {statement};\n" for statement in operation.get("before", ()))
    call = function["call"]
    if re.search(r"\bstream\b", call) and not any(a["name"] == "stream" for a in operation["arguments"]):
        handle = "in.stream(stream_handle)" if not is_query else "in.loading()" if function.get("loads") else "in.gpu().stream()"
        body += f"    const runtime::stream& stream = {handle};\n"
    if re.search(r"\bgpu\b", call):
        body += "    const runtime::device& gpu = in.gpu();\n"
    if result == "bytes":
        body += f"    *bytes = {call};\n"
    elif isinstance(result, dict) and "enum" in result:
        body += f"    *{result['name']} = static_cast<std::int32_t>({call});\n"
    elif result:
        to = results_of(function)[-1].split()[-1]
        body += f'    give(in, "{to}", {call}, {to});\n'
    else:
        body += f"    {call};\n"
    if "in.stream(" in body:
        body += "    in.finish();\n"
    return text + body + "  });\n}\n"


def source(all, name):
    family = all.families[name]
    includes = {f"<kaio/c/{name}.h>", *(f"<{include}>" for include in family["includes"])}
    text = f"// Made by src/c/generate.py from src/c/operations/{name}.json.\n// clang-format off\n\n"
    text += "".join(f"#include {include}\n" for include in sorted(includes))
    text += "\n#include <vector>\n\n" if any(a["type"] == "tensors" for _, _, arguments, _ in functions_of(family) for a in arguments) else "\n"
    own = {struct["by_hand"] for struct in family.get("structs", ()) if "by_hand" in struct}
    own |= {"c/call/call.hpp", "c/call/error.hpp", "c/generated/structs.hpp", *family.get("local_includes", ())}
    text += "".join(f'#include "{include}"\n' for include in sorted(own))
    text += "\nnamespace kaio::c {\n"
    asserts = [f"static_assert(static_cast<int>({enum['cpp']}::{value[0]}) == {constant(enum, value[0])});\n"
               for enum in family.get("enums", ()) for value in enum["values"]]
    for struct in family.get("structs", ()):
        asserts += () if struct.get("output") or "by_hand" in struct else check_defaults(all, struct)
    text += "\n" * bool(asserts) + "".join(asserts)
    for struct in family.get("structs", ()):
        if "by_hand" in struct:
            continue
        text += "" if struct.get("output") else "\n" + read_struct(all, struct)
        text += "\n" + write_struct(struct) if struct.get("output") or struct.get("both") else ""
    text += "\n}  // namespace kaio::c\n"
    if family.get("operations"):
        text += "\nusing namespace kaio;\nusing namespace kaio::c;\n\nextern \"C\" {\n"
        for operation, function, arguments, is_query in functions_of(family):
            text += "\n" + function_body(all, operation, function, arguments, is_query)
        text += "}\n"
    return text


def structs_header(all):
    """The functions that read and fill structs, of all families."""
    text = "#pragma once\n// Reading and filling the structs of the C interface. Made by src/c/generate.py.\n// clang-format off\n\n"
    text += "#include <kaio/c/kaio.h>\n\n"
    made = [struct for struct in all.structs.values() if "by_hand" not in struct]
    names = sorted({struct["cpp"] for struct in made})
    for namespace in sorted({name.rpartition("::")[0] for name in names}):
        inside = [name.rpartition("::")[2] for name in names if name.rpartition("::")[0] == namespace]
        text += f"namespace kaio::{namespace} {{\n" + "".join(f"struct {name};\n" for name in inside) + "}\n"
    text += "\nnamespace kaio::c {\n\nclass call;\n"
    for struct in made:
        if struct.get("output") or struct.get("both"):
            text += f"void give(const call& out, const char* name, const {struct['cpp']}& from, kaio_{struct['name']}* given);\n"
        if not struct.get("output"):
            text += f"void read(call& in, const char* name, const kaio_{struct['name']}* given, {struct['cpp']}& to);\n"
    return text + "\n}  // namespace kaio::c\n"


def page(all, name):
    """The page of a family: its functions, their arguments, and the structs."""
    family = all.families[name]
    text = f"# {family['title']} in C\n\nThis page is made from `src/c/operations/{name}.json`. `#include <kaio/c/kaio.h>`"
    text += f"; the [C interface](../c.md) has what all functions share.\n"
    if "page" in family:
        text += f"The [page of the C++ operation]({family['page']}) has the contract and the figures.\n"

    def table(head, rows):
        return f"\n| {' | '.join(head)} |\n| {' | '.join('---' for _ in head)} |\n" + "".join(
            "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n" for row in rows)

    for handle in family.get("handles", ()):
        text += f"\n## kaio_{handle['name']}\n\n{handle['text']}\n"
    for function in family.get("functions", ()):
        taken = ", ".join(f"{kind} {name}" for name, kind in function["arguments"])
        text += f"\n## kaio_{function['name']}\n\n```c\ntypedef int32_t (*kaio_{function['name']})({taken});\n```\n\n{function['text']}\n"
    for operation in family.get("operations", ()):
        text += f"\n## kaio_{operation['name']}\n\n```c\n{prototype(operation, operation['arguments'], operation.get('plain', False), api='')};\n```\n\n{operation['summary']}\n"
        text += "".join(f"{paragraph}\n" for paragraph in operation.get("text", ()))
        rows = [[f"`{a['name']}`", explain(a), "written" if a.get("output") else "", "may be NULL" if a.get("optional") else ""]
                for a in operation["arguments"] if explain(a)]
        text += table(["argument", "", "", ""], rows) if rows else ""
        for query in queries_of(operation):
            text += f"\n```c\n{prototype(query, arguments_of(operation, query), True, api='')};\n```\n\n{query['summary']}\n"
    for struct in family.get("structs", ()):
        text += f"\n## kaio_{struct['name']}\n\n{struct['text']}\n"
        rows = [[f"`{field['name']}`", f"`{declaration.rpartition(' ')[0]}`", "" if struct.get("output") else f"`{all.default_text(field)}`", explain(field)]
                for field, _, declaration in layout(struct) if field is not None]
        text += table(["field", "type", "" if struct.get("output") else "default", ""], rows)
    for enum in family.get("enums", ()):
        text += f"\n## kaio_{enum['name']}\n\n{enum['text']}\n"
        text += table(["constant", "value", ""], [[f"`{constant(enum, v[0])}`", str(v[1]), v[2] if len(v) > 2 else ""] for v in enum["values"]])
    return text


def exported(headers):
    """The functions that headers declare."""
    return sorted({name for text in headers for name in re.findall(r"KAIO_API [^;(]*?\b(kaio_\w+)\(", text)})


def files(all, root=ROOT):
    """Path -> text of all that is made."""
    result = {}
    for name in all.families:
        result[f"include/kaio/c/{name}.h"] = header(all, name)
        result[f"src/c/generated/{name}.cpp"] = source(all, name)
        result[f"docs/c/{name}.md"] = page(all, name)
    result["src/c/generated/structs.hpp"] = structs_header(all)
    by_hand = [file.read_text() for file in sorted((root / "include/kaio/c").glob("*.h")) if f"include/kaio/c/{file.name}" not in result]
    names = exported([*by_hand, *(text for path, text in result.items() if path.endswith(".h"))])
    major = re.search(r"#define KAIO_ABI_MAJOR (\d+)", "".join(by_hand))[1]
    result["src/c/generated/exports.map"] = (f"# What leaves libkaio.so. Made by src/c/generate.py.\nKAIO_{major} {{\n  global:\n"
                                             + "".join(f"    {name};\n" for name in names) + "  local:\n    *;\n};\n")
    return result


def main():
    words = sys.argv[1:]
    root = pathlib.Path(words[words.index("--root") + 1]) if "--root" in words else ROOT
    wrong = 0
    for path, text in files(descriptions(), root).items():
        file = root / path
        if file.exists() and file.read_text() == text:
            continue
        wrong += 1
        if "--check" in words:
            print(f"{path}: differs from what its description makes; run src/c/generate.py, and commit the result")
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    if "--check" in words:
        return 1 if wrong else 0
    print(f"{wrong} files written")
    return 0


if __name__ == "__main__":
    sys.exit(main())

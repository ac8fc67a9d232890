"""The crate kaio-sys: structs, constants and functions of the C interface, and the test of their layout."""

import re

from generator.text import c_interface, doc, rust_name, rust_type, spoken

HEAD = "// Made by bindings/rust/generate.py from {}.\n"
BY_HAND_STRUCTS = {"DLDevice": ["device_type", "device_id"], "DLDataType": ["code", "bits", "lanes"],
                   "DLTensor": ["data", "device", "ndim", "dtype", "shape", "strides", "byte_offset"]}
DEFAULTS_BY_HAND = ("kaio_kernel_info", "kaio_kernel_parameter", "kaio_kernel_grid")


def number(value):
    return "u64::MAX" if value == 2**64 - 1 else str(value)


def default_of(all, field):
    if field["type"] == "c" and "*" not in field["c"]:
        return "None"
    if field["type"] in c_interface.POINTERS:
        mutable = rust_type(c_interface.c_type(field)).startswith("*mut")
        return "core::ptr::null_mut()" if mutable else "core::ptr::null()"
    if field["type"] in ("f32", "f64"):
        return repr(float(field.get("default", 0)))
    return number(int(field.get("default", 0)))


def said_of(all, field):
    said = c_interface.explain(field)
    default = all.default_text(field) if field["type"] != "text" else "0"
    if default not in ("NULL", "0", "0.0f", "0.0"):
        default = default.removesuffix("f").removesuffix(".0")
        said = f"default {default}" + (f"; {said}" if said else "")
    return spoken(said or field["name"].replace("_", " "))


def constants(enum):
    for value in enum["values"]:
        said = value[2] if len(value) > 2 else f"kaio_{enum['name']}: {value[0]}"
        yield doc([spoken(said)]) + f"pub const {c_interface.constant(enum, value[0])}: i32 = {value[1]};\n"


def family_file(all, name):
    family = all.families[name]
    text = HEAD.format(f"src/c/operations/{name}.json")
    body = ""
    for handle in family.get("handles", ()):
        body += "\n" + doc([handle["text"]]) + f"#[repr(C)]\npub struct kaio_{handle['name']} {{\n    opaque: [u8; 0],\n}}\n"
    for function in family.get("functions", ()):
        taken = [f"{rust_name(name)}: {rust_type(kind)}" for name, kind in function["arguments"]]
        type = f"    Option<unsafe extern \"C\" fn({', '.join(taken)}) -> i32>;\n"
        many = "".join(f"\n        {one}," for one in taken)
        type = f"\n{type}" if len(type) <= 101 else f" Option<\n    unsafe extern \"C\" fn({many}\n    ) -> i32,\n>;\n"
        body += "\n" + doc([function["text"]]) + f"pub type kaio_{function['name']} ={type}"
    for enum in family.get("enums", ()):
        body += f"\n// kaio_{enum['name']}: {enum['text']}\n" + "".join(constants(enum))
    for struct in family.get("structs", ()):
        body += "\n" + doc([struct["text"]]) + f"#[repr(C)]\n#[derive(Clone, Copy, Debug)]\npub struct kaio_{struct['name']} {{\n"
        defaults = ""
        for field, member, declaration in c_interface.layout(struct):
            length = field.get("length") if field else None
            if member == "size":
                said, kind, value = f"`size_of::<kaio_{struct['name']}>()`.", "u32", "core::mem::size_of::<Self>() as u32"
            elif field is None:
                said, kind, value = "0.", "i32", "0"
            elif length:
                said, kind, value = said_of(all, field), f"[c_char; {length}]", f"[0; {length}]"
            else:
                said, kind, value = said_of(all, field), rust_type(c_interface.c_type(field)), default_of(all, field)
            body += doc([said], "    ") + f"    pub {rust_name(member)}: {kind},\n"
            defaults += f"            {rust_name(member)}: {value},\n"
        body += f"}}\n\nimpl Default for kaio_{struct['name']} {{\n    fn default() -> Self {{\n        Self {{\n{defaults}        }}\n    }}\n}}\n"
    if not body:
        return None
    uses = [f"use crate::generated::{of}::kaio_{s['name']};\n" for of, f in all.families.items() if of != name
            for s in f.get("structs", ()) if re.search(rf"\*(const|mut) kaio_{s['name']},", body)]
    text += "\nuse core::ffi::c_void;\n".replace("core::ffi", "std::os::raw") if "c_void" in body else ""
    text += "use std::os::raw::c_char;\n" if "c_char" in body else ""
    text += "use crate::base::DLTensor;\n" if "DLTensor" in body else ""
    text += "".join(sorted(uses))
    return text + body


def by_hand(root):
    """name -> text of the headers by hand."""
    return {name: (root / f"include/kaio/c/{name}.h").read_text() for name in ("base", "device", "runtime", "kernels")}


def by_hand_constants(root):
    text = HEAD.format("include/kaio/c/*.h") + "\n"
    for _, name, value, said in found_constants(root):
        kind = "DLDeviceType" if name.startswith("kDL") and name in DEVICE_TYPES else "u8" if name.startswith("kDL") else "i32"
        text += doc([spoken(said or name)]) + f"pub const {name}: {kind} = {value};\n"
    for name in ("KAIO_ABI_MAJOR", "KAIO_ABI_MINOR"):
        value = re.search(rf"#define {name} (\d+)", by_hand(root)["base"])[1]
        text += f"/// Of the interface that this crate is made from.\npub const {name}: u32 = {value};\n"
    return text.replace("\n\n", "\n\nuse crate::base::DLDeviceType;\n\n", 1)


DEVICE_TYPES = ("kDLCPU", "kDLCUDA", "kDLCUDAHost", "kDLExtDev", "kDLCUDAManaged")


def found_constants(root):
    for header, text in by_hand(root).items():
        for line in text.split("\n"):
            found = re.fullmatch(r"\s+(KAIO_\w+|kDL\w+) = (\d+),?\s*(?:/\* (.*?) \*/)?", line)
            if found:
                yield header, found[1], found[2], found[3]


def found_functions(root):
    """(name, result, [(argument, C type)], comment) of the headers by hand."""
    for text in by_hand(root).values():
        for found in re.finditer(r"((?:/\*(?:[^*]|\*(?!/))*\*/\n)?)KAIO_API ([\w ]+?\*?) ?(kaio_\w+)\(([^)]*)\);", text):
            comment = re.sub(r"\s+", " ", re.sub(r"^ ?\*/?|^/\*|\*/", "", found[1], flags=re.M)).strip()
            arguments = []
            for argument in [] if found[4].strip() == "void" else re.sub(r"\s+", " ", found[4]).split(","):
                kind, name = re.fullmatch(r"\s*(.*?)\s*(\w+)", argument).groups()
                arguments.append((name, kind))
            yield found[3], found[2], arguments, comment


def all_functions(all, root):
    yield from found_functions(root)
    for family in all.families.values():
        for operation, function, arguments, is_query in c_interface.functions_of(family):
            said = function["summary"] + ("" if function is operation else f" For kaio_{operation['name']}.")
            pairs = []
            for parameter in c_interface.parameters(function, arguments, is_query):
                kind, name = re.fullmatch(r"(.*?[\s*])(\w+)", parameter).groups()
                pairs.append((name, kind))
            yield f"kaio_{function['name']}", "kaio_status", pairs, said


def functions_file(all, root):
    text = HEAD.format("include/kaio/c/*.h and src/c/operations/*.json")
    text += "\nuse std::os::raw::{c_char, c_void};\n\nuse crate::base::*;\nuse crate::generated::*;\n\nfunctions! {\n"
    for name, result, arguments, said in all_functions(all, root):
        text += doc([spoken(said or "As its name says.")], "    ")
        taken = [f"{rust_name(a)}: {rust_type(t)}" for a, t in arguments]
        line = f"    fn {name}({', '.join(taken)}) -> {rust_type(result)};\n"
        text += line if len(line) <= 111 else f"    fn {name}(" + "".join(f"\n        {one}," for one in taken)[:-1] + f"\n    ) -> {rust_type(result)};\n"
    return text + "}\n"


def struct_members(all):
    """(struct, members, whether it has a default) of all structs."""
    for name, members in BY_HAND_STRUCTS.items():
        yield name, members, False
    hand = {"kaio_kernel_info": "size parameters name object signature block cluster shared_bytes architecture is_arch_specific is_cooperative",
            "kaio_kernel_parameter": "size access type bytes alignment reserved_20 text",
            "kaio_kernel_grid": "size unit x y z per_thread shared_bytes cluster programmatic device",
            "kaio_kernel_argument": "kind type data value number"}
    for name, members in hand.items():
        yield name, members.split(), name in DEFAULTS_BY_HAND
    for struct in all.structs.values():
        yield f"kaio_{struct['name']}", [member for _, member, _ in c_interface.layout(struct)], True


def constant_names(all, root):
    for _, name, _, _ in found_constants(root):
        yield name
    yield from ("KAIO_ABI_MAJOR", "KAIO_ABI_MINOR")
    for enum in all.enums.values():
        for value in enum["values"]:
            yield c_interface.constant(enum, value[0])


def first_text(all, name):
    """The first array of characters of a struct, or None. Defaults do not set what follows the first character of a text."""
    struct = all.structs.get(name.removeprefix("kaio_"), {"fields": ()})
    return next((field["name"] for field in struct["fields"] if field["type"] == "text"), None)


def layout_c(all, root):
    text = "/* Prints sizes, offsets, constants and defaults of the C interface. Made by bindings/rust/generate.py. */\n"
    text += "#include <kaio/c/kaio.h>\n#include <stdio.h>\n\n"
    text += "#define SIZE(of) printf(#of \" %zu\\n\", sizeof(of))\n#define MEMBER(of, member) "
    text += "printf(#of \".\" #member \" %zu %zu\\n\", offsetof(of, member), sizeof(((of*)0)->member))\n"
    text += "#define CONSTANT(of) printf(#of \" %lld\\n\", (long long)(of))\n\n"
    text += "static void print_bytes(const char* name, const void* data, size_t count) {\n  const unsigned char* bytes = data;\n"
    text += "  printf(\"%s default \", name);\n  for (size_t i = 0; i < count; ++i) printf(\"%02x\", bytes[i]);\n  printf(\"\\n\");\n}\n"
    text += "#define DEFAULT(of, count) \\\n  do { \\\n    const of it = of##_default(); \\\n    print_bytes(#of, &it, count); \\\n  } while (0)\n\n"
    text += "static void structs(void) {\n"
    for struct, members, _ in struct_members(all):
        text += f"  SIZE({struct});\n" + "".join(f"  MEMBER({struct}, {member});\n" for member in members)
    text += "}\n\nstatic void constants(void) {\n" + "".join(f"  CONSTANT({name});\n" for name in constant_names(all, root))
    text += "}\n\nstatic void defaults(void) {\n" + "".join(
        f"  DEFAULT({name}, {f'offsetof({name}, {first_text(all, name)})' if first_text(all, name) else f'sizeof({name})'});\n"
        for name, _, has in struct_members(all) if has)
    text += "}\n\n/* The functions have the types that Rust gives them: initialisers of other types are errors. */\n"
    text += "struct functions {\n"
    functions = list(all_functions(all, root))
    for name, result, arguments, _ in functions:
        text += f"  {c_of(rust_type(result))} (*{name})({', '.join(c_of(rust_type(t)) for _, t in arguments) or 'void'});\n"
    text += "};\nextern const struct functions all_functions;\nconst struct functions all_functions = {\n"
    text += "".join(f"    {name},\n" for name, _, _, _ in functions)
    return text + "};\n\nint main(void) {\n  structs();\n  constants();\n  defaults();\n  return 0;\n}\n"


def c_of(rust):
    """A type of Rust in C."""
    pointers = re.findall(r"\*(const|mut) ", rust)
    base = rust.rpartition(" ")[2]
    base = {"i32": "int32_t", "u32": "uint32_t", "i64": "int64_t", "u64": "uint64_t", "u8": "uint8_t", "u16": "uint16_t", "f32": "float",
            "f64": "double", "c_char": "char", "c_void": "void", "usize": "size_t"}.get(base, base)
    return base + "".join((" const*" if kind == "const" else "*") for kind in reversed(pointers))


def layout_rs(all, root):
    text = HEAD.format("include/kaio/c/*.h and src/c/operations/*.json") + "\nuse kaio_sys::*;\n\nuse super::{bytes_of, member, offset_of, size, size_of_target};\n\n"
    text += "pub fn structs(lines: &mut Vec<String>) {\n"
    for struct, members, _ in struct_members(all):
        text += f"    size!(lines, {struct});\n" + "".join(
            f"    member!(lines, {struct}, {rust_name(m)}, \"{m}\");\n" for m in members)
    text += "}\n\npub fn constants(lines: &mut Vec<String>) {\n"
    text += "".join(f"    lines.push(format!(\"{name} {{}}\", {name}));\n" for name in constant_names(all, root))
    text += "}\n\npub fn defaults(lines: &mut Vec<String>) {\n"
    for name, _, has in struct_members(all):
        if has:
            end = first_text(all, name)
            count = f"offset_of!({name}, {end})" if end else f"std::mem::size_of::<{name}>()"
            text += f"    lines.push(format!(\"{name} default {{}}\", bytes_of(&{name}::default(), {count})));\n"
    return text + "}\n"


def files(root):
    all = c_interface.descriptions()
    made = {f"kaio-sys/src/generated/{name}.rs": family_file(all, name) for name in all.families}
    made = {path: text for path, text in made.items() if text}
    names = sorted(path.rpartition("/")[2][:-3] for path in made)
    made["kaio-sys/src/constants.rs"] = by_hand_constants(root)
    made["kaio-sys/src/functions.rs"] = functions_file(all, root)
    made["kaio-sys/src/generated.rs"] = (HEAD.format("src/c/operations/*.json") + "\n" + "".join(f"mod {n};\n" for n in names)
                                        + "\n" + "".join(f"pub use {n}::*;\n" for n in names))
    made["kaio-sys/tests/generated/layout.c"] = layout_c(all, root)
    made["kaio-sys/tests/generated/layout.rs"] = layout_rs(all, root)
    return made

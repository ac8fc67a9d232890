"""Fields of records and arguments of operations in the safe crate: types, how they are set and given to C, and what is said of them."""

import re

from generator.text import c_interface, camel, doc, rust_name, spoken

NUMBERS = {"i32": "i32", "u32": "u32", "i64": "i64", "u64": "u64", "f32": "f32", "f64": "f64", "u8": "u8"}
HAS_LIFETIME = {"tensor", "workspace", "tensors"}


def snake(name):
    return rust_name(name.lower())


def borrows(all, struct):
    """Whether a record has tensors, itself or in its records."""
    return any(f["type"] in HAS_LIFETIME or (f["type"] == "struct" and borrows(all, all.structs[f["of"]])) for f in struct["fields"])


def record_type(all, name, lifetime="'a"):
    return camel(name) + (f"<{lifetime}>" if borrows(all, all.structs[name]) else "")


def is_needed(field):
    return bool(field.get("needed"))


def stored_type(all, field, optional):
    """The type of a member."""
    kind = field["type"]
    if kind in ("tensor", "workspace"):
        result = "TensorView<'a>"
    elif kind == "tensors":
        return "Vec<TensorView<'a>>"
    elif kind == "struct":
        result = record_type(all, field["of"])
    elif kind == "string":
        result = "String"
    elif kind == "list":
        return f"Vec<{field['of']}>"
    elif kind == "enum":
        return camel(field["of"])
    elif kind == "device":
        return "Device"
    elif kind == "bool":
        return "bool"
    else:
        return NUMBERS[kind]
    return f"Option<{result}>" if optional else result


def parameter_type(all, field):
    """The type by which a caller gives it."""
    kind = field["type"]
    if kind == "workspace" or (kind == "tensor" and field.get("output")):
        return "&TensorViewMut<'a>"
    if kind == "tensor":
        return "&TensorView<'a>"
    if kind == "tensors":
        return "&[TensorViewMut<'a>]" if field.get("output") else "&[TensorView<'a>]"
    if kind == "struct":
        return "&" + record_type(all, field["of"])
    if kind == "string":
        return "&str"
    if kind == "list":
        return f"&[{field['of']}]"
    if kind == "device":
        return "&Device"
    return stored_type(all, field, False)


def parameters(all, fields):
    """The parameters of a function that takes these."""
    return ", ".join(f"{snake(f['name'])}: {parameter_type(all, f)}" for f in fields)


def stored_value(field, optional, name):
    """What is stored of a parameter."""
    kind = field["type"]
    if kind == "workspace" or (kind == "tensor" and field.get("output")):
        value = f"**{name}"
    elif kind in ("tensor", "device"):
        value = f"*{name}"
    elif kind == "tensors":
        return f"{name}.iter().map(|view| **view).collect()" if field.get("output") else f"{name}.to_vec()"
    elif kind == "struct":
        value = f"{name}.clone()"
    elif kind == "string":
        value = f"{name}.to_string()"
    elif kind == "list":
        return f"{name}.to_vec()"
    else:
        return name
    return f"Some({value})" if optional else value


def default_value(all, field):
    """The value of a member that is not given."""
    kind = field["type"]
    if kind in ("tensor", "workspace", "struct", "string"):
        return "None"
    if kind in ("list", "tensors"):
        return "Vec::new()"
    value = field.get("default", 0)
    if kind == "bool":
        return str(bool(value)).lower()
    if kind == "enum":
        enum = all.enums[field["of"]]
        if enum.get("flags"):
            return f"{camel(field['of'])}({value})"
        return f"{camel(field['of'])}::{variant(next(v[0] for v in enum['values'] if v[1] == value))}"
    if kind in ("f32", "f64"):
        return repr(float(value))
    return "u64::MAX" if value == 2**64 - 1 else str(int(value))


def raw_value(all, field, optional, name):
    """The value for C of a member `name`, an expression."""
    kind = field["type"]
    if kind == "workspace" or kind == "tensor":
        return f"hold.{'optional' if optional else 'tensor'}(&{name})"
    if kind == "tensors":
        return f"hold.tensors(&{name})"
    if kind == "struct":
        if not optional:
            return f"hold.keep({name}.raw(&hold)?)"
        return f"match &{name} {{ Some(record) => hold.keep(record.raw(&hold)?), None => std::ptr::null() }}"
    if kind == "string":
        return f"hold.text(\"{field['name']}\", &{name})?" if optional else f"hold.text(\"{field['name']}\", &Some({name}.clone()))?"
    if kind == "list":
        return f"list(&{name})"
    if kind == "enum":
        return f"{name}.0" if all.enums[field["of"]].get("flags") else f"{name} as i32"
    if kind == "bool":
        return f"i32::from({name})"
    if kind == "u8":
        return f"u32::from({name})"
    if kind == "device":
        return f"{name}.raw()"
    return name


def variant(name):
    """The name of a value of an enum: q4_k is Q4K, and q4_0 is Q4_0."""
    return re.sub(r"(\d)_(\d)|_", lambda found: f"{found[1]}_{found[2]}" if found[1] else "", camel_parts(name))


def camel_parts(name):
    return "_".join(part[:1].upper() + part[1:] for part in name.split("_"))


def sentence(text):
    """A sentence of a description in the words of this crate."""
    text = re.sub(r"kaio_\w+_workspace_bytes", "`workspace_bytes`", text)
    text = re.sub(r"kaio_\w+_choice", "`choice`", text)
    text = re.sub(r"kaio_(\w+)", r"\1", text)
    text = re.sub(r" Set \w+->size first\.", "", text)  # the crate sets it
    return text.replace("``", "`").replace("NULL", "none")


def explained(all, field):
    """What is said of a field or an argument."""
    kind = field["type"]
    if kind == "enum" and field.get("text"):
        said = field["text"]
    elif kind == "enum":
        said = all.enums[field["of"]]["text"]
    else:
        said = c_interface.explain(field)
    if kind == "bool":
        said = re.sub(r"^1: ", "true: ", said).replace("; 0: ", "; false: ")
        said = re.sub(r"^0: ", "false: ", said)
    if kind == "struct" and not said:
        said = all.structs[field["of"]]["text"]
    if kind == "device" and not said:
        said = "where the call runs"
    if kind == "u8":
        said = said or "a byte"
    return sentence(said or field["name"].replace("_", " ")).strip()


def with_default(all, field):
    said = explained(all, field)
    if field["type"] in c_interface.POINTERS or field["type"] == "enum" or field.get("optional"):
        return spoken(said)
    default = default_value(all, field)
    if default in ("0", "0.0", "false"):
        return spoken(said)
    return spoken(f"{said.rstrip('.')}; default {default}")


def setter(all, field, name, to, method=None):
    """A row of `setters!`: a method that sets a member and returns the whole."""
    kind = field["type"]
    how = "view" if kind in ("tensor", "device") and not field.get("output") else {"tensor": "written", "workspace": "written", "struct": "record",
                                                                                 "string": "text", "list": "list"}.get(kind, "value")
    return doc([with_default(all, field)], "        ") + f"        {how} {method or name}({parameter_type(all, field)}) => {to};\n"


def setters(rows):
    """All methods that set a member."""
    rows = "".join(rows)
    return f"    setters! {{\n{rows}    }}\n" if rows else ""

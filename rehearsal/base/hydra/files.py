"""As much of YAML as configuration files of Hydra hold: maps, lists and plain values, by indentation."""

import re


def plain_value(text):
    """A plain value, or a list in brackets."""
    text = text.strip()
    if text[:1] in "'\"" and text[-1:] == text[:1] and len(text) > 1:
        return text[1:-1]
    if text.startswith("[") and text.endswith("]"):
        return [plain_value(part) for part in text[1:-1].split(",") if part.strip()]
    if text in ("", "~", "null"):
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def _lines(text):
    for line in text.splitlines():
        bare = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if bare and bare != "---":
            yield len(bare) - len(bare.lstrip()), bare.strip()


def _block(lines, indent):
    """The map or list whose lines begin at this depth; takes them off the front."""
    out = None
    while lines and lines[0][0] >= indent:
        depth, text = lines.pop(0)
        if text.startswith("- "):
            entry = text[2:].strip()
            key, colon, value = entry.partition(": ")
            out = [*(out or []), {key.strip(): plain_value(value)} if colon else {entry[:-1]: None} if entry.endswith(":") else plain_value(entry)]
            continue
        key, _, value = text.partition(":")
        out = {} if out is None else out
        if value.strip():
            out[key.strip()] = plain_value(value)
        else:
            deeper = lines and (lines[0][0] > depth or lines[0][0] == depth and lines[0][1].startswith("- "))
            out[key.strip()] = _block(lines, lines[0][0]) if deeper else None
    return out


def read(path):
    with open(path, encoding="utf-8") as source:
        return _block(list(_lines(source.read())), 0) or {}

//! Code that needs a newer Python than the target's, and the most similar code that does not.

use crate::ports::{SCRIPT, check_in_project, check_said, check_silent, ported};

/// A script that trains, with lines before its model.
fn with_lines(lines: &str) -> String {
    SCRIPT.replace("\nmodel =", &format!("\n{lines}\nmodel ="))
}

/// The same, with imports at its beginning.
fn importing(imports: &str, lines: &str) -> String {
    format!("{imports}\n{}", with_lines(lines))
}

#[test]
fn newer_syntax_is_reported() {
    for target in ["ipu", "popdist"] {
        for (lines, words) in [
            ("match x:\n    case 1:\n        y = 2\n", "no `match` statement"),
            ("try:\n    f()\nexcept* ValueError:\n    pass\n", "no `except*`"),
            ("def first[T](x: T) -> T:\n    return x\n\n", "no type parameters"),
            ("class Pair[T]:\n    pass\n\n", "no type parameters"),
            ("type Pair = tuple\n", "no `type` statement"),
            ("with (open(a) as first, open(b) as second):\n    pass\n", "no brackets around the contexts"),
            ("@steps[0]\ndef first(x):\n    return x\n\n", "a decorator is a dotted name"),
            ("print(f\"{names[\"a\"]}\")\n", "the code in an f-string"),
            ("y = x[..., *places]\n", "no star in an index"),
            ("settings = given | {\"lr\": 0.1}\n", "does not join dictionaries"),
        ] {
            check_said(target, &with_lines(lines), words);
        }
    }
    // Other targets have a newer Python.
    for target in ["hpu", "xpu"] {
        check_in_project(target, &[("a.py", &with_lines("type Pair = tuple\n"))], "Python 3.8", false);
    }
}

#[test]
fn similar_syntax_is_not() {
    for lines in [
        "match = re.match(a, b)\ntype = 1\n",
        "with open(a) as first, open(b) as second:\n    pass\n",
        "with (open(a) if small else open(b)) as first:\n    pass\n",
        "@steps.first(0)\ndef first(x):\n    return x\n\n",
        "print(f\"{names['a']}\", f'''{names['a']}''')\n",
        "y = x[(*places, 0)]\n",
        "settings = {**given, \"lr\": 0.1}\nseen = {1} | given\n",
    ] {
        check_silent("ipu", &with_lines(lines));
    }
}

#[test]
fn a_file_that_is_loaded_has_to_parse() {
    let module =
        "def batches():\n    return []\n\n\ndef unused(x):\n    match x:\n        case 1:\n            return 2\n";
    let main = with_lines("from data import batches\n\nloader = batches()\n");
    check_in_project("ipu", &[("train.py", &main), ("data.py", module)], "6: Python 3.8 has no `match`", true);
    let alone = with_lines("loader = batches()\n");
    check_in_project("ipu", &[("train.py", &alone), ("plot.py", module)], "Python 3.8 has no `match`", false);
}

#[test]
fn annotations_are_postponed() {
    let check = |text: &str, is_postponed: bool| {
        let (after, said) = ported("ipu", &[("a.py", text)]);
        assert_eq!(after[0].contains("from __future__ import annotations"), is_postponed, "{}", after[0]);
        assert_eq!(said, "");
    };
    check(&with_lines("def first(x: int | None = None):\n    return x\n\n"), true);
    check(&with_lines("def first(x) -> list[int]:\n    return x\n\n"), true);
    check(&with_lines("class First:\n    size: dict[str, int]\n\n"), true);
    check(&with_lines("def first(x: \"int | None\" = None):\n    size: list[int] = []\n    return x, size\n\n"), false);
    check(
        &importing("from typing import List, Optional", "def first(x: Optional[List[int]]):\n    return x\n\n"),
        false,
    );
    let settings = "class Settings(BaseModel):\n    size: int | None = None\n\n";
    check_said("ipu", &importing("from pydantic import BaseModel", settings), "evaluates its annotations");
}

/// It is the first statement, below a docstring and comments.
#[test]
fn the_import_is_the_first() {
    let text = importing("#!/usr/bin/env python\n\"\"\"Trains.\"\"\"\n\n__author__ = \"me\"", "x: list[int] = []\n");
    let after = ported("ipu", &[("a.py", &text)]).0;
    assert!(
        after[0].starts_with(
            "#!/usr/bin/env python\n\"\"\"Trains.\"\"\"\n\nfrom __future__ import annotations\n\n__author__"
        ),
        "{}",
        after[0]
    );
}

#[test]
fn evaluated_types_are_reported() {
    let words = "Python 3.8 can't evaluate";
    for lines in ["Pair = int | None\n", "Rows = list[int]\n", "y = isinstance(x, A | B)\n"] {
        check_said("ipu", &with_lines(lines), words);
    }
    for lines in [
        "flags = first | second\n",
        "y = isinstance(x, (A, B))\n",
        "import typing\n\nPair = typing.Optional[typing.List[int]]\n",
        "import sys\n\nif sys.version_info >= (3, 10):\n    Pair = int | None\n",
    ] {
        check_silent("ipu", &with_lines(lines));
    }
}

#[test]
fn newer_names_are_reported_and_replaced() {
    check_said("ipu", &importing("from typing import Self", ""), "Import it from `typing_extensions`");
    check_said("ipu", &importing("import tomllib", ""), "no module `tomllib`");
    check_said(
        "ipu",
        &importing("import argparse", "x = argparse.BooleanOptionalAction\n"),
        "`argparse.BooleanOptionalAction`",
    );
    check_said("ipu", &importing("from itertools import pairwise", ""), "no `pairwise`");
    check_silent("ipu", &importing("from toolz import pairwise\nfrom typing_extensions import Self", ""));
    let tried = "try:\n    import tomllib\nexcept ImportError:\n    import tomli as tomllib";
    check_silent("ipu", &importing(tried, ""));
    let (after, said) =
        ported("ipu", &[("a.py", &importing("from functools import cache", "@cache\ndef size(x):\n    return x\n\n"))]);
    assert!(after[0].contains("@functools.lru_cache(maxsize=None)\ndef size"), "{}", after[0]);
    assert!(!after[0].contains("import cache") && said.is_empty(), "{said}{}", after[0]);
}

"""How a program is divided. `structures.py` puts it together."""

from registry import habit, without


@habit("structure")
def script(d):
    d.structure = "script"


@habit("structure")
def main_function(d):
    d.structure = "main"


@habit("structure")
def functions(d):
    d.structure = "functions"


@habit("structure")
def trainer_class(d):
    d.structure = "class"


@habit("structure")
def several_files(d):
    d.structure = "files"

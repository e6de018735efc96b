"""Writes slurm.txt and pbs.txt from the schedulers' manuals.

    python3 extract.py SLURM OPENPBS TORQUE

with checkouts of github.com/SchedMD/slurm, openpbs/openpbs and adaptivecomputing/torque. Names that the manuals do not
list are in names.txt, which is written by hand.

Lines: `option LONG [SHORT]`, with `=` after the name of one that takes a value; `job NAME [OPTION …]` for a variable in a job's
environment, with the options by which it is set if nothing else sets it.
"""

import re
import sys
from pathlib import Path


def text_of(path):
    text = path.read_text(errors="replace")
    return re.sub(r"\\f[BIRP]", "", text).replace("\\-", "-")


def section(text, name):
    found = re.search(rf'^\.SH "?{name}"?\n(.*?)(?=^\.SH|\Z)', text, re.M | re.S)
    return found.group(1) if found else ""


def slurm(root):
    options, names = {}, {}
    for page in ("sbatch", "srun", "salloc"):
        text = text_of(root / f"doc/man/man1/{page}.1")
        for line in re.findall(r"^\.TP\n(-.*)$", section(text, "OPTIONS"), re.M):
            words = re.match(r"(?:-(\w)(?:\s*<[^>]*>)?, )?--([\w-]+)(\[?=)?", line)
            if words:
                short, long, value = words.groups()
                alone = value != "="
                # Directives are those of sbatch, the first page.
                known = options.get(long, (None, alone))
                options[long] = (known[0] or short, known[1])
        for kind in ("INPUT", "OUTPUT"):
            parts = re.split(r"^\.TP\n", section(text, f"{kind} ENVIRONMENT VARIABLES"), flags=re.M)
            for part in parts[1:]:
                name, _, rest = part.partition("\n")
                # A name may follow another one: `NAME1, NAME2` or `NAME1 and NAME2`.
                for name in re.findall(r"\b(?:SLURMD?|SBATCH|SRUN|SALLOC)_[A-Z0-9_]+\b(?![#*])", name):
                    rest_line = " ".join(rest.split())
                    only = re.search(r"Only set if (.*?) (?:is|are) specified\.", rest_line)
                    names.setdefault(name, "")
                    if kind == "OUTPUT" and page == "sbatch" and only:
                        names[name] = " ".join(re.findall(r"--([\w-]+)", only.group(1)))
    # Other spellings, which the manuals do not list.
    source = (root / "src/common/slurm_opt.c").read_text(errors="replace")
    for long, argument in re.findall(r'\.name = "([\w-]+)",\n\s*\.has_arg = (\w+),', source):
        options.setdefault(long, (None, argument != "required_argument"))
    for page in ("prolog_epilog", "mpi_guide", "heterogeneous_jobs", "job_array"):
        text = (root / f"doc/html/{page}.shtml").read_text(errors="replace")
        for name in re.findall(r"\bSLURM_[A-Z0-9_]+[A-Z0-9]\b", text):
            names.setdefault(name, "")
    return options, names


def pbs(root, torque):
    text = text_of(root / "doc/man1/qsub.1B")
    options, names = {}, {}
    for letter, value in re.findall(r'^\.IP "-(\w) ?([^"]*)"', section(text, r" ?Options to qsub"), re.M):
        options[letter] = not value or value.startswith("[")
    sources = [text, (root / "src/resmom/start_exec.c").read_text(errors="replace")]
    sources += [text_of(torque / "doc/man1/qsub.1.in"), (torque / "src/resmom/start_exec.c").read_text(errors="replace")]
    for source in sources[0::2]:
        for name in re.findall(r"^\.(?:IP|B) (PBS_[A-Z_]+)\b", source, re.M):
            names.setdefault(name, "")
    for source in sources[1::2]:
        # The variables that the daemon gives a job.
        listed = re.search(r"\bvariables_else\[\] *=.*?\};", source, re.S).group(0)
        built = re.findall(r'bld_env_variables\([^"\n]*"([A-Z_]+)"', source)
        for name in re.findall(r'"([A-Z_]+)"', listed) + built:
            names.setdefault(name, "")
    return options, names


def write(path, sources, options, names):
    lines = [f"# From {sources}, by extract.py.", ""]
    for name, value in sorted(options.items()):
        short, alone = value if isinstance(value, tuple) else (None, value)
        lines.append(f"option {name}{'' if alone else '='}{f' {short}' if short else ''}")
    lines.append("")
    lines += [f"job {name}{f' {only}' if only else ''}" for name, only in sorted(names.items())]
    path.write_text("\n".join(lines) + "\n")


def main():
    here = Path(__file__).parent
    root, openpbs, torque = (Path(path) for path in sys.argv[1:4])
    write(here / "slurm.txt", "sbatch(1), srun(1), salloc(1) and the guides to prologs, MPI and arrays", *slurm(root))
    write(here / "pbs.txt", "qsub(1) and what the daemons of OpenPBS and Torque give a job", *pbs(openpbs, torque))


main()

#!/usr/bin/env python3
"""Checks whether a port to the RDU behaves correctly.

    python3 rdu.py BEFORE AFTER -- HOME… -- RDU…

RDU… is the program, with the word COMMAND, which is replaced by `compile --pef-name rehearsal --output-folder pef` and
`run --pef pef/rehearsal/rehearsal.pef`, one after the other in one folder; the arguments after it are passed to both: SambaFlow's, and
after another `--` the program's own. The run is repeated with `--data-parallel --reduce-on-rdu`. One line per assertion; exit status 1 if one fails.
"""

import sys
import tempfile

from checkout import Checkout, Report, called, calls
from common import every_port, mode_faults, other_modes, tokens, unguarded
from rehearsed import Run, command_line

MODE, MODULES = "RDU", ("sambaflow",)
COMPILE = ["compile", "--pef-name", "rehearsal", "--output-folder", "pef"]
RUN = ["run", "--pef", "pef/rehearsal/rehearsal.pef"]


def started(command, words):
    return [word for given in command for word in (words if given == "COMMAND" else [given])]


def check(before_root, after_root, home, command):
    before, after = Checkout(before_root), Checkout(after_root)
    with tempfile.TemporaryDirectory() as folder:
        compiled = Run(after.root, started(command, COMPILE), "rdu", folder)
        ran = Run(after.root, started(command, RUN), "rdu", folder)
        parallel = Run(after.root, started(command, [*RUN, "--data-parallel", "--reduce-on-rdu"]), "rdu", folder)
    without = Run(after.root, started(command, ["run"]), "rdu")
    report = Report()
    report.say("R1", mode_faults(before, after, MODE), "the compute mode is there")
    faults = compiled.faults("rdu.command") + ran.faults("rdu.command") + [f"{name}: {run.error}" for name, run in
                                                                           (("compile", compiled), ("run", ran)) if run.error]
    report.say("R2", faults + ([] if compiled.count("samba.session.compile") else ["nothing is compiled"]), "compile and run")
    report.say("R3", ran.faults("rdu.pef") or ([] if ran.count("samba.trace_graph") else ["the run does not take what was compiled"]), "run takes the PEF of compile")
    report.say("R4", unguarded(after, MODULES), "sambaflow is imported where it is")
    report.say("R5", compiled.lost("rdu.from-torch") + ran.faults("rdu.from-torch"), "the model is handed over first")
    report.say("R6", ran.lost("rdu.inputs-agree") + ran.faults("rdu.input-names", "rdu.inputs"), "inputs agree in name, shape and type")
    steps = ran.count("samba.session.run")
    report.say("R7", ran.faults("rdu.optimizer", "rdu.hyperparameters") + ([] if ran.count("samba.optim") else ["no optimizer of Samba"]), "Samba's optimizer")
    report.say("R8", compiled.faults("rdu.no-data") + ([] if "rdu.pef" in without.broken else ["run goes on without --pef"]), "compiling reads no data")
    report.say("R9", ran.faults("rdu.one-loss-shape", "rdu.loss", "rdu.grad-of-outputs", "rdu.host-step") + ([] if steps else ["nothing was trained"]),
               f"{steps} runs of the session")
    report.say("R10", parallel.faults("rdu.data-parallel") + ([parallel.error] if parallel.error else []), "the flags of data parallel runs arrive")
    report.say("R11", ran.faults("rdu.to-cpu", "rdu.to-torch"), "weights are fetched before they are used")
    report.say("R12", tokens(after, ["poptorch", "popdist"] if not tokens(before, ["poptorch", "popdist"]) else []), "nothing of another vendor")
    drivers = [f"{path}:{call.lineno}" for path, tree in after.files.items() for call in calls(tree) if called(call) == "common_app_driver"]
    report.say("driver", [f"{place} the deprecated driver" for place in drivers], "no deprecated driver")
    report.say("R13", other_modes(before, after, MODE, home), "the other modes are as before")
    every_port(report, before, after, MODE, home)
    return report


def main(arguments):
    given = command_line(arguments, __doc__)
    if given is None:
        return 2
    report = check(*given)
    print("\n".join(report.lines))
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The command line of every program: a command, then options.

Source: https://docs.sambanova.ai/developer/latest/ ("Compiler options", "Arguments for run") and `parse_app_args` as used in
https://github.com/sambanova/tutorials.
"""

import argparse
import sys

from contracts import kept, refused
from stand_in_calls import record

COMMANDS = ("compile", "run", "test", "measure-performance", "measure-sections")


def _common(parser):
    parser.add_argument("-b", "--batch-size", type=int, default=None)
    parser.add_argument("-n", "--num-iterations", type=int, default=1)
    parser.add_argument("--inference", action="store_true")
    parser.add_argument("--data-parallel", action="store_true")
    parser.add_argument("-ws", "--world-size", type=int, default=1)
    parser.add_argument("--mapping", default=None)


def _compile(parser):
    parser.add_argument("--pef-name", default=None)
    parser.add_argument("--output-folder", default="out")
    parser.add_argument("--num-tiles", type=int, default=None)
    for flag in ("--mac-v1", "--mac-v2", "--enable-conv-tiling", "--enable-stoc-rounding", "--debug"):
        parser.add_argument(flag, action="store_true")
    for option in ("--compiler-configs-file", "--mac-human-decision", "--arch"):
        parser.add_argument(option, default=None)


def _run(parser):
    parser.add_argument("-p", "--pef", default=None)
    parser.add_argument("--reduce-on-rdu", action="store_true")


def parse_app_args(argv=None, common_parser_fn=None, compile_parser_fn=None, run_parser_fn=None, test_parser_fn=None,
                   measure_parser_fn=None, dev_mode=True):
    from ..session import SESSION

    argv = list(sys.argv[1:] if argv is None else argv)
    if not argv or argv[0] not in COMMANDS:
        raise refused("rdu.command", f"started without a command: the first argument must be one of {', '.join(COMMANDS)}, not {argv[:1]}")
    command = argv[0]
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    _common(parser)
    (_compile if command == "compile" else _run)(parser)
    own = {"compile": compile_parser_fn, "run": run_parser_fn, "test": test_parser_fn}.get(command, measure_parser_fn)
    for add in (common_parser_fn, own):
        if add is not None:
            add(parser)
    args = parser.parse_args(argv[1:])
    args.command = command
    for name, value in (("pef", None), ("reduce_on_rdu", False), ("pef_name", None), ("output_folder", "out")):
        if not hasattr(args, name):
            setattr(args, name, value)
    if args.batch_size is None:
        args.batch_size = 1
    SESSION.command, SESSION.args = command, args
    kept("rdu.command")
    record("samba.parse_app_args", command=command)
    return args


def parse_yaml_to_args(path, args):
    return args

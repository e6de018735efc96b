"""Runs programs in processes that share one import of PyTorch.

    python3 server.py SOCKET [MODULE…]

imports the modules, then waits at a Unix socket. Each connection brings one line of JSON: {"argv": [program, …], "cwd": …, "env": {…},
"path": [folders before the others], "out": file, "err": file}; the answer is one line {"status": N}. Each program runs in a process of
its own that is forked here, with nothing of another's. With STAND_IN_SECONDS a program that takes more processor time is ended. The server ends
when its standard input does.
"""

import json
import os
import resource
import select
import signal
import socket
import sys
import traceback


def run(request):
    """In the process that the program has to itself."""
    seconds = int(os.environ.get("STAND_IN_SECONDS", "0"))
    if seconds:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    for number, name in ((1, "out"), (2, "err")):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(file, number)
        os.close(file)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    program = request["argv"][0]
    sys.argv = list(request["argv"])
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]
    sys.path[:0] = [os.path.dirname(os.path.abspath(program)), *request["path"]]
    sys.dont_write_bytecode = True
    import stand_in_start  # noqa: F401  (the recorder's)

    import __main__

    try:
        # As `python3 program` does, so that what is pickled in it is found again.
        with open(program, "rb") as source:
            code = compile(source.read(), program, "exec")
        names = __main__.__dict__
        names.clear()
        names.update(__name__="__main__", __file__=program, __builtins__=__builtins__)
        exec(code, names)
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def finish(status):
    """Ends as an interpreter does: what was registered for the end is done, what was printed is written."""
    import atexit

    try:
        atexit._run_exitfuncs()
    except BaseException:
        traceback.print_exc()
        status = status or 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def serve(connection):
    """In a process for the connection: the program gets another, whose end is told."""
    request = json.loads(connection.makefile("r").readline())
    program = os.fork()
    if program == 0:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        finish(run(request))
    _, status = os.waitpid(program, 0)
    code = os.waitstatus_to_exitcode(status)
    connection.sendall((json.dumps({"status": code}) + "\n").encode())
    os._exit(0)


def main(path, modules):
    import importlib

    for module in modules:
        importlib.import_module(module)
    if "torch" in sys.modules:
        # The first optimizer imports as much again, from PyTorch 2.4 on.
        torch = sys.modules["torch"]
        torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in ready:
            return
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            listener.close()
            serve(connection)
        connection.close()


def ask(path, request):
    """Has a server run a program; gives its exit status."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall((json.dumps(request) + "\n").encode())
        return json.loads(connection.makefile("r").readline())["status"]


if __name__ == "__main__":
    # By its name as a module: the program becomes `__main__`.
    import server

    server.main(sys.argv[1], sys.argv[2:])

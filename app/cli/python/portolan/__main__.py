"""Runs the command `portolan` that was installed with this module."""

import os
import subprocess
import sys
import sysconfig


def find():
    """The command's file: beside the module after `pip install --target`, else where this Python or its user has programs."""
    name = "portolan" + (".exe" if os.name == "nt" else "")
    user = sysconfig.get_preferred_scheme("user") if sys.version_info >= (3, 10) else os.name + "_user"
    beside = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin")
    for folder in (beside, sysconfig.get_path("scripts"), sysconfig.get_path("scripts", scheme=user)):
        file = os.path.join(folder, name)
        if os.path.isfile(file):
            return file
    sys.exit("portolan: the command is not where pip puts programs: reinstall the package that brought this module")


def main():
    command = [find()] + sys.argv[1:]
    if os.name == "nt":
        # There, exec would end this process at once, and a shell would not wait for the command.
        sys.exit(subprocess.call(command))
    os.execv(command[0], command)


main()

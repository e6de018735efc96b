class _Shell:
    def run_line_magic(self, name, line):
        return None

    def system(self, line):
        return None


def get_ipython():
    return _Shell()


import builtins  # noqa: E402

builtins.get_ipython = get_ipython

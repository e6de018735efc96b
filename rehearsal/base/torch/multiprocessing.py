from stand_in_calls import record


def spawn(function, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """One rank after the other, in this process."""
    record("spawn", nprocs=nprocs)
    for rank in range(nprocs):
        function(rank, *args)


def set_start_method(*_, **__):
    pass


def cpu_count():
    return 2


def get_context(_=None):
    return None

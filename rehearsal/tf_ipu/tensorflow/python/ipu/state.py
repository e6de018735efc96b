"""What the system knows: is it configured, which strategy is open, how many IPUs there are."""


class State:
    configured = False
    ipus = 0
    strategies = 0
    open = []
    local_replicas = None


STATE = State()

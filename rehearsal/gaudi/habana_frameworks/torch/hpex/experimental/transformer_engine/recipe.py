"""`DelayedScaling`, a setting of float8."""


class DelayedScaling:
    def __init__(self, **settings):
        self.settings = settings

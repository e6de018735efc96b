"""Hydra's own settings; a rehearsal has none."""


class HydraConfig:
    @staticmethod
    def initialized():
        return False

from torch.optim import Optimizer


class FusedAdamW(Optimizer):
    pass


class FusedSGD(Optimizer):
    pass


class FusedLamb(Optimizer):
    pass

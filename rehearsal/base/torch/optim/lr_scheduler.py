from stand_in_calls import record


class LRScheduler:
    def __init__(self, optimizer, *args, **kwargs):
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer, self.last_epoch = optimizer, 0

    def factor(self):
        return 1.0

    def step(self, *_):
        self.last_epoch += 1
        record("scheduler.step")
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"] * self.factor()

    def get_last_lr(self):
        return [group["lr"] for group in self.optimizer.param_groups]

    def state_dict(self):
        return {"last_epoch": self.last_epoch}

    def load_state_dict(self, state):
        self.last_epoch = state["last_epoch"]


_LRScheduler = LRScheduler


class LambdaLR(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        super().__init__(optimizer)
        self.rate = lr_lambda

    def factor(self):
        return self.rate(self.last_epoch)


class StepLR(LRScheduler):
    pass


class MultiStepLR(LRScheduler):
    pass


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma=0.9, *args, **kwargs):
        super().__init__(optimizer)
        self.gamma = gamma

    def factor(self):
        return self.gamma**self.last_epoch


class CosineAnnealingLR(LRScheduler):
    pass


class CosineAnnealingWarmRestarts(LRScheduler):
    pass


class OneCycleLR(LRScheduler):
    pass


class LinearLR(LRScheduler):
    pass


class SequentialLR(LRScheduler):
    pass


class PolynomialLR(LRScheduler):
    pass


class ReduceLROnPlateau(LRScheduler):
    def step(self, metrics):
        super().step()

"""Losses. The task comes with them: a class or a value."""

from registry import habit, needs, without

CLASS = without(model="autoencoder")


@habit("loss", CLASS)
def cross_entropy(d):
    d.setup_loss += ["$criterion = nn.CrossEntropyLoss()"]
    d.loss = d.valid_loss = ["$loss = $criterion($out, $y)"]


@habit("loss", CLASS)
def functional(d):
    d.use("import torch.nn.functional as F")
    d.loss = d.valid_loss = ["$loss = F.cross_entropy($out, $y)"]


@habit("loss", CLASS)
def weighted(d):
    d.setup_loss += ["$weights = " + d.on_device("torch.tensor([0.5, 1.0, 2.0])"), "$criterion = nn.CrossEntropyLoss(weight=$weights)"]
    d.loss = d.valid_loss = ["$loss = $criterion($out, $y)"]


@habit("loss", CLASS)
def smoothed(d):
    d.setup_loss += ["$criterion = nn.CrossEntropyLoss(label_smoothing=0.1)"]
    d.loss = d.valid_loss = ["$loss = $criterion($out, $y)"]


@habit("loss", CLASS)
def summed(d):
    d.setup_loss += ["$criterion = nn.CrossEntropyLoss(reduction='sum')"]
    d.settings["lr"] = 0.01
    d.loss = d.valid_loss = ["$loss = $criterion($out, $y)"]


@habit("loss", CLASS)
def likelihood(d):
    d.use("import torch.nn.functional as F")
    d.loss = d.valid_loss = ["$loss = F.nll_loss(F.log_softmax($out, dim=1), $y)"]


@habit("loss", CLASS)
def by_sample(d):
    d.setup_loss += ["$criterion = nn.CrossEntropyLoss(reduction='none')"]
    d.loss = d.valid_loss = ["$losses = $criterion($out, $y)", "$loss = $losses.mean()"]


@habit("loss", CLASS)
def masked(d):
    d.use("import torch.nn.functional as F")
    d.loss = ["$mask = ($y != 0).float()", "$loss = (F.cross_entropy($out, $y, reduction='none') * $mask).sum() / $mask.sum().clamp(min=1)"]
    d.valid_loss = ["$loss = F.cross_entropy($out, $y)"]


def value(d):
    d.task, d.outputs = "value", 1


@habit("loss")
def squared(d):
    value(d)
    d.setup_loss += ["$criterion = nn.MSELoss()"]
    d.loss = d.valid_loss = ["$loss = $criterion($out, $y)"]


@habit("loss")
def by_hand(d):
    value(d)
    d.loss = d.valid_loss = ["$loss = (($out - $y) ** 2).mean()"]


@habit("loss")
def smooth_value(d):
    value(d)
    d.use("import torch.nn.functional as F")
    d.loss = d.valid_loss = ["$loss = F.smooth_l1_loss($out, $y)"]


@habit("loss")
def weight_of_epoch(d):
    value(d)
    d.use("import torch.nn.functional as F")
    d.begin_epoch += ["$weight = min(1.0, ($epoch + 1) / 4)"]
    d.loss = ["$loss = F.mse_loss($out, $y) + $weight * $out.abs().mean()"]
    d.valid_loss = ["$loss = F.mse_loss($out, $y)"]


@habit("loss")
def penalty(d):
    value(d)
    d.use("import torch.nn.functional as F")
    d.loss = ["$loss = F.mse_loss($out, $y)", "$aux = sum(p.pow(2).sum() for p in $model.parameters())", "$loss = $loss + 1e-3 * $aux"]
    d.valid_loss = ["$loss = F.mse_loss($out, $y)"]


@habit("loss")
def function(d):
    value(d)
    d.helpers += [["def $compute_loss(pred, target):", "    diff = pred - target", "    return (diff * diff).mean()"]]
    d.loss = d.valid_loss = ["$loss = $compute_loss($out, $y)"]

from registry import habit, without


def made(d, kind, options="", parameters=None):
    d.optimizer = f"$optimizer = torch.optim.{kind}({parameters or d.parameters}, lr=$lr{options})"


@habit("optimizer")
def sgd(d):
    made(d, "SGD")


@habit("optimizer")
def momentum(d):
    d.settings["momentum"] = 0.9
    made(d, "SGD", ", momentum=$momentum")


@habit("optimizer")
def adam(d):
    d.settings["lr"] = 0.01
    made(d, "Adam")


@habit("optimizer")
def adamw_groups(d):
    d.settings["lr"] = 0.01
    made(d, "AdamW", ", weight_decay=0.0", '[{"params": [p for p in $model.parameters() if p.requires_grad and p.dim() > 1], "weight_decay": 0.1}, '
         '{"params": [p for p in $model.parameters() if p.requires_grad and p.dim() <= 1]}]')


@habit("optimizer")
def rmsprop(d):
    d.settings["lr"] = 0.005
    made(d, "RMSprop", ", alpha=0.95")


@habit("optimizer")
def options_in_dict(d):
    d.settings["lr"] = 0.01
    d.optimizer = f"$optim_options = {{'lr': $lr, 'betas': (0.8, 0.95)}}\n$optimizer = torch.optim.Adam({d.parameters}, **$optim_options)"


@habit("optimizer")
def by_name(d):
    d.optimizer = f"$optimizer = getattr(torch.optim, 'SGD')({d.parameters}, lr=$lr)"


@habit("optimizer")
def imported(d):
    d.use("from torch import optim")
    d.optimizer = f"$optimizer = optim.SGD({d.parameters}, lr=$lr, weight_decay=1e-3, nesterov=True, momentum=0.8)"

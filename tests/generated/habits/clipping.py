from registry import habit, needs


@habit("clipping")
def not_clipped(d):
    pass


@habit("clipping")
def norm(d):
    d.clip = ["torch.nn.utils.clip_grad_norm_($model.parameters(), 0.5)"]


@habit("clipping")
def norm_setting(d):
    d.settings["clip"] = 0.5
    d.clip = ["nn.utils.clip_grad_norm_($model.parameters(), max_norm=$clip)"]


@habit("clipping")
def value(d):
    d.clip = ["nn.utils.clip_grad_value_($model.parameters(), 0.05)"]


@habit("clipping", needs(accumulation="each_batch"))
def norm_printed(d):
    d.clip = ["$norm = torch.nn.utils.clip_grad_norm_($model.parameters(), 1.0)"]
    d.after_step += ["if $i == 0:", "    print(f'norm {$norm:.4f}')"]
    d.counts_batches = True


@habit("clipping")
def optional(d):
    d.settings["clip"] = 0.3
    d.clip = ["if $clip > 0:", "    torch.nn.utils.clip_grad_norm_($model.parameters(), $clip)"]


@habit("clipping")
def scaled_by_hand(d):
    d.clip = ["for p in $model.parameters():", "    if p.grad is not None:", "        p.grad.mul_(0.5)"]

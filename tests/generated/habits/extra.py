"""What a step has beside model, loss and update."""

from registry import habit, needs, without

ONE_OUTPUT = without(model="two_outputs")


@habit("extra")
def nothing_else(d):
    pass


@habit("extra")
def average_of_weights(d):
    d.use("import copy")
    d.setup_extra = ["$ema = copy.deepcopy($model)", "for p in $ema.parameters():", "    p.requires_grad_(False)"]
    d.after_update += ["with torch.no_grad():", "    for q, p in zip($ema.parameters(), $model.parameters()):", "        q.mul_(0.9).add_(p, alpha=0.1)"]
    d.finish += ["print('ema', f'{sum(float(p.abs().sum()) for p in $ema.parameters()):.4f}')"]


@habit("extra", ONE_OUTPUT)
def teacher(d):
    d.use("import copy", "import torch.nn.functional as F")
    d.setup_extra = ["$teacher = copy.deepcopy($model)", "$teacher.eval()"]
    d.forward += ["with torch.no_grad():", "    $goal = $teacher($x)"]
    d.more_loss += ["$loss = $loss + 0.1 * F.mse_loss($out, $goal)"]


@habit("extra", ONE_OUTPUT)
def detached(d):
    d.more_loss += ["$loss = $loss + 0.1 * ($out - $out.detach().mean()).pow(2).mean()"]


# Noise for several batches at once is other noise.
@habit("extra", needs(accumulation="each_batch"))
def noise(d):
    d.draws = True
    d.before_forward += ["$x = $x + 0.1 * torch.randn_like($x)"] if d.kind != "tokens" else ["$x = $x.clone()"]


@habit("extra")
def gradient_read(d):
    d.after_backward += ["$norm_of_all = sum(p.grad.norm().item() ** 2 for p in $model.parameters() if p.grad is not None) ** 0.5"]
    d.after_step += ["$norms.append($norm_of_all)"]
    d.before_epochs += ["$norms = []"]
    d.finish += ["print('mean norm %.4f' % (sum($norms) / len($norms)))"]


@habit("extra", ONE_OUTPUT)
def second_forward(d):
    d.forward += ["$again = $model($x)"]
    d.more_loss += ["$loss = $loss + 0.1 * ($out - $again).abs().mean()"]


@habit("extra")
def skips_bad_batch(d):
    d.before_backward += ["if not torch.isfinite($loss):", "    print('bad batch')", "    continue"]


@habit("extra")
def stops_early(d):
    d.counts_batches = True
    d.settings["max_batches"] = 4
    d.before_batch += ["if $i >= $max_batches:", "    break"]


@habit("extra", without(data="slices"))
def weights_by_hand(d):
    d.after_update += ["with torch.no_grad():", "    for p in $model.parameters():", "        p.clamp_(-1.5, 1.5)"]

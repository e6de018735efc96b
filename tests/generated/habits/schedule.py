from registry import habit, needs, without


@habit("schedule")
def constant(d):
    pass


@habit("schedule")
def step_by_epoch(d):
    d.setup_schedule = ["$scheduler = torch.optim.lr_scheduler.StepLR($optimizer, step_size=1, gamma=0.5)"]
    d.end_epoch += ["$scheduler.step()"]


@habit("schedule")
def cosine_by_batch(d):
    d.setup_schedule = ["$scheduler = torch.optim.lr_scheduler.CosineAnnealingLR($optimizer, T_max=12)"]
    d.per_update += ["$scheduler.step()"]


@habit("schedule")
def warmup_lambda(d):
    d.use("from torch.optim.lr_scheduler import LambdaLR")
    d.setup_schedule = ["$scheduler = LambdaLR($optimizer, lambda s: min(1.0, (s + 1) / 5))"]
    d.per_update += ["$scheduler.step()"]


@habit("schedule", without(data="slices"))
def one_cycle(d):
    d.use("from torch.optim.lr_scheduler import OneCycleLR")
    d.setup_schedule = ["$scheduler = OneCycleLR($optimizer, max_lr=0.1, epochs=$epochs, steps_per_epoch=len($train_loader))"]
    d.per_update += ["$scheduler.step()"]


@habit("schedule", without(evaluation="no_evaluation by_phase every_other_epoch after_training"))
def plateau(d):
    d.setup_schedule = ["$scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau($optimizer, factor=0.5, patience=0, threshold=0.5)"]
    d.end_epoch += ["$scheduler.step($valid_mean)"]


@habit("schedule")
def groups_by_epoch(d):
    d.begin_epoch += ["for $group in $optimizer.param_groups:", "    $group['lr'] = $lr * (0.5 ** $epoch)"]


@habit("schedule")
def groups_by_batch(d):
    d.counts_batches = True
    d.before_batch += ["$rate = $lr * min(1.0, ($i + 1) / 4)", "for $group in $optimizer.param_groups:", "    $group['lr'] = $rate"]


@habit("schedule")
def function_sets_rate(d):
    d.helpers += [["def adjust_learning_rate(optimizer, epoch, base):", "    lr = base * (0.7 ** epoch)", "    for group in optimizer.param_groups:", "        group['lr'] = lr"]]
    d.begin_epoch += ["adjust_learning_rate($optimizer, $epoch, $lr)"]


@habit("schedule")
def chained(d):
    d.use("from torch.optim import lr_scheduler")
    d.setup_schedule = ["$warm = lr_scheduler.LinearLR($optimizer, start_factor=0.5, total_iters=3)",
                        "$decay = lr_scheduler.ExponentialLR($optimizer, gamma=0.9)",
                        "$scheduler = lr_scheduler.SequentialLR($optimizer, [$warm, $decay], milestones=[3])"]
    d.per_update += ["$scheduler.step()"]

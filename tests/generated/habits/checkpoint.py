from registry import habit, needs, without

EVALUATED = without(evaluation="no_evaluation by_phase every_other_epoch after_training")


@habit("checkpoint")
def nothing_saved(d):
    pass


@habit("checkpoint")
def last_weights(d):
    d.finish += ["torch.save($model.state_dict(), 'model.pt')"]


@habit("checkpoint", EVALUATED)
def best_file(d):
    d.before_epochs += ["$best = float('inf')"]
    d.end_epoch += ["if $valid_mean < $best:", "    $best = $valid_mean", "    torch.save($model.state_dict(), 'best.pt')"]
    d.finish += ["$model.load_state_dict(torch.load('best.pt'))", "print('best', round($best, 4), f'{sum(float(p.sum()) for p in $model.parameters()):.4f}')"]


@habit("checkpoint", EVALUATED)
def best_copied(d):
    d.use("import copy")
    d.before_epochs += ["$best, $best_weights = float('inf'), None"]
    d.end_epoch += ["if $valid_mean < $best:", "    $best = $valid_mean", "    $best_weights = copy.deepcopy($model.state_dict())"]
    d.finish += ["$model.load_state_dict($best_weights)", "print(f'weights {sum(float(p.abs().sum()) for p in $model.parameters()):.4f}')"]


@habit("checkpoint", EVALUATED)
def best_on_host(d):
    d.before_epochs += ["$best, $best_weights = 1e9, None"]
    d.end_epoch += ["if $valid_mean < $best:", "    $best = $valid_mean", "    $best_weights = {k: v.cpu() for k, v in $model.state_dict().items()}"]
    d.finish += ["print(f'best {sum(float(v.float().abs().sum()) for v in $best_weights.values()):.4f}')"]


@habit("checkpoint")
def everything(d):
    d.end_epoch += ["torch.save({'epoch': $epoch, 'model': $model.state_dict(), 'optimizer': $optimizer.state_dict()}, f'epoch{$epoch}.pt')"]


@habit("checkpoint")
def resumed(d):
    d.use("import os")
    d.before_epochs += ["if os.path.exists('last.pt'):", "    $state = torch.load('last.pt')", "    $model.load_state_dict($state['model'])",
                        "    $optimizer.load_state_dict($state['optimizer'])"]
    d.end_epoch += ["torch.save({'model': $model.state_dict(), 'optimizer': $optimizer.state_dict()}, 'last.pt')"]


@habit("checkpoint")
def averaged(d):
    d.before_epochs += ["$sums = {k: torch.zeros_like(v) for k, v in $model.state_dict().items()}"]
    d.end_epoch += ["for k, v in $model.state_dict().items():", "    $sums[k] += v"]
    d.finish += ["print(f'averaged {sum(float(v.float().abs().sum()) for v in $sums.values()):.4f}')"]


@habit("checkpoint", EVALUATED)
def early_stop(d):
    d.settings["epochs"] = 3
    d.before_epochs += ["$best, $patience = float('inf'), 0"]
    d.end_epoch += ["if $valid_mean < $best:", "    $best, $patience = $valid_mean, 0", "else:", "    $patience += 1", "    if $patience >= 1:",
                    "        print('stopped', $epoch)", "        break"]


@habit("checkpoint")
def whole_model(d):
    d.finish += ["torch.save($model, 'whole.pt')"]

"""What is counted while training. `end_epoch` prints it, before the evaluation."""

from registry import habit, needs, without

CLASS = without(loss="squared by_hand smooth_value weight_of_epoch penalty function")


@habit("metrics", without(data="slices"))
def mean_of_batches(d):
    d.begin_epoch += ["$total = 0.0"]
    d.after_step += ["$total += $loss.item()"]
    d.report = ["print(f'epoch {$epoch}: loss {$total / len($train_loader):.4f}')"]


@habit("metrics")
def mean_of_samples(d):
    d.begin_epoch += ["$total, $seen = 0.0, 0"]
    d.after_step += ["$total += $loss.item() * $x.size(0)", "$seen += $x.size(0)"]
    d.report = ["print('epoch %d loss %.4f samples %d' % ($epoch, $total / $seen, $seen))"]


@habit("metrics", without(data="slices"))
def of_set(d):
    d.begin_epoch += ["$total = 0.0"]
    d.after_step += ["$total += $loss.item() * len($x)"]
    d.report = ["print(f'{$epoch} train {$total / len($train_set):.4f}')"]


@habit("metrics", CLASS)
def accuracy_of_training(d):
    d.begin_epoch += ["$correct, $seen = 0, 0"]
    d.after_step += ["$correct += ($out.argmax(dim=1) == $y).sum().item()", "$seen += $y.size(0)"]
    d.report = ["print(f'epoch {$epoch} acc {$correct / $seen:.4f} of {$seen}')"]


@habit("metrics")
def every_few_batches(d):
    d.counts_batches = True
    d.after_step += ["if $i % 2 == 0:", "    print(f'epoch {$epoch} batch {$i} loss {$loss.item():.4f}')"]


@habit("metrics")
def list_of_losses(d):
    d.before_epochs += ["$history = []"]
    d.after_step += ["$history.append($loss.item())"]
    d.report = ["print('mean loss', round(sum($history) / len($history), 4), len($history))"]


@habit("metrics")
def tensor_total(d):
    d.begin_epoch += ["$total = " + d.on_device("torch.zeros(1)")]
    d.after_step += ["$total += $loss.detach()"]
    d.report = ["print('sum of losses', round($total.item(), 4))"]


@habit("metrics")
def running_mean(d):
    d.before_epochs += ["$running = None"]
    d.after_step += ["$running = $loss.item() if $running is None else 0.9 * $running + 0.1 * $loss.item()"]
    d.report = ["print('running %.4f' % $running)"]


@habit("metrics")
def rate_of_each_step(d):
    d.counts_batches = True
    d.after_step += ["print($i, f'{$loss.item():.4f}', f\"lr {$optimizer.param_groups[0]['lr']:.5f}\")"]


@habit("metrics")
def global_counter(d):
    d.before_epochs += ["$updates = 0"]
    d.after_step += ["$updates += 1", "if $updates % 3 == 0:", "    print('iter', $updates, 'loss %.4f' % $loss.item())"]


@habit("metrics", CLASS)
def confusion(d):
    d.begin_epoch += ["$table = torch.zeros(3, 3)"]
    d.after_step += ["for t, p in zip($y.view(-1), $out.argmax(1).view(-1)):", "    $table[t.long(), p.long()] += 1"]
    d.report = ["print('confusion', $table.int().tolist())"]

"""Evaluation: `$valid_mean` is its result."""

from registry import habit, needs, without

CLASS = without(loss="squared by_hand smooth_value weight_of_epoch penalty function")
LOADER = without(data="slices")


def loop(d, body, guard="with torch.no_grad():", end=()):
    return ["$model.eval()", *body[0], guard, f"    for {d.item} in $valid_loader:", *("        " + line for line in [*d.unpack, *d.forward[:1], *body[1]]), *end]


def mean_of_batches(d):
    return (["$valid_total = 0.0"], [*d.valid_loss, "$valid_total += $loss.item()"]), ["$valid_mean = $valid_total / len($valid_loader)"]


def mean_of_samples(d):
    return (["$valid_total, $valid_seen = 0.0, 0"], [*d.valid_loss, "$valid_total += $loss.item() * $x.size(0)", "$valid_seen += $x.size(0)"]), [
        "$valid_mean = $valid_total / $valid_seen"]


def mean_of_set(d):
    return (["$valid_total = 0.0"], [*d.valid_loss, "$valid_total += $loss.item() * len($x)"]), ["$valid_mean = $valid_total / len($valid_set)"]


def result(d):
    return d.draw("mean", mean_of_batches, mean_of_samples, mean_of_set)(d)


@habit("evaluation")
def no_evaluation(d):
    pass


@habit("evaluation", LOADER)
def inline(d):
    body, end = result(d)
    d.evaluation = [*loop(d, body), *end]
    d.evaluation_place = "inline"


@habit("evaluation", LOADER)
def in_function(d):
    body, end = result(d)
    d.evaluation = [*loop(d, body), *end]
    d.evaluation_place = "function"


@habit("evaluation", LOADER)
def inference_mode(d):
    body, end = result(d)
    d.evaluation = [*loop(d, body, "with torch.inference_mode():"), *end]
    d.evaluation_place = "function"


@habit("evaluation", LOADER)
def decorated(d):
    body, end = result(d)
    lines = loop(d, body)
    at = lines.index("with torch.no_grad():")
    d.evaluation = [*lines[:at], *(line[4:] for line in lines[at + 1 :]), *end]
    d.evaluation_place, d.decorator = "function", "@torch.no_grad()"


@habit("evaluation", lambda chosen: CLASS(chosen) and LOADER(chosen))
def accuracy(d):
    body = ["$valid_correct, $valid_seen = 0, 0"], ["$picked = $out.max(1)[1]", "$valid_correct += $picked.eq($y).sum().item()", "$valid_seen += $y.size(0)"]
    d.evaluation = [*loop(d, body), "$valid_mean = 1 - $valid_correct / $valid_seen"]
    d.evaluation_place = d.draw("accuracy", "inline", "function")


@habit("evaluation", lambda chosen: CLASS(chosen) and LOADER(chosen))
def gathered(d):
    body = ["$kept, $truth = [], []"], ["$kept.append($out.argmax(1).cpu())", "$truth.append($y.cpu())"]
    d.evaluation = [*loop(d, body), "$valid_mean = 1 - (torch.cat($kept) == torch.cat($truth)).float().mean().item()"]
    d.evaluation_place = "function"


@habit("evaluation", LOADER)
def every_other_epoch(d):
    body, end = result(d)
    d.evaluation = [*loop(d, body), *end]
    d.evaluation_place, d.evaluation_when = "function", "$epoch % 2 == 1"


@habit("evaluation", LOADER)
def after_training(d):
    body, end = result(d)
    d.evaluation = [*loop(d, body), *end]
    d.evaluation_place = "after"


@habit("evaluation", without(data="random_split subset arrays"))
def whole_set(d):
    x, y = (d.on_device("$valid_inputs"), d.on_device("$valid_targets")) if not d.slices else ("$valid_inputs", "$valid_targets")
    d.evaluation = ["$model.eval()", "with torch.no_grad():", f"    $x, $y = {x}, {y}", *("    " + line for line in [*d.forward[:1], *d.valid_loss]),
                    "$valid_mean = $loss.item()"]
    d.evaluation_place = "inline"


@habit("evaluation", needs(structure="script main_function trainer_class", accumulation="each_batch", parts="in_dict in_dict_by_key",
                           metrics="mean_of_samples", schedule="constant step_by_epoch groups_by_epoch function_sets_rate",
                           extra="nothing_else detached noise second_forward average_of_weights"))
def by_phase(d):
    d.phases = True

"""What is told of an epoch, and where."""

from registry import habit, without

EVALUATED = without(evaluation="no_evaluation by_phase every_other_epoch after_training")


@habit("report")
def printed(d):
    if d.evaluation and not d.evaluation_when and d.evaluation_place != "after":
        d.end_epoch += ["print(f'epoch {$epoch} validation {$valid_mean:.4f}')"]


@habit("report")
def logged(d):
    d.use("import logging")
    d.seeds += ["logging.basicConfig(level=logging.INFO, format='%(message)s')"]
    d.end_epoch += ["logging.info('epoch %d done, weights %.4f', $epoch, sum(p.abs().sum().item() for p in $model.parameters()))"]


@habit("report", EVALUATED)
def csv_file(d):
    d.use("import csv")
    d.before_epochs += ["$rows = []"]
    d.end_epoch += ["$rows.append([$epoch, round($valid_mean, 4)])"]
    d.finish += ["with open('log.csv', 'w', newline='') as f:", "    csv.writer(f).writerows($rows)", "print(open('log.csv').read())"]


@habit("report", EVALUATED)
def json_file(d):
    d.use("import json")
    d.before_epochs += ["$results = {'val': []}"]
    d.end_epoch += ["$results['val'].append($valid_mean)"]
    d.finish += ["with open('results.json', 'w') as f:", "    json.dump($results, f)", "print('last %.4f' % $results['val'][-1])"]


@habit("report")
def loss_after_epoch(d):
    d.end_epoch += ["print('weights', f'{sum(p.detach().pow(2).sum().item() for p in $model.parameters()):.4f}')"]


@habit("report")
def prediction_at_end(d):
    d.finish += ["$model.eval()", "with torch.no_grad():", "    $x = " + (d.on_device("$valid_inputs[:4]") if d.habits["data"] not in ("random_split", "subset", "arrays") else d.on_device("torch.stack([$valid_set[k]" + ("['x']" if d.habits["data"] == "dataset_of_dicts" else "[0]") + " for k in range(4)])"))] + [
        "    " + line for line in d.forward[:1]] + ["print('predicted', [round(v, 3) for v in $out.flatten()[:4].tolist()])"]

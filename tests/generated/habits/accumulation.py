from registry import habit, needs, without

LOADER = without(data="slices", evaluation="by_phase")


def accumulate(d, divide=True):
    d.settings["accum"] = 2
    d.counts_batches = True
    d.accumulate = "($i + 1) % $accum == 0"
    if divide:
        d.scale_loss = "$loss / $accum"


@habit("accumulation")
def each_batch(d):
    pass


@habit("accumulation", LOADER)
def full_groups_alone(d):
    accumulate(d)


@habit("accumulation", LOADER)
def rest_in_last_batch(d):
    accumulate(d)
    d.accumulate = "($i + 1) % $accum == 0 or ($i + 1) == len($train_loader)"


@habit("accumulation", LOADER)
def rest_after_loop(d):
    accumulate(d)
    d.rest = "len($train_loader) % $accum != 0"


@habit("accumulation", LOADER)
def not_divided(d):
    accumulate(d, divide=False)


@habit("accumulation", LOADER)
def divided_in_place(d):
    accumulate(d, divide=False)
    d.divide_in_place = True

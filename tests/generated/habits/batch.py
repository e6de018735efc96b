"""How a batch is taken apart. `d.item` is the loop's target, `d.unpack` what follows."""

from registry import habit, needs, without

PAIRS = without(data="dataset_of_dicts")


def moved(d, x="$x", y="$y"):
    move = d.move_batch or d.move
    if d.move_under:
        return [f"if {d.move_under}:", f"    $x, $y = {x}.cuda(), {y}.cuda()"] if (x, y) == ("$x", "$y") else [
            f"$x, $y = {x}, {y}", f"if {d.move_under}:", "    $x, $y = $x.cuda(), $y.cuda()"]
    if move == "{}":
        return [] if (x, y) == ("$x", "$y") else [f"$x, $y = {x}, {y}"]
    if d.draw("moved", True, False):
        return [f"$x, $y = {move.format(x)}, {move.format(y)}"]
    return [f"$x = {move.format(x)}", f"$y = {move.format(y)}"]


@habit("batch", PAIRS)
def pair(d):
    d.item = "$x, $y"
    d.unpack = moved(d)


@habit("batch", PAIRS)
def unpacked(d):
    d.item = "$batch"
    d.unpack = ["$x, $y = $batch", *moved(d)]


@habit("batch", PAIRS)
def by_index(d):
    d.item = "$batch"
    d.unpack = moved(d, "$batch[0]", "$batch[1]")


@habit("batch", needs(data="dataset_of_dicts"))
def by_key(d):
    d.item = "$batch"
    d.unpack = moved(d, '$batch["x"]', '$batch["y"]')


@habit("batch", needs(data="dataset_of_dicts", device="if_available string number not_blocking"))
def by_key_moved_at_once(d):
    d.item = "$batch"
    d.unpack = ["$batch = {k: v.to($device) for k, v in $batch.items()}", '$x, $y = $batch["x"], $batch["y"]']


@habit("batch", without(data="dataset_of_dicts", device="cuda_method flag none_named literal_everywhere"))
def generator_moves(d):
    d.item = "$x, $y"
    d.unpack = ["$x, $y = [t.to($device) for t in ($x, $y)]"]

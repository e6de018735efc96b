"""Where loaders live: `d.place` gives lines that make them, and how each is read."""

from registry import habit, without


@habit("parts")
def names(d):
    d.place = lambda made: ([f"$train_loader = {made['train']}", f"$valid_loader = {made['valid']}"], {})


@habit("parts")
def in_dict(d):
    d.place = lambda made: (["$loaders = {", f'    "train": {made["train"]},', f'    "val": {made["valid"]},', "}"],
                            {"train_loader": '$loaders["train"]', "valid_loader": '$loaders["val"]'})


@habit("parts")
def in_dict_by_key(d):
    d.place = lambda made: (["$loaders = {}", f'$loaders["train"] = {made["train"]}', f'$loaders["val"] = {made["valid"]}'],
                            {"train_loader": '$loaders["train"]', "valid_loader": '$loaders["val"]'})


@habit("parts")
def in_tuple(d):
    d.place = lambda made: ([f"$loaders = ({made['train']}, {made['valid']})"], {"train_loader": "$loaders[0]", "valid_loader": "$loaders[1]"})


@habit("parts")
def in_namespace(d):
    d.use("from types import SimpleNamespace")
    d.place = lambda made: ([f"$loaders = SimpleNamespace(train={made['train']}, val={made['valid']})"],
                            {"train_loader": "$loaders.train", "valid_loader": "$loaders.val"})


@habit("parts")
def unpacked_from_list(d):
    d.place = lambda made: ([f"$train_loader, $valid_loader = {made['train']}, {made['valid']}"], {})


@habit("parts", without(loader="sampler weighted_sampler larger_for_validation whole_validation common_options"))
def made_by_comprehension(d):
    d.place = lambda made: (['$loaders = {k: DataLoader(s, batch_size=$batch_size, shuffle=(k == "train")) for k, s in (("train", $train_set), ("val", $valid_set))}'],
                            {"train_loader": '$loaders["train"]', "valid_loader": '$loaders["val"]'})

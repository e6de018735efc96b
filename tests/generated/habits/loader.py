from registry import habit, without


@habit("loader")
def shuffled(d):
    pass


@habit("loader")
def drops_last(d):
    d.loader_options["train"] += ["drop_last=True"]


@habit("loader")
def in_order(d):
    d.loader_options["train"] = [option for option in d.loader_options["train"] if option != "shuffle=True"]


@habit("loader")
def shuffle_both(d):
    d.loader_options["valid"] += ["shuffle=True"]


@habit("loader")
def sampler(d):
    d.use("from torch.utils.data import RandomSampler")
    d.loader_options["train"] = ["sampler=RandomSampler($train_set)", *d.loader_options["train"][1:]]


@habit("loader")
def weighted_sampler(d):
    d.use("from torch.utils.data import WeightedRandomSampler")
    d.data += ["$sample_weights = torch.linspace(0.5, 1.5, len($train_set))"]
    d.loader_options["train"] = ["sampler=WeightedRandomSampler($sample_weights, len($train_set))", *d.loader_options["train"][1:]]


@habit("loader")
def larger_for_validation(d):
    d.valid_batch = "2 * $batch_size"


@habit("loader")
def whole_validation(d):
    d.valid_batch = "len($valid_set)"


@habit("loader")
def common_options(d):
    d.loader_kwargs = True


@habit("loader")
def workers(d):
    d.loader_options["train"] += ["num_workers=0", "persistent_workers=False"]

from registry import habit, without


@habit("device")
def if_available(d):
    d.devices += ['$device = torch.device("cuda" if torch.cuda.is_available() else "cpu")']


@habit("device")
def string(d):
    d.devices += ['$device = "cuda"']


@habit("device")
def cuda_method(d):
    d.move = "{}.cuda()"


@habit("device")
def number(d):
    d.devices += ['$device = torch.device("cuda:0")', "torch.cuda.set_device($device)"]


@habit("device")
def not_blocking(d):
    d.devices += ['$device = torch.device("cuda")']
    d.move_batch = "{}.to($device, non_blocking=True)"
    d.loader_options["train"] += ["pin_memory=True"]


@habit("device")
def flag(d):
    d.devices += ["$use_cuda = torch.cuda.is_available()"]
    d.move = "{}.cuda() if $use_cuda else {}"
    d.move_under = "$use_cuda"


@habit("device")
def none_named(d):
    d.move = "{}"


@habit("device")
def literal_everywhere(d):
    d.move = '{}.to("cuda")'

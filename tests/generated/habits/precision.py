from registry import habit, without

GPU = without(device="none_named")


@habit("precision")
def float32(d):
    pass


@habit("precision", GPU)
def autocast(d):
    d.autocast = 'torch.autocast(device_type="cuda", dtype=torch.bfloat16)'


@habit("precision", GPU)
def scaled(d):
    d.setup_scaler = ["$scaler = torch.amp.GradScaler('cuda')"]
    d.autocast, d.scaled = "torch.autocast('cuda', dtype=torch.float16)", True


@habit("precision", GPU)
def older_scaled(d):
    d.use("from torch.cuda.amp import GradScaler, autocast")
    d.setup_scaler = ["$scaler = GradScaler()"]
    d.autocast, d.scaled = "autocast()", True


@habit("precision", GPU)
def scaler_may_be_off(d):
    d.settings["amp"] = 1
    d.setup_scaler = ["$scaler = torch.cuda.amp.GradScaler(enabled=bool($amp))"]
    d.autocast, d.scaled = "torch.cuda.amp.autocast(enabled=bool($amp))", True

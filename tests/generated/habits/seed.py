from draft import text
from registry import habit


@habit("seed")
def torch_seed(d):
    d.seeds += ["torch.manual_seed(0)"]


@habit("seed")
def all_seeds(d):
    d.use("import random", "import numpy as np")
    d.seeds += ["random.seed(1)", "np.random.seed(1)", "torch.manual_seed(1)", "torch.cuda.manual_seed_all(1)"]


@habit("seed")
def seed_function(d):
    d.use("import random", "import numpy as np")
    d.helpers += [text("""
        def set_seed(seed):
            random.seed(seed)
            np.random.seed(seed)
            torch.manual_seed(seed)
            if torch.cuda.is_available():
                torch.cuda.manual_seed(seed)
        """)]
    d.seeds += ["set_seed(42)"]


@habit("seed")
def no_seed(d):
    pass

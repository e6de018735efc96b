"""Names for the roles of a program, as people choose them.

A template says `$model`; a program says `net`, `classifier` or `model`. A role without a pool keeps its own name. Opaque names say nothing:
a port must not depend on what a value is called.
"""

import random

POOLS = {
    "model": "model net network classifier mdl",
    "optimizer": "optimizer optim opt optimiser",
    "criterion": "criterion loss_fn loss_func objective",
    "scheduler": "scheduler lr_scheduler sched",
    "scaler": "scaler grad_scaler",
    "device": "device dev",
    "train_loader": "train_loader trainloader train_dl loader",
    "valid_loader": "val_loader valid_loader test_loader valloader",
    "loaders": "loaders dataloaders",
    "train_set": "train_set train_dataset trainset dataset",
    "valid_set": "val_set valid_dataset testset",
    "inputs": "inputs features data X_train",
    "targets": "targets labels y_train",
    "valid_inputs": "val_inputs X_val X_test",
    "valid_targets": "val_targets y_val y_test",
    "x": "x inputs images batch_x xb features",
    "y": "y labels target batch_y yb",
    "batch": "batch sample item",
    "out": "out outputs pred logits output",
    "loss": "loss batch_loss",
    "aux": "aux penalty reg",
    "epoch": "epoch ep",
    "i": "i step batch_idx it",
    "total": "total running_loss train_loss epoch_loss",
    "seen": "seen n_samples count",
    "correct": "correct hits n_correct",
    "valid_total": "val_loss test_loss valid_loss",
    "valid_seen": "val_seen n_val val_count",
    "valid_correct": "val_correct n_right",
    "valid_mean": "mean_val val_mean avg_loss",
    "accuracy": "accuracy acc val_acc",
    "best": "best best_loss best_val",
    "best_weights": "best_weights best_state best_model_wts",
    "updates": "global_step n_iter iteration updates",
    "history": "history log curve",
    "config": "config cfg args opts",
    "ema": "ema ema_model shadow",
    "teacher": "teacher target_net",
    "norm": "grad_norm total_norm gnorm",
    "phase": "phase mode split",
    "Net": "Net Model SimpleNet MyModel",
    "Data": "MyDataset ToyDataset Samples",
    "Trainer": "Trainer Runner Experiment",
    "Config": "Config Settings HParams",
    "main": "main run",
    "train_epoch": "train train_epoch train_one_epoch",
    "evaluate": "evaluate validate test",
    "get_loaders": "get_loaders make_loaders load_data",
    "build": "build_model create_model get_model",
    "compute_loss": "compute_loss get_loss",
    "fit": "fit run train_loop",
    "weight": "weight beta coef",
    "mask": "mask valid_mask",
    "lengths": "lengths lens",
    "collate": "collate collate_fn",
    "hidden": "hidden h state",
    "group": "group param_group g",
    "warmup": "warmup warmup_steps",
    "logger": "logger log_",
    "table": "confusion conf_mat cm",
    "weights": "class_weights cls_weight",
    "patience": "patience bad_epochs wait",
}


class Names:
    """The name of each role in one program; no two roles share one."""

    def __init__(self, seed, taken=(), opaque=False):
        self.seed, self.taken, self.opaque, self.chosen = seed, set(taken), opaque, {}

    def __getitem__(self, role):
        if role not in self.chosen:
            self.chosen[role] = f"zq{len(self.chosen):02}v" if self.opaque else self.drawn(role)
        return self.chosen[role]

    def drawn(self, role):
        pool = POOLS.get(role, role).split()
        # A role's draw depends on the role alone: another habit elsewhere leaves it as it is.
        random.Random(f"{self.seed}/{role}").shuffle(pool)
        return next((name for name in pool if name not in self.taken and name not in self.chosen.values()), f"{role}_{len(self.chosen)}")
